//! Producers at the left, groups at the right: cards with what each owns and how far it is, and
//! the lines along which records go.

use kafkascope_core::kafka::consumer_zk::connector::{Phase, Rules};
use kafkascope_core::view::{GroupView, Life, MemberView, ProducerView, Seat, SessionState};
use yew::prelude::*;

use super::layout::{Level, Rect, shorten};
use super::people::{Detail, MemberGeo};
use super::ring::Ring;
use super::{PartProps, Parts};
use crate::app::use_ctx;
use crate::i18n::{Lang, k, use_lang};
use crate::state::{Selected, UiAction};

/// So many members have a colour of their own before they begin again.
const HUES: usize = 6;

pub fn hue(member: usize) -> String {
    format!("hue{}", member % HUES + 1)
}

#[component]
pub fn Members(props: &PartProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let parts = &props.parts;
    let (people, groups) = (&parts.geo.people, &parts.scene.groups);
    let pick = Callback::from(move |proc| ctx.act(UiAction::Toggle(Selected::Proc(proc))));
    let shown = groups.groups.iter().zip(&people.titles);
    let shown = shown.filter(|(group, _)| !group.members.is_empty());
    html! {
        <g>
            {for groups.producers.iter().zip(&people.producers).enumerate().map(
                |(at, (producer, rect))| self::producer(lang, parts, at, producer, *rect, &pick)
            )}
            {for shown.map(|(group, at)| title(lang, parts, group, *at))}
            if parts.geo.level != Level::Dense && !parts.geo.narrow {
                {for people.members.iter().flat_map(|geo| pulls(parts, geo))}
            }
            {for people.members.iter().enumerate().filter_map(|(at, geo)| {
                let group = groups.groups.get(geo.group)?;
                let member = group.members.get(geo.member)?;
                Some(card(lang, parts, at, geo, (group, member), &pick))
            })}
        </g>
    }
}

/// What a group is doing, and whether that is worth a warning.
pub fn state(lang: Lang, group: &GroupView) -> (String, &'static str) {
    let all = group.seats.len();
    let owned = group.seats.iter().filter(|seat| seat.owner.is_some()).count();
    let has = |phase: Phase| group.members.iter().any(|member| member.phase == Some(phase));
    let values: [(_, &dyn std::fmt::Display); 2] = [("n", &owned), ("of", &all)];
    if has(Phase::Releasing) || has(Phase::Assigning) {
        (lang.t(k::GROUP_RELEASING).to_string(), "busy")
    } else if has(Phase::Claiming) || has(Phase::BackingOff) {
        (lang.fill(k::GROUP_CLAIMING, &values), "busy")
    } else if has(Phase::Connecting) || has(Phase::Registering) {
        (lang.t(k::GROUP_JOINING).to_string(), "busy")
    } else if owned < all {
        (lang.fill(k::GROUP_UNOWNED, &[("n", &(all - owned))]), "bad")
    } else {
        (lang.t(k::GROUP_STABLE).to_string(), "good")
    }
}

fn title(lang: Lang, parts: &Parts, group: &GroupView, (x, y): (f64, f64)) -> Html {
    let (state, class) = state(lang, group);
    let name = lang.fill(k::GROUP_NAME, &[("name", &group.name)]);
    let width = if parts.geo.narrow { parts.geo.w - 24.0 } else { parts.geo.client_w };
    let pill = super::layout::text_width(&state, 11.0) + 16.0;
    let name = shorten(&name, "", 13.0, width - pill - 8.0);
    let values: [(_, &dyn std::fmt::Display); 2] =
        [("n", &group.members.len()), ("lag", &group.lag())];
    let sub = lang.fill(k::GROUP_SUB, &values);
    let at = x + width - pill;
    html! {
        <g data-testid={format!("group-{}", group.name)}>
            <text x={x.to_string()} y={y.to_string()} class="bname">{name}</text>
            <text x={x.to_string()} y={(y + 14.0).to_string()} class="bhost">{sub}</text>
            <g class={classes!("gpill", class)} data-testid={format!("group-{}-state", group.name)}>
                <rect x={at.to_string()} y={(y - 13.0).to_string()} width={pill.to_string()}
                    height="19" rx="9.5" />
                <text x={(at + pill / 2.0).to_string()} y={(y + 1.0).to_string()}
                    text-anchor="middle">{state}</text>
            </g>
        </g>
    }
}

