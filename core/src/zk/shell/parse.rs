//! From words to a command: what zkCli checks before it sends anything.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::help::{self, CommandInfo};
use super::words::{self, Options};
use crate::zk::op::{
    Acl, AclList, AddWatchMode, CreateMode, Data, Path, Release, WatcherType, open_acl, perms,
};
use crate::zk::path;

/// The longest time to live that the server can keep, in milliseconds.
const MAX_TTL: i64 = 0xff_ffff_ffff;
/// Deletes that `deleteall` puts into one multi.
const BATCH: i32 = 1_000;

/// How `get` shows data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Plain,
    Base64,
    HexDump,
}

/// A command that can be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Ls {
        path: Path,
        stat: bool,
        watch: bool,
        recursive: bool,
    },
    Get {
        path: Path,
        stat: bool,
        watch: bool,
        format: Format,
    },
    Stat {
        path: Path,
        watch: bool,
    },
    Create {
        path: Path,
        data: Data,
        acl: AclList,
        mode: CreateMode,
        ttl_ms: i64,
    },
    Set {
        path: Path,
        data: Data,
        version: i32,
        stat: bool,
    },
    Delete {
        path: Path,
        version: i32,
    },
    /// A batch of 0 or less: one delete after the other.
    DeleteAll {
        path: Path,
        batch: i32,
    },
    Sync {
        path: Path,
    },
    AddWatch {
        path: Path,
        mode: AddWatchMode,
    },
    RemoveWatches {
        path: Path,
        kind: WatcherType,
    },
    GetEphemerals {
        prefix: Path,
    },
    GetAllChildrenNumber {
        path: Path,
    },
    GetAcl {
        path: Path,
        stat: bool,
    },
    SetAcl {
        path: Path,
        acl: AclList,
        version: i32,
        stat: bool,
        recursive: bool,
    },
    AddAuth {
        scheme: Arc<str>,
        auth: Arc<[u8]>,
    },
    WhoAmI,
    Version,
    Close,
}

/// What became of a line's words: lines that are printed first, then the command or a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    pub notes: Vec<Note>,
    pub command: Result<Command, String>,
}

/// A line that is printed before the command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Output(String),
    Error(String),
}

pub fn command(info: &CommandInfo, words: Vec<String>, release: Release) -> Parsed {
    let mut parser = Parser { info, release, notes: Vec::new() };
    let command = parser.command(words);
    Parsed { notes: parser.notes, command }
}

struct Parser<'a> {
    info: &'a CommandInfo,
    release: Release,
    notes: Vec<Note>,
}

type Outcome = Result<Command, String>;

