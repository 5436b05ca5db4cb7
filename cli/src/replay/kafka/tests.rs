use super::*;

#[test]
fn settings_are_taken_from_the_recording() {
    let recording = json!({
        "software": "Kafka 2.8.2, ZooKeeper 3.5.9",
        "config": {"zookeeper.session.timeout.ms": "8000", "auto.leader.rebalance.enable": "false",
            "zookeeper tickTime": 3000},
        "steps": [{"znodes": {"/brokers/ids/2": {"data": {"port": 21002}}}}],
    });
    let steps = recording["steps"].as_array().unwrap();
    let config = config(Release::V2_8_2, &recording, steps).unwrap();
    assert_eq!((config.session_timeout_ms, config.tick_ms), (8_000, 3_000));
    assert!(!config.kafka.auto_leader_rebalance);
    assert_eq!(config.kafka.advertised, Some(("localhost".into(), 21_000)));
}

#[test]
fn an_op_with_a_field_that_is_not_played_fails() {
    let recording = |op: Value| {
        json!({
            "software": "Kafka 2.8.2, ZooKeeper 3.5.9", "config": {},
            "steps": [{"op": {"op": "start-zookeeper"}}, {"op": op}],
        })
    };
    for op in [json!({"op": "dance"}), json!({"op": "kill-broker", "id": 1, "then": "x"})] {
        assert!(matches!(play(&recording(op)), Replay::Unknown(_)));
    }
}
