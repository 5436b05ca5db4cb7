//! Recordings of Kafka brokers with ZooKeeper: plays their ops in a simulated world and says what
//! happened in their schema.
//!
//! Nothing is looked up by a file's name. What stands in the answer was seen in the simulated run;
//! of the recording only its ops, settings and start are used, and what no rule decides: that is
//! said in `steered`. [recordings/README.md; recorder/zk-brokers/README.md]

mod chance;
mod consumers;
mod disks;
mod facts;
mod lean;
mod load;
mod log;
mod names;
mod ops;
mod player;
mod producers;
mod records;
mod sent;
mod sim;
mod texts;
mod until;

use kafkascope_core::base::{Rng, Span};
use kafkascope_core::kafka::release::Release;
use kafkascope_core::world::Config;
use kafkascope_core::world::config::SETTINGS;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::Replay;
use player::{Moment, Player};

/// An op or a field that nothing here knows, or a start that can't be reached: the file fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(pub String);

pub type Known<T> = Result<T, Unknown>;

/// Replays a recording of brokers; the answer has its schema.
pub fn play(recording: &Value) -> Replay {
    match run(recording) {
        Ok(run) => Replay::Done(run),
        Err(Unknown(what)) => Replay::Unknown(what),
    }
}

/// The release that was recorded.
pub fn release(recording: &Value) -> Option<Release> {
    let software = recording["software"].as_str().unwrap_or_default();
    software.split([' ', ',']).find_map(Release::parse)
}

fn run(recording: &Value) -> Known<Value> {
    let none = Vec::new();
    let steps = recording["steps"].as_array().unwrap_or(&none);
    let release = release(recording);
    let release = release.ok_or_else(|| Unknown(format!("software {}", recording["software"])))?;
    let config = config(release, recording, steps)?;
    let mut first = None;
    let mut found = None;
    let more = steps.iter().any(chance::keeps_checkpoints);
    let tries = if more { MANY_TRIES } else { TRIES };
    let leaning = steps.iter().any(lean::can_lean);
    for later in LATER {
        let player = Player::new(release, config.clone(), recording, later)?;
        first.get_or_insert_with(|| player.clone());
        // With all the ways to lean, looking ahead would take too long.
        if leaning {
            break;
        }
        let mut done = Vec::new();
        if let Some(player) = search(&player, steps, &mut done, &mut { tries })? {
            found = Some((player, done));
            break;
        }
    }
    let (player, done) = match (found, first) {
        (Some(found), _) => found,
        (None, Some(first)) => as_near_as_can_be(first, steps)?,
        (None, None) => return Ok(Value::Null),
    };
    Ok(json!({
        "about": recording["about"],
        "software": recording["software"],
        "config": recording["config"],
        "steps": done,
        "steered": player.steered,
    }))
}

/// By how many milliseconds more or less than registered a broker of the start comes after the one
/// before it: the log doesn't tell when it started its timers.
const LATER: [i64; 3] = [0, -300, 300];
/// So many steps are played at most to find moments at which all timers run as recorded.
const TRIES: u32 = 150;
/// More where each broker's checkpoints have their own timer too.
const MANY_TRIES: u32 = 1_500;

/// Plays all steps, each at the first moment from which this step and those after it go as the
/// recording's timers had it.
fn search(
    player: &Player,
    steps: &[Value],
    done: &mut Vec<Value>,
    tries: &mut u32,
) -> Known<Option<Player>> {
    let Some((step, rest)) = steps.split_first() else { return Ok(Some(player.clone())) };
    for moment in player.moments(step) {
        if *tries == 0 {
            return Ok(None);
        }
        *tries -= 1;
        let mut next = player.clone();
        let (facts, distance) = next.step(step, &moment)?;
        if distance > 0 {
            if player.is_hopeless(step, &facts) {
                return Ok(None);
            }
            continue;
        }
        done.push(facts);
        if let Some(end) = search(&next, rest, done, tries)? {
            return Ok(Some(end));
        }
        done.pop();
    }
    Ok(None)
}

/// The same without looking ahead, whether or not a moment fits.
fn as_near_as_can_be(mut player: Player, steps: &[Value]) -> Known<(Player, Vec<Value>)> {
    let mut done = Vec::new();
    for step in steps {
        let mut best: Option<Played> = None;
        for moment in player.moments(step) {
            nearer(&player, step, moment, &mut best)?;
            if best.as_ref().is_some_and(|best| best.distance == 0) {
                break;
            }
        }
        let mut rng = Rng::new(BENDS);
        let mut last = best.as_ref().map(|best| best.moment.leaning.clone()).unwrap_or_default();
        let mut seen = best.as_ref().map(|best| best.player.seen.clone()).unwrap_or_default();
        for n in 0..BENDS {
            let Some(now) = best.as_ref().filter(|now| now.distance > 0 && lean::can_lean(step))
            else {
                break;
            };
            let leaning = match lean::starts_together(step) {
                true if n < COUNTED => last.counted(&seen),
                _ => now.moment.leaning.bent(step, &mut rng),
            };
            last.clone_from(&leaning);
            let moment = Moment { leaning, ..now.moment.clone() };
            seen = nearer(&player, step, moment, &mut best)?;
        }
        if let Some(best) = best {
            player = best.player;
            done.push(best.facts);
        }
    }
    Ok((player, done))
}

