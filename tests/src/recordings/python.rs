//! `compare.py`, the judge beside the recordings, asked about many pairs at once.

use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One pair: the recording's file, the run, and the name `VERSION/NAME` it goes by.
pub struct Pair<'a> {
    pub recording: &'a Path,
    pub run: &'a Value,
    pub name: &'a str,
}

/// Is there a Python that can run the judge?
pub fn is_here() -> bool {
    Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success())
}

/// A folder for the pairs, deleted at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(what: &str) -> std::io::Result<Folder> {
        let name = format!("kafkascope-{what}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }

    /// Writes one pair down. The recording is copied, so that a name can stand for several runs.
    pub fn add(&self, pair: &Pair<'_>) -> std::io::Result<()> {
        let at = |side: &str| self.0.join(side).join(format!("{}.json", pair.name));
        for file in [at("expected"), at("got")] {
            std::fs::create_dir_all(file.parent().unwrap_or(&self.0))?;
        }
        std::fs::copy(pair.recording, at("expected"))?;
        std::fs::write(at("got"), pair.run.to_string())
    }

    /// The line that `compare.py` prints for each name, without the name.
    pub fn lines(
        &self,
        judge: &Path,
        rules: Option<&Path>,
    ) -> std::io::Result<HashMap<String, String>> {
        let mut python = Command::new("python3");
        python.arg("-B").arg(judge).arg("--dir").arg(self.0.join("expected"));
        python.arg(self.0.join("got"));
        if let Some(rules) = rules {
            python.arg("--exclude").arg(rules);
        }
        let out = python.output()?;
        let errors = String::from_utf8_lossy(&out.stderr);
        if !errors.is_empty() {
            return Err(std::io::Error::other(errors.into_owned()));
        }
        let printed = String::from_utf8_lossy(&out.stdout);
        let parts = printed.lines().filter_map(|line| line.split_once(' '));
        Ok(parts.map(|(name, line)| (name.to_owned(), line.to_owned())).collect())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
