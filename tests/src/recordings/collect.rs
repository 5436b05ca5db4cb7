//! Finding recordings: `.json` files of a folder, by software version (the folder they lie in).

use std::io;
use std::path::{Path, PathBuf};

/// A recording's file and its name, `VERSION/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub name: String,
    pub path: PathBuf,
}

impl File {
    /// The folder the file lies in: the software version, or `zookeeper`.
    pub fn version(&self) -> &str {
        self.name.split('/').next().unwrap_or("")
    }

    /// Is it meant by this name: `VERSION/NAME`, `NAME`, or all of a `VERSION`?
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.strip_suffix(".json").unwrap_or(name).trim_end_matches('/');
        let parts = self.name.split_once('/');
        self.name == name || parts.is_some_and(|(version, own)| version == name || own == name)
    }
}

/// `tests/recordings` of the workspace, also where the binary runs from elsewhere.
pub fn default_folder() -> PathBuf {
    let here = PathBuf::from("tests/recordings");
    if here.is_dir() { here } else { Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings") }
}

/// All recordings below a folder, sorted by path.
pub fn files(folder: &Path) -> io::Result<Vec<File>> {
    let mut paths = Vec::new();
    walk(&std::fs::canonicalize(folder)?, &mut paths)?;
    paths.sort();
    let text = |x: Option<&std::ffi::OsStr>| x.unwrap_or_default().to_string_lossy().into_owned();
    let file = |path: PathBuf| {
        let version = text(path.parent().and_then(Path::file_name));
        File { name: format!("{version}/{}", text(path.file_stem())), path }
    };
    Ok(paths.into_iter().map(file).collect())
}

fn walk(folder: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, out)?;
        } else if path.extension().is_some_and(|x| x == "json") {
            out.push(path);
        }
    }
    Ok(())
}
