//! Many brokers and partitions: a cell of a few pixels a replica, leaders first, on a canvas.

use kafkascope_core::view::{Life, Role};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};
use yew::prelude::*;

use super::{PartProps, Parts};
use crate::app::use_ctx;
use crate::i18n::{k, use_lang};
use crate::state::{Selected, UiAction};

/// One replica: its column, its place in it, and what it is.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    col: usize,
    row: usize,
    topic: usize,
    partition: usize,
    role: Role,
    offline: bool,
}

/// Leaders first, then followers, for each broker.
fn cells(parts: &Parts) -> Vec<Cell> {
    let view = &parts.scene.view;
    let mut rows = vec![0_usize; view.brokers.len()];
    let mut cells = Vec::new();
    let index: std::collections::BTreeMap<u32, usize> = view
        .brokers
        .iter()
        .enumerate()
        .filter(|(_, broker)| !broker.impostor)
        .map(|(index, broker)| (broker.id, index))
        .collect();
    for leaders in [true, false] {
        for (topic, one) in view.topics.iter().enumerate() {
            for (partition, p) in one.partitions.iter().enumerate() {
                for replica in &p.replicas {
                    if (replica.role == Role::Leader) != leaders {
                        continue;
                    }
                    let Some(&col) = index.get(&replica.broker) else { continue };
                    let row = rows[col];
                    rows[col] += 1;
                    let (role, offline) = (replica.role, replica.offline);
                    cells.push(Cell { col, row, topic, partition, role, offline });
                }
            }
        }
    }
    cells
}

/// Height of a cell, so that the fullest column fits.
fn pitch(parts: &Parts, cells: &[Cell]) -> f64 {
    let most = cells.iter().map(|cell| cell.row + 1).max().unwrap_or(1);
    let height = parts.geo.cols.first().map_or(300.0, |col| col.h) - 8.0;
    (height / most as f64).clamp(1.0, 14.0)
}

#[component]
pub fn Dense(props: &PartProps) -> Html {
    let lang = use_lang();
    let ctx = use_ctx();
    let canvas = use_node_ref();
    let parts = props.parts.clone();
    let scene = parts.scene.clone();
    let all = use_memo((scene, parts.geo.clone()), {
        let parts = parts.clone();
        move |_| cells(&parts)
    });
    use_effect_with((canvas.clone(), parts.clone(), all.clone()), |(canvas, parts, all)| {
        if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
            paint(&canvas, parts, all);
        }
    });
    let onclick = {
        let (parts, all) = (parts.clone(), all.clone());
        Callback::from(move |event: MouseEvent| {
            let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
            if let Some(cell) = hit(&parts, &all, x, y) {
                let topic = &parts.scene.view.topics[cell.topic];
                let number = topic.partitions[cell.partition].number;
                let picked = Selected::Partition(topic.name.clone(), number);
                ctx.act(UiAction::Toggle(picked));
            }
        })
    };
    let view = &parts.scene.view;
    let count: usize = view.topics.iter().map(|topic| topic.partitions.len()).sum();
    let down = view.brokers.iter().filter(|broker| broker.life == Life::Down).count();
    let low: usize = view
        .topics
        .iter()
        .flat_map(|topic| &topic.partitions)
        .filter(|p| p.placed && p.isr.len() < p.replicas.len())
        .count();
    let top = parts.geo.grid.y;
    let note = match parts.geo.people.producers.is_empty() {
        true => format!("top:{top}px"),
        // Beside the producers.
        false => {
            format!("top:{top}px;left:{}px;width:{}px", parts.geo.gutter.x, parts.geo.gutter.w)
        }
    };
    html! {
        <>
            <canvas ref={canvas} class="dense" data-testid="dense" {onclick}
                width="1" height="1" role="img" aria-label={lang.fill(k::DENSE_LABEL,
                    &[("brokers", &view.brokers.len()), ("n", &count), ("low", &low)])} />
            <div class="dense-note" style={note}>
                <b>{lang.t(k::DENSE_BROKERS)}</b>
                <span>{lang.fill(k::DENSE_COUNT,
                    &[("n", &view.brokers.len()), ("down", &down)])}</span>
                {for view.topics.iter().take(4).map(|topic| html! {
                    <><b>{topic.name.to_string()}</b>
                    <span>{lang.fill(k::DENSE_PARTITIONS,
                        &[("n", &topic.partitions.len())])}</span></>
                })}
                if low > 0 {
                    <em>{lang.fill(k::DENSE_LOW, &[("n", &low)])}</em>
                }
            </div>
            {selected(&parts)}
        </>
    }
}

