//! Where everything on the stage stands, from its size and what there is to show. Pure.

use kafkascope_core::view::stage::Chip;
use kafkascope_core::view::{BrokerView, ChipGroup, ClientView, GroupsView, StageView};

use super::people::{self, People};

use crate::i18n::{Lang, k};

/// How much a cell tells, picked by room and never by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Lanes,
    Small,
    Dense,
}

impl Level {
    pub const fn name(self) -> &'static str {
        match self {
            Level::Lanes => "lanes",
            Level::Small => "small",
            Level::Dense => "dense",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

impl Rect {
    pub const fn new(x: f64, y: f64, w: f64, h: f64) -> Rect {
        Rect { x, y, w, h }
    }

    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }

    pub fn right(&self) -> f64 {
        self.x + self.w
    }
}

/// A box of the ZooKeeper band.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupGeo {
    pub rect: Rect,
    /// Left edge and width of the chips that fit.
    pub chips: Vec<(f64, f64)>,
    /// How many don't.
    pub more: u32,
    /// Whether there is room to say how many partitions a chip's broker leads.
    pub counts: bool,
    pub eye: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lane {
    pub topic: usize,
    pub partition: usize,
    pub y: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geo {
    pub w: f64,
    pub h: f64,
    pub narrow: bool,
    pub level: Level,
    pub zk: Rect,
    pub groups: Vec<GroupGeo>,
    pub hidden_groups: usize,
    /// Columns of the brokers; in the dense level only their left edges mean something.
    pub cols: Vec<Rect>,
    pub head: f64,
    pub lanes: Vec<Lane>,
    /// Where a topic's name stands: its number, and the base line.
    pub titles: Vec<(usize, f64)>,
    pub gutter: Rect,
    pub cell: f64,
    pub people: People,
    pub client_w: f64,
    pub clients: Vec<Rect>,
    pub client_title: (f64, f64),
    pub add_client: Rect,
    pub add_broker: Rect,
    pub add_topic: Rect,
    pub legend: (f64, f64),
    pub grid: Rect,
}

/// A letter of the path and chip font.
const MONO: f64 = 6.7;
const GAP: f64 = 8.0;

/// About as wide as this is in the page's font, `size` pixels high.
pub fn text_width(text: &str, size: f64) -> f64 {
    let letters = text.chars().map(|letter| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | '\'' | '|' => 0.32,
        'm' | 'w' | 'M' | 'W' => 0.92,
        letter if letter.is_ascii() => 0.61,
        '…' | '·' => 0.8,
        _ => 1.0,
    });
    letters.sum::<f64>() * size
}

/// The text, or as much of its beginning as there is room for, and then always `tail`.
pub fn shorten(text: &str, tail: &str, size: f64, room: f64) -> String {
    let whole = format!("{text}{tail}");
    if text_width(&whole, size) <= room {
        return whole;
    }
    let rest = format!("…{tail}");
    let mut left = room - text_width(&rest, size);
    let kept = text.chars().take_while(|letter| {
        left -= text_width(letter.encode_utf8(&mut [0; 4]), size);
        left >= 0.0
    });
    kept.chain(rest.chars()).collect()
}

fn chip_width(text: &str, narrow: bool) -> f64 {
    let least = if narrow { 30.0 } else { 36.0 };
    let letters: f64 = text.chars().map(|c| if c.is_ascii() { MONO } else { 11.4 }).sum();
    (letters + 16.0).max(least)
}

/// The text on a chip: a topic's chip says how many partitions its broker leads.
pub fn chip_text(lang: Lang, chip: &Chip, counts: bool) -> String {
    match chip.count.filter(|_| counts) {
        Some(n) => lang.fill(k::CHIP_LEADS, &[("id", &chip.label), ("n", &n)]),
        None => chip.label.to_string(),
    }
}

/// The width that a group would like, and its chips as far as `room` goes.
fn group(lang: Lang, group: &ChipGroup, extra: usize, room: f64, narrow: bool) -> GroupGeo {
    let head = group.path.chars().count() as f64 * MONO + 60.0;
    let width = |chip, counts| chip_width(&chip_text(lang, chip, counts), narrow);
    let wanted: f64 = group.chips.iter().map(|chip| width(chip, true) + 6.0).sum();
    let counts = wanted + extra as f64 * 42.0 + 46.0 <= room;
    let chips = group.chips.iter().map(|chip| width(chip, counts));
    let pending = std::iter::repeat_n(36.0, extra);
    let mut x = 9.0;
    let mut placed = Vec::new();
    let mut more = group.more;
    for width in chips.chain(pending) {
        if x + width + 34.0 > room && !placed.is_empty() {
            more += 1;
            continue;
        }
        placed.push((x, width));
        x += width + 6.0;
    }
    let tail = if more > 0 { 34.0 } else { 0.0 };
    let epoch = if &*group.path == "/controller" { 62.0 } else { 0.0 };
    let w = (x + 3.0 + tail + epoch).max(head).min(room);
    GroupGeo { rect: Rect::new(0.0, 0.0, w, 52.0), chips: placed, more, counts, eye: w - 40.0 }
}

/// Boxes in rows; at most `rows` of them.
fn band(
    lang: Lang,
    view: &StageView,
    pending: &[usize],
    w: f64,
    narrow: bool,
) -> (Rect, Vec<GroupGeo>, usize) {
    let pad = if narrow { 6.0 } else { 8.0 };
    let left = if narrow { 8.0 } else { 16.0 };
    let inner = w - 2.0 * left - 2.0 * pad;
    let rows = if narrow { 3 } else { 2 };
    let (mut x, mut y, mut row) = (left + pad, 44.0, 0);
    let mut placed = Vec::new();
    let room = if narrow { inner } else { inner.min(400.0) };
    for (index, one) in view.zookeeper.groups.iter().enumerate() {
        let extra = pending.get(index).copied().unwrap_or(0);
        let mut geo = group(lang, one, extra, room, narrow);
        if x + geo.rect.w > left + pad + inner + 0.5 {
            row += 1;
            if row >= rows {
                break;
            }
            x = left + pad;
            y += 60.0;
        }
        geo.rect.x = x;
        geo.rect.y = y;
        x += geo.rect.w + GAP;
        placed.push(geo);
    }
    let hidden = view.zookeeper.groups.len() - placed.len();
    let last = placed.last().map_or(44.0, |geo: &GroupGeo| geo.rect.y);
    let height = last + 52.0 + 8.0 - 12.0;
    (Rect::new(left, 12.0, w - 2.0 * left, height), placed, hidden)
}

pub struct Room {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

fn lane_count(view: &StageView) -> usize {
    view.topics.iter().map(|topic| topic.partitions.len()).sum()
}

/// Column width for so many brokers.
fn column(room: &Room, brokers: &[BrokerView], most: f64, gap: f64) -> f64 {
    let count = brokers.len().max(1) as f64;
    ((room.right - room.left + gap) / count - gap).min(most)
}

/// Lays the stage out. `pending` = creates in flight for each group of the band.
pub fn layout(
    lang: Lang,
    (view, who): (&StageView, &GroupsView),
    pending: &[usize],
    w: f64,
    h: f64,
) -> Geo {
    let narrow = w < 700.0;
    let (zk, groups, hidden_groups) = band(lang, view, pending, w, narrow);
    let client_w = if narrow { 0.0 } else { (w * 0.2).clamp(150.0, 208.0) };
    let producers = people::producer_width(who, w);
    let room = Room {
        left: match (narrow, w < 960.0) {
            (true, _) => 38.0,
            (false, true) => 104.0,
            (false, false) if producers > 0.0 => 92.0 + producers,
            (false, false) => 120.0,
        },
        right: if narrow { w - 8.0 } else { w - client_w - 16.0 - 62.0 },
        top: zk.bottom() + if narrow { 45.0 } else { 42.0 },
        bottom: if narrow { f64::MAX } else { h - 52.0 },
    };
    let head = if narrow { 40.0 } else { 46.0 };
    let gap = if narrow { 6.0 } else { 10.0 };
    let col_w = column(&room, &view.brokers, if narrow { 140.0 } else { 204.0 }, gap);
    let lanes = lane_count(view);
    let level = level(view, narrow, col_w, lanes, &room, head);
    let mut geo = Geo {
        w,
        h,
        narrow,
        level,
        zk,
        groups,
        hidden_groups,
        cols: Vec::new(),
        head,
        lanes: Vec::new(),
        titles: Vec::new(),
        gutter: match (narrow, producers > 0.0) {
            (true, _) => Rect::new(4.0, room.top, room.left - 24.0, head),
            (false, true) => Rect::new(producers + 20.0, room.top, 68.0, head),
            (false, false) => Rect::new(16.0, room.top, room.left - 24.0, head),
        },
        cell: 0.0,
        people: People::default(),
        client_w,
        clients: Vec::new(),
        client_title: (w - client_w - 16.0, room.top + 6.0),
        add_client: Rect::default(),
        add_broker: Rect::default(),
        add_topic: Rect::default(),
        legend: (room.left, 0.0),
        grid: Rect::default(),
    };
    match level {
        Level::Dense => dense(&mut geo, view, &room),
        _ => table(&mut geo, view, &room, col_w, gap),
    }
    clients(&mut geo, &view.clients, who, &room);
    people::producers(&mut geo, who, &room);
    geo
}

fn level(
    view: &StageView,
    narrow: bool,
    col_w: f64,
    lanes: usize,
    room: &Room,
    head: f64,
) -> Level {
    let breaks = view.topics.len().saturating_sub(1) as f64 * 22.0;
    let height = room.bottom - room.top - head - breaks - 8.0;
    let lanes = lanes as f64;
    let (wide, small) = if narrow { (56.0, 34.0) } else { (112.0, 40.0) };
    if col_w >= wide && (lanes * 40.0 <= height || (narrow && lanes <= 12.0)) {
        Level::Lanes
    } else if col_w >= small && lanes <= 60.0 && (lanes * 19.0 <= height || narrow || lanes <= 24.0)
    {
        // A few too many lanes scroll; cells that can be read are worth it.
        Level::Small
    } else {
        Level::Dense
    }
}

fn table(geo: &mut Geo, view: &StageView, room: &Room, col_w: f64, gap: f64) {
    let lanes = lane_count(view).max(if geo.narrow { 1 } else { 4 });
    let breaks = view.topics.len().saturating_sub(1) as f64 * 22.0;
    let free = room.bottom - room.top - geo.head - breaks - 10.0;
    let pitch = match (geo.level, geo.narrow) {
        (Level::Lanes, true) => 47.0,
        (Level::Small, true) => 26.0,
        (Level::Lanes, false) => (free / lanes as f64).clamp(40.0, 76.0),
        _ => (free / lanes as f64).clamp(19.0, 30.0),
    };
    geo.cell = match geo.level {
        Level::Lanes => (pitch - 8.0).min(46.0),
        _ => pitch - 3.0,
    };
    let mut y = room.top + geo.head + 8.0;
    for (topic, one) in view.topics.iter().enumerate() {
        if topic > 0 {
            y += 22.0;
        }
        geo.titles.push((topic, if topic == 0 { room.top + 24.0 } else { y - 8.0 }));
        for partition in 0..one.partitions.len() {
            geo.lanes.push(Lane { topic, partition, y });
            y += pitch;
        }
    }
    let least = room.top + geo.head + 8.0 + lanes as f64 * pitch;
    let bottom = y.max(if view.topics.is_empty() || !geo.narrow { least } else { y });
    for index in 0..view.brokers.len() {
        let x = room.left + index as f64 * (col_w + gap);
        geo.cols.push(Rect::new(x, room.top, col_w, bottom - room.top));
    }
    let after = geo.cols.last().map_or(room.left, |col| col.right() + gap);
    geo.add_broker = Rect::new(after, room.top + 8.0, 30.0, 30.0);
    geo.grid = Rect::new(room.left, room.top, after - room.left, bottom - room.top);
    // The legend and the "+" stand at the foot, wherever the table ends.
    let foot = (bottom + 10.0).max(geo.h - 50.0);
    geo.legend = (room.left, foot + 12.0);
    geo.add_topic = Rect::new(16.0, foot, room.left - 28.0, 32.0);
    geo.h = geo.h.max(foot + 46.0);
}

fn dense(geo: &mut Geo, view: &StageView, room: &Room) {
    let count = view.brokers.len().max(1) as f64;
    let pitch = ((room.right - room.left) / count).clamp(4.0, 26.0);
    let bottom = if geo.narrow { room.top + 420.0 } else { room.bottom };
    for index in 0..view.brokers.len() {
        let x = room.left + index as f64 * pitch;
        geo.cols.push(Rect::new(x, room.top + geo.head, pitch, bottom - room.top - geo.head));
    }
    geo.cell = pitch;
    geo.grid = Rect::new(room.left, room.top, count * pitch, bottom - room.top);
    geo.titles.push((0, room.top + 60.0));
    geo.add_broker = Rect::new(room.left + count * pitch + 10.0, room.top + 44.0, 30.0, 30.0);
    geo.legend = (room.left, bottom + 18.0);
    geo.add_topic = Rect::new(16.0, bottom + 6.0, room.left - 28.0, 32.0);
    geo.h = geo.h.max(bottom + 52.0);
}

fn clients(geo: &mut Geo, clients: &[ClientView], groups: &GroupsView, room: &Room) {
    if geo.narrow {
        below(geo, clients, groups);
        return;
    }
    let width = geo.client_w;
    let x = geo.w - width - 16.0;
    let mut y = people::members(geo, groups, (x, width), room);
    if !clients.is_empty() {
        geo.client_title.1 = y + 8.0;
        y += 24.0;
    }
    for _ in clients {
        geo.clients.push(Rect::new(x, y, width, 62.0));
        y += 70.0;
    }
    geo.add_client = Rect::new(x, y, width, 32.0);
    geo.h = geo.h.max(y + 44.0);
}

/// On a narrow screen producers, groups, clients and the "+" stand under the table.
fn below(geo: &mut Geo, clients: &[ClientView], groups: &GroupsView) {
    let width = (geo.w - 24.0) / 2.0;
    let top = people::below(geo, groups, geo.grid.bottom() + 10.0);
    let place = |index: usize| {
        let column = (index % 2) as f64;
        let row = (index / 2) as f64;
        (8.0 + column * (width + 8.0), top + row * 62.0)
    };
    for index in 0..clients.len() {
        let (x, y) = place(index);
        geo.clients.push(Rect::new(x, y, width, 54.0));
    }
    let y = top + clients.len().div_ceil(2) as f64 * 62.0;
    let third = (geo.w - 32.0) / 3.0;
    geo.add_broker = Rect::new(8.0, y, third, 40.0);
    geo.add_topic = Rect::new(16.0 + third, y, third, 40.0);
    geo.add_client = Rect::new(24.0 + 2.0 * third, y, third, 40.0);
    geo.people.add_producer = Rect::new(8.0, y + 46.0, width, 40.0);
    geo.people.add_consumer = Rect::new(16.0 + width, y + 46.0, width, 40.0);
    geo.legend = (12.0, y + 104.0);
    geo.h = y + 96.0;
}

impl Geo {
    /// Where the line of a broker to ZooKeeper begins.
    pub fn ring(&self, col: usize) -> Option<(f64, f64)> {
        let rect = self.cols.get(col)?;
        Some(match self.level {
            Level::Dense => (rect.x + rect.w / 2.0, rect.y),
            _ if self.narrow => (rect.right() - 16.0, rect.y + 20.0),
            _ => (rect.right() - 24.0, rect.y + 24.0),
        })
    }

    pub fn client_ring(&self, client: usize) -> Option<(f64, f64)> {
        let rect = self.clients.get(client)?;
        Some((rect.right() - 20.0, rect.y + 20.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shortened_to_its_room_and_keeps_its_number() {
        assert_eq!(shorten("orders", "-0", 12.0, 100.0), "orders-0");
        let long = shorten("a-very-long-name-of-a-topic", "-12", 12.0, 90.0);
        assert!(long.starts_with("a-very") && long.ends_with("…-12"), "{long}");
        assert!(text_width(&long, 12.0) <= 90.0);
        assert_eq!(shorten("orders", "-0", 12.0, 5.0), "…-0");
        assert_eq!(shorten("主题名称", "", 12.0, 40.0), "主题…");
    }
}
