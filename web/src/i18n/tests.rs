//! Every text exists in both languages, with the same values, and is used somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{Lang, lookup};

/// Key to text, of all files of a folder.
fn texts(folder: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales").join(folder);
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("folder").flatten() {
        let text = fs::read_to_string(entry.path()).expect("text");
        let mut section = "";
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                section = name;
            } else if let Some((key, value)) = line.split_once('=')
                && !line.starts_with('#')
            {
                let key = format!("{section}.{}", key.trim().trim_matches('"'));
                let double = found.insert(key.clone(), value.trim().to_owned());
                assert!(double.is_none(), "{key} stands twice");
            }
        }
    }
    found
}

fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split("%{").skip(1).filter_map(|rest| rest.split('}').next()).collect()
}

#[test]
fn both_languages_have_every_text_with_the_same_values() {
    let (en, zh) = (texts("en"), texts("zh-CN"));
    let only = |a: &BTreeMap<String, String>, b: &BTreeMap<String, String>| -> Vec<String> {
        a.keys().filter(|key| !b.contains_key(*key)).cloned().collect()
    };
    assert_eq!(only(&en, &zh), Vec::<String>::new(), "missing in zh-CN");
    assert_eq!(only(&zh, &en), Vec::<String>::new(), "missing in en");
    for (key, text) in &en {
        let other = &zh[key];
        assert_eq!(placeholders(text), placeholders(other), "values of {key}");
        assert!(text.len() > 2 && other.len() > 2, "{key} is empty");
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("folder").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn every_text_is_used() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let code: String = files.iter().map(|file| fs::read_to_string(file).expect("source")).collect();
    let unused: Vec<String> = texts("en")
        .into_keys()
        // Texts of these sections are found by a name that the core or a lesson gives.
        .filter(|key| !key.starts_with("invariant.") && !key.starts_with("lesson."))
        .filter(|key| {
            let name = key.replace(['.', '-'], "_").to_uppercase();
            !code.contains(&format!("k::{name}"))
        })
        .collect();
    assert_eq!(unused, Vec::<String>::new(), "texts that nothing shows");
}

#[test]
fn every_invariant_says_what_holds_and_what_broke() {
    for invariant in &kafkascope_core::invariant::ALL {
        for part in ["title", "broken"] {
            let key = format!("invariant.{}.{part}", invariant.name);
            for lang in [Lang::En, Lang::Zh] {
                assert!(lookup(lang, &key).is_some(), "{key} in {lang:?}");
            }
        }
    }
}
