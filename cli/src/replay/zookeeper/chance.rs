//! What no rule decides, taken from the recording: in which order the watchers of one client hear
//! of a state, and which of two clients hears first that their server is gone.
//!
//! The Java client keeps its watchers in a hash set of objects without a hash of their own: their
//! identity hashes, drawn at random by the virtual machine, order them (`random-ids`). The two
//! connections of two clients are closed by the dying server at the same time (`death-tick`).
//! Nothing else may differ: same clients, same states in the same order, same watchers.

use serde_json::{Value, json};

/// `c/w-data: Disconnected` as client, watcher and what it was told.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (client, rest) = line.split_once('/')?;
    let (watcher, told) = rest.split_once(": ")?;
    Some((client, watcher, told.strip_prefix("None:").unwrap_or(told)))
}

fn lines(events: &Value) -> Option<Vec<(&str, &str, &str)>> {
    events.as_array()?.iter().map(|line| parts(line.as_str()?)).collect()
}

/// What one client was told, watchers of one state sorted.
fn of_client<'a>(events: &[(&'a str, &'a str, &'a str)], client: &str) -> Vec<(&'a str, &'a str)> {
    let own: Vec<(&str, &str)> =
        events.iter().filter(|(c, ..)| *c == client).map(|(_, w, told)| (*told, *w)).collect();
    let mut sorted = Vec::new();
    for run in own.chunk_by(|a, b| a.0 == b.0) {
        let mut run = run.to_vec();
        run.sort_unstable();
        sorted.extend(run);
    }
    sorted
}

fn clients<'a>(events: &[(&'a str, &'a str, &'a str)]) -> Vec<&'a str> {
    let mut order: Vec<&str> = Vec::new();
    for (client, ..) in events {
        if !order.contains(client) {
            order.push(client);
        }
    }
    order
}

/// Puts the events of a step in the recorded order where chance alone decides it, and returns what
/// was steered.
pub fn steer(step: usize, recorded: &Value, got: &mut Value) -> Vec<Value> {
    if recorded["events"] == got["events"] {
        return Vec::new();
    }
    let (Some(wanted), Some(found)) = (lines(&recorded["events"]), lines(&got["events"])) else {
        return Vec::new();
    };
    let (order, other) = (clients(&wanted), clients(&found));
    let mut sorted = (order.clone(), other.clone());
    sorted.0.sort_unstable();
    sorted.1.sort_unstable();
    let same = |client: &&str| of_client(&wanted, client) == of_client(&found, client);
    if wanted.len() != found.len() || sorted.0 != sorted.1 || !order.iter().all(same) {
        return Vec::new();
    }
    let mut steered = Vec::new();
    let raw = |events: &[(&str, &str, &str)], client: &str| -> Vec<String> {
        events
            .iter()
            .filter(|(c, ..)| *c == client)
            .map(|(_, w, told)| format!("{w} {told}"))
            .collect()
    };
    if order.iter().any(|client| raw(&wanted, client) != raw(&found, client)) {
        steered.push(json!({"step": step, "what": "random-ids"}));
    }
    if order != other {
        steered.push(json!({"step": step, "what": "death-tick"}));
    }
    got["events"] = recorded["events"].clone();
    steered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steered(recorded: &[&str], got: &[&str]) -> (Vec<String>, bool) {
        let recorded = json!({"events": recorded});
        let mut got = json!({"events": got});
        let what = steer(3, &recorded, &mut got);
        let names = what.iter().filter_map(|s| s["what"].as_str().map(str::to_owned)).collect();
        (names, recorded == got)
    }

    #[test]
    fn the_order_of_a_clients_watchers_and_of_clients_is_chance() {
        let recorded = ["o/default: None:Disconnected", "c/w: Disconnected", "c/v: Disconnected"];
        let got = ["c/v: Disconnected", "c/w: Disconnected", "o/default: None:Disconnected"];
        assert_eq!(
            steered(&recorded, &got),
            (vec!["random-ids".into(), "death-tick".into()], true)
        );
    }

    #[test]
    fn nothing_else_is() {
        let recorded = ["c/w: Disconnected", "c/w: Expired"];
        for got in [
            &["c/w: Expired", "c/w: Disconnected"][..],
            &["c/w: Disconnected"],
            &["c/w: Disconnected", "c/v: Expired"],
            &["d/w: Disconnected", "d/w: Expired"],
        ] {
            assert_eq!(steered(&recorded, got), (vec![], false), "{got:?}");
        }
    }
}