impl Parser<'_> {
    fn command(&mut self, words: Vec<String>) -> Outcome {
        match self.info.name {
            "ls" => self.ls(words),
            "get" => self.get(words),
            "stat" => self.stat(words),
            "create" => self.create(words),
            "set" => self.set(words),
            "delete" => self.delete(words),
            "deleteall" => self.delete_all(words),
            "addWatch" => self.add_watch(words),
            "removewatches" => self.remove_watches(words),
            "setAcl" => self.set_acl(words),
            "addauth" => self.add_auth(words),
            "getAcl" => {
                let given = self.options("s", words, 2)?;
                let path = self.path(&given.words[1])?;
                Ok(Command::GetAcl { path, stat: given.has('s') })
            }
            "sync" => {
                let given = self.options("", words, 2)?;
                Ok(Command::Sync { path: self.path(&given.words[1])? })
            }
            "getAllChildrenNumber" => {
                let given = self.options("", words, 2)?;
                Ok(Command::GetAllChildrenNumber { path: self.path(&given.words[1])? })
            }
            "getEphemerals" => {
                let given = self.options("", words, 1)?;
                let prefix = given.words.get(1).map_or("/", String::as_str);
                Ok(Command::GetEphemerals { prefix: self.path(prefix)? })
            }
            "whoami" => self.options("", words, 1).map(|_| Command::WhoAmI),
            "version" => self.options("", words, 1).map(|_| Command::Version),
            "close" => self.options("", words, 1).map(|_| Command::Close),
            // The shell itself carries the others out.
            _ => Err(self.usage()),
        }
    }

    /// What a refused call is answered with. 3.9.5 explains the options of `set` and `get`.
    fn usage(&self) -> String {
        let usage = help::usage(self.info, self.release);
        let more: &[&str] = match self.info.name {
            "set" if self.release >= Release::V3_9_5 => &[
                " -b         Supply data in base64 format",
                " -s         Print znode stats additionally",
                " -v <arg>   Set with an expected version",
                "",
            ],
            "get" if self.release >= Release::V3_9_5 => &[
                " -b   Output data in base64 format",
                " -s   Print znode stats additionally",
                " -w   Watch for changes on the znode",
                " -x   Output data in hexdump format",
                "",
            ],
            _ => &[],
        };
        more.iter().fold(usage, |text, line| text + "\n" + line)
    }

    /// At least `least` words, the name among them.
    fn options(&self, known: &str, words: Vec<String>, least: usize) -> Result<Options, String> {
        let given = words::options(known, words)?;
        if given.words.len() < least { Err(self.usage()) } else { Ok(given) }
    }

    /// The older form `get path watch`: whatever stands there is taken for `-w`.
    fn watch_option(
        &mut self,
        known: &str,
        words: Vec<String>,
        (old, new): (&str, &str),
    ) -> Result<Options, String> {
        let given = words::options(known, words.clone())?;
        if given.words.len() <= 2 {
            return Ok(given);
        }
        self.notes
            .push(Note::Error(format!("'{old}' has been deprecated. Please use '{new}' instead.")));
        let mut words = words;
        "-w".clone_into(&mut words[2]);
        words::options(known, words)
    }

    fn path(&self, text: &str) -> Result<Path, String> {
        path_fault(text, self.release).map_or_else(|| Ok(text.into()), Err)
    }

    fn ls(&mut self, words: Vec<String>) -> Outcome {
        let forms = ("ls path [watch]", "ls [-w] path");
        let given = self.watch_option("?swR", words, forms)?;
        if given.has('?') {
            let help = [
                "usage: ls [options] path",
                " -?   help",
                " -R   recurse",
                " -s   stat",
                " -w   watch",
            ];
            self.notes.extend(help.map(|line| Note::Output(line.to_owned())));
        }
        let path = given.words.get(1).ok_or_else(|| self.usage())?;
        Ok(Command::Ls {
            path: self.path(path)?,
            stat: given.has('s'),
            watch: given.has('w'),
            recursive: given.has('R'),
        })
    }

    fn get(&mut self, words: Vec<String>) -> Outcome {
        let known = if self.release >= Release::V3_9_5 { "swbx" } else { "sw" };
        self.options(known, words.clone(), 2)?;
        let forms = ("get path [watch]", "get [-s] [-w] path");
        let given = self.watch_option(known, words, forms)?;
        let format = match (given.has('b'), given.has('x')) {
            (true, _) => Format::Base64,
            (_, true) => Format::HexDump,
            _ => Format::Plain,
        };
        let path = self.path(given.words.get(1).ok_or_else(|| self.usage())?)?;
        Ok(Command::Get { path, stat: given.has('s'), watch: given.has('w'), format })
    }

    fn stat(&mut self, words: Vec<String>) -> Outcome {
        self.options("w", words.clone(), 2)?;
        let forms = ("stat path [watch]", "stat [-w] path");
        let given = self.watch_option("w", words, forms)?;
        let path = self.path(given.words.get(1).ok_or_else(|| self.usage())?)?;
        Ok(Command::Stat { path, watch: given.has('w') })
    }

    fn create(&mut self, words: Vec<String>) -> Outcome {
        let known = if self.release == Release::V3_4_6 { "es" } else { "esct:" };
        let given = self.options(known, words, 2)?;
        let (e, s, c, t) = (given.has('e'), given.has('s'), given.has('c'), given.has('t'));
        if c && (e || s) {
            return Err("-c cannot be combined with -s or -e. \
                        Containers cannot be ephemeral or sequential."
                .to_owned());
        }
        let ttl_ms = match given.value('t').map(str::parse) {
            None => 0,
            Some(Ok(ttl_ms)) => ttl_ms,
            Some(Err(_)) => return Err("-t argument must be a long value".to_owned()),
        };
        if t && (e || c) {
            let kind = if e { "Ephemeral" } else { "Container" };
            return Err(format!("TTLs cannot be used with {kind} znodes"));
        }
        if t && !(1..=MAX_TTL).contains(&ttl_ms) {
            return Err(format!("ttl must be positive and cannot be larger than: {MAX_TTL}"));
        }
        let mode = match (e, s, c, t) {
            (true, true, ..) => CreateMode::EphemeralSequential,
            (true, ..) => CreateMode::Ephemeral,
            (_, true, _, true) => CreateMode::PersistentSequentialWithTtl,
            (_, true, ..) => CreateMode::PersistentSequential,
            (_, _, true, _) => CreateMode::Container,
            (_, _, _, true) => CreateMode::PersistentWithTtl,
            _ => CreateMode::Persistent,
        };
        let data = given.words.get(2).map(|text| Arc::from(text.as_bytes()));
        let acl = given.words.get(3).map_or_else(open_acl, |text| self.acl(text));
        let path = &given.words[1];
        // A sequential path is checked with a digit at its end.
        if s {
            self.path(&format!("{path}1"))?
        } else {
            self.path(path)?
        };
        if acl.is_empty() {
            self.notes.push(Note::Error("KeeperErrorCode = InvalidACL".to_owned()));
            return Err(EMPTY_ACL.to_owned());
        }
        Ok(Command::Create { path: path.as_str().into(), data, acl, mode, ttl_ms })
    }

    fn set(&mut self, words: Vec<String>) -> Outcome {
        let known = if self.release >= Release::V3_9_5 { "sv:b" } else { "sv:" };
        let given = self.options(known, words, 3)?;
        let data = if given.has('b') {
            STANDARD.decode(&given.words[2]).map_err(|_| NOT_BASE64.to_owned())?.into()
        } else {
            Arc::from(given.words[2].as_bytes())
        };
        let version = int(given.value('v'), -1)?;
        let path = self.path(&given.words[1])?;
        Ok(Command::Set { path, data: Some(data), version, stat: given.has('s') })
    }

    fn delete(&mut self, words: Vec<String>) -> Outcome {
        let mut given = self.options("v:", words.clone(), 2)?;
        if given.words.len() > 2 {
            self.notes.push(Note::Error(
                "'delete path [version]' has been deprecated. \
                 Please use 'delete [-v version] path' instead."
                    .to_owned(),
            ));
            let mut words = words;
            words.insert(2, "-v".to_owned());
            given = self.options("v:", words, 2)?;
        }
        let version = int(given.value('v'), -1)?;
        Ok(Command::Delete { path: self.path(&given.words[1])?, version })
    }

    fn delete_all(&mut self, words: Vec<String>) -> Outcome {
        let given = self.options("b:", words, 2)?;
        let batch = int(given.value('b'), BATCH)
            .map_err(|_| "-b argument must be an int value".to_owned())?;
        // Only clients from 3.6 on put deletes together.
        let batch = if self.release >= Release::V3_8_4 { batch } else { 0 };
        Ok(Command::DeleteAll { path: self.path(&given.words[1])?, batch })
    }

    fn add_watch(&mut self, words: Vec<String>) -> Outcome {
        let given = self.options("m:", words, 2)?;
        let mode = given.value('m').map(str::to_uppercase);
        let mode = match mode.as_deref() {
            None | Some("PERSISTENT_RECURSIVE") => AddWatchMode::PersistentRecursive,
            Some("PERSISTENT") => AddWatchMode::Persistent,
            Some(_) => return Err(self.usage()),
        };
        if given.words.len() != 2 {
            return Err(self.usage());
        }
        Ok(Command::AddWatch { path: self.path(&given.words[1])?, mode })
    }

    fn remove_watches(&mut self, words: Vec<String>) -> Outcome {
        let given = self.options("cdal", words, 2)?;
        let kind = match (given.has('c'), given.has('d')) {
            (true, _) => WatcherType::Children,
            (_, true) => WatcherType::Data,
            _ => WatcherType::Any,
        };
        Ok(Command::RemoveWatches { path: self.path(&given.words[1])?, kind })
    }

    fn set_acl(&mut self, words: Vec<String>) -> Outcome {
        let given = self.options("sv:R", words, 3)?;
        let acl = self.acl(&given.words[2]);
        let version = int(given.value('v'), -1)?;
        let path = self.path(&given.words[1])?;
        if acl.is_empty() {
            return Err(EMPTY_ACL.to_owned());
        }
        let (stat, recursive) = (given.has('s'), given.has('R'));
        Ok(Command::SetAcl { path, acl, version, stat, recursive })
    }

    /// A credential left out is refused here, where the real shell sends null, which ends the
    /// session as AuthFailed: the protocol's words of the model have no null credential.
    fn add_auth(&mut self, words: Vec<String>) -> Outcome {
        let given = self.options("", words, 3)?;
        let [_, scheme, auth, ..] = given.words.as_slice() else { return Err(self.usage()) };
        Ok(Command::AddAuth { scheme: scheme.as_str().into(), auth: auth.as_bytes().into() })
    }

    /// `AclParser`: complains about what it can't read and goes on.
    fn acl(&mut self, text: &str) -> AclList {
        let mut list = Vec::new();
        for entry in java_split(text) {
            let parts = entry.split_once(':').and_then(|(scheme, rest)| {
                rest.rsplit_once(':').map(|(id, letters)| (scheme, id, letters))
            });
            let Some((scheme, id, letters)) = parts else {
                let complaint = format!("{entry} does not have the form scheme:id:perm");
                self.notes.push(Note::Error(complaint));
                continue;
            };
            let mut bits = 0;
            for letter in letters.chars() {
                bits |= match letter {
                    'r' => perms::READ,
                    'w' => perms::WRITE,
                    'c' => perms::CREATE,
                    'd' => perms::DELETE,
                    'a' => perms::ADMIN,
                    _ => {
                        self.notes.push(Note::Error(format!("Unknown perm type: {letter}")));
                        0
                    }
                };
            }
            list.push(Acl { perms: bits, scheme: scheme.into(), id: id.into() });
        }
        list.into()
    }
}

