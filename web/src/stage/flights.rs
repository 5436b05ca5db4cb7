//! What is on its way, where simulated time puts it. Each can be clicked in flight.

use std::collections::BTreeMap;
use std::rc::Rc;

use kafkascope_core::base::Instant;
use kafkascope_core::lab::Lab;
use kafkascope_core::view::{self, Flight, FlightKind};
use web_sys::Element;
use yew::prelude::*;

use super::layout::Level;
use super::links::{along, peer_path, way};
use super::{PartProps, Parts};
use crate::app::use_ctx;
use crate::engine::{Engine, use_clock, use_engine};
use crate::i18n::{Key, Lang, k, use_lang};
use crate::state::{Selected, UiAction};
use crate::words;

/// More than this would be a swarm: the dense stage draws density instead.
const MOST: usize = 60;

#[component]
pub fn Flights(props: &PartProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let engine = use_engine();
    let now = use_clock();
    let flights = engine.read(view::flights);
    let pick = Callback::from(move |id| ctx.act(UiAction::Toggle(Selected::Flight(id))));
    let parts = &props.parts;
    if parts.geo.level == Level::Dense {
        return html! { <Swarm flights={flights} parts={parts.clone()} {now} {pick} /> };
    }
    // Words stand where there is room: in the gap under the band, never on each other.
    let gap = parts.geo.cols.first().map_or(f64::MAX, |col| col.y - 16.0);
    let mut worded: Vec<(f64, f64)> = Vec::new();
    html! {
        <g class="flights">
            {for flights.iter().take(MOST).filter_map(|flight| {
                let (x, y) = at(parts, flight, now)?;
                let near = |(a, b): &(f64, f64)| (a - x).abs() < 200.0 && (b - y).abs() < 15.0;
                let free = y < gap && !parts.geo.narrow && !worded.iter().any(near);
                let tag = tag(flight).filter(|_| free);
                if tag.is_some() {
                    worded.push((x, y));
                }
                Some(mark(lang, parts, flight, (x, y), tag, &pick))
            })}
        </g>
    }
}

#[derive(PartialEq, Properties)]
struct SwarmProps {
    flights: Vec<Flight>,
    parts: Parts,
    now: Instant,
    pick: Callback<u64>,
}

/// Over a dense stage all that look alike are one shape: what a frame costs is its elements.
#[component]
fn Swarm(props: &SwarmProps) -> Html {
    let lang = use_lang();
    let parts = &props.parts;
    let places: Rc<Vec<(u64, f64, f64)>> = Rc::new(
        props
            .flights
            .iter()
            .take(MOST)
            .filter_map(|flight| at(parts, flight, props.now).map(|(x, y)| (flight.id, x, y)))
            .collect(),
    );
    let mut shapes: BTreeMap<&'static str, String> = BTreeMap::new();
    let (mut chosen, mut hit) = (Html::default(), String::new());
    for (id, x, y) in places.iter() {
        let Some(flight) = props.flights.iter().find(|flight| flight.id == *id) else { continue };
        hit.push_str(&format!("M{x:.1} {y:.1}h0"));
        if parts.selected == Some(Selected::Flight(*id)) {
            chosen = mark(lang, parts, flight, (*x, *y), None, &props.pick);
        } else {
            outline(
                kind(&flight.kind).0,
                (*x, *y),
                shapes.entry(kind(&flight.kind).0).or_default(),
            );
        }
    }
    let onclick = {
        let (places, pick) = (places.clone(), props.pick.clone());
        Callback::from(move |event: MouseEvent| {
            let svg =
                event.target_dyn_into::<Element>().and_then(|shape| shape.closest("svg").ok());
            let Some(rect) = svg.flatten().map(|svg| svg.get_bounding_client_rect()) else {
                return;
            };
            let x = f64::from(event.client_x()) - rect.left();
            let y = f64::from(event.client_y()) - rect.top();
            let far = |place: &&(u64, f64, f64)| (place.1 - x).hypot(place.2 - y);
            if let Some((id, ..)) = places.iter().min_by(|a, b| far(a).total_cmp(&far(b))) {
                event.stop_propagation();
                pick.emit(*id);
            }
        })
    };
    html! {
        <g class="flights swarm" data-testid="swarm" {onclick}>
            {for shapes.into_iter().map(|(shape, d)| html! {
                <path key={shape} class={classes!("fly", shape, class_of(shape))} {d} />
            })}
            <path class="hit" d={hit} />
            {chosen}
        </g>
    }
}

