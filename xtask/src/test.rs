//! `cargo xtask test`: everything that can be checked, each kind even when another has failed.

use crate::tally::{Kind, Tally, Wording, report};
use crate::{args, native, run, setup};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

const WASM: [&str; 4] = ["--package", "kafkascope-web", "--target", "wasm32-unknown-unknown"];

struct Suite {
    kinds: Vec<Kind>,
    fast: bool,
}

pub fn test(rest: &[String]) -> Result<u8, String> {
    let flags = ["--no-setup", "--no-browser", "--no-wasm", "--fast"];
    let given = args::parse("test", rest, &flags, &[])?;
    let mut suite = Suite { kinds: Vec::new(), fast: given.has("--fast") };
    let wasm = !given.has("--no-wasm");
    let browser = wasm && !given.has("--no-browser");
    if wasm && !given.has("--no-setup") {
        suite.set_up();
    }
    suite.check("format", cargo(&["fmt", "--all", "--check"]));
    let lint = ["--all-targets", "--quiet", "--", "--deny", "warnings"];
    suite.check("lints, native", cargo_with(&["clippy"], &lint));
    suite.listen("native tests", Wording::Libtest, cargo(&["test", "--no-fail-fast"]));
    for (name, bin, wording) in [
        ("vectors", "vectors", Wording::Vectors),
        ("recordings", "recordings", Wording::Recordings),
    ] {
        if native::exists(bin) {
            suite.listen(name, wording, native::cargo_run(bin, native::PROFILE, &[]));
        } else {
            suite.skip(name, format!("tests/src/bin/{bin}.rs isn't there yet"));
        }
    }
    let page = cargo(&["test", "--no-fail-fast", "--package", "kafkascope-web", "--bins"]);
    suite.listen("page, native", Wording::Libtest, page);
    if wasm {
        let clippy = [&["clippy"], &WASM[..]].concat();
        suite.check("lints, wasm", cargo_with(&clippy, &lint));
        suite.listen("wasm tests", Wording::Libtest, cargo_with(&["test"], &WASM));
    } else {
        suite.skip("wasm tests", "--no-wasm was given");
    }
    if browser {
        let flows = ["clippy", "--package", "kafkascope-browser-tests"];
        suite.check("lints, browser flows", cargo_with(&flows, &lint));
        let harness = cargo(&["test", "--package", "kafkascope-browser-tests", "--lib"]);
        suite.listen("browser harness", Wording::Libtest, harness);
        suite.flows();
    } else {
        suite.skip("browser flows", "--no-browser or --no-wasm was given");
    }
    println!("{}", report(&suite.kinds));
    Ok(u8::from(suite.kinds.iter().any(|kind| kind.tally.failed > 0)))
}

fn cargo(args: &[&str]) -> Command {
    cargo_with(args, &[])
}

fn cargo_with(args: &[&str], more: &[&str]) -> Command {
    let mut cargo = run::command("cargo");
    cargo.args(args).args(more);
    cargo
}

impl Suite {
    fn set_up(&mut self) {
        let begun = Instant::now();
        let problems = setup::setup(setup::Scope::Everything);
        let failed = problems.len() as u64;
        let tally = Tally { failed, passed: u64::from(failed == 0), ..Tally::default() };
        self.kinds.push(Kind { name: "set-up", tally, took: begun.elapsed() });
    }

    fn skip(&mut self, name: &'static str, reason: impl Into<String>) {
        let mut tally = Tally::default();
        tally.skip(1, reason);
        self.kinds.push(Kind { name, tally, took: Default::default() });
    }

    /// A check passes or fails as a whole.
    fn check(&mut self, name: &'static str, command: Command) {
        let passed = self.listen(name, Wording::Check, command);
        if let Some(kind) = self.kinds.last_mut() {
            kind.tally.passed = u64::from(passed);
        }
    }

    /// Runs a command and counts what it says.
    fn listen(&mut self, name: &'static str, wording: Wording, mut command: Command) -> bool {
        println!("== {name}");
        let begun = Instant::now();
        if self.fast {
            command.env("KAFKASCOPE_FAST", "1");
        }
        if let Some(driver) = run::on_path("chromedriver")
            && std::env::var_os("CHROMEDRIVER").is_none()
        {
            command.env("CHROMEDRIVER", driver);
        }
        command.env("CARGO_TERM_COLOR", "never");
        let in_ci = run::in_ci();
        let mut tally = Tally::default();
        let mut shown = false;
        let outcome = run::stream(name, command, |line| {
            shown |= !line.is_empty();
            tally.line(wording, line, in_ci)
        });
        if !outcome.ok && tally.failed == 0 {
            // It failed as a whole, for instance because it doesn't compile.
            tally.failed = 1;
            if !shown {
                outcome.tail.iter().for_each(|line| println!("{line}"));
            }
        }
        let passed = tally.failed == 0;
        self.kinds.push(Kind { name, tally, took: begun.elapsed() });
        passed
    }

    /// The page is built into a folder of its own, so that a running `serve` isn't disturbed.
    fn flows(&mut self) {
        let dist: PathBuf = run::target_dir().join("page");
        let mut trunk = run::command("trunk");
        trunk.arg("build").arg("--dist").arg(&dist);
        if !self.fast {
            trunk.arg("--release");
        }
        self.check("page build", trunk);
        if self.kinds.last().is_some_and(|kind| kind.tally.failed > 0) {
            self.skip("browser flows", "the page couldn't be built");
            return;
        }
        let mut flows = cargo(&["run", "--quiet", "--package", "kafkascope-browser-tests"]);
        flows.args(["--bin", "flows", "--", "--dist"]).arg(&dist);
        self.listen("browser flows", Wording::Flows, flows);
    }
}
