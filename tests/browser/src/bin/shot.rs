//! A picture of the built page: `shot OUT.png [OPTION…]`.

use browser::{Browser, Options, Result, Scheme, bail};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
shot OUT.png [--dist DIR] [--size 1440x900] [--lang zh-CN] [--theme light|dark]
     [--reduced-motion] [--url-fragment '#…'] [--wait TESTID] [--script JS] [--until JS] [--whole]

  --wait    wait until this data-testid shows (default app)
  --script  then run this JavaScript (several are run in their order)
  --until   then wait until this JavaScript expression is true
  --whole   the whole page rather than the viewport";

struct Wish {
    out: PathBuf,
    dist: PathBuf,
    options: Options,
    wait: String,
    scripts: Vec<String>,
    until: Option<String>,
    whole: bool,
}

fn main() -> ExitCode {
    match wish().and_then(|wish| shoot(&wish)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("shot: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn wish() -> Result<Wish> {
    let mut wish = Wish {
        out: PathBuf::new(),
        dist: "dist".into(),
        options: Options::default(),
        wait: "app".to_owned(),
        scripts: Vec::new(),
        until: None,
        whole: false,
    };
    let mut given = std::env::args().skip(1);
    while let Some(arg) = given.next() {
        let mut value = || match given.next() {
            Some(value) => Ok(value),
            None => bail!("`{arg}` needs a value\n{USAGE}"),
        };
        match arg.as_str() {
            "--dist" => wish.dist = value()?.into(),
            "--size" => (wish.options.width, wish.options.height) = size(&value()?)?,
            "--lang" => wish.options.language = value()?,
            "--theme" => wish.options.scheme = scheme(&value()?)?,
            "--reduced-motion" => wish.options.reduced_motion = true,
            "--url-fragment" => wish.options.fragment = value()?,
            "--wait" => wish.wait = value()?,
            "--script" => wish.scripts.push(value()?),
            "--until" => wish.until = Some(value()?),
            "--whole" => wish.whole = true,
            flag if flag.starts_with("--") => bail!("`{flag}` isn't known\n{USAGE}"),
            out => wish.out = out.into(),
        }
    }
    if wish.out.as_os_str().is_empty() {
        bail!("the file to write is missing\n{USAGE}");
    }
    Ok(wish)
}

fn size(text: &str) -> Result<(u32, u32)> {
    match text.split_once('x').map(|(w, h)| (w.parse(), h.parse())) {
        Some((Ok(width), Ok(height))) => Ok((width, height)),
        _ => bail!("a size is written 1440x900, not `{text}`"),
    }
}

fn scheme(text: &str) -> Result<Scheme> {
    match text {
        "light" => Ok(Scheme::Light),
        "dark" => Ok(Scheme::Dark),
        _ => bail!("a theme is light or dark, not `{text}`"),
    }
}

/// Takes the picture in any case; tells whether the page was well.
fn shoot(wish: &Wish) -> Result<bool> {
    let browser = Browser::start(&wish.dist)?;
    let page = browser.open(&wish.options)?;
    let mut wrong = Vec::new();
    if let Err(why) = page.testid(&wish.wait).wait() {
        wrong.push(format!("{why:#}"));
    }
    for script in &wish.scripts {
        let value = page.script(script)?;
        if !value.is_null() {
            println!("{value}");
        }
    }
    if let Some(expression) = &wish.until {
        let body = format!("return !!({expression})");
        let met = page.wait_until(expression, |page| Ok(page.script(&body)? == true));
        wrong.extend(met.err().map(|why| format!("{why:#}")));
    }
    // Two frames: what the script has changed is then painted.
    page.script("return new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")?;
    if wish.whole {
        page.screenshot_whole(&wish.out)?;
    } else {
        page.screenshot(&wish.out)?;
    }
    wrong.extend(page.console_errors()?);
    wrong.iter().for_each(|line| eprintln!("shot: {line}"));
    println!("{}", wish.out.display());
    Ok(wrong.is_empty())
}