/// The picked partition in words.
fn selected(parts: &Parts) -> Html {
    let Some(Selected::Partition(name, number)) = &parts.selected else { return Html::default() };
    let topics = &parts.scene.view.topics;
    let found = topics
        .iter()
        .find(|topic| topic.name == *name)
        .and_then(|topic| topic.partitions.iter().find(|partition| partition.number == *number));
    let Some(partition) = found else { return Html::default() };
    let leader = partition.leader.map_or_else(|| "–".to_owned(), |id| id.to_string());
    let text = format!("{name}-{number} · leader {leader} · ISR {:?}", partition.isr);
    let style = format!("left:{}px;top:{}px", parts.geo.grid.x, parts.geo.grid.y - 4.0);
    html! { <div class="dense-pick" {style} data-testid="dense-pick">{text}</div> }
}

fn hit(parts: &Parts, cells: &[Cell], x: f64, y: f64) -> Option<Cell> {
    let pitch = pitch(parts, cells);
    cells.iter().copied().find(|cell| {
        parts.geo.cols.get(cell.col).is_some_and(|col| {
            let top = col.y + 4.0 + cell.row as f64 * pitch;
            x >= col.x && x < col.x + col.w && y >= top && y < top + pitch
        })
    })
}

/// The colours of the theme, as the document computes them.
struct Ink {
    leader: String,
    follower: String,
    outline: String,
    hatch: String,
    text: String,
    surface: String,
    line: String,
    fault: String,
    crown: String,
    crown_text: String,
    focus: String,
}

fn ink(canvas: &HtmlCanvasElement) -> Ink {
    let style = gloo::utils::window().get_computed_style(canvas).ok().flatten();
    // A property with light-dark() is resolved only where it is used as a colour.
    let get = |name: &str| {
        style
            .as_ref()
            .and_then(|style| style.get_property_value(name).ok())
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .unwrap_or_else(|| "#888".to_owned())
    };
    let dark = get("--is-dark") == "1";
    let pick = |light: &str, night: &str| if dark { night.to_owned() } else { light.to_owned() };
    Ink {
        leader: "#0072B2".to_owned(),
        follower: pick("#a7cbe2", "#27567a"),
        outline: pick("#4f98c6", "#3d81ae"),
        hatch: pick("#9aa6b2", "#566473"),
        text: pick("#5d6b7a", "#97a4b2"),
        surface: pick("#ffffff", "#151c23"),
        line: pick("#dde3e9", "#28333e"),
        fault: "#D55E00".to_owned(),
        crown: pick("#16202b", "#f4f7fa"),
        crown_text: pick("#ffffff", "#10161c"),
        focus: pick("#0a5f9e", "#9ad0fa"),
    }
}

