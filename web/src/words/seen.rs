//! Where a release surprises: what it does that nobody would expect, with the recording of the
//! real one in which it was seen.

use kafkascope_core::kafka;
use kafkascope_core::kafka::paths;
use kafkascope_core::kafka::release::Release;
use kafkascope_core::world::{Event, Row, ZkEvent};

use crate::i18n::{Key, Lang, k};

/// How far before or after a row its companion is looked for.
const NEAR: usize = 400;

/// The note under a row: what is odd about it, and where the real one was seen to do it.
pub fn note(lang: Lang, release: Release, rows: &[Row], at: usize) -> Option<String> {
    let (key, recording) = surprise(release, rows, at)?;
    let name = release.as_str();
    let what = lang.t(key);
    Some(lang.fill(k::SEEN_ON, &[("release", &name), ("recording", &recording), ("what", &what)]))
}

fn surprise(release: Release, rows: &[Row], at: usize) -> Option<(Key, &'static str)> {
    let row = rows.get(at)?;
    match &row.event {
        Event::Zk(ZkEvent::Failed { what, path, .. }) => refused(release, what, path),
        Event::Kafka(event) => decided(release, event, rows, at),
        _ => None,
    }
}

/// The recording of a release in which brokers start from nothing.
const fn start_of(release: Release) -> &'static str {
    match release {
        Release::V0_8_2_2 | Release::V2_8_2 | Release::V3_9_2 => "brokers-start",
        Release::V0_11_0_3 | Release::V1_1_1 => "broker-crash",
    }
}

fn refused(release: Release, what: &str, path: &str) -> Option<(Key, &'static str)> {
    match (what, path) {
        ("delete", "/admin/preferred_replica_election") => {
            Some((k::SEEN_PREFERRED, start_of(release)))
        }
        ("setData", paths::CONTROLLER_EPOCH) if !release.fences_controller_writes() => {
            Some((k::SEEN_EPOCH, start_of(release)))
        }
        ("create", _) if release.creates_paths_blindly() && is_common(path) => {
            Some((k::SEEN_BLIND, start_of(release)))
        }
        ("create", _) if path.ends_with("/state") && !release.pipelines() => {
            let recording = match release {
                Release::V0_8_2_2 => "topic-create",
                _ => "broker-crash",
            };
            Some((k::SEEN_PARENTS, recording))
        }
        _ => None,
    }
}

/// The persistent paths that every broker makes sure of.
fn is_common(path: &str) -> bool {
    const COMMON: [&str; 8] = [
        "/consumers",
        "/brokers",
        "/config",
        "/admin/delete_topics",
        "/isr_change_notification",
        "/latest_producer_id_block",
        "/log_dir_event_notification",
        "/cluster",
    ];
    let state = path.starts_with("/brokers/topics/") || path.starts_with("/brokers/ids/");
    !state && COMMON.iter().any(|common| path.starts_with(common))
}

fn decided(
    release: Release,
    event: &kafka::Event,
    rows: &[Row],
    at: usize,
) -> Option<(Key, &'static str)> {
    use kafka::Event as E;
    match event {
        E::WonElection { broker } if release.elects_before_registering() => {
            let before = rows[at.saturating_sub(NEAR)..at].iter().rev();
            let mut since_start = before.take_while(|row| {
                row.proc != rows[at].proc || !matches!(row.event, Event::Started)
            });
            let registered = |row: &Row| {
                matches!(&row.event, Event::Kafka(event)
                    if matches!(&**event, E::Registered { broker: id } if id == broker))
            };
            let fresh = at < NEAR && !since_start.any(registered);
            fresh.then_some((k::SEEN_UNREGISTERED, start_of(release)))
        }
        E::LeaderChosen { tp, from: Some(_), leader: None, leader_epoch, .. }
            if release.offlines_dead_at_failover() =>
        {
            let after = rows.iter().skip(at + 1).take(NEAR);
            let again = after.into_iter().any(|row| {
                matches!(&row.event, Event::Kafka(event) if matches!(&**event,
                    E::LeaderChosen { tp: same, leader: Some(_), leader_epoch: epoch, .. }
                        if same == tp && *epoch == leader_epoch + 1))
            });
            again.then_some((k::SEEN_TWICE, "controller-failover"))
        }
        E::Fenced { .. } => Some((k::SEEN_FENCED, "controller-failover")),
        E::OldSessionHolds { .. } if release.waits_for_own_old_node() => {
            Some((k::SEEN_OWN_NODE, "broker-fast-restart"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kafkascope_core::base::Instant;
    use kafkascope_core::lab::Lab;
    use kafkascope_core::script;

    use super::*;

    fn surprises(release: &str) -> Vec<String> {
        let profile = if release == "0.8.2.2" { "0.8" } else { "2.x" };
        let text = format!(
            "kafkascope 1\nprofile {profile} release {release} seed 7\nat 0s start broker 1..3\n\
             at 4s create topic orders partitions 3 replication 2\nat 8s kill -9 broker 1\n\
             at 8s kill -9 broker 2\n"
        );
        let mut lab = Lab::new(script::run_of(&script::parse(&text).expect("a script")));
        let _ = lab.advance(Instant(40_000_000), u32::MAX);
        let release = Release::parse(release).expect("a release");
        let rows = lab.rows();
        let notes = (0..rows.len()).filter_map(|at| surprise(release, rows, at));
        notes.map(|(key, recording)| format!("{key:?} {recording}")).collect()
    }

    #[test]
    fn each_release_surprises_in_its_own_way() {
        let old = surprises("0.8.2.2");
        let new = surprises("2.8.2");
        let has = |notes: &[String], part: &str| notes.iter().any(|note| note.contains(part));
        assert!(has(&old, "unregistered") && has(&old, "parents"), "{old:?}");
        assert!(has(&new, "blind") && !has(&new, "unregistered"), "{new:?}");
        assert!(has(&old, "preferred") && has(&new, "preferred"));
    }
}