/// The class that colours a shape.
fn class_of(shape: &str) -> &'static str {
    match shape {
        "write" => "f-zreq",
        "watch" => "f-watch",
        "leader" => "f-rec",
        "fetch" => "f-fetch",
        "ping" | "pong" => "f-ping",
        "connect" => "f-connect",
        "close" | "refusal" => "f-close",
        "reply" => "f-reply",
        _ => "f-ask",
    }
}

/// Adds one mark to a shape that holds all of its kind.
fn outline(shape: &str, (x, y): (f64, f64), d: &mut String) {
    let r = match shape {
        "write" | "watch" => {
            return d.push_str(&format!("M{x:.1} {:.1}l6.5 6.5-6.5 6.5-6.5-6.5z", y - 6.5));
        }
        "close" | "refusal" => {
            let (left, top) = (x - 3.5, y - 3.5);
            return d.push_str(&format!("M{left:.1} {top:.1}l7 7m0-7l-7 7"));
        }
        "leader" => 5.0,
        "fetch" => 2.4,
        "ping" | "pong" => 2.6,
        "connect" => 4.5,
        "reply" => 3.0,
        _ => 3.4,
    };
    let (left, w) = (x - r, 2.0 * r);
    d.push_str(&format!("M{left:.1} {y:.1}a{r} {r} 0 1 0 {w} 0a{r} {r} 0 1 0-{w} 0z"));
}

fn part(flight: &Flight, now: Instant) -> f64 {
    let whole = flight.arrives_at.since(flight.sent_at).micros().max(1) as f64;
    now.since(flight.sent_at).micros() as f64 / whole
}

/// Where it is now; `None` if it flies between things that aren't drawn.
fn at(parts: &Parts, flight: &Flight, now: Instant) -> Option<(f64, f64)> {
    use kafkascope_core::world::proc::ZOOKEEPER;
    let part = part(flight, now);
    if flight.to == ZOOKEEPER {
        return Some(along(&way(parts, flight.from)?, part));
    }
    if flight.from == ZOOKEEPER {
        return Some(along(&way(parts, flight.to)?, 1.0 - part));
    }
    let brokers = &parts.scene.view.brokers;
    let index = |proc| brokers.iter().position(|broker| broker.proc == proc);
    match (index(flight.from), index(flight.to)) {
        (Some(_), None) => {
            let path = super::members::data_path(parts, flight.from, flight.to)?;
            return Some(along(&path, part));
        }
        (None, Some(_)) => {
            let path = super::members::data_path(parts, flight.to, flight.from)?;
            return Some(along(&path, 1.0 - part));
        }
        _ => {}
    }
    let path = peer_path(&parts.geo, index(flight.from)?, index(flight.to)?)?;
    Some(along(&path, part))
}