/// The library refuses an empty list before a path is known.
const EMPTY_ACL: &str = "Acl is not valid : null";
const NOT_BASE64: &str = "java.lang.IllegalArgumentException: the data is not in base64 format";

/// `String.split(",")`: empty parts at the end don't count, unless there is no comma at all.
fn java_split(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = text.split(',').collect();
    while parts.len() > 1 && parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    if parts == [""] && !text.is_empty() { Vec::new() } else { parts }
}

/// The real shell dies of a version that is no number; this one names the exception and goes on.
fn int(text: Option<&str>, default: i32) -> Result<i32, String> {
    text.map_or(Ok(default), |text| {
        text.parse()
            .map_err(|_| format!("java.lang.NumberFormatException: For input string: \"{text}\""))
    })
}

/// What `PathUtils.validatePath` has against a path. It counts in UTF-16 code units, and looks at
/// dots when it meets the last one.
pub fn path_fault(path: &str, release: Release) -> Option<String> {
    if path.is_empty() {
        return Some("Path length must be > 0".to_owned());
    }
    if !path.starts_with('/') {
        return Some("Path must start with / character".to_owned());
    }
    if path.len() == 1 {
        return None;
    }
    if path.ends_with('/') {
        return Some("Path must not end with / character".to_owned());
    }
    let units: Vec<u16> = path.encode_utf16().collect();
    let (slash, dot) = (u16::from(b'/'), u16::from(b'.'));
    for at in 1..units.len() {
        let (unit, before) = (units[at], units[at - 1]);
        let ends = units.get(at + 1).is_none_or(|&next| next == slash);
        let alone = before == slash || (before == dot && at >= 2 && units[at - 2] == slash);
        let reason = if unit == 0 {
            "null character not allowed"
        } else if unit == slash && before == slash {
            "empty node name specified"
        } else if unit == dot && ends && alone {
            "relative paths not allowed"
        } else if path::is_forbidden(unit, release) {
            "invalid character"
        } else {
            continue;
        };
        return Some(format!("Invalid path string \"{path}\" caused by {reason} @{at}"));
    }
    None
}
