//! What this machine lacks, installed. Every step first looks whether it is needed, so that a
//! second run only takes a moment.

use crate::run::{self, command, on_path, output_of, stream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const TARGET: &str = "wasm32-unknown-unknown";
const TRUNK: &str = "0.21.14";

/// How much is wanted: each scope contains the ones before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Building and serving the page.
    Page,
    /// The optimised page too.
    Release,
    /// The browser for the tests too.
    Everything,
}

struct Step {
    name: String,
    scope: Scope,
    there: fn() -> bool,
    install: fn() -> Result<(), String>,
}

/// Installs what is missing and returns the problems, which it has also printed, a line each.
pub fn setup(scope: Scope) -> Vec<String> {
    let mut problems = Vec::new();
    for step in steps().into_iter().filter(|step| step.scope <= scope) {
        if (step.there)() {
            continue;
        }
        let begun = Instant::now();
        println!("set-up: installing {} …", step.name);
        match (step.install)() {
            Ok(()) if (step.there)() => {
                println!("set-up: {} is there after {} s", step.name, begun.elapsed().as_secs());
            }
            Ok(()) => problems.push(format!("{} was installed but isn't found", step.name)),
            Err(why) => problems.push(format!("{} is missing: {why}", step.name)),
        }
    }
    // The two tools share some of what they are built from, so it is kept until both are there.
    if problems.is_empty() {
        let _ = std::fs::remove_dir_all(build_folder());
    }
    for problem in &problems {
        eprintln!("set-up: {problem}");
    }
    problems
}

fn steps() -> Vec<Step> {
    let step =
        |name: &str, scope, there, install| Step { name: name.to_owned(), scope, there, install };
    vec![
        step("the wasm32 target", Scope::Page, target_there, install_target),
        step(&format!("wasm-bindgen {}", bindgen()), Scope::Page, bindgen_there, install_bindgen),
        step(&format!("trunk {TRUNK}"), Scope::Page, trunk_there, install_trunk),
        step(&format!("wasm-opt {}", wasm_opt()), Scope::Release, wasm_opt_there, install_wasm_opt),
        step("chromium", Scope::Everything, browser_there, install_browser),
        step("Chinese fonts", Scope::Everything, fonts_there, install_fonts),
    ]
}

/// Runs an installer, showing nothing of it but a sign of life, and its last lines if it fails.
fn quietly(what: &str, command: Command) -> Result<(), String> {
    let outcome = stream(&format!("set-up: {what}"), command, |_| false);
    if outcome.ok {
        return Ok(());
    }
    for line in &outcome.tail {
        println!("    {line}");
    }
    Err(format!("{what} failed"))
}

fn is_root() -> bool {
    output_of("id", &["-u"]).is_some_and(|id| id == "0")
}

// --- the wasm target ---------------------------------------------------------------------------

