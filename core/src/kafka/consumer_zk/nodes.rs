//! The znodes of a group and what stands in them. [spec consumer-zk.md R3, product.md T9, T12,
//! T14]

use std::collections::BTreeMap;

use super::assign::{Member, Subscription};
use super::connector::Rules;
use super::pattern::Pattern;
use super::spec::Wanted;
use crate::kafka::msg::TopicPartition;
use crate::kafka::payload;
use crate::zk::op::{Data, Path};

/// Where the members stand.
pub fn ids(group: &str) -> Path {
    format!("/consumers/{group}/ids").into()
}

pub fn id(group: &str, consumer: &str) -> Path {
    format!("/consumers/{group}/ids/{consumer}").into()
}

/// The owner of a partition. In the textbook its name begins with the partition's home, the broker
/// of its first replica. [product.md T12]
pub fn owner(rules: Rules, group: &str, tp: &TopicPartition, home: u32) -> Path {
    below(rules, group, "owners", tp, home)
}

/// Where its next offset stands. [spec consumer-zk.md O1, product.md T14]
pub fn offset(rules: Rules, group: &str, tp: &TopicPartition, home: u32) -> Path {
    below(rules, group, "offsets", tp, home)
}

fn below(rules: Rules, group: &str, what: &str, tp: &TopicPartition, home: u32) -> Path {
    let (topic, partition) = (&tp.topic, tp.partition);
    match rules {
        Rules::Textbook => format!("{}/{topic}/{home}-{partition}", folder(group, what)),
        Rules::V08 => format!("{}/{topic}/{partition}", folder(group, what)),
    }
    .into()
}

/// The partition that an owner's or an offset's node is about, in either way to name it.
pub fn partition(name: &str) -> Option<u32> {
    name.rsplit('-').next()?.parse().ok()
}

/// Below it stand owners or offsets by topic.
pub fn folder(group: &str, what: &str) -> Path {
    format!("/consumers/{group}/{what}").into()
}

pub fn parent(path: &str) -> Path {
    path.rsplit_once('/').map_or("", |(above, _)| above).into()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A member's registration. [spec consumer-zk.md R3]
pub fn registration(wanted: &Wanted, wall_ms: i64) -> Data {
    let cleaned = |regex: &str| match Pattern::filter(regex) {
        Ok(pattern) => pattern.text().to_owned(),
        Err(_) => regex.to_owned(),
    };
    let (pattern, subscription) = match wanted {
        Wanted::Topics(topics) => {
            let each = topics.iter().map(|(topic, streams)| format!("{}:{streams}", quoted(topic)));
            ("static", each.collect::<Vec<_>>().join(","))
        }
        Wanted::WhiteList { regex, streams } => {
            ("white_list", format!("{}:{streams}", quoted(&cleaned(regex))))
        }
        Wanted::BlackList { regex, streams } => {
            ("black_list", format!("{}:{streams}", quoted(&cleaned(regex))))
        }
    };
    let said = format!(r#""subscription":{{{subscription}}},"pattern":"{pattern}""#);
    let text = format!(r#"{{"version":1,{said},"timestamp":"{wall_ms}"}}"#);
    Some(text.into_bytes().into())
}

/// A member as its registration says; `None`: nobody could read it.
pub fn member(id: &str, data: &Data, no_internal: bool) -> Option<Member> {
    let value: serde_json::Value = payload::read(data)?;
    let listed = value["subscription"].as_object()?;
    let streams = |n: &serde_json::Value| n.as_u64().and_then(|n| u32::try_from(n).ok());
    let subscription = match value["pattern"].as_str()? {
        "static" => {
            let each = listed.iter().map(|(topic, n)| Some((topic.clone(), streams(n)?)));
            Subscription::Topics(each.collect::<Option<BTreeMap<_, _>>>()?)
        }
        kind => {
            let (regex, n) = listed.iter().next()?;
            let (pattern, n) = (Pattern::new(regex).ok()?, streams(n)?);
            match kind {
                "white_list" => Subscription::WhiteList(pattern, n),
                "black_list" => Subscription::BlackList(pattern, n),
                _ => return None,
            }
        }
    };
    Some(Member { id: id.to_owned(), subscription, no_internal })
}

/// A stored offset.
pub fn stored(data: &Data) -> Option<u64> {
    std::str::from_utf8(data.as_ref()?).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_is_read_back() {
        let wanted = Wanted::Topics(vec![("x".into(), 1), ("t1".into(), 2)]);
        let data = registration(&wanted, 5);
        let text = String::from_utf8(data.as_ref().unwrap().to_vec()).unwrap();
        assert!(
            text.starts_with(r#"{"version":1,"subscription":{"x":1,"t1":2},"pattern":"static""#)
        );
        let member = member("g_c", &data, true).unwrap();
        let topics = BTreeMap::from([("t1".to_owned(), 2), ("x".to_owned(), 1)]);
        assert_eq!(member.subscription, Subscription::Topics(topics));
    }

    #[test]
    fn foreign_registrations_read_as_nothing() {
        for text in ["", "{}", r#"{"subscription":{"t":-1},"pattern":"static"}"#] {
            assert_eq!(member("c", &Some(text.as_bytes().into()), true), None);
        }
    }
}
