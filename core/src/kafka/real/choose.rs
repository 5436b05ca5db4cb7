//! Who leads, by strategy: pure functions of assignment, ISR and who lives. [spec kafka-zk.md §5]

use super::context::Context;
use crate::kafka::release::Release;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    Offline,
    Preferred,
    ControlledShutdown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub leader: u32,
    pub isr: Vec<u32>,
    pub unclean: bool,
}

/// A partition about which is decided.
pub struct Case<'a> {
    pub assignment: &'a [u32],
    pub isr: &'a [u32],
    pub leader: Option<u32>,
    /// An unclean election is allowed.
    pub unclean: bool,
}

/// `None`: nobody can lead, or nothing needs to change.
pub fn choose(
    strategy: Strategy,
    release: Release,
    context: &Context,
    case: &Case<'_>,
) -> Option<Choice> {
    match strategy {
        Strategy::Offline => offline(context, case),
        Strategy::Preferred => preferred(release, context, case),
        Strategy::ControlledShutdown => controlled_shutdown(release, context, case),
    }
}

/// Whether no member of the ISR is online.
pub fn needs_unclean(context: &Context, isr: &[u32]) -> bool {
    !isr.iter().any(|id| context.is_online(*id))
}

fn offline(context: &Context, case: &Case<'_>) -> Option<Choice> {
    let online = |id: &u32| context.is_online(*id);
    let isr: Vec<u32> = case.isr.iter().copied().filter(online).collect();
    if let Some(leader) = case.assignment.iter().copied().find(|id| isr.contains(id)) {
        return Some(Choice { leader, isr, unclean: false });
    }
    let first = case.assignment.iter().copied().find(online).filter(|_| case.unclean)?;
    Some(Choice { leader: first, isr: vec![first], unclean: true })
}

fn preferred(release: Release, context: &Context, case: &Case<'_>) -> Option<Choice> {
    let first = *case.assignment.first()?;
    let already = case.leader == Some(first) && !release.rewrites_preferred_leaders();
    if already || !context.is_online(first) || !case.isr.contains(&first) {
        return None;
    }
    Some(Choice { leader: first, isr: case.isr.to_vec(), unclean: false })
}

fn controlled_shutdown(release: Release, context: &Context, case: &Case<'_>) -> Option<Choice> {
    let stays = |id: &u32| !context.shutting_down.contains(id);
    let isr: Vec<u32> = case.isr.iter().copied().filter(stays).collect();
    let leader = if release.shuts_down_by_isr_order() {
        isr.first().copied()
    } else {
        let fits = |id: &u32| isr.contains(id) && context.live.contains_key(id);
        case.assignment.iter().copied().find(fits)
    };
    Some(Choice { leader: leader?, isr, unclean: false })
}
