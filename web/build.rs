//! Turns the keys of the English texts into constants, so that a wrong key doesn't compile and an
//! unused one is warned about.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=locales");
    let mut keys = BTreeSet::new();
    let mut weight = 0_u64;
    for (folder, counts) in [("locales/en", true), ("locales/zh-CN", false)] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file).unwrap_or_default();
            // The texts are read by a macro; this number makes the compiler look again.
            weight = text
                .bytes()
                .fold(weight, |sum, byte| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
            if counts {
                collect(&text, &mut keys);
            }
        }
    }
    let mut code = format!("// Texts: {weight}\n");
    for key in keys {
        let name = key.replace(['.', '-'], "_").to_uppercase();
        let _ = writeln!(code, "pub const {name}: Key = Key(\"{key}\");");
    }
    let out = env::var("OUT_DIR").unwrap_or_default();
    if let Err(error) = fs::write(Path::new(&out).join("keys.rs"), code) {
        println!("cargo:warning=keys.rs: {error}");
    }
}

/// `[section]` and `key = "…"` lines; the files hold nothing else.
fn collect(text: &str, keys: &mut BTreeSet<String>) {
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
        } else if let Some((key, _)) = line.split_once('=')
            && !line.starts_with('#')
            // These are looked up by a name that the core or a lesson gives.
            && !matches!(section, "invariant" | "lesson")
        {
            keys.insert(format!("{section}.{}", key.trim().trim_matches('"')));
        }
    }
}
