//! The commands that are native programs of the tests package.

use crate::run;

/// Runs a program of kafkascope-tests with the caller's own arguments, output and exit code.
pub fn pass_through(bin: &str, rest: &[String]) -> Result<u8, String> {
    let status = cargo_run(bin, PROFILE, rest)
        // The caller's folder: a relative DIR means what the caller sees.
        .current_dir(std::env::current_dir().unwrap_or_else(|_| run::root()))
        .status()
        .map_err(|why| format!("can't run cargo: {why}"))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The profile of the tests: after `cargo test` nothing is left to compile.
pub const PROFILE: &str = "test";

pub fn cargo_run(bin: &str, profile: &str, rest: &[String]) -> std::process::Command {
    let mut command = run::command("cargo");
    command
        .args(["run", "--quiet", "--profile", profile, "--manifest-path"])
        .arg(run::root().join("Cargo.toml"))
        .args(["--package", "kafkascope-tests", "--bin", bin, "--"])
        .args(rest);
    command
}

/// Whether the program exists in this checkout.
pub fn exists(bin: &str) -> bool {
    let folder = run::root().join("tests/src/bin");
    folder.join(format!("{bin}.rs")).is_file() || folder.join(bin).join("main.rs").is_file()
}
