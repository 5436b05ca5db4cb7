//! Where producers and members of groups stand. Pure.

use kafkascope_core::view::{GroupView, GroupsView};

use super::layout::{Geo, Rect, Room};

/// How much a member's card tells, picked by room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// A line for each partition.
    #[default]
    Seats,
    /// One line.
    Line,
    /// A tile.
    Tile,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MemberGeo {
    pub group: usize,
    pub member: usize,
    pub rect: Rect,
    /// Places in the group's list of seats, each with the middle of its line.
    pub seats: Vec<(usize, f64)>,
    /// Seats that there is no line for.
    pub more: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct People {
    pub producers: Vec<Rect>,
    pub detail: Detail,
    /// Where each group's name stands.
    pub titles: Vec<(f64, f64)>,
    pub members: Vec<MemberGeo>,
    pub add_producer: Rect,
    pub add_consumer: Rect,
}

const HEAD: f64 = 32.0;
const SEAT: f64 = 18.0;
/// A card names so many partitions.
const NAMED: usize = 4;
/// So many members have a line each even if the stage must scroll.
const FEW: usize = 12;
const TITLE: f64 = 40.0;
const TILE: (f64, f64) = (32.0, 24.0);

pub fn producer_width(groups: &GroupsView, w: f64) -> f64 {
    if groups.producers.is_empty() || w < 960.0 { 0.0 } else { 128.0 }
}

fn seats_of(group: &GroupView, member: usize) -> Vec<usize> {
    let owned = (0..).zip(&group.seats).filter(|(_, seat)| {
        seat.owner.as_ref().and_then(|owner| owner.member) == Some(member)
            || seat.readers.contains(&member)
    });
    owned.map(|(index, _)| index).collect()
}

fn card_height(seats: usize) -> f64 {
    let lines = seats.min(NAMED) + usize::from(seats > NAMED) + usize::from(seats == 0);
    HEAD + lines as f64 * SEAT + 6.0
}

fn detail(groups: &GroupsView, free: f64) -> Detail {
    let members: usize = groups.groups.iter().map(|group| group.members.len()).sum();
    let titles = groups.groups.len() as f64 * TITLE;
    let full: f64 = groups
        .groups
        .iter()
        .flat_map(|group| {
            (0..group.members.len()).map(|at| card_height(seats_of(group, at).len()) + 6.0)
        })
        .sum();
    if full + titles <= free {
        Detail::Seats
    } else if members <= FEW || members as f64 * 30.0 + titles <= free {
        Detail::Line
    } else {
        Detail::Tile
    }
}

/// Groups from `top` down in the column at `x`; returns where the next thing may stand.
pub fn members(geo: &mut Geo, groups: &GroupsView, (x, width): (f64, f64), room: &Room) -> f64 {
    let shown = || groups.groups.iter().filter(|group| !group.members.is_empty());
    let mut people =
        People { detail: detail(groups, room.bottom - room.top - 76.0), ..People::default() };
    let mut y = room.top - 6.0;
    for (index, group) in groups.groups.iter().enumerate() {
        if group.members.is_empty() {
            people.titles.push((x, -100.0));
            continue;
        }
        people.titles.push((x, y + 12.0));
        y += TITLE - 6.0;
        match people.detail {
            Detail::Tile => y = tiles(&mut people, index, group, (x, y, width)),
            detail => {
                for at in 0..group.members.len() {
                    y = card(&mut people, group, (index, at), (x, y, width), detail);
                }
            }
        }
        y += 8.0;
    }
    if shown().next().is_none() {
        y = room.top;
    }
    // Where there are producers, the place for another one is below them.
    let both = producer_width(groups, geo.w) == 0.0;
    let half = if both { (width - 8.0) / 2.0 } else { width };
    people.add_consumer = Rect::new(x + width - half, y, half, 32.0);
    people.add_producer = Rect::new(x, y, half, 32.0);
    geo.people = people;
    y + 40.0
}

fn card(
    people: &mut People,
    group: &GroupView,
    (index, at): (usize, usize),
    (x, y, width): (f64, f64, f64),
    detail: Detail,
) -> f64 {
    let all = seats_of(group, at);
    let h = if detail == Detail::Seats { card_height(all.len()) } else { 26.0 };
    let line = |n: usize| match detail {
        Detail::Seats => y + HEAD + n.min(NAMED) as f64 * SEAT + 8.0,
        _ => y + h / 2.0,
    };
    let seats: Vec<(usize, f64)> =
        all.iter().enumerate().map(|(n, seat)| (*seat, line(n))).collect();
    let more = all.len().saturating_sub(NAMED);
    let rect = Rect::new(x, y, width, h);
    people.members.push(MemberGeo { group: index, member: at, rect, seats, more });
    y + h + if detail == Detail::Seats { 6.0 } else { 4.0 }
}

fn tiles(people: &mut People, index: usize, group: &GroupView, (x, y, w): (f64, f64, f64)) -> f64 {
    let per_row = ((w + 3.0) / (TILE.0 + 3.0)).floor().max(1.0) as usize;
    for at in 0..group.members.len() {
        let (column, row) = ((at % per_row) as f64, (at / per_row) as f64);
        let rect = Rect::new(x + column * (TILE.0 + 3.0), y + row * (TILE.1 + 3.0), TILE.0, TILE.1);
        let middle = rect.y + rect.h / 2.0;
        let seats = seats_of(group, at).into_iter().map(|seat| (seat, middle)).collect();
        people.members.push(MemberGeo { group: index, member: at, rect, seats, more: 0 });
    }
    y + group.members.len().div_ceil(per_row) as f64 * (TILE.1 + 3.0)
}

/// Producers at the left, from the top.
pub fn producers(geo: &mut Geo, groups: &GroupsView, room: &Room) {
    let width = producer_width(groups, geo.w);
    if width == 0.0 {
        return;
    }
    let mut y = room.top;
    for _ in &groups.producers {
        geo.people.producers.push(Rect::new(16.0, y, width, 74.0));
        y += 82.0;
    }
    geo.people.add_producer = Rect::new(16.0, y, width, 32.0);
    geo.h = geo.h.max(y + 44.0);
}

/// On a narrow screen everybody stands under the table, two in a row.
pub fn below(geo: &mut Geo, groups: &GroupsView, top: f64) -> f64 {
    let width = (geo.w - 24.0) / 2.0;
    let mut y = top;
    let pair = |n: usize, y: f64| {
        Rect::new(8.0 + (n % 2) as f64 * (width + 8.0), y + (n / 2) as f64 * 62.0, width, 54.0)
    };
    for n in 0..groups.producers.len() {
        geo.people.producers.push(pair(n, y));
    }
    y += groups.producers.len().div_ceil(2) as f64 * 62.0;
    geo.people.detail = Detail::Line;
    for (index, group) in groups.groups.iter().enumerate() {
        if group.members.is_empty() {
            geo.people.titles.push((8.0, -100.0));
            continue;
        }
        geo.people.titles.push((12.0, y + 14.0));
        y += 36.0;
        for at in 0..group.members.len() {
            let rect = pair(at, y);
            let middle = rect.y + rect.h / 2.0;
            let seats = seats_of(group, at).into_iter().map(|seat| (seat, middle)).collect();
            let member = MemberGeo { group: index, member: at, rect, seats, more: 0 };
            geo.people.members.push(member);
        }
        y += group.members.len().div_ceil(2) as f64 * 62.0 + 4.0;
    }
    y
}

impl People {
    /// Where a member's or a producer's ring stands.
    pub fn member_ring(&self, member: usize) -> Option<(f64, f64)> {
        let rect = self.members.get(member)?.rect;
        Some(match self.detail {
            Detail::Tile => (rect.right() - 6.0, rect.y + 6.0),
            _ => (rect.right() - 16.0, rect.y + 15.0_f64.min(rect.h / 2.0)),
        })
    }

    pub fn producer_ring(&self, producer: usize) -> Option<(f64, f64)> {
        let rect = self.producers.get(producer)?;
        Some((rect.right() - 16.0, rect.y + 17.0))
    }
}
