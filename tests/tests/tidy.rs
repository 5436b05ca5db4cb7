//! The shape of the source: who imports whom, how long things are, what must not stand in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const COLUMNS: usize = 100;
const FUNCTION_LINES: usize = 70;

/// Modules of the core and what each may import, as ARCHITECTURE.md draws it.
const IMPORTS: [(&str, &[&str]); 10] = [
    ("base", &[]),
    ("sim", &["base"]),
    ("zk", &["base", "sim"]),
    ("kafka", &["base", "sim", "zk"]),
    ("world", &["base", "sim", "zk", "kafka"]),
    ("invariant", &["base", "sim", "zk", "kafka", "world"]),
    ("lab", &["base", "sim", "world", "invariant"]),
    ("view", &["base", "sim", "zk", "kafka", "world", "invariant", "lab"]),
    ("script", &["base", "sim", "zk", "kafka", "world", "invariant", "lab", "view"]),
    ("formats", &["base", "view", "script"]),
];

/// What Kafka may know of ZooKeeper: the protocol's words, paths and the client.
const ZK_FOR_KAFKA: [&str; 4] = ["op", "path", "client", "hold"];

fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the workspace is above its tests").to_path_buf()
}

fn files_below(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        if path.is_dir() {
            if !hidden && name != "target" && name != "dist" {
                files_below(&path, ending, into);
            }
        } else if path.extension().is_some_and(|found| found == ending) {
            into.push(path);
        }
    }
}

/// Every file of Rust in the repository with its text.
fn sources() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    files_below(&root(), "rs", &mut files);
    files.sort();
    assert!(files.len() > 50, "the sources are not where they should be");
    files
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a source can be read");
            (path.strip_prefix(root()).expect("it is below the root").to_path_buf(), text)
        })
        .collect()
}

fn report(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The module of the core that a file belongs to.
fn module_of(path: &Path) -> Option<String> {
    let inside = path.strip_prefix("core/src").ok()?;
    let first = inside.components().next()?.as_os_str().to_string_lossy().into_owned();
    Some(first.trim_end_matches(".rs").to_owned())
}

/// The names that follow `crate::` in a line, with what follows them.
fn imported(line: &str) -> Vec<(String, String)> {
    let word = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    line.match_indices("crate::")
        .map(|(at, found)| {
            let rest = &line[at + found.len()..];
            let first = word(rest);
            let next = rest[first.len()..].strip_prefix("::").map(word).unwrap_or_default();
            (first, next)
        })
        .collect()
}

#[test]
fn modules_import_only_what_they_may() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(module) = module_of(&path).filter(|module| module != "lib") else { continue };
        let allowed = IMPORTS.iter().find(|(name, _)| *name == module).map(|(_, allowed)| *allowed);
        let Some(allowed) = allowed else {
            wrong.push(format!("{}: {module} is not in the table", path.display()));
            continue;
        };
        for (number, line) in (1..).zip(code_of(&text)) {
            for (name, next) in imported(line) {
                let own = name == module || name.is_empty();
                if !own && !allowed.contains(&&*name) {
                    wrong.push(format!("{}:{number}: {module} imports {name}", path.display()));
                }
                if module == "kafka" && name == "zk" && !ZK_FOR_KAFKA.contains(&&*next) {
                    wrong.push(format!("{}:{number}: kafka imports zk::{next}", path.display()));
                }
            }
        }
    }
    report(wrong);
}

/// Lines before the tests of a file, which may look further.
fn code_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"))
}

#[test]
fn lines_and_functions_are_short() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let mut open: Option<(usize, usize)> = None;
        for (number, line) in (1..).zip(text.lines()) {
            // What a real tool printed stands on its line as it is.
            let said = path.ends_with("shell/tests.rs");
            if line.chars().count() > COLUMNS && !said {
                wrong.push(format!("{}:{number}: longer than {COLUMNS}", path.display()));
            }
            let indent = line.len() - line.trim_start().len();
            let begins = line.trim_start().split("fn ").next().is_some_and(|before| {
                let words = ["", "pub", "const", "async", "unsafe", "extern"];
                before
                    .split_whitespace()
                    .all(|word| words.contains(&word) || word.starts_with("pub("))
            }) && line.contains("fn ");
            match open {
                None if begins && !line.trim_end().ends_with(['}', ';']) => {
                    open = Some((number, indent));
                }
                Some((start, level)) if indent == level && line.trim_start().starts_with('}') => {
                    let lines = number - start + 1;
                    if lines > FUNCTION_LINES {
                        wrong.push(format!("{}:{start}: {lines} lines", path.display()));
                    }
                    open = None;
                }
                Some((_, level)) if indent == level && line.trim_end().ends_with(';') => {
                    open = None;
                }
                _ => {}
            }
        }
    }
    report(wrong);
}