fn paint(canvas: &HtmlCanvasElement, parts: &Parts, cells: &[Cell]) {
    let scale = gloo::utils::window().device_pixel_ratio().clamp(1.0, 2.0);
    let (w, h) = (parts.geo.w, parts.geo.h);
    canvas.set_width((w * scale) as u32);
    canvas.set_height((h * scale) as u32);
    let context = canvas.get_context("2d").ok().flatten();
    let Some(g) = context.and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok()) else {
        return;
    };
    let _ = g.scale(scale, scale);
    let ink = ink(canvas);
    columns(&g, parts, &ink);
    let pitch = pitch(parts, cells);
    let size = (pitch - 1.5).max(0.8);
    // One colour at a time: changing it is what costs.
    for (what, colour) in [(0, &ink.leader), (1, &ink.follower), (2, &ink.outline), (3, &ink.hatch)]
    {
        g.set_fill_style_str(colour);
        g.set_stroke_style_str(colour);
        for cell in cells.iter().filter(|cell| look(cell) == what) {
            let Some(col) = parts.geo.cols.get(cell.col) else { continue };
            let inset = (col.w * 0.18).max(0.5);
            let (x, y) = (col.x + inset, col.y + 4.0 + cell.row as f64 * pitch);
            let width = col.w - 2.0 * inset;
            if what == 2 || what == 3 {
                g.stroke_rect(x + 0.5, y + 0.5, width - 1.0, (size - 1.0).max(0.5));
            } else {
                g.fill_rect(x, y, width, size);
            }
        }
    }
    picked(&g, parts, cells, pitch, &ink);
}

fn look(cell: &Cell) -> u8 {
    match (cell.offline, cell.role) {
        (true, _) => 3,
        (_, Role::Leader) => 0,
        (_, Role::InSync) => 1,
        _ => 2,
    }
}

fn columns(g: &CanvasRenderingContext2d, parts: &Parts, ink: &Ink) {
    let brokers = &parts.scene.view.brokers;
    let every = (brokers.len() / 12).max(1);
    g.set_font("11px sans-serif");
    g.set_text_align("center");
    for (index, (broker, col)) in brokers.iter().zip(&parts.geo.cols).enumerate() {
        let dead = broker.life == Life::Down;
        g.set_fill_style_str(&ink.surface);
        g.fill_rect(col.x + 0.5, col.y, col.w - 1.0, col.h);
        g.set_stroke_style_str(if dead { &ink.fault } else { &ink.line });
        g.stroke_rect(col.x + 1.0, col.y + 0.5, col.w - 2.0, col.h - 1.0);
        let middle = col.x + col.w / 2.0;
        if dead {
            g.set_fill_style_str(&ink.fault);
            let _ = g.fill_text("✕", middle, col.y - 6.0);
        } else if index % every == 0 {
            g.set_fill_style_str(&ink.text);
            let _ = g.fill_text(&broker.id.to_string(), middle, col.y - 6.0);
        }
        if let Some(controller) = broker.controller.filter(|c| c.holds_office) {
            crown(g, &format!("♛ {} · {}", broker.id, controller.epoch), middle, col.y - 34.0, ink);
        }
    }
}

fn crown(g: &CanvasRenderingContext2d, text: &str, x: f64, y: f64, ink: &Ink) {
    g.set_fill_style_str(&ink.crown);
    g.fill_rect(x - 32.0, y, 64.0, 18.0);
    g.fill_rect(x - 0.5, y + 18.0, 1.0, 16.0);
    g.set_fill_style_str(&ink.crown_text);
    let _ = g.fill_text(text, x, y + 13.0);
}

/// The picked partition: its replicas framed and joined.
fn picked(g: &CanvasRenderingContext2d, parts: &Parts, cells: &[Cell], pitch: f64, ink: &Ink) {
    let Some(Selected::Partition(name, number)) = &parts.selected else { return };
    let topics = &parts.scene.view.topics;
    let is = |cell: &&Cell| {
        let topic = &topics[cell.topic];
        topic.name == *name && topic.partitions[cell.partition].number == *number
    };
    g.set_stroke_style_str(&ink.focus);
    g.set_line_width(2.0);
    let mut from: Option<(f64, f64)> = None;
    for cell in cells.iter().filter(is) {
        let Some(col) = parts.geo.cols.get(cell.col) else { continue };
        let y = col.y + 4.0 + cell.row as f64 * pitch;
        g.stroke_rect(col.x + 1.0, y - 2.0, col.w - 2.0, pitch + 2.0);
        let here = (col.x + col.w / 2.0, y + pitch / 2.0);
        if let Some((x, y)) = from {
            g.begin_path();
            g.move_to(x, y);
            g.line_to(here.0, here.1);
            g.stroke();
        } else {
            from = Some(here);
        }
    }
    g.set_line_width(1.0);
}
