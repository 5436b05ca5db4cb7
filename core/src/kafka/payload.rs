//! What stands in Kafka's znodes, as JSON. Foreign or damaged data reads as `None`: anybody may
//! have written it by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::zk::op::Data;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokerInfo {
    pub jmx_port: i32,
    pub timestamp: String,
    pub host: String,
    pub version: i32,
    pub port: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerInfo {
    pub version: i32,
    pub brokerid: u32,
    pub timestamp: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicInfo {
    pub version: i32,
    #[serde(deserialize_with = "by_number")]
    pub partitions: BTreeMap<u32, Vec<u32>>,
}

/// A key of a JSON object is text; ids are numbers.
fn by_number<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<u32, Vec<u32>>, D::Error> {
    let texts = BTreeMap::<String, Vec<u32>>::deserialize(deserializer)?;
    texts
        .into_iter()
        .map(|(key, replicas)| {
            key.parse().map(|id| (id, replicas)).map_err(serde::de::Error::custom)
        })
        .collect()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionState {
    pub controller_epoch: i32,
    /// -1: no leader.
    pub leader: i64,
    pub version: i32,
    pub leader_epoch: i32,
    pub isr: Vec<u32>,
}

pub fn write(value: &impl Serialize) -> Data {
    serde_json::to_vec(value).ok().map(Arc::from)
}

pub fn read<'a, T: Deserialize<'a>>(data: &'a Data) -> Option<T> {
    serde_json::from_slice(data.as_ref()?).ok()
}

/// A whole number as text, such as `/controller_epoch` holds.
pub fn number(data: &Data) -> Option<i32> {
    std::str::from_utf8(data.as_ref()?).ok()?.trim().parse().ok()
}

pub fn number_data(value: i64) -> Data {
    Some(Arc::from(value.to_string().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_written_as_kafka_does_and_read_back() {
        let info = TopicInfo {
            version: 1,
            partitions: BTreeMap::from([(0, vec![1, 2]), (10, vec![3]), (2, vec![])]),
        };
        let data = write(&info);
        let text = String::from_utf8(data.as_ref().unwrap().to_vec()).unwrap();
        assert_eq!(text, r#"{"version":1,"partitions":{"0":[1,2],"2":[],"10":[3]}}"#);
        assert_eq!(read(&data), Some(info));
    }

    #[test]
    fn damaged_data_reads_as_nothing() {
        for text in ["", "{", "null", r#"{"version":1,"partitions":{"x":[1]}}"#, "[1,2"] {
            let data: Data = Some(Arc::from(text.as_bytes()));
            assert_eq!(read::<TopicInfo>(&data), None);
            assert_eq!(number(&data), None);
        }
        assert_eq!(read::<TopicInfo>(&None), None);
    }
}