/// What it is called, and how it looks.
fn kind(kind: &FlightKind) -> (&'static str, Key) {
    match kind {
        FlightKind::Connect => ("connect", k::FLIGHT_CONNECT),
        FlightKind::Close => ("close", k::FLIGHT_CLOSE),
        FlightKind::Ping => ("ping", k::FLIGHT_PING),
        FlightKind::Pong => ("pong", k::FLIGHT_PONG),
        FlightKind::Ask { .. } => ("ask", k::FLIGHT_ASK),
        FlightKind::Write { .. } => ("write", k::FLIGHT_WRITE),
        FlightKind::Reply { ok: true } => ("reply", k::FLIGHT_REPLY),
        FlightKind::Reply { ok: false } => ("refusal", k::FLIGHT_REFUSAL),
        FlightKind::Watch { .. } => ("watch", k::FLIGHT_WATCH),
        FlightKind::LeaderAndIsr { .. } => ("leader", k::FLIGHT_LEADER_AND_ISR),
        FlightKind::StopReplica { .. } => ("leader", k::FLIGHT_STOP_REPLICA),
        FlightKind::Fetch { .. } => ("fetch", k::FLIGHT_FETCH),
        FlightKind::FetchAnswer { .. } => ("fetch", k::FLIGHT_FETCH_ANSWER),
        FlightKind::UpdateMetadata { .. } => ("leader", k::FLIGHT_UPDATE_METADATA),
        FlightKind::AlterIsr { .. } => ("leader", k::FLIGHT_ALTER_ISR),
        FlightKind::ControlledShutdown => ("leader", k::FLIGHT_SHUTDOWN),
        FlightKind::AdminRequest => ("leader", k::FLIGHT_ADMIN),
        FlightKind::Produce { .. } => ("rec", k::FLIGHT_PRODUCE),
        FlightKind::Records { count: 0 } => ("fetch", k::FLIGHT_FETCH_ANSWER),
        FlightKind::Records { .. } => ("rec", k::FLIGHT_RECORDS),
        FlightKind::OffsetCommit { .. } => ("leader", k::FLIGHT_OFFSET_COMMIT),
        FlightKind::ClientRequest => ("ask", k::FLIGHT_CLIENT_REQUEST),
        FlightKind::Answer => ("fetch", k::FLIGHT_ANSWER),
    }
}

/// A word beside the mark, for what is worth reading in flight.
fn tag(flight: &Flight) -> Option<String> {
    match &flight.kind {
        FlightKind::Write { path } => Some(path.to_string()),
        FlightKind::Watch { kind, .. } => Some(kind.name().to_owned()),
        FlightKind::LeaderAndIsr { .. } => Some("LeaderAndIsr".to_owned()),
        FlightKind::StopReplica { .. } => Some("StopReplica".to_owned()),
        FlightKind::AlterIsr { .. } => Some("AlterIsr".to_owned()),
        FlightKind::ControlledShutdown => Some("ControlledShutdown".to_owned()),
        _ => None,
    }
}

fn mark(
    lang: Lang,
    parts: &Parts,
    flight: &Flight,
    (x, y): (f64, f64),
    tag: Option<String>,
    pick: &Callback<u64>,
) -> Html {
    let (shape, key) = kind(&flight.kind);
    let selected = parts.selected == Some(Selected::Flight(flight.id));
    let choose = {
        let (pick, id) = (pick.clone(), flight.id);
        Callback::from(move |()| pick.emit(id))
    };
    let onkeydown = super::menus::enter(&choose);
    let onclick = choose.reform(|event: MouseEvent| event.stop_propagation());
    let right = x > parts.geo.w - 190.0;
    html! {
        <g key={flight.id} class={classes!("fly", shape, selected.then_some("sel"))} tabindex="0"
            role="button" aria-label={lang.t(key)} aria-expanded={selected.to_string()}
            data-testid={format!("flight-{}", flight.id)} data-kind={shape}
            transform={format!("translate({x:.1} {y:.1})")} {onclick} {onkeydown}>
            <circle r="13" class="hit" />
            {shape_of(shape)}
            if let Some(tag) = tag {
                <text x={if right { "-10" } else { "10" }} y="4" class="flyt"
                    text-anchor={right.then_some("end")}>{tag}</text>
            }
        </g>
    }
}

fn shape_of(shape: &str) -> Html {
    let mut d = String::new();
    outline(shape, (0.0, 0.0), &mut d);
    html! {
        <>
            if shape == "watch" {
                <circle r="11" class="f-halo" />
            }
            <path {d} class={class_of(shape)} />
        </>
    }
}