fn target_libdir() -> Option<PathBuf> {
    output_of("rustc", &["--print", "target-libdir", "--target", TARGET]).map(PathBuf::from)
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// The mark that our own build leaves beside the libraries, with the commit of its rustc.
fn mark(names: &[String]) -> Option<&str> {
    names.iter().find_map(|name| name.strip_prefix(".complete-"))
}

fn target_there() -> bool {
    let Some(libdir) = target_libdir() else { return false };
    let names = files(&libdir);
    if !names.iter().any(|name| name.starts_with("libstd-")) {
        return false;
    }
    match mark(&names) {
        // Built here: after an update of rustc it no longer fits.
        Some(commit) => {
            let version = output_of("rustc", &["-vV"]).unwrap_or_default();
            version.lines().any(|line| line == format!("commit-hash: {commit}"))
        }
        None => true,
    }
}

fn install_target() -> Result<(), String> {
    // What an older rustc's own build has left would be in rustup's way.
    if let Some(libdir) = target_libdir()
        && mark(&files(&libdir)).is_some()
    {
        let _ = std::fs::remove_dir_all(&libdir);
    }
    let has_rustup = on_path("rustup").is_some();
    if has_rustup {
        let mut rustup = command("rustup");
        rustup.args(["target", "add", TARGET]);
        if stream("set-up: rustup target add", rustup, |_| false).ok {
            return Ok(());
        }
    }
    let debian = on_path("apt-get").is_some() && on_path("dpkg-deb").is_some();
    match (has_rustup, debian && is_root()) {
        (true, true) => {
            println!("set-up: rustup can't fetch it; building it from Debian's rust-src");
            let mut script = command("bash");
            script.arg(run::root().join("xtask/setup-wasm-std.sh"));
            quietly("setup-wasm-std.sh", script)
        }
        (true, false) => Err(format!(
            "`rustup target add {TARGET}` failed; run it again online, or set up as root on Debian"
        )),
        (false, _) => Err(format!(
            "install Rust by rustup, then run `rustup target add {TARGET}`, or install your \
             system's package of the Rust standard library for {TARGET}"
        )),
    }
}

// --- tools -------------------------------------------------------------------------------------

/// The version that the page's own wasm-bindgen has: the two must be equal.
fn bindgen() -> String {
    let lock = std::fs::read_to_string(run::root().join("Cargo.lock")).unwrap_or_default();
    lock_version(&lock, "wasm-bindgen").unwrap_or_default()
}

fn lock_version(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let after = lock.lines().skip_while(|line| *line != name).nth(1)?;
    Some(after.strip_prefix("version = \"")?.strip_suffix('"')?.to_owned())
}

/// Trunk.toml names the version, because trunk itself insists on it.
fn wasm_opt() -> String {
    let config = std::fs::read_to_string(run::root().join("Trunk.toml")).unwrap_or_default();
    let line = config.lines().find_map(|line| line.strip_prefix("wasm_opt = \"version_"));
    line.map(|rest| rest.trim_end_matches('"').to_owned()).unwrap_or_default()
}

fn prints_version(program: &str, version: &str) -> bool {
    let printed = output_of(program, &["--version"]).unwrap_or_default();
    printed.split_whitespace().any(|word| word == version)
}

fn bindgen_there() -> bool {
    let version = bindgen();
    // One package, two programs: an interrupted or older installation may have only the first.
    prints_version("wasm-bindgen", &version) && on_path("wasm-bindgen-test-runner").is_some()
}

fn trunk_there() -> bool {
    prints_version("trunk", TRUNK)
}

fn wasm_opt_there() -> bool {
    prints_version("wasm-opt", &wasm_opt())
}

fn install_bindgen() -> Result<(), String> {
    cargo_install("wasm-bindgen-cli", &bindgen(), "1")
}

fn install_trunk() -> Result<(), String> {
    cargo_install("trunk", TRUNK, "0")
}

/// A quick build matters more than a quick tool: these run for a second or two each time.
fn cargo_install(package: &str, version: &str, opt_level: &str) -> Result<(), String> {
    let mut cargo = command("cargo");
    cargo
        .args(["install", package, "--version", version])
        .args(["--locked", "--force", "--no-default-features"])
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_STRIP", "true")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level)
        // In a place of its own, an interrupted build goes on where it was.
        .env("CARGO_TARGET_DIR", build_folder());
    quietly(&format!("cargo install {package}"), cargo)
}

fn build_folder() -> PathBuf {
    run::target_dir().join("setup")
}

/// npm's package of binaryen, put where cargo puts programs: needs no root, and is on the PATH.
fn install_wasm_opt() -> Result<(), String> {
    let version = wasm_opt();
    if on_path("npm").is_none() {
        return Err(format!("install Node.js with npm, or binaryen {version}, and run this again"));
    }
    let mut npm = command("npm");
    npm.args(["install", "--global", "--no-fund", "--no-audit", "--prefix"])
        .arg(run::cargo_home())
        .arg(format!("binaryen@{version}"));
    quietly("npm install binaryen", npm)
}

// --- the browser of the tests ------------------------------------------------------------------

fn browser_there() -> bool {
    std::env::var_os("CHROMEDRIVER").is_some() || on_path("chromedriver").is_some()
}

/// Where only some fonts are missing, the tests still say the truth; screenshots look poor.
fn fonts_there() -> bool {
    if !cfg!(target_os = "linux") || on_path("apt-get").is_none() {
        return true;
    }
    output_of("fc-list", &[":lang=zh-cn", "family"]).is_some_and(|fonts| !fonts.is_empty())
}

fn install_browser() -> Result<(), String> {
    apt_install(&["chromium", "chromium-driver"], "install Chrome and chromedriver")
}

fn install_fonts() -> Result<(), String> {
    apt_install(&["fontconfig", "fonts-noto-cjk"], "install a Chinese font")
}

fn apt_install(packages: &[&str], elsewhere: &str) -> Result<(), String> {
    let names = packages.join(" ");
    if on_path("apt-get").is_none() {
        return Err(elsewhere.to_owned());
    }
    if !is_root() {
        return Err(format!("run `sudo apt-get install {names}`"));
    }
    let apt = |args: &[&str]| {
        let mut apt = command("apt-get");
        // Right after boot, the machine's own updates may hold apt's lock for a while.
        apt.args(["-o", "DPkg::Lock::Timeout=180"]);
        apt.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    quietly("apt-get update", apt(&["update", "-qq"]))?;
    let mut install = apt(&["install", "-y", "-qq", "--no-install-recommends"]);
    install.args(packages);
    quietly(&format!("apt-get install {names}"), install)
}

#[cfg(test)]
mod tests {
    use super::{lock_version, mark, wasm_opt};

    #[test]
    fn the_lock_file_names_the_version() {
        let lock = "[[package]]\nname = \"wasm-bindgen-test\"\nversion = \"0.3.1\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.129\"\n";
        assert_eq!(lock_version(lock, "wasm-bindgen").as_deref(), Some("0.2.129"));
        assert_eq!(lock_version(lock, "wasm"), None);
    }

    #[test]
    fn trunk_toml_names_the_version_of_wasm_opt() {
        assert!(wasm_opt().parse::<u32>().is_ok(), "{:?}", wasm_opt());
    }

    #[test]
    fn our_own_library_carries_its_commit() {
        let names = ["libstd-1.rlib".to_owned(), ".complete-abc".to_owned()];
        assert_eq!(mark(&names), Some("abc"));
        assert_eq!(mark(&names[..1]), None);
    }
}
