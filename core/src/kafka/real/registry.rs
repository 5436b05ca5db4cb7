//! Znodes of the real releases: paths, and payloads in the order of keys in which each release
//! writes them. [spec kafka-zk.md §1, Z1]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use super::context::{Assignment, Leadership};
use super::task::Setting;
use crate::kafka::msg::TopicPartition;
use crate::kafka::payload;
use crate::kafka::release::Release;
use crate::zk::op::{Data, Path};

pub const CONFIG_TOPICS: &str = "/config/topics";
pub const CONFIG_CHANGES: &str = "/config/changes";
pub const CONFIG_CHANGE: &str = "/config/changes/config_change_";
pub const ISR_NOTICES: &str = "/isr_change_notification";
pub const ISR_NOTICE: &str = "/isr_change_notification/isr_change_";
pub const LOG_DIR_NOTICES: &str = "/log_dir_event_notification";
pub const PRODUCER_BLOCK: &str = "/latest_producer_id_block";
pub const CLUSTER_ID: &str = "/cluster/id";
pub const FEATURE: &str = "/feature";
pub const REASSIGN: &str = "/admin/reassign_partitions";
pub const PREFERRED: &str = "/admin/preferred_replica_election";

/// What every broker makes sure exists, in this order. [spec kafka-zk.md §1, W1]
pub fn persistent(release: Release) -> &'static [&'static str] {
    match release {
        Release::V0_8_2_2 => &[
            "/consumers",
            "/brokers/ids",
            "/brokers/topics",
            CONFIG_CHANGES,
            CONFIG_TOPICS,
            "/admin/delete_topics",
        ],
        Release::V0_11_0_3 => &[
            "/consumers",
            "/brokers/ids",
            "/brokers/topics",
            CONFIG_CHANGES,
            CONFIG_TOPICS,
            "/config/clients",
            "/admin/delete_topics",
            "/brokers/seqid",
            ISR_NOTICES,
            PRODUCER_BLOCK,
        ],
        Release::V1_1_1 => &LATER[..13],
        Release::V2_8_2 | Release::V3_9_2 => &LATER,
    }
}

const LATER: [&str; 14] = [
    "/consumers",
    "/brokers/ids",
    "/brokers/topics",
    CONFIG_CHANGES,
    "/admin/delete_topics",
    "/brokers/seqid",
    ISR_NOTICES,
    PRODUCER_BLOCK,
    LOG_DIR_NOTICES,
    CONFIG_TOPICS,
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
];

pub fn config(entity: &str) -> Path {
    format!("/config/{entity}").into()
}

pub fn topic_config(topic: &str) -> Path {
    format!("{CONFIG_TOPICS}/{topic}").into()
}

fn data(text: String) -> Data {
    Some(Arc::from(text.into_bytes()))
}

/// A text as JSON has it.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn ids(ids: &[u32]) -> String {
    let mut text = String::from("[");
    for (n, id) in ids.iter().enumerate() {
        let _ = write!(text, "{}{id}", if n > 0 { "," } else { "" });
    }
    text.push(']');
    text
}

/// What a broker says of itself.
pub struct Registration<'a> {
    pub host: &'a str,
    pub port: u32,
    pub rack: Option<&'a str>,
    pub wall_ms: i64,
}

