//! The stat of a node by ZooKeeper's names, with what this step changed.

use kafkascope_core::world::config::WALL_ZERO_MS;
use kafkascope_core::zk::op::Stat;

/// A field: its name, its value, and a word on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub value: String,
    pub changed: bool,
    /// The moment of the run, for fields that are a time.
    pub seconds: Option<String>,
}

pub fn fields(now: &Stat, before: Option<&Stat>) -> Vec<Field> {
    let before = before.map(values);
    let seconds = |ms: i64| Some(moment(ms));
    values(now)
        .into_iter()
        .enumerate()
        .map(|(index, (name, value))| Field {
            name,
            changed: before.as_ref().is_none_or(|before| before[index].1 != value),
            seconds: match name {
                "ctime" => seconds(now.ctime),
                "mtime" => seconds(now.mtime),
                _ => None,
            },
            value,
        })
        .collect()
}

fn values(stat: &Stat) -> [(&'static str, String); 11] {
    let hex = |number: i64| format!("0x{number:x}");
    [
        ("cZxid", hex(stat.czxid)),
        ("ctime", date(stat.ctime)),
        ("mZxid", hex(stat.mzxid)),
        ("mtime", date(stat.mtime)),
        ("pZxid", hex(stat.pzxid)),
        ("cversion", stat.cversion.to_string()),
        ("dataVersion", stat.version.to_string()),
        ("aclVersion", stat.aversion.to_string()),
        ("ephemeralOwner", hex(stat.ephemeral_owner)),
        ("dataLength", stat.data_length.to_string()),
        ("numChildren", stat.num_children.to_string()),
    ]
}

/// The server's clock as a moment of the run: `33.407`.
fn moment(ms: i64) -> String {
    let since = ms - WALL_ZERO_MS;
    // The nodes that every server has were never created.
    if since < 0 {
        return "–".to_owned();
    }
    format!("{}.{:03}", since / 1_000, since % 1_000)
}

/// `2015-01-01 00:00:33`; runs start with the year.
fn date(ms: i64) -> String {
    let seconds = (ms - WALL_ZERO_MS).div_euclid(1_000);
    if seconds < 0 {
        return "1970-01-01 00:00:00".to_owned();
    }
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (month, day) = month_and_day(day);
    let (h, m, s) = (second / 3_600, second / 60 % 60, second % 60);
    format!("2015-{month:02}-{day:02} {h:02}:{m:02}:{s:02}")
}

/// Of a day of 2015; no run lasts a year.
fn month_and_day(mut day: i64) -> (usize, i64) {
    const DAYS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (index, days) in DAYS.iter().enumerate() {
        if day < *days {
            return (index + 1, day + 1);
        }
        day -= days;
    }
    (12, 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_zookeepers_name_and_what_differs_is_known() {
        let now = Stat { czxid: 0x83, ctime: WALL_ZERO_MS + 33_407, version: 2, ..Stat::default() };
        let before = Stat { version: 1, ..now };
        let fields = fields(&now, Some(&before));
        assert_eq!(fields.len(), 11);
        let changed: Vec<&str> = fields.iter().filter(|f| f.changed).map(|f| f.name).collect();
        assert_eq!(changed, ["dataVersion"]);
        assert_eq!(fields[0].value, "0x83");
        assert_eq!(fields[1].value, "2015-01-01 00:00:33");
        assert_eq!(fields[1].seconds.as_deref(), Some("33.407"));
    }

    #[test]
    fn a_long_run_reaches_february() {
        assert_eq!(date(WALL_ZERO_MS + 31 * 86_400_000), "2015-02-01 00:00:00");
    }
}