/// The fields of the selected flight, beside it.
#[component]
pub fn Card(props: &PartProps) -> Html {
    let Some(Selected::Flight(id)) = &props.parts.selected else { return Html::default() };
    html! { <Fields parts={props.parts.clone()} id={*id} /> }
}

#[derive(PartialEq, Properties)]
struct FieldsProps {
    parts: Parts,
    id: u64,
}

#[component]
fn Fields(props: &FieldsProps) -> Html {
    let lang = use_lang();
    let engine = use_engine();
    let ctx = use_ctx();
    let now = use_clock();
    let flights = engine.read(view::flights);
    let Some(flight) = flights.iter().find(|flight| flight.id == props.id) else {
        return Html::default();
    };
    let geo = &props.parts.geo;
    let (x, y) = at(&props.parts, flight, now).unwrap_or((geo.w / 2.0, geo.zk.bottom()));
    let left = (x - 140.0).clamp(8.0, (geo.w - 288.0).max(8.0));
    let close = Callback::from(move |_: MouseEvent| ctx.act(UiAction::Escape));
    html! {
        <div class="pop" data-testid="flight-card"
            style={format!("left:{left:.0}px;top:{:.0}px", y + 22.0)}>
            <h3>{lang.t(kind(&flight.kind).1)}<span class="grow" />
                <button type="button" class="btn quiet icon" onclick={close}
                    aria-label={lang.t(k::DIALOG_CLOSE)} data-testid="flight-card-close">
                    <crate::widgets::Icon name="close" small=true />
                </button>
            </h3>
            {fields(lang, &engine, flight)}
        </div>
    }
}

fn fields(lang: Lang, engine: &Engine, flight: &Flight) -> Html {
    let name = |lab: &Lab, proc| words::proc_at(lang, &lab.world().procs, proc);
    let (from, to) = engine.read(|lab| (name(lab, flight.from), name(lab, flight.to)));
    let detail = match &flight.kind {
        FlightKind::Ask { path } | FlightKind::Write { path } => {
            Some((k::FLIGHT_PATH, path.to_string()))
        }
        FlightKind::Watch { kind, path } => {
            Some((k::FLIGHT_PATH, format!("{path} · {}", kind.name())))
        }
        FlightKind::LeaderAndIsr { partitions }
        | FlightKind::StopReplica { partitions }
        | FlightKind::Fetch { partitions }
        | FlightKind::FetchAnswer { partitions }
        | FlightKind::UpdateMetadata { partitions }
        | FlightKind::AlterIsr { partitions } => {
            Some((k::FLIGHT_PARTITIONS, partitions.to_string()))
        }
        _ => None,
    };
    let cause = engine.read(|lab| {
        let rows = lab.rows();
        let index = flight.cause.0 as usize;
        let row = rows.get(index)?;
        let giver = words::giver(lab.branch(), rows, index, engine.flow().origin);
        let scene = words::Scene { procs: &lab.world().procs, giver, inner: true };
        Some((row.at, words::sentence(lang, row, scene)))
    });
    html! {
        <dl>
            <dt>{lang.t(k::FLIGHT_WAY)}</dt><dd>{format!("{from} → {to}")}</dd>
            if let Some((key, value)) = detail {
                <dt>{lang.t(key)}</dt><dd>{value}</dd>
            }
            <dt>{lang.t(k::FLIGHT_SENT)}</dt><dd>{micros(flight.sent_at)}</dd>
            <dt>{lang.t(k::FLIGHT_ARRIVES)}</dt><dd>{micros(flight.arrives_at)}</dd>
            if let Some((at, said)) = cause {
                <dt>{lang.t(k::FLIGHT_CAUSE)}</dt>
                <dd class="prose">{format!("{at} ")}{said.inner(lang)}</dd>
            }
        </dl>
    }
}

fn micros(at: Instant) -> String {
    let us = at.micros();
    format!("{}.{:06} s", us / 1_000_000, us % 1_000_000)
}
