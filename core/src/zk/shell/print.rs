//! What the shell prints, word for word as zkCli 3.8.4 and 3.9.5 print it.

use crate::zk::client::KeeperState;
use crate::zk::op::{Acl, Error, EventType, Release, Stat, Zxid, perms};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MS_PER_DAY: i64 = 86_400_000;

/// `java.util.Date.toString` in UTC: `Thu Jan 01 00:00:33 UTC 2015`.
pub fn date(ms: i64) -> String {
    let days = ms.div_euclid(MS_PER_DAY);
    let secs = ms.rem_euclid(MS_PER_DAY) / 1_000;
    let (year, month, day) = civil(days);
    let weekday = DAYS[days.rem_euclid(7) as usize];
    let (hour, minute, second) = (secs / 3_600, secs / 60 % 60, secs % 60);
    let month = MONTHS[month];
    format!("{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} UTC {year:04}")
}

/// Year, month from 0 and day of a count of days since 1970. A year is counted from March, so
/// that the leap day is its last. Years before 1582 are Gregorian too, unlike Java's: no run is
/// there.
fn civil(days: i64) -> (i64, usize, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = era * 400 + year_of_era + i64::from(month < 2);
    (year, month as usize, day)
}

pub fn stat(stat: &Stat) -> Vec<String> {
    vec![
        format!("cZxid = 0x{:x}", stat.czxid),
        format!("ctime = {}", date(stat.ctime)),
        format!("mZxid = 0x{:x}", stat.mzxid),
        format!("mtime = {}", date(stat.mtime)),
        format!("pZxid = 0x{:x}", stat.pzxid),
        format!("cversion = {}", stat.cversion),
        format!("dataVersion = {}", stat.version),
        format!("aclVersion = {}", stat.aversion),
        format!("ephemeralOwner = 0x{:x}", stat.ephemeral_owner),
        format!("dataLength = {}", stat.data_length),
        format!("numChildren = {}", stat.num_children),
    ]
}

/// An identity prints as a record of jute, which ends its line.
pub fn acl(acl: &[Acl]) -> Vec<String> {
    let letters = |bits: u32| -> String {
        [
            (perms::CREATE, 'c'),
            (perms::DELETE, 'd'),
            (perms::READ, 'r'),
            (perms::WRITE, 'w'),
            (perms::ADMIN, 'a'),
        ]
        .into_iter()
        .filter_map(|(bit, letter)| (bits & bit != 0).then_some(letter))
        .collect()
    };
    acl.iter()
        .flat_map(|entry| {
            [format!("'{},'{}", entry.scheme, entry.id), format!(": {}", letters(entry.perms))]
        })
        .collect()
}

/// `[a, b]`.
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(", "))
}

/// Netty's `prettyHexDump`, behind `get -x`.
pub fn hex_dump(data: &[u8]) -> Vec<String> {
    if data.is_empty() {
        return vec![String::new()];
    }
    let rule = format!("+--------+{}+----------------+", "-".repeat(49));
    let mut lines = vec![
        format!("         +{}+", "-".repeat(49)),
        "         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |".to_owned(),
        rule.clone(),
    ];
    for (row, bytes) in data.chunks(16).enumerate() {
        let hex: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
        let text: String = bytes
            .iter()
            .map(|&byte| if (0x20..0x7f).contains(&byte) { char::from(byte) } else { '.' })
            .collect();
        lines.push(format!("|{:08x}|{hex:<48} |{text:<16}|", row * 16));
    }
    lines.push(rule);
    lines
}

/// `WatchedEvent` of a node. Only the newest client knows the zxid of an event.
pub fn event(kind: EventType, path: &str, zxid: Zxid, release: Release) -> String {
    let event = format!("WatchedEvent state:SyncConnected type:{} path:{path}", kind.name());
    with_zxid(event, zxid, release)
}

/// `WatchedEvent` of the session.
pub fn state(state: KeeperState, release: Release) -> String {
    with_zxid(format!("WatchedEvent state:{} type:None path:null", state.name()), -1, release)
}

fn with_zxid(event: String, zxid: Zxid, release: Release) -> String {
    if release >= Release::V3_9_5 { format!("{event} zxid: {zxid}") } else { event }
}

/// `KeeperException.getMessage`.
pub fn keeper_exception(error: Error, path: Option<&str>) -> String {
    let name = match error {
        Error::RuntimeInconsistency => "RuntimeInconsistency",
        Error::ConnectionLoss => "ConnectionLoss",
        Error::MarshallingError => "MarshallingError",
        Error::Unimplemented => "Unimplemented",
        Error::OperationTimeout => "OperationTimeout",
        Error::BadArguments => "BadArguments",
        Error::NoNode => "NoNode",
        Error::NoAuth => "NoAuth",
        Error::BadVersion => "BadVersion",
        Error::NoChildrenForEphemerals => "NoChildrenForEphemerals",
        Error::NodeExists => "NodeExists",
        Error::NotEmpty => "Directory not empty",
        Error::SessionExpired => "Session expired",
        Error::InvalidAcl => "InvalidACL",
        Error::AuthFailed => "AuthFailed",
        Error::SessionMoved => "Session moved",
        Error::NotReadOnly => "Not a read-only call",
        Error::NoWatcher => "No such watcher",
        Error::QuotaExceeded => "Quota has exceeded",
    };
    match path {
        Some(path) if !path.is_empty() => format!("KeeperErrorCode = {name} for {path}"),
        _ => format!("KeeperErrorCode = {name}"),
    }
}

/// `CliWrapperException`: zkCli's own words for the errors that people run into.
pub fn failure(error: Error, path: Option<&str>) -> String {
    let words = match error {
        Error::NoNode => "Node does not exist: ",
        Error::NoChildrenForEphemerals => "Ephemerals cannot have children: ",
        Error::NodeExists => "Node already exists: ",
        Error::NotEmpty => "Node not empty: ",
        Error::NotReadOnly => "Not a read-only call: ",
        Error::InvalidAcl => "Acl is not valid : ",
        Error::NoAuth => "Insufficient permission : ",
        Error::BadArguments => "Arguments are not valid : ",
        Error::BadVersion => "version No is not valid : ",
        Error::QuotaExceeded => "Quota has exceeded : ",
        _ => return keeper_exception(error, path),
    };
    format!("{words}{}", path.unwrap_or("null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_java() {
        for (ms, shown) in [
            (0, "Thu Jan 01 00:00:00 UTC 1970"),
            (1_420_070_433_000, "Thu Jan 01 00:00:33 UTC 2015"),
            (951_782_399_999, "Mon Feb 28 23:59:59 UTC 2000"),
            (951_782_400_000, "Tue Feb 29 00:00:00 UTC 2000"),
            (1_709_251_200_000, "Fri Mar 01 00:00:00 UTC 2024"),
            (-1, "Wed Dec 31 23:59:59 UTC 1969"),
            (4_102_444_800_000, "Fri Jan 01 00:00:00 UTC 2100"),
        ] {
            assert_eq!(date(ms), shown);
        }
        assert!(date(i64::MAX).ends_with("292278994"));
        assert!(date(i64::MIN).contains("UTC"));
    }
}
