//! `silence`: a client's last packet reaches the server at a given phase of its tick; when is the
//! session expired, and is that within a tick after its bucket's deadline? [spec zookeeper.md S2]

use std::collections::BTreeSet;

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::zk::op::ToServer;
use serde_json::{Value, json};

use super::player::{Key, Player, sent_for};
use super::words::{self, Known, Unknown};
use super::world::{Kept, Place, World};

/// What a run shows in which the last packet came at one end of the phase.
struct Seen {
    /// Milliseconds of the server's clock.
    packet: u64,
    deadline: u64,
    event: u64,
}

pub fn play(player: &mut Player, op: &Value) -> Known<()> {
    player.server(0, &op["server"])?;
    let silent: Key = (op["client"].as_str().unwrap_or("s").into(), String::new());
    let watcher: Key =
        (op["watcher"]["client"].as_str().unwrap_or("watcher").into(), String::new());
    open(player, &silent, words::int(op, "timeout_ms")?);
    let path = op["ephemeral"].as_str().unwrap_or("/e");
    let create = json!({"name": "create", "path": path, "data": "", "mode": "EPHEMERAL"});
    player.call_bare(&silent, words::request(&create, 0)?, true);
    if player.world.bares.get(&watcher).is_none_or(|b| b.closed) {
        open(player, &watcher, words::int(&op["watcher"], "timeout_ms")?);
    }
    let watch = json!({"name": "exists", "path": op["watcher"]["path"], "watch": true});
    player.call_bare(&watcher, words::request(&watch, 0)?, true);

    let phases = op["last_packet_phase_ms"].as_array().into_iter().flatten();
    let phases: Vec<u64> = phases.filter_map(Value::as_u64).collect();
    // The packet came between two readings of the clock: both ends are played, from the same
    // state, and the run goes on from the first.
    let before = player.world.clone();
    let mut seen = Vec::new();
    for phase in phases.iter().rev() {
        player.world = before.clone();
        seen.insert(0, one_end(player, op, *phase, (&silent, &watcher))?);
    }
    let Some(first) = seen.first() else {
        return Err(Unknown(format!("last_packet_phase_ms of {op}")));
    };
    let start = first.packet;
    let set = |f: &dyn Fn(&Seen) -> u64| seen.iter().map(f).collect::<BTreeSet<u64>>();
    let facts = json!({
        "negotiated_timeout_ms": player.world.bares.get(&silent).and_then(|b| b.granted_ms),
        "silence_until_event_ms": set(&|s| s.event - s.packet),
        "bucket_deadline_after_last_packet_ms": set(&|s| s.deadline - start),
        "event_after_deadline_ms": set(&|s| s.event.saturating_sub(s.deadline)),
        "connection_closed_by_server":
            player.world.bares.get(&silent).is_some_and(|b| b.closed),
    });
    player.world.cut_bare(&silent);
    if let Value::Object(mut facts) = facts {
        player.facts.append(&mut facts);
    }
    Ok(())
}

fn open(player: &mut Player, key: &Key, timeout_ms: i32) {
    player.world.open_bare(key, Place::Server(0), timeout_ms, None);
    player.world.run_for(Span::from_millis(10));
}

/// The last packet arrives at the next moment whose phase this is.
fn one_end(player: &mut Player, op: &Value, phase: u64, keys: (&Key, &Key)) -> Known<Seen> {
    let (silent, watcher) = keys;
    let tick = player.world.host(0).map_or(1, |host| u64::from(host.tick_ms()));
    // One tick from now at the earliest: there is time to send it.
    let now = player.world.now.millis() + tick;
    let packet = now - now % tick + tick + phase % tick;
    let arrival = Instant::ZERO + Span::from_millis(packet);
    player.world.run(sent_for(arrival), |_| false);
    player.world.send_bare(silent, ToServer::Ping);
    player.world.run(arrival, |_| false);
    let session = player.world.bares.get(silent).map(|b| b.session).unwrap_or_default();
    let deadline = player.world.host(0).and_then(|host| host.deadline(session));
    let deadline = deadline.ok_or_else(|| Unknown("the session is gone too early".into()))?;
    let until = arrival + Span::from_secs(op["max_s"].as_u64().unwrap_or(20));
    let every = op["watcher"]["pings_every_ms"].as_u64().map(Span::from_millis);
    let gone = |w: &World| event_at(w, watcher, arrival).is_some();
    player.run_with_pings(until, std::slice::from_ref(watcher), every, gone);
    let event = event_at(&player.world, watcher, arrival).unwrap_or(until);
    player.world.run_for(Span::from_millis(200));
    Ok(Seen { packet, deadline: deadline.millis(), event: event.millis() })
}

fn event_at(world: &World, watcher: &Key, after: Instant) -> Option<Instant> {
    let frames = &world.bares.get(watcher)?.frames;
    let event = |f: &&(Instant, Kept)| f.0 >= after && matches!(f.1, Kept::Event { .. });
    frames.iter().find(event).map(|(at, _)| *at)
}