/// How often the requests before each entry are counted anew.
const COUNTED: u64 = 8;
/// How often the links are bent a little to come nearer.
const BENDS: u64 = 900;

/// A step, played in one way.
struct Played {
    distance: usize,
    moment: Moment,
    player: Player,
    facts: Value,
}

/// Plays a step; the nearest way stays, of equals the later one where it leans.
fn nearer(
    from: &Player,
    step: &Value,
    moment: Moment,
    best: &mut Option<Played>,
) -> Known<BTreeMap<String, Vec<u32>>> {
    let mut player = from.clone();
    let (facts, distance) = player.step(step, &moment)?;
    let seen = player.seen.clone();
    let better = |known: &Played| match moment.leaning == known.moment.leaning {
        true => distance < known.distance,
        false => distance < known.distance || distance == known.distance && distance > 0,
    };
    if best.as_ref().is_none_or(better) {
        *best = Some(Played { distance, moment, player, facts });
    }
    Ok(seen)
}

/// The world's settings: the release's own, those of the recording, and the links of one machine.
fn config(release: Release, recording: &Value, steps: &[Value]) -> Known<Config> {
    let given = &recording["config"];
    let mut config = Config::release(release);
    config.latency = sim::LATENCY;
    config.jitter = Span::ZERO;
    config.boot = sim::BOOT;
    config.boot_spread = Span::ZERO;
    let settings = given.get("broker").unwrap_or(given).as_object();
    for (name, value) in settings.into_iter().flatten() {
        set(&mut config, name, value)?;
    }
    for name in ["tickTime", "zookeeper tickTime"] {
        if let Some(ms) = given[name].as_u64().and_then(|ms| u32::try_from(ms).ok()) {
            config.tick_ms = ms;
        }
    }
    let most = given["zookeeper maxSessionTimeout"].as_i64();
    config.max_session_timeout_ms = most.and_then(|ms| i32::try_from(ms).ok());
    let base = port_base(recording, steps);
    config.kafka.advertised = base.map(|base| ("localhost".into(), base));
    Ok(config)
}

/// One of the broker's settings; those that change nothing here are passed over.
fn set(config: &mut Config, name: &str, value: &Value) -> Known<()> {
    let Some(index) = SETTINGS.iter().position(|setting| setting.name == name) else {
        return Ok(());
    };
    let number = match value {
        Value::String(text) if text == "true" => Some(1),
        Value::String(text) if text == "false" => Some(0),
        Value::String(text) => text.parse().ok(),
        Value::Bool(flag) => Some(u64::from(*flag)),
        _ => value.as_u64(),
    };
    let setting = &SETTINGS[index];
    let number = number.filter(|number| (setting.low..=setting.high).contains(number));
    let number = number.ok_or_else(|| Unknown(format!("setting {name} = {value}")))?;
    config.set(index, number);
    Ok(())
}

/// Brokers of one machine listen at a port that is this plus their id. It stands in what the
/// recording says of a broker: its op, the start, or its own node.
fn port_base(recording: &Value, steps: &[Value]) -> Option<u32> {
    let base = |id: &Value, port: &Value| {
        let (id, port) = (id.as_u64()?, port.as_u64()?);
        u32::try_from(port.checked_sub(id)?).ok()
    };
    let of_op = |op: &Value| match op["duplicate"] == true {
        true => None,
        false => base(&op["id"], &op["port"]),
    };
    let of_node = |step: &Value| {
        let nodes = step["znodes"].as_object()?.iter();
        nodes
            .filter_map(|(path, node)| {
                let id: u64 = path.strip_prefix("/brokers/ids/")?.parse().ok()?;
                base(&id.into(), &node["data"]["port"])
            })
            .next()
    };
    let of_step = |step: &Value| {
        let inner = step["op"]["ops"].as_array().into_iter().flatten();
        inner.chain([&step["op"]]).find_map(of_op).or_else(|| of_node(step))
    };
    let of_start = recording["steps"][0]["start"]["brokers"].as_object();
    let of_start = of_start
        .into_iter()
        .flatten()
        .find_map(|(id, broker)| base(&id.parse::<u64>().ok()?.into(), &broker["port"]));
    of_start.or_else(|| steps.iter().find_map(of_step))
}

#[cfg(test)]
mod tests;
