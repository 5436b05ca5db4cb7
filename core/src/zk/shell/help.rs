//! The commands: their names, their usage, and since when there are any.

use crate::zk::op::Release;

/// One command, for the help and for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    pub name: &'static str,
    /// Arguments, as zkCli 3.8.4 words them.
    pub usage: &'static str,
    /// The first release whose client has what the command does. Options follow the modern zkCli
    /// whatever the release.
    pub since: Release,
}

const fn command(name: &'static str, usage: &'static str, since: Release) -> CommandInfo {
    CommandInfo { name, usage, since }
}

const ADD_WATCH: &str = "[-m mode] path # optional mode is one of \
                         [PERSISTENT, PERSISTENT_RECURSIVE] - default is PERSISTENT_RECURSIVE";

/// In the order in which zkCli lists them: capitals come first.
pub const COMMANDS: &[CommandInfo] = &[
    command("addWatch", ADD_WATCH, Release::V3_8_4),
    command("addauth", "scheme auth", Release::V3_4_6),
    command("close", "", Release::V3_4_6),
    command("connect", "host:port", Release::V3_4_6),
    command("create", "[-s] [-e] [-c] [-t ttl] path [data] [acl]", Release::V3_4_6),
    command("delete", "[-v version] path", Release::V3_4_6),
    command("deleteall", "path [-b batch size]", Release::V3_4_6),
    command("get", "[-s] [-w] path", Release::V3_4_6),
    command("getAcl", "[-s] path", Release::V3_4_6),
    command("getAllChildrenNumber", "path", Release::V3_8_4),
    command("getEphemerals", "path", Release::V3_8_4),
    command("help", "", Release::V3_4_6),
    command("history", "", Release::V3_4_6),
    command("ls", "[-s] [-w] [-R] path", Release::V3_4_6),
    command("printwatches", "on|off", Release::V3_4_6),
    command("quit", "", Release::V3_4_6),
    command("redo", "cmdno", Release::V3_4_6),
    command("removewatches", "path [-c|-d|-a] [-l]", Release::V3_5_9),
    command("set", "[-s] [-v version] path data", Release::V3_4_6),
    command("setAcl", "[-s] [-v version] [-R] path acl", Release::V3_4_6),
    command("stat", "[-w] path", Release::V3_4_6),
    command("sync", "path", Release::V3_4_6),
    command("version", "", Release::V3_4_6),
    command("whoami", "", Release::V3_8_4),
];

/// Commands of zkCli that speak of things the model does not have.
pub const NOT_MODELLED: &[&str] = &["config", "delquota", "listquota", "reconfig", "setquota"];

pub fn find(name: &str, release: Release) -> Option<&'static CommandInfo> {
    COMMANDS.iter().find(|command| command.name == name && command.since <= release)
}

/// `get [-s] [-w] path`, as this release words it.
pub fn usage(command: &CommandInfo, release: Release) -> String {
    let newest = release >= Release::V3_9_5;
    let usage = match command.name {
        "get" if newest => "[-s] [-w] [-b] [-x] path",
        "set" if newest => "path data [-s] [-v version] [-b]",
        _ => command.usage,
    };
    format!("{} {usage}", command.name)
}

/// What zkCli prints before it says that it doesn't know a command.
pub fn list(release: Release) -> Vec<String> {
    let head = "ZooKeeper -server host:port -client-configuration properties-file cmd args";
    let known = COMMANDS.iter().filter(|command| command.since <= release);
    std::iter::once(head.to_owned())
        .chain(known.map(|command| format!("\t{}", usage(command, release))))
        .collect()
}

/// The names of commands that begin as the line does; none once the first word is complete.
pub fn complete(line: &str) -> Vec<&'static str> {
    let begun = line.trim_start();
    COMMANDS.iter().map(|command| command.name).filter(|name| name.starts_with(begun)).collect()
}

/// The answer to `version`: what the builds of Apache say of themselves.
pub const fn version(release: Release) -> &'static str {
    match release {
        Release::V3_4_6 => "3.4.6-1569965, built on 02/20/2014 09:09 GMT",
        Release::V3_5_9 => {
            "3.5.9-83df9301aa5c2a5d284a9940177808c01bc35cef, built on 01/06/2021 20:03 GMT"
        }
        Release::V3_8_4 => {
            "3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC"
        }
        Release::V3_9_5 => {
            "3.9.5-293c895a8d966a3ecb92872be4a1daf87d725da2, built on 2026-02-11 20:18 UTC"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted_and_complete() {
        assert!(COMMANDS.is_sorted_by(|a, b| a.name < b.name));
        assert_eq!(complete("getA"), ["getAcl", "getAllChildrenNumber"]);
        assert_eq!(complete(" del"), ["delete", "deleteall"]);
        assert!(complete("ls /").is_empty());
        assert_eq!(complete("").len(), COMMANDS.len());
    }
}