/// What decides, prints or is hashed in the core.
#[test]
fn the_core_is_free_of_what_differs_between_machines() {
    const FORBIDDEN: [&str; 9] = [
        "HashMap",
        "HashSet",
        "f32",
        "f64",
        "std::time",
        "std::thread",
        "std::fs",
        "std::net",
        "std::env",
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("core/src")) {
        if path.ends_with("tests.rs") {
            continue;
        }
        for (number, line) in (1..).zip(code_of(text)) {
            let code = line.split("//").next().unwrap_or_default();
            for word in FORBIDDEN {
                if code.contains(word) {
                    wrong.push(format!("{}:{number}: {word}", path.display()));
                }
            }
        }
    }
    report(wrong);
}

/// What a person types reaches all of the core and the page: no way out by panic.
#[test]
fn nothing_that_runs_in_the_page_panics_by_word() {
    const FORBIDDEN: [&str; 5] =
        [".unwrap()", ".expect(", "panic!(", "unreachable!(", "unimplemented!("];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let page = path.starts_with("core/src") || path.starts_with("web/src");
        if !page || path.ends_with("tests.rs") {
            continue;
        }
        for (number, line) in (1..).zip(code_of(&text)) {
            // A region outside the page is a mistake of the build, not of a person.
            if line.contains("use_context::<") {
                continue;
            }
            // The parser's own word for "this must come next" is no panic.
            let code = line.split("//").next().unwrap_or_default().replace("words.expect(", "");
            for word in FORBIDDEN {
                if code.contains(word) {
                    wrong.push(format!("{}:{number}: {word}", path.display()));
                }
            }
        }
    }
    report(wrong);
}

/// Every source file is part of a crate: its parent names it.
#[test]
fn no_file_is_dead() {
    let all = sources();
    let paths: BTreeSet<&PathBuf> = all.iter().map(|(path, _)| path).collect();
    let mut wrong = Vec::new();
    for (path, _) in &all {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        let roots = ["main", "lib", "build"];
        let target = folder.ends_with("tests/tests")
            || folder.ends_with("bin")
            || folder.ends_with("web/tests")
            || folder.ends_with("benches")
            || roots.contains(&stem) && !folder.ends_with("flows");
        if target {
            continue;
        }
        // `a/b.rs` is named in a/mod.rs, a.rs or the root beside it; `a/b/mod.rs` one level up.
        let (name, above) = match stem {
            "mod" => (
                folder.file_name().and_then(|n| n.to_str()).unwrap_or_default(),
                folder.parent().unwrap_or(Path::new("")),
            ),
            stem => (stem, folder),
        };
        let beside = above.with_extension("rs");
        let candidates: Vec<PathBuf> = ["mod.rs", "lib.rs", "main.rs"]
            .iter()
            .map(|file| above.join(file))
            .chain([beside, PathBuf::from("tests/browser/src/main.rs")])
            .collect();
        let named = all.iter().any(|(parent, text)| {
            (candidates.contains(parent) || parent.starts_with("tests/browser"))
                && (text.contains(&format!("mod {name};"))
                    || text.contains(&format!("{name}.rs"))
                    || parent.starts_with("tests/browser") && text.contains(name))
        });
        if !named {
            wrong.push(format!("{}: nobody names it", path.display()));
        }
    }
    assert!(!paths.is_empty());
    report(wrong);
}

/// Sources of packages are reached through ordinary clients; their hosts are not our business.
#[test]
fn no_host_of_a_registry_is_named() {
    // Spelt in two parts, so that this file does not name them.
    let hosts = [
        ("deb.", "debian.org"),
        ("registry.", "npmjs.org"),
        ("repo1.", "maven.org"),
        ("repo.", "maven.apache.org"),
        ("index.", "crates.io"),
        ("static.", "crates.io"),
        ("static.", "rust-lang.org"),
        ("files.", "pythonhosted.org"),
    ];
    let mut files = Vec::new();
    for ending in ["rs", "sh", "toml", "md", "html", "yml", "xml", "java", "json"] {
        files_below(&root(), ending, &mut files);
    }
    let mut wrong = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for (first, second) in hosts {
            if text.contains(&format!("{first}{second}")) {
                wrong.push(format!("{}: {first}{second}", path.display()));
            }
        }
    }
    report(wrong);
}
