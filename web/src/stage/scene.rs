//! What the stage shows at one moment: the core's view, and what changed in this step.

use std::sync::Arc;

use kafkascope_core::base::Span;
use kafkascope_core::kafka::{self, payload};
use kafkascope_core::lab::{BranchId, Lab};
use kafkascope_core::view::{self, FlightKind, GroupsView, StageView};
use kafkascope_core::world::{Event, Row, ZkEvent};
use kafkascope_core::zk::op::Path;

/// Nodes that went stay, struck through, for so long.
const GHOST: Span = Span::from_millis(250);
/// From so many processes on the view is only made anew when a step happened.
const LARGE: usize = 24;

/// When two scenes are the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    run: u32,
    branch: BranchId,
    at: u64,
}

impl Key {
    pub fn of(lab: &Lab, run: u32) -> Key {
        let world = lab.world();
        let large = world.procs.len() > LARGE;
        // In a large run reads and pings don't change what is drawn.
        let at = match large {
            true => lab.rows().iter().rposition(|row| !row.detail).unwrap_or(0) as u64,
            false => world.event_no,
        };
        Key { run, branch: lab.current_branch(), at }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub view: StageView,
    pub groups: GroupsView,
    /// Creates on their way: the group, and the name of the node to be.
    pub pending: Vec<(usize, String)>,
    /// Paths that this step made or changed.
    pub changed: Vec<Path>,
    /// Paths that went just now, with the moment.
    pub gone: Vec<Path>,
    /// Paths whose watches fire, or whose events are on their way.
    pub firing: Vec<Path>,
    /// Partitions that this step changed.
    pub moved: Vec<(Arc<str>, u32)>,
    /// A controller that this step made.
    pub crowned: Option<u32>,
    pub epoch: Option<i32>,
}

impl Scene {
    pub fn pending_counts(&self) -> Vec<usize> {
        (0..self.view.zookeeper.groups.len())
            .map(|group| {
                let ghosts = self.ghosts(group).count();
                self.pending.iter().filter(|(at, _)| *at == group).count() + ghosts
            })
            .collect()
    }

    /// Children of a group that went just now.
    pub fn ghosts(&self, group: usize) -> impl Iterator<Item = &str> {
        let path = self.view.zookeeper.groups.get(group).map(|group| group.path.clone());
        self.gone.iter().filter_map(move |gone| {
            let path = path.as_ref()?;
            if gone == path {
                return Some(&**gone);
            }
            gone.strip_prefix(&**path)?.strip_prefix('/').filter(|name| !name.contains('/'))
        })
    }
}

pub fn scene(lab: &Lab, memory: &mut view::Memory) -> Scene {
    let view = view::stage_with(lab, memory);
    let mut scene = Scene {
        pending: Vec::new(),
        changed: Vec::new(),
        gone: Vec::new(),
        firing: Vec::new(),
        moved: Vec::new(),
        crowned: None,
        epoch: view::node(lab, "/controller_epoch").and_then(|node| payload::number(&node.data)),
        view,
        groups: view::groups(lab),
    };
    for flight in view::flights(lab) {
        match flight.kind {
            FlightKind::Write { path } => pend(&mut scene, &path),
            FlightKind::Watch { path, .. } => scene.firing.push(path),
            _ => {}
        }
    }
    let rows = lab.rows();
    for row in rows.iter().rev().take_while(|row| lab.now().since(row.at) <= GHOST).take(400) {
        vanish(&mut scene, &row.event);
    }
    let step = rows.iter().rev().find(|row| !row.detail).map(|row| row.event_no);
    for row in rows.iter().rev().take_while(|row| Some(row.event_no) >= step) {
        tint(&mut scene, row);
    }
    let view = &scene.view;
    scene.gone.retain(|path| {
        !view.zookeeper.groups.iter().flat_map(|group| &group.chips).any(|chip| chip.path == *path)
    });
    scene.gone.truncate(40);
    scene
}

/// A write to a node that isn't there yet and would be a chip.
fn pend(scene: &mut Scene, path: &Path) {
    let groups = &scene.view.zookeeper.groups;
    let known = |group: &view::ChipGroup| group.chips.iter().any(|chip| chip.path == *path);
    for (index, group) in groups.iter().enumerate() {
        let name = match path.strip_prefix(&*group.path) {
            Some("") if group.chips.is_empty() => Some("…".to_owned()),
            Some(rest) => {
                rest.strip_prefix('/').filter(|name| name.parse::<u32>().is_ok()).map(str::to_owned)
            }
            None => None,
        };
        if let Some(name) = name.filter(|_| !known(group)) {
            scene.pending.push((index, name));
        }
    }
}

fn vanish(scene: &mut Scene, event: &Event) {
    match event {
        Event::Zk(ZkEvent::SessionExpired { gone, .. } | ZkEvent::SessionClosed { gone, .. }) => {
            scene.gone.extend(gone.iter().cloned())
        }
        Event::Zk(ZkEvent::Deleted { path, .. }) => scene.gone.push(path.clone()),
        _ => {}
    }
}

fn tint(scene: &mut Scene, row: &Row) {
    match &row.event {
        Event::Zk(ZkEvent::Created { path, .. } | ZkEvent::DataSet { path, .. }) => {
            scene.changed.push(path.clone());
        }
        Event::Zk(ZkEvent::WatchesFired { path, .. }) => scene.firing.push(path.clone()),
        Event::Kafka(event) => match &**event {
            kafka::Event::LeaderChosen { tp, .. }
            | kafka::Event::IsrShrunk { tp, .. }
            | kafka::Event::IsrGrown { tp, .. }
            | kafka::Event::BecameLeader { tp, .. } => {
                scene.moved.push((tp.topic.clone(), tp.partition));
            }
            kafka::Event::ControllerStarted { broker, .. } => scene.crowned = Some(*broker),
            _ => {}
        },
        _ => {}
    }
}
