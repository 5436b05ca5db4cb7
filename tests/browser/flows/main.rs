//! Whole flows through the page: `flows [--dist DIR] [--list] [FILTER…]`.
//!
//! A flow is a file of this folder with `pub fn run(&Browser) -> Result<()>`, named in `flows!`.

mod hands;

use browser::{Browser, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

macro_rules! flows {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        const FLOWS: &[(&str, fn(&Browser) -> Result<()>)] =
            &[$((stringify!($name), $name::run)),*];
    };
}

// One line each, in the order in which a person meets them.
flows! {
    first_load,
    add_broker,
    kill_broker,
    controller_by_hand,
    profiles,
    groups,
    logs,
    share_link,
    language,
    keyboard,
    narrow,
    lesson,
    reduced_motion,
    bad_input,
}

struct Asked {
    dist: PathBuf,
    list: bool,
    filters: Vec<String>,
}

fn main() -> ExitCode {
    match asked().and_then(|asked| run(&asked)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            println!("FAILED flows: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn asked() -> Result<Asked> {
    let mut asked = Asked { dist: PathBuf::from("dist"), list: false, filters: Vec::new() };
    let mut given = std::env::args().skip(1);
    while let Some(arg) = given.next() {
        match arg.as_str() {
            "--list" => asked.list = true,
            "--dist" => match given.next() {
                Some(dist) => asked.dist = dist.into(),
                None => browser::bail!("--dist needs a folder"),
            },
            flag if flag.starts_with("--") => {
                browser::bail!("`{flag}` isn't known; flows [--dist DIR] [--list] [FILTER…]")
            }
            filter => asked.filters.push(filter.to_owned()),
        }
    }
    Ok(asked)
}

fn run(asked: &Asked) -> Result<usize> {
    let wanted = |name: &str| {
        asked.filters.is_empty() || asked.filters.iter().any(|part| name.contains(part.as_str()))
    };
    let flows: Vec<_> = FLOWS.iter().filter(|(name, _)| wanted(name)).collect();
    browser::ensure!(!flows.is_empty(), "no flow is named like {:?}", asked.filters);
    if asked.list {
        flows.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(0);
    }
    let browser = Browser::start(&asked.dist)?;
    let pictures = std::env::temp_dir().join("kafkascope-flows");
    std::fs::create_dir_all(&pictures)?;
    let mut failed = 0;
    for (name, flow) in flows {
        failed += usize::from(!one(&browser, name, *flow, &pictures));
    }
    Ok(failed)
}

/// Runs one flow, prints how it went, and leaves no browser of it open.
fn one(browser: &Browser, name: &str, flow: fn(&Browser) -> Result<()>, pictures: &Path) -> bool {
    let begun = Instant::now();
    // A failed assertion fails this flow, not the others.
    let done = catch_unwind(AssertUnwindSafe(|| flow(browser)));
    let mut wrong = match done {
        Ok(Ok(())) => Vec::new(),
        Ok(Err(why)) => vec![format!("{why:#}")],
        Err(_) => vec!["it panicked; see above".to_owned()],
    };
    let picture = pictures.join(name);
    let logged = browser.close_pages((!wrong.is_empty()).then_some(&picture));
    wrong.extend(logged.into_iter().map(|error| format!("the page logged: {error}")));
    let seconds = begun.elapsed().as_secs_f64();
    if wrong.is_empty() {
        println!("ok {name} ({seconds:.1} s)");
        return true;
    }
    println!("FAILED {name} ({seconds:.1} s)");
    wrong.iter().for_each(|line| println!("  {line}"));
    false
}
