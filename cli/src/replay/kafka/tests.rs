use kafkascope_core::world::Command;

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

#[test]
fn conditions_are_read_or_the_file_fails() {
    use until::Condition::{
        self, ControllerOtherThan, Exists, IsrHas, IsrSize, Leader, Registered,
    };
    for (text, want) in [
        ("broker 2 registered", Registered(2)),
        ("isr t size 3", IsrSize("t".into(), None, 3)),
        ("isr a-b-0 has 1", IsrHas("a-b".into(), Some(0), 1)),
        ("leader none-0 -1", Leader("none".into(), 0, -1)),
        ("controller other than 3", ControllerOtherThan(3)),
        ("exists /controller", Exists("/controller".into())),
    ] {
        assert_eq!(Condition::parse(text), Ok(want), "{text}");
    }
    for text in ["", "broker x gone", "isr t shape 3", "leader t 1", "the moon shines"] {
        assert!(Condition::parse(text).is_err(), "{text}");
    }
}

fn a_world(brokers: &[u32]) -> sim::Sim {
    let config = config(Release::V2_8_2, &json!({"config": {}}), &[]).unwrap();
    let mut sim = sim::Sim::new(config);
    for id in brokers.iter().copied() {
        sim.command(Command::StartBroker { id, host: None, rack: None }).unwrap();
        sim.run_for(Span::from_secs(5));
        assert!(sim.is_registered(id));
    }
    sim
}

#[test]
fn a_draw_is_taken_only_if_it_can_be_drawn() {
    let sim = a_world(&[1, 2, 3]);
    let step = |partitions: Value| {
        json!({"op": {}, "zk_txns": [
            {"type": "create", "path": "/brokers/topics/t", "data": {"partitions": partitions}},
        ]})
    };
    let placed = |partitions: Value| chance::Chance::of(&step(partitions), &sim).placement("t");
    let drawn = json!({"0": [3, 2], "1": [1, 3], "2": [2, 1], "3": [3, 1]});
    let want = vec![vec![3, 2], vec![1, 3], vec![2, 1], vec![3, 1]];
    assert_eq!(placed(drawn), Some(want));
    assert_eq!(placed(json!({"0": [3, 2], "1": [3, 1]})), None);
    assert_eq!(placed(json!({"0": [7]})), None);
}

#[test]
fn deaths_are_together_or_apart() {
    let sim = a_world(&[]);
    let close = |id: u32| json!({"type": "closeSession", "session": format!("broker-{id}")});
    let write = || json!({"type": "setData", "session": "broker-1"});
    let apart = json!([close(2), write(), close(3), write()]);
    let together = json!([close(3), close(2), write(), write()]);
    let chance = chance::Chance::of(&json!({"op": {}, "zk_txns": apart}), &sim);
    assert!(chance.ticks_fit(&apart) && !chance.ticks_fit(&together) && chance.has_deaths());
}

#[test]
fn who_leaves_notices_in_which_order_is_a_timers_business() {
    let sim = a_world(&[]);
    let notice = |id: u32| {
        json!({"type": "create", "session": format!("broker-{id}"),
        "path": "/isr_change_notification/isr_change_0000000000"})
    };
    let recorded = json!([notice(1), notice(3)]);
    let chance = chance::Chance::of(&json!({"op": {}, "zk_txns": recorded}), &sim);
    assert!(chance.ticks_fit(&recorded));
    assert!(!chance.ticks_fit(&json!([notice(3), notice(1)])));
    assert!(!chance.ticks_fit(&json!([notice(1)])));
}

#[test]
fn who_is_taken_back_into_an_isr_before_it_stops() {
    let sim = a_world(&[]);
    let state = |partition: u32, isr: &[u32]| {
        json!({"type": "setData", "session": "broker-1",
        "path": format!("/brokers/topics/u/partitions/{partition}/state"), "data": {"isr": isr}})
    };
    let close = json!({"type": "closeSession", "session": "broker-3#2"});
    let txns = [state(1, &[2]), state(3, &[1]), state(3, &[1, 3]), close, state(1, &[2, 3])];
    let chance = chance::Chance::of(&json!({"op": {}, "zk_txns": txns}), &sim);
    let back: Vec<u32> = chance.taken_back(3).iter().map(|tp| tp.partition).collect();
    assert_eq!(back, [3]);
    assert!(chance.taken_back(2).is_empty());
}

/// The start of a recording is in the answer as it was recorded.
#[test]
fn a_start_is_loaded_with_its_versions() {
    let node = |data: Value, owner: Value, version: i32, cversion: i32| {
        json!({"data": data, "ephemeral_owner": owner, "version": version,
            "cversion": cversion, "aversion": 0})
    };
    let state = json!({"controller_epoch": 3, "leader": 1, "version": 1, "leader_epoch": 4,
        "isr": [1, 2]});
    let broker = |port: u32| {
        json!({"port": port, "host": "localhost", "version": 1,
        "jmx_port": -1, "timestamp": "<ms>"})
    };
    let none = Value::Null;
    let znodes = json!({
        "/admin": node(none.clone(), none.clone(), 0, 9),
        "/admin/delete_topics": node(none.clone(), none.clone(), 0, 0),
        "/brokers": node(none.clone(), none.clone(), 0, 2),
        "/brokers/ids": node(none.clone(), none.clone(), 0, 6),
        "/brokers/ids/1": node(broker(20_001), json!("broker-1#2"), 0, 0),
        "/brokers/ids/2": node(broker(20_002), json!("broker-2"), 0, 0),
        "/brokers/topics": node(none.clone(), none.clone(), 0, 1),
        "/brokers/topics/t": node(json!({"version": 1, "partitions": {"0": [1, 2]}}),
            none.clone(), 2, 1),
        "/brokers/topics/t/partitions": node(none.clone(), none.clone(), 0, 1),
        "/brokers/topics/t/partitions/0": node(none.clone(), none.clone(), 0, 1),
        "/brokers/topics/t/partitions/0/state": node(state, none.clone(), 7, 0),
        "/controller": node(json!({"version": 1, "brokerid": 2, "timestamp": "<ms>"}),
            json!("broker-2"), 0, 0),
        "/controller_epoch": node(json!("3"), none.clone(), 2, 0),
    });
    let up = |name: &str, leads: bool| json!({"up": true, "session": name, "controller": leads});
    let recording = json!({
        "software": "Kafka 0.8.2.2 (Scala 2.11), ZooKeeper 3.4.6", "config": {},
        "steps": [{"op": {"op": "state"}, "znodes": znodes, "start": {"brokers": {
            "1": up("broker-1#2", false), "2": up("broker-2", true)}}}],
    });
    let Replay::Done(run) = play(&recording) else { panic!("it is played") };
    let step = &run["steps"][0];
    for (path, want) in recording["steps"][0]["znodes"].as_object().unwrap() {
        let (mut want, mut got) = (want.clone(), step["znodes"][path].clone());
        for node in [&mut want, &mut got] {
            node["data"].as_object_mut().and_then(|data| data.remove("timestamp"));
        }
        assert_eq!(got, want, "{path}");
    }
    assert_eq!(step["controller"], json!({"id": 2, "epoch": 3}));
    assert_eq!(step["zk_txns"], json!([]));
}