pub fn broker(release: Release, info: &Registration<'_>) -> Data {
    let Registration { host, port, rack, wall_ms } = info;
    let host = quoted(host);
    if release == Release::V0_8_2_2 {
        return data(format!(
            r#"{{"jmx_port":-1,"timestamp":"{wall_ms}","host":{host},"version":1,"port":{port}}}"#
        ));
    }
    let endpoint = format!("PLAINTEXT://{}:{port}", info.host);
    let mut text = String::from("{");
    if release >= Release::V2_8_2 {
        text.push_str(r#""features":{},"#);
    }
    let _ = write!(
        text,
        r#""listener_security_protocol_map":{{"PLAINTEXT":"PLAINTEXT"}},"endpoints":[{}],"#,
        quoted(&endpoint)
    );
    if let Some(rack) = rack {
        let _ = write!(text, r#""rack":{},"#, quoted(rack));
    }
    let _ = match release >= Release::V2_8_2 {
        true => write!(
            text,
            r#""jmx_port":-1,"port":{port},"host":{host},"version":5,"timestamp":"{wall_ms}"}}"#
        ),
        false => write!(
            text,
            r#""jmx_port":-1,"host":{host},"timestamp":"{wall_ms}","port":{port},"version":4}}"#
        ),
    };
    data(text)
}

pub fn controller(release: Release, id: u32, wall_ms: i64) -> Data {
    let version = release.controller_version();
    let more = if version > 1 { r#","kraftControllerEpoch":-1"# } else { "" };
    data(format!(r#"{{"version":{version},"brokerid":{id},"timestamp":"{wall_ms}"{more}}}"#))
}

pub fn feature(version: u32) -> Data {
    data(format!(r#"{{"features":{{}},"version":{version},"status":1}}"#))
}

pub fn cluster_id(id: &str) -> Data {
    data(format!(r#"{{"version":"1","id":{}}}"#, quoted(id)))
}

/// 1000 producer ids from `start` on.
pub fn producer_block(broker: u32, start: i64) -> Data {
    let end = start.saturating_add(999);
    data(format!(
        r#"{{"version":1,"broker":{broker},"block_start":"{start}","block_end":"{end}"}}"#
    ))
}

/// The first id after the block that stands there.
pub fn next_producer_id(data: &Data) -> i64 {
    let end = || {
        let value: serde_json::Value = payload::read(data)?;
        value.get("block_end")?.as_str()?.parse::<i64>().ok()
    };
    end().map_or(0, |end| end.saturating_add(1))
}

/// A topic's znode: where its replicas are, and its id where the release has one.
pub fn topic(release: Release, parts: &BTreeMap<u32, Vec<u32>>, id: Option<&str>) -> Data {
    let mut text = String::from("{");
    if !release.has_topic_ids() {
        text.push_str(r#""version":1,"#);
    }
    text.push_str(r#""partitions":{"#);
    let mut order: Vec<u32> = parts.keys().copied().collect();
    if !release.has_topic_ids() {
        super::scala::order_names(&mut order);
    }
    for (n, number) in order.iter().enumerate() {
        let replicas = parts.get(number).map(|replicas| ids(replicas)).unwrap_or_default();
        let _ = write!(text, r#"{}"{number}":{replicas}"#, if n > 0 { "," } else { "" });
    }
    text.push('}');
    if release.has_topic_ids() {
        if let Some(id) = id {
            let _ = write!(text, r#","topic_id":{}"#, quoted(id));
        }
        text.push_str(r#","adding_replicas":{},"removing_replicas":{},"version":3"#);
    }
    text.push('}');
    data(text)
}

/// The same while replicas may be on the move. Before 2.8 the keys stand as the controller's map
/// by partition has them. [spec kafka-zk.md §8]
pub fn moving_topic(
    release: Release,
    name: &Arc<str>,
    parts: &BTreeMap<u32, Assignment>,
    id: Option<&str>,
) -> Data {
    let lists = |of: fn(&Assignment) -> &Vec<u32>| {
        let entry = |(number, to): (&u32, &Assignment)| match of(to).is_empty() {
            true => None,
            false => Some(format!(r#""{number}":{}"#, ids(of(to)))),
        };
        parts.iter().filter_map(entry).collect::<Vec<_>>().join(",")
    };
    if release.has_topic_ids() {
        let all = parts.iter().map(|(number, to)| format!(r#""{number}":{}"#, ids(&to.replicas)));
        let all = all.collect::<Vec<_>>().join(",");
        let id = id.map(|id| format!(r#""topic_id":{},"#, quoted(id))).unwrap_or_default();
        let (adding, removing) = (lists(|to| &to.adding), lists(|to| &to.removing));
        let mut text = format!(r#"{{"partitions":{{{all}}},{id}"adding_replicas":{{{adding}}},"#);
        let _ = write!(text, r#""removing_replicas":{{{removing}}},"version":3}}"#);
        return data(text);
    }
    let mut order: Vec<u32> = parts.keys().copied().collect();
    super::scala::order_keys(name, &mut order);
    let entry = |number: &u32| {
        let replicas = parts.get(number).map(|to| ids(&to.replicas)).unwrap_or_default();
        format!(r#""{number}":{replicas}"#)
    };
    let all = order.iter().map(entry).collect::<Vec<_>>().join(",");
    data(format!(r#"{{"version":1,"partitions":{{{all}}}}}"#))
}

/// Of a topic's znode, by partition: replicas that come, and that go.
pub fn read_moving(data: &Data) -> BTreeMap<u32, (Vec<u32>, Vec<u32>)> {
    let value: serde_json::Value = payload::read(data).unwrap_or_default();
    let mut moving = BTreeMap::<u32, (Vec<u32>, Vec<u32>)>::new();
    for (n, field) in ["adding_replicas", "removing_replicas"].into_iter().enumerate() {
        for (key, list) in value.get(field).and_then(|v| v.as_object()).into_iter().flatten() {
            let (Ok(number), Some(ids)) = (key.parse(), read_ids(list)) else { continue };
            let entry = moving.entry(number).or_default();
            *(if n == 0 { &mut entry.0 } else { &mut entry.1 }) = ids;
        }
    }
    moving.retain(|_, (adding, removing)| !adding.is_empty() || !removing.is_empty());
    moving
}

fn read_ids(value: &serde_json::Value) -> Option<Vec<u32>> {
    let id = |value: &serde_json::Value| u32::try_from(value.as_u64()?).ok();
    value.as_array()?.iter().map(id).collect()
}

/// Where replicas shall go, as `/admin/reassign_partitions` has it.
pub fn plan(plan: &[(TopicPartition, Vec<u32>)]) -> Data {
    let entry = |(tp, replicas): &(TopicPartition, Vec<u32>)| {
        let topic = quoted(&tp.topic);
        let replicas = ids(replicas);
        format!(r#"{{"topic":{topic},"partition":{},"replicas":{replicas}}}"#, tp.partition)
    };
    let all = plan.iter().map(entry).collect::<Vec<_>>().join(",");
    data(format!(r#"{{"version":1,"partitions":[{all}]}}"#))
}

/// Whoever writes it by hand may write anything: what is no plan, as a whole, is none.
pub fn read_plan(data: &Data) -> Vec<(TopicPartition, Vec<u32>)> {
    let one = |value: &serde_json::Value| {
        let topic = value.get("topic")?.as_str()?.into();
        let partition = u32::try_from(value.get("partition")?.as_u64()?).ok()?;
        Some((TopicPartition { topic, partition }, read_ids(value.get("replicas")?)?))
    };
    let value: serde_json::Value = payload::read(data).unwrap_or_default();
    let list = value.get("partitions").and_then(|v| v.as_array());
    let plan: Option<Vec<_>> =
        list.map(Vec::as_slice).unwrap_or_default().iter().map(one).collect();
    let mut latest = Vec::<(TopicPartition, Vec<u32>)>::new();
    for (tp, replicas) in plan.unwrap_or_default() {
        match latest.iter_mut().find(|(known, _)| *known == tp) {
            Some(entry) => entry.1 = replicas,
            None => latest.push((tp, replicas)),
        }
    }
    latest
}

/// The partition whose state stands at a path.
pub fn partition_of_state(path: &str) -> Option<TopicPartition> {
    let inner = path.strip_prefix("/brokers/topics/")?.strip_suffix("/state")?;
    let (topic, partition) = inner.split_once("/partitions/")?;
    Some(TopicPartition { topic: topic.into(), partition: partition.parse().ok()? })
}

/// The id that a topic's znode names.
pub fn topic_id(data: &Data) -> Option<String> {
    let value: serde_json::Value = payload::read(data)?;
    Some(value.get("topic_id")?.as_str()?.to_owned())
}

pub fn state(state: &Leadership) -> Data {
    let leader = state.leader.map_or(-1, i64::from);
    let recovering = if state.recovering { r#""leader_recovery_state":1,"# } else { "" };
    let mut text = format!(
        r#"{{"controller_epoch":{},"leader":{leader},"version":1,{recovering}"#,
        state.controller_epoch
    );
    let isr = ids(&state.isr);
    let _ = write!(text, r#""leader_epoch":{},"isr":{isr}}}"#, state.leader_epoch);
    data(text)
}

pub fn read_state(data: &Data, zk_version: i32) -> Option<Leadership> {
    let state: payload::PartitionState = payload::read(data)?;
    let value: serde_json::Value = payload::read(data)?;
    Some(Leadership {
        leader: u32::try_from(state.leader).ok(),
        leader_epoch: state.leader_epoch,
        isr: state.isr,
        controller_epoch: state.controller_epoch,
        zk_version,
        recovering: value.get("leader_recovery_state").and_then(|v| v.as_i64()) == Some(1),
    })
}

/// An entity's configuration.
pub fn settings(settings: &[Setting]) -> Data {
    let mut text = String::from(r#"{"version":1,"config":{"#);
    for (n, (key, value)) in settings.iter().enumerate() {
        let comma = if n > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{}:{}", quoted(key), quoted(value));
    }
    text.push_str("}}");
    data(text)
}

pub fn read_settings(data: &Data) -> Vec<Setting> {
    let read = || -> Option<Vec<Setting>> {
        let value: serde_json::Value = payload::read(data)?;
        let entries = value.get("config")?.as_object()?.iter();
        Some(entries.map(|(k, v)| (k.as_str().into(), v.as_str().unwrap_or("").into())).collect())
    };
    read().unwrap_or_default()
}

/// Whether the configuration that stands there allows an unclean election.
pub fn unclean(data: &Data, usual: bool) -> bool {
    let settings = read_settings(data);
    let own = settings.iter().find(|(key, _)| &**key == "unclean.leader.election.enable");
    own.map_or(usual, |(_, value)| &**value == "true")
}

/// How many members the ISR of a topic must have, where its configuration says so.
pub fn min_insync(data: &Data) -> Option<u32> {
    let settings = read_settings(data);
    let own = settings.iter().find(|(key, _)| &**key == "min.insync.replicas");
    own.and_then(|(_, value)| value.parse().ok())
}

/// The notice that an entity's configuration changed. [spec kafka-zk.md §1 /config/changes]
pub fn config_change(release: Release, entity: &str) -> Data {
    let name = entity.split_once('/').map_or(entity, |(_, name)| name);
    match release {
        Release::V0_8_2_2 => data(quoted(name)),
        _ => data(format!(r#"{{"version":2,"entity_path":{}}}"#, quoted(entity))),
    }
}

/// The topic that such a notice names.
pub fn changed_topic(data: &Data) -> Option<Arc<str>> {
    let value: serde_json::Value = payload::read(data)?;
    if let Some(name) = value.as_str() {
        return Some(name.into());
    }
    value.get("entity_path")?.as_str()?.strip_prefix("topics/").map(Arc::from)
}

/// Partitions by name, as the election's and the notices' znodes have them.
pub fn partitions(tps: &[TopicPartition]) -> Data {
    let mut text = String::from(r#"{"version":1,"partitions":["#);
    for (n, tp) in tps.iter().enumerate() {
        let comma = if n > 0 { "," } else { "" };
        let topic = quoted(&tp.topic);
        let _ = write!(text, r#"{comma}{{"topic":{topic},"partition":{}}}"#, tp.partition);
    }
    text.push_str("]}");
    data(text)
}

pub fn read_partitions(data: &Data) -> Vec<TopicPartition> {
    let one = |value: &serde_json::Value| {
        let topic = value.get("topic")?.as_str()?.into();
        let partition = u32::try_from(value.get("partition")?.as_u64()?).ok()?;
        Some(TopicPartition { topic, partition })
    };
    let value: Option<serde_json::Value> = payload::read(data);
    let list = value.as_ref().and_then(|v| v.get("partitions")).and_then(|v| v.as_array());
    list.map(|list| list.iter().filter_map(one).collect()).unwrap_or_default()
}