/// From the leader of each partition that a member reads to its card.
fn pulls(parts: &Parts, geo: &MemberGeo) -> Vec<Html> {
    if parts.geo.people.detail == Detail::Tile {
        return Vec::new();
    }
    let Some(group) = parts.scene.groups.groups.get(geo.group) else { return Vec::new() };
    let seats = geo.seats.iter().enumerate();
    seats
        .filter_map(|(n, (seat, y))| {
            let path = pull_path(parts, group.seats.get(*seat)?, geo, *y, n)?;
            let seat = &group.seats[*seat];
            let reads = seat.readers.contains(&geo.member);
            let owns = seat.owner.as_ref().and_then(|o| o.member) == Some(geo.member);
            let class = classes!(
                "pull",
                hue(group.members.get(geo.member).map_or(0, |member| member.nth)),
                (!reads).then_some("waits"),
                (!owns).then_some("stray"),
            );
            let d: String = path
                .iter()
                .enumerate()
                .map(|(at, (x, y))| format!("{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' }))
                .collect();
            Some(html! { <path key={format!("{}-{seat:?}", geo.member)} {d} {class} /> })
        })
        .collect()
}

/// Where the leader's cell of a seat stands.
fn leader_cell(parts: &Parts, seat: &Seat) -> Option<Rect> {
    let view = &parts.scene.view;
    let lane = parts.geo.lanes.iter().find(|lane| {
        let topic = &view.topics[lane.topic];
        topic.name == seat.tp.topic
            && topic.partitions.get(lane.partition).is_some_and(|p| p.number == seat.tp.partition)
    })?;
    let partition = view.topics.get(lane.topic)?.partitions.get(lane.partition)?;
    let leader = partition.leader?;
    let index = view.brokers.iter().position(|one| one.id == leader && !one.impostor)?;
    let col = parts.geo.cols.get(index)?;
    Some(Rect::new(col.x, lane.y, col.w, parts.geo.cell))
}

fn pull_path(
    parts: &Parts,
    seat: &Seat,
    geo: &MemberGeo,
    y: f64,
    nth: usize,
) -> Option<Vec<(f64, f64)>> {
    let cell = leader_cell(parts, seat)?;
    let from = (cell.right() - 18.0, cell.y);
    // Groups that read the same partition have rails of their own.
    let rail = cell.y - 5.0 + (geo.group % 3) as f64 * 2.0;
    let lane_end = geo.rect.x - 12.0 - ((geo.member * 3 + nth) % 9) as f64 * 4.0;
    Some(vec![from, (from.0, rail), (lane_end, rail), (lane_end, y), (geo.rect.x, y)])
}

/// The way between a broker and a client of Kafka.
pub fn data_path(parts: &Parts, broker: u16, client: u16) -> Option<Vec<(f64, f64)>> {
    let view = &parts.scene.view;
    let index = view.brokers.iter().position(|one| one.proc == broker)?;
    let col = parts.geo.cols.get(index)?;
    let head = col.y + parts.geo.head / 2.0;
    let people = &parts.geo.people;
    let groups = &parts.scene.groups;
    if let Some(at) = groups.producers.iter().position(|one| one.proc == client) {
        let rect = people.producers.get(at)?;
        let y = rect.y + rect.h / 2.0;
        return Some(vec![(col.x, head), (rect.right() + 8.0, y), (rect.right(), y)]);
    }
    let geo = people.members.iter().find(|geo| {
        let group = groups.groups.get(geo.group);
        group.and_then(|g| g.members.get(geo.member)?.proc) == Some(client)
    })?;
    let group = groups.groups.get(geo.group)?;
    let led = geo.seats.iter().enumerate().find_map(|(nth, (seat, y))| {
        let seat = group.seats.get(*seat)?;
        let cell = leader_cell(parts, seat)?;
        (cell.x == col.x).then(|| pull_path(parts, seat, geo, *y, nth))?
    });
    led.or_else(|| {
        let y = geo.rect.y + geo.rect.h / 2.0;
        Some(vec![(col.right(), head), (geo.rect.x - 12.0, y), (geo.rect.x, y)])
    })
}

/// What a member is doing, and whether that is trouble.
fn status(lang: Lang, group: &GroupView, member: &MemberView, owned: usize) -> (String, bool) {
    let running_out = member.session.is_some_and(|s| s.state == SessionState::RunningOut);
    let key = match (member.life, member.phase) {
        (Life::Down, _) if running_out => k::BROKER_DEAD,
        (Life::Down, _) => k::BROKER_DOWN,
        (Life::Paused { .. }, _) => k::BROKER_PAUSED,
        _ if member.cut => k::BROKER_CUT,
        (_, Some(Phase::GaveUp)) => k::MEMBER_GAVE_UP,
        (_, Some(Phase::WaitingForOldSession)) => k::BROKER_WAITING,
        (Life::Booting, _) => return (lang.t(k::BROKER_BOOTING).to_string(), false),
        (_, Some(phase)) => return (doing(lang, group, member, phase, owned), false),
        (_, None) => return (lang.t(k::BROKER_CONNECTING).to_string(), false),
    };
    (lang.t(key).to_string(), true)
}

fn doing(lang: Lang, group: &GroupView, member: &MemberView, phase: Phase, owned: usize) -> String {
    let key = match phase {
        Phase::Connecting => k::BROKER_CONNECTING,
        Phase::Registering => k::BROKER_REGISTERING,
        Phase::Releasing => k::MEMBER_RELEASING,
        Phase::Assigning => k::MEMBER_ASSIGNING,
        Phase::Claiming => k::MEMBER_CLAIMING,
        Phase::BackingOff => {
            let tries: u32 = match group.rules {
                Some(Rules::V08) => member.retries,
                _ => 0,
            };
            let n = member.attempt + 1;
            return match tries {
                0 => lang.fill(k::MEMBER_BACKING_OFF, &[("n", &n)]),
                of => lang.fill(k::MEMBER_BACKING_OFF_OF, &[("n", &n), ("of", &of)]),
            };
        }
        Phase::Closing => k::BROKER_STOPPING,
        _ if owned == 0 => k::MEMBER_IDLE,
        _ => return lang.fill(k::MEMBER_OWNS, &[("n", &owned)]),
    };
    lang.t(key).to_string()
}

fn card(
    lang: Lang,
    parts: &Parts,
    at: usize,
    geo: &MemberGeo,
    (group, member): (&GroupView, &MemberView),
    pick: &Callback<u16>,
) -> Html {
    let rect = geo.rect;
    let owned = group.owned_by(geo.member).count();
    let (status, bad) = status(lang, group, member, owned);
    let class = classes!(
        "card",
        "member",
        hue(member.nth),
        (member.life == Life::Down).then_some("dead"),
        (member.proc.map(Selected::Proc) == parts.selected).then_some("sel"),
    );
    let choose = {
        let (pick, proc) = (pick.clone(), member.proc);
        Callback::from(move |()| _ = proc.map(|proc| pick.emit(proc)))
    };
    let onkeydown = super::menus::enter(&choose);
    let label = format!("{}, {status}", member.name);
    html! {
        <g key={format!("{}/{}", group.name, member.name)} {class}
            data-testid={format!("member-{}", member.name)} data-owned={owned.to_string()}>
            <title>{format!("{}\n{status}", member.id)}</title>
            <rect x={rect.x.to_string()} y={rect.y.to_string()} width={rect.w.to_string()}
                height={rect.h.to_string()} rx="8" />
            <rect x={rect.x.to_string()} y={(rect.y + 4.0).to_string()} width="4"
                height={(rect.h - 8.0).to_string()} rx="2" class="mhue" />
            <g tabindex="0" role="button" aria-label={label} class="bhead" {onkeydown}
                onclick={choose.reform(|_: MouseEvent| ())}>
                <rect x={(rect.x + 5.0).to_string()} y={(rect.y + 1.0).to_string()}
                    width={(rect.w - 7.0).to_string()}
                    height={(rect.h - 2.0).min(30.0).to_string()} rx="6" class="hitbox" />
                {head(parts, geo, member, &status, bad, owned)}
            </g>
            if parts.geo.people.detail == Detail::Seats {
                {seats(lang, geo, group, &status, bad)}
            }
            if parts.geo.people.detail != Detail::Tile {
                {ring(parts, at, member)}
            }
        </g>
    }
}

fn head(
    parts: &Parts,
    geo: &MemberGeo,
    member: &MemberView,
    status: &str,
    bad: bool,
    owned: usize,
) -> Html {
    let rect = geo.rect;
    let tile = parts.geo.people.detail == Detail::Tile;
    let x = rect.x + if tile { 8.0 } else { 30.0 };
    let y =
        if parts.geo.narrow { rect.y + 22.0 } else { rect.y + 15.0_f64.min(rect.h / 2.0) + 4.5 };
    let name = shorten(&member.name, "", 13.0, if tile { 24.0 } else { 62.0 });
    if tile {
        let lag = format!("{owned}");
        return html! {
            <text x={x.to_string()} y={y.to_string()} class={classes!("tilet", bad.then_some("f"))}>
                {lag}
            </text>
        };
    }
    let line = parts.geo.people.detail == Detail::Line;
    let (sx, sy) = match parts.geo.narrow {
        true => (rect.x + 30.0, rect.y + 40.0),
        false => (x + super::layout::text_width(&name, 13.0) + 10.0, y),
    };
    let room = rect.right() - sx - if parts.geo.narrow { 6.0 } else { 56.0 };
    html! {
        <>
            <use href={if bad { "#i-warn" } else { "#i-consumer" }} x={(rect.x + 11.0).to_string()}
                y={(y - 12.5).to_string()} width="15" height="15"
                class={classes!("ics", if bad { "deadx" } else { "mi" })} />
            <text x={x.to_string()} y={y.to_string()} class="bname">{name}</text>
            if line || (!bad && owned > 0) {
                <text x={sx.to_string()} y={sy.to_string()}
                    class={classes!("bhost", bad.then_some("f"))}>
                    {shorten(status, "", 11.0, room)}
                </text>
            }
        </>
    }
}

fn seats(lang: Lang, geo: &MemberGeo, group: &GroupView, status: &str, bad: bool) -> Html {
    let rect = geo.rect;
    let many = group.seats.iter().any(|seat| seat.tp.topic != group.seats[0].tp.topic);
    let named = geo.seats.len() - geo.more;
    let rows = geo.seats.iter().take(named).filter_map(|(index, y)| {
        let seat = group.seats.get(*index)?;
        Some(seat_row(lang, geo, seat, *y, many))
    });
    let foot = rect.bottom() - 11.0;
    html! {
        <>
            {for rows}
            if bad || geo.seats.is_empty() {
                <text x={(rect.x + 12.0).to_string()} y={foot.to_string()}
                    class={classes!("bhost", bad.then_some("f"))}>{status.to_owned()}</text>
            } else if geo.more > 0 {
                <text x={(rect.x + 12.0).to_string()} y={foot.to_string()} class="bhost">
                    {lang.fill(k::MEMBER_MORE, &[("n", &geo.more)])}
                </text>
            }
        </>
    }
}

fn seat_row(lang: Lang, geo: &MemberGeo, seat: &Seat, y: f64, many: bool) -> Html {
    let rect = geo.rect;
    let reads = seat.readers.contains(&geo.member);
    let owns = seat.owner.as_ref().and_then(|o| o.member) == Some(geo.member);
    let name = match many {
        true => shorten(&seat.tp.topic, &format!("-{}", seat.tp.partition), 12.0, 74.0),
        false => format!("P{}", seat.tp.partition),
    };
    let done = seat.committed.map_or_else(|| "–".to_owned(), |offset| offset.to_string());
    let text = match (owns, reads) {
        (false, _) => lang.t(k::SEAT_STRAY).to_string(),
        (true, false) => lang.t(k::SEAT_CLAIMED).to_string(),
        (true, true) => lang.fill(k::SEAT_COMMITTED, &[("n", &done)]),
    };
    let lag = seat.lag().map(|lag| lang.fill(k::SEAT_LAG, &[("n", &lag)]));
    let tx = rect.x + if many { 92.0 } else { 40.0 };
    let part = seat.lag().map_or(0.0, |lag| (lag as f64 / 20.0).min(1.0));
    html! {
        <g class={classes!("seat", (!reads).then_some("waits"), (!owns).then_some("stray"))}>
            <text x={(rect.x + 12.0).to_string()} y={(y + 4.0).to_string()} class="lanet">
                {name}
            </text>
            <text x={tx.to_string()} y={(y + 4.0).to_string()} class="bhost">{text}</text>
            if let Some(lag) = lag {
                <text x={(rect.right() - 10.0).to_string()} y={(y + 4.0).to_string()}
                    text-anchor="end" class="bhost">{lag}</text>
                <rect x={(rect.x + 12.0).to_string()} y={(y + 7.0).to_string()}
                    width={(rect.w - 24.0).to_string()} height="2.5" rx="1.2" class="lagt" />
                <rect x={(rect.x + 12.0).to_string()} y={(y + 7.0).to_string()}
                    width={((rect.w - 24.0) * part).to_string()} height="2.5" rx="1.2"
                    class="lagb" />
            }
        </g>
    }
}

fn ring(parts: &Parts, at: usize, member: &MemberView) -> Html {
    let (Some((x, y)), Some(proc)) = (parts.geo.people.member_ring(at), member.proc) else {
        return Html::default();
    };
    let testid = format!("session-member-{}", member.name);
    let had = member.life == Life::Down;
    html! {
        <>
            <Ring {x} {y} r={7.5} {proc} session={member.session} {had} {testid} />
            <super::ring::Commit {x} {y} r={3.2} at={member.commit_at}
                every={member.commit_every} />
        </>
    }
}

fn producer(
    lang: Lang,
    parts: &Parts,
    at: usize,
    producer: &ProducerView,
    rect: Rect,
    pick: &Callback<u16>,
) -> Html {
    let down = producer.life == Life::Down;
    let status = match producer.life {
        Life::Down => lang.t(k::BROKER_DOWN).to_string(),
        Life::Paused { .. } => lang.t(k::BROKER_PAUSED).to_string(),
        Life::Booting => lang.t(k::BROKER_BOOTING).to_string(),
        Life::Up => {
            let values: [(_, &dyn std::fmt::Display); 2] =
                [("n", &producer.sent), ("acked", &producer.acknowledged)];
            lang.fill(k::PRODUCER_SENT, &values)
        }
    };
    let class = classes!(
        "card",
        down.then_some("dead"),
        (parts.selected == Some(Selected::Proc(producer.proc))).then_some("sel"),
    );
    let choose = {
        let (pick, proc) = (pick.clone(), producer.proc);
        Callback::from(move |()| pick.emit(proc))
    };
    let onkeydown = super::menus::enter(&choose);
    let to = producer.topic.as_ref().map(|topic| format!("→ {topic}"));
    let (x, y) = (rect.x.to_string(), rect.y.to_string());
    let text = (rect.x + 11.0).to_string();
    html! {
        <g key={producer.proc} {class} data-testid={format!("producer-{}", producer.name)}>
            <rect {x} {y} width={rect.w.to_string()} height={rect.h.to_string()} rx="10" />
            <g tabindex="0" role="button" class="bhead" {onkeydown}
                aria-label={format!("{}, {status}", producer.name)}
                onclick={choose.reform(|_: MouseEvent| ())}>
                <rect x={(rect.x + 2.0).to_string()} y={(rect.y + 2.0).to_string()}
                    width={(rect.w - 4.0).to_string()} height={(rect.h - 4.0).to_string()} rx="8"
                    class="hitbox" />
                <use href="#i-producer" x={text.clone()} y={(rect.y + 9.0).to_string()}
                    width="15" height="15"
                    class={classes!("ics", if down { "deadx" } else { "pi" })} />
                <text x={(rect.x + 31.0).to_string()} y={(rect.y + 21.0).to_string()}
                    class="bname">{shorten(&producer.name, "", 13.0, rect.w - 62.0)}</text>
                <text x={text.clone()} y={(rect.y + 41.0).to_string()}
                    class={classes!("bhost", down.then_some("f"))}>
                    {shorten(&status, "", 11.0, rect.w - 20.0)}
                </text>
                if let Some(to) = to.filter(|_| rect.h > 60.0) {
                    <text x={text} y={(rect.y + 58.0).to_string()} class="bhost">
                        {shorten(&to, "", 11.0, rect.w - 20.0)}
                    </text>
                }
            </g>
            {producer_ring(parts, at, producer)}
        </g>
    }
}

fn producer_ring(parts: &Parts, at: usize, producer: &ProducerView) -> Html {
    // Only the textbook's has a session.
    let (Some((x, y)), Some(_)) = (parts.geo.people.producer_ring(at), producer.session) else {
        return Html::default();
    };
    html! {
        <Ring {x} {y} r={7.5} proc={producer.proc} session={producer.session}
            had={producer.life == Life::Down}
            testid={format!("session-producer-{}", producer.name)} />
    }
}
