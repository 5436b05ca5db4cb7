//! The dotted line from every session's owner up to ZooKeeper.

use kafkascope_core::view::{Life, SessionState, SessionView};
use yew::prelude::*;

use super::layout::Geo;
use super::{PartProps, Parts};

#[component]
pub fn Links(props: &PartProps) -> Html {
    let parts = &props.parts;
    let view = &parts.scene.view;
    // Fifty quiet lines say nothing: the dense level shows those that run out.
    let dense = parts.geo.level == super::layout::Level::Dense;
    let brokers = view.brokers.iter().enumerate().filter(|(_, broker)| {
        let out = broker.session.is_some_and(|one| one.state == SessionState::RunningOut);
        !dense || out || broker.cut
    });
    let brokers = brokers.map(|(index, broker)| {
        line(broker_path(&parts.geo, index), broker.session, broker.life, broker.cut, broker.proc)
    });
    let clients = view.clients.iter().enumerate().map(|(index, client)| {
        line(client_path(&parts.geo, index), client.session, client.life, client.cut, client.proc)
    });
    html! { <g class="slinks">{for brokers}{for clients}{for people(parts)}</g> }
}

/// Members and producers with a session. Many of them share one line.
fn people(parts: &Parts) -> Vec<Html> {
    let (people, groups) = (&parts.geo.people, &parts.scene.groups);
    let many = people.detail == super::people::Detail::Tile;
    let mut lines = Vec::new();
    for (at, geo) in people.members.iter().enumerate() {
        let group = groups.groups.get(geo.group);
        let Some(member) = group.and_then(|group| group.members.get(geo.member)) else { continue };
        let out = member.session.is_some_and(|one| one.state == SessionState::RunningOut);
        if let Some(proc) = member.proc.filter(|_| !many || out || member.cut) {
            let path = member_path(&parts.geo, at);
            lines.push(line(path, member.session, member.life, member.cut, proc));
        }
    }
    for (at, producer) in groups.producers.iter().enumerate() {
        let path = producer_path(&parts.geo, at);
        lines.push(line(path, producer.session, producer.life, producer.cut, producer.proc));
    }
    lines
}

/// From a member out of its card and up.
fn member_path(geo: &Geo, at: usize) -> Option<Vec<(f64, f64)>> {
    let (x, y) = geo.people.member_ring(at).filter(|_| !geo.narrow)?;
    let (edge, door) = (geo.w - 8.0, geo.zk.bottom() - 20.0);
    Some(vec![(x + 9.0, y), (edge, y), (edge, door), (geo.zk.right(), door)])
}

fn producer_path(geo: &Geo, at: usize) -> Option<Vec<(f64, f64)>> {
    let rect = geo.people.producers.get(at).filter(|_| !geo.narrow)?;
    let x = rect.x - 8.0;
    let y = rect.y + 17.0;
    Some(vec![(rect.x, y), (x, y), (x, geo.zk.bottom() - 20.0), (geo.zk.x, geo.zk.bottom() - 20.0)])
}

fn line(
    path: Option<Vec<(f64, f64)>>,
    session: Option<SessionView>,
    life: Life,
    cut: bool,
    proc: u16,
) -> Html {
    let (Some(path), Some(session)) = (path, session) else { return Html::default() };
    let class = classes!(
        "slink",
        (session.state == SessionState::RunningOut || life == Life::Down).then_some("dead"),
        cut.then_some("severed"),
    );
    let d: String = path
        .iter()
        .enumerate()
        .map(|(index, (x, y))| format!("{}{x} {y}", if index == 0 { 'M' } else { 'L' }))
        .collect();
    let middle = path.first().zip(path.last()).map(|(a, b)| (b.0, (a.1 + b.1) / 2.0));
    html! {
        <g key={proc}>
            <path {d} {class} />
            if let Some((x, y)) = middle.filter(|_| cut) {
                <use href="#i-kill" x={(x - 7.0).to_string()} y={(y - 7.0).to_string()} width="14"
                    height="14" class="ics cutx" />
            }
        </g>
    }
}

/// From a broker up to ZooKeeper.
pub fn broker_path(geo: &Geo, index: usize) -> Option<Vec<(f64, f64)>> {
    let (x, y) = geo.ring(index)?;
    let r = if geo.narrow { 9.0 } else { 12.0 };
    Some(vec![(x, y - r), (x, geo.zk.bottom())])
}

/// From a client out of its card and up.
pub fn client_path(geo: &Geo, index: usize) -> Option<Vec<(f64, f64)>> {
    let (x, y) = geo.client_ring(index)?;
    if geo.narrow {
        return None;
    }
    let edge = geo.w - 8.0;
    let y = y + 0.5;
    let door = geo.zk.bottom() - 20.0;
    Some(vec![(x + 10.0, y), (edge, y), (edge, door), (geo.zk.right(), door)])
}

/// Between two brokers, over their heads.
pub fn peer_path(geo: &Geo, from: usize, to: usize) -> Option<Vec<(f64, f64)>> {
    let (a, b) = (geo.cols.get(from)?, geo.cols.get(to)?);
    let (ax, bx) = (a.x + a.w / 2.0, b.x + b.w / 2.0);
    let y = a.y + geo.head;
    Some(vec![(ax, y), (ax, y - 0.1), (bx, y - 0.1), (bx, y)])
}

/// The point at a part of a way.
pub fn along(path: &[(f64, f64)], part: f64) -> (f64, f64) {
    let lengths: Vec<f64> =
        path.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).collect();
    let mut left = lengths.iter().sum::<f64>() * part.clamp(0.0, 1.0);
    for (window, length) in path.windows(2).zip(&lengths) {
        if left <= *length && *length > 0.0 {
            let t = left / length;
            let (a, b) = (window[0], window[1]);
            return (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t);
        }
        left -= length;
    }
    path.last().copied().unwrap_or_default()
}

/// What the parts know of a process's way to ZooKeeper.
pub fn way(parts: &Parts, proc: u16) -> Option<Vec<(f64, f64)>> {
    let view = &parts.scene.view;
    if let Some(index) = view.brokers.iter().position(|broker| broker.proc == proc) {
        return broker_path(&parts.geo, index);
    }
    if let Some(index) = view.clients.iter().position(|client| client.proc == proc) {
        return client_path(&parts.geo, index);
    }
    let groups = &parts.scene.groups;
    let member = parts.geo.people.members.iter().position(|geo| {
        let group = groups.groups.get(geo.group);
        group.and_then(|group| group.members.get(geo.member)?.proc) == Some(proc)
    });
    if let Some(at) = member {
        return member_path(&parts.geo, at);
    }
    let at = groups.producers.iter().position(|producer| producer.proc == proc)?;
    producer_path(&parts.geo, at)
}

#[cfg(test)]
mod tests {
    use super::along;

    #[test]
    fn a_point_moves_along_all_of_a_way() {
        let way = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)];
        assert_eq!(along(&way, 0.0), (0.0, 0.0));
        assert_eq!(along(&way, 0.5), (10.0, 0.0));
        assert_eq!(along(&way, 0.75), (10.0, 5.0));
        assert_eq!(along(&way, 1.0), (10.0, 10.0));
    }
}
