//! Flags of the commands. Strict: a mistyped flag must not silently change what a run means.

pub struct Given {
    flags: Vec<String>,
    values: Vec<(String, String)>,
}

impl Given {
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }

    pub fn value(&self, flag: &str) -> Option<&str> {
        self.values.iter().find(|(f, _)| f == flag).map(|(_, v)| v.as_str())
    }
}

/// Takes `--flag` for each of `flags`, and `--name V` or `--name=V` for each of `valued`.
pub fn parse(
    command: &str,
    rest: &[String],
    flags: &[&str],
    valued: &[&str],
) -> Result<Given, String> {
    let mut given = Given { flags: Vec::new(), values: Vec::new() };
    let mut rest = rest.iter();
    while let Some(arg) = rest.next() {
        let (name, inline) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        if valued.contains(&name) {
            let value = inline.or_else(|| rest.next().cloned());
            let value = value.ok_or_else(|| format!("`{name}` needs a value"))?;
            given.values.push((name.to_owned(), value));
        } else if flags.contains(&arg.as_str()) {
            given.flags.push(arg.clone());
        } else {
            return Err(unknown(command, arg, flags, valued));
        }
    }
    Ok(given)
}

fn unknown(command: &str, arg: &str, flags: &[&str], valued: &[&str]) -> String {
    let known: Vec<String> = flags
        .iter()
        .map(|flag| (*flag).to_owned())
        .chain(valued.iter().map(|flag| format!("{flag} VALUE")))
        .collect();
    let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
    format!("`{command}` doesn't know `{arg}`; it takes {known} (see `cargo xtask help`)")
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_and_values_are_told_apart() {
        let given =
            parse("serve", &words("--release --port 90"), &["--release"], &["--port"]).unwrap();
        assert!(given.has("--release") && !given.has("--port"));
        assert_eq!(given.value("--port"), Some("90"));
        let given = parse("serve", &words("--port=91"), &[], &["--port"]).unwrap();
        assert_eq!(given.value("--port"), Some("91"));
    }

    #[test]
    fn a_mistyped_flag_is_named_with_what_would_do() {
        let why = parse("serve", &words("--relase"), &["--release"], &["--port"]).err().unwrap();
        assert!(why.contains("`--relase`") && why.contains("--release, --port VALUE"), "{why}");
        assert!(parse("serve", &words("--port"), &[], &["--port"]).is_err());
    }
}
