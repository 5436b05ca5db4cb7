//! The run as a strip: density, marks, the dead whose session still counts, and the playhead.

use std::rc::Rc;

use gloo::utils::window;
use kafkascope_core::base::Instant;
use kafkascope_core::lab::{Lab, Origin};
use kafkascope_core::view::{self, TimelineView};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlElement, ResizeObserver};
use yew::prelude::*;

use super::controls::branch_name;
use super::marks;
use crate::app::use_ctx;
use crate::engine::{scenario, use_clock, use_engine, use_flow, use_world};
use crate::i18n::{Lang, k, use_lang};
use crate::words;

/// A bar and the gap after it.
const BAR: f64 = 3.0;
const LEFT: f64 = 6.0;
/// A mark so near to a later one, in pixels, can't be told from it.
const COVERED: f64 = 3.0;
/// With so many rows the strip is drawn anew only now and then.
const MANY: usize = 4_000;

/// The strip as it is drawn.
#[derive(Clone, PartialEq)]
struct Strip {
    view: TimelineView,
    until: Instant,
    marks: Vec<Shown>,
    /// Where this branch left another.
    fork: Option<(Instant, String)>,
    others: Vec<(String, Instant)>,
}

#[derive(Clone, PartialEq)]
struct Shown {
    at: Instant,
    row: u32,
    label: String,
    icon: &'static str,
    class: &'static str,
    yours: bool,
}

/// The end of the strip: a round number beyond all that is known.
fn until(lab: &Lab) -> Instant {
    let explored = lab.branches().iter().map(|branch| branch.explored_at).max();
    let last = lab.run().commands.last().map_or(Instant::ZERO, |(at, _)| *at);
    let known = explored.unwrap_or_default().max(lab.now()).max(last).micros();
    const STEPS: [u64; 13] = [5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400];
    let wanted = known + known / 12;
    let seconds = STEPS.iter().copied().find(|s| s * 1_000_000 > wanted);
    Instant(seconds.map_or(wanted, |seconds| seconds * 1_000_000))
}

fn strip(lang: Lang, lab: &Lab, width: f64, origin: scenario::Origin) -> Strip {
    let until = until(lab);
    let bars = ((width - 2.0 * LEFT) / BAR).max(1.0) as u32;
    let view = view::timeline(lab, until, bars);
    let marks = view.marks.iter().map(|mark| Shown {
        at: mark.at,
        row: mark.row.0,
        label: marks::label(lang, lab, mark),
        icon: marks::icon(lab, mark),
        class: marks::class(mark.kind),
        yours: is_yours(lab, mark.row.0, origin),
    });
    let fork = match lab.branch().origin {
        Origin::Root => None,
        Origin::Fork { at, .. } => Some((at, branch_name(lang, lab.current_branch().0))),
    };
    let current = lab.current_branch().0;
    let others = (0_u32..)
        .zip(lab.branches())
        .filter(|(number, _)| *number != current)
        .map(|(number, branch)| (branch_name(lang, number), branch.explored_at));
    Strip { until, marks: marks.collect(), fork, others: others.collect(), view }
}

impl Strip {
    fn open(&self) -> Option<Instant> {
        self.view.dead.iter().find(|span| span.to.is_none()).map(|span| span.from)
    }
}

fn is_yours(lab: &Lab, row: u32, origin: scenario::Origin) -> bool {
    words::giver(lab.branch(), lab.all_rows(), row as usize, origin) == words::Giver::You
}

fn x_of(at: Instant, until: Instant, width: f64) -> f64 {
    LEFT + at.micros() as f64 / until.micros().max(1) as f64 * (width - 2.0 * LEFT)
}

#[component]
pub fn Timeline() -> Html {
    let lang = use_lang();
    let engine = use_world();
    let flow = use_flow();
    let root = use_node_ref();
    let width = use_width(&root);
    let key = engine.read(|lab| {
        let rows = lab.all_rows().len();
        let coarse = if rows > MANY { rows / 400 * 400 } else { rows };
        (flow.run, lab.current_branch().0, coarse, until(lab), lab.branches().len())
    });
    let strip = use_memo((key, lang, width as u32), |_| {
        engine.read(|lab| strip(lang, lab, width, flow.origin))
    });
    let drag = use_mut_ref(|| false);
    let seek = {
        let (root, engine, until) = (root.clone(), engine.clone(), strip.until);
        Callback::from(move |event: PointerEvent| {
            let Some(root) = root.cast::<Element>() else { return };
            let rect = root.get_bounding_client_rect();
            let part = (f64::from(event.client_x()) - rect.left() - LEFT)
                / (rect.width() - 2.0 * LEFT).max(1.0);
            let at = part.clamp(0.0, 1.0) * until.micros() as f64;
            engine.seek(Instant(at.round() as u64));
        })
    };
    let onpointerdown = {
        let (drag, seek, root) = (drag.clone(), seek.clone(), root.clone());
        Callback::from(move |event: PointerEvent| {
            if event.button() != 0 {
                return;
            }
            *drag.borrow_mut() = true;
            if let Some(root) = root.cast::<HtmlElement>() {
                let _ = root.set_pointer_capture(event.pointer_id());
                let _ = root.focus();
            }
            seek.emit(event);
        })
    };
    let onpointermove = {
        let drag = drag.clone();
        Callback::from(move |event: PointerEvent| {
            if *drag.borrow() {
                seek.emit(event);
            }
        })
    };
    let end = Callback::from(move |_: PointerEvent| *drag.borrow_mut() = false);
    html! {
        <div class="tl" ref={root} data-testid="timeline-box" {onpointerdown} {onpointermove}
            onpointerup={end.clone()} onpointercancel={end}>
            <Density strip={strip.clone()} {width} />
            <svg width={width.to_string()} height="95" viewBox={format!("0 0 {width} 95")}
                aria-hidden="true">
                {axis(strip.until, width)}
                {fork(&strip, width)}
            </svg>
            <Playhead until={strip.until} {width} open={strip.open()} />
            {mark_list(lang, &strip, width)}
        </div>
    }
}

/// Ticks at round seconds, about 100 px apart.
fn axis(until: Instant, width: f64) -> Html {
    let seconds = until.micros() as f64 / 1_000_000.0;
    const STEPS: [f64; 14] = [
        0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0,
    ];
    let fits = |step: &&f64| **step / seconds * width >= 84.0;
    let step = STEPS.iter().find(fits).copied().unwrap_or(7_200.0);
    let count = (seconds / step).floor() as u32;
    (0..=count)
        .map(|tick| {
            let at = f64::from(tick) * step;
            let x = LEFT + at / seconds * (width - 2.0 * LEFT);
            let anchor = match tick {
                0 => "start",
                _ if x > width - 24.0 => "end",
                _ => "middle",
            };
            html! {
                <>
                    <path d={format!("M{x:.1} 72v4")} class="axis" />
                    <text x={format!("{x:.1}")} y="87" class="mono" text-anchor={anchor}>
                        {format!("{at} s")}
                    </text>
                </>
            }
        })
        .collect()
}

/// The fork hangs below the strip; the other branches stay as their ends.
fn fork(strip: &Strip, width: f64) -> Html {
    let others = strip.others.iter().map(|(name, end)| {
        let x = x_of(*end, strip.until, width);
        html! {
            <>
                <path d={format!("M{x:.1} 38v36")} class="br" />
                <text x={format!("{:.1}", x + 3.0)} y="50">{name.clone()}</text>
            </>
        }
    });
    let here = strip.fork.as_ref().map(|(at, name)| {
        let x = x_of(*at, strip.until, width);
        let end = x_of(strip.view.explored, strip.until, width).max(x + 16.0);
        html! {
            <>
                <path d={format!("M{x:.1} 72v4q0 5 5 5H{end:.1}")} class="br on" />
                <text x={format!("{:.1}", end + 5.0)} y="84" class="mlab on">{name.clone()}</text>
            </>
        }
    });
    html! { <>{for others}{for here}</> }
}

fn mark_list(lang: Lang, strip: &Strip, width: f64) -> Html {
    let places: Vec<f64> =
        strip.marks.iter().map(|mark| x_of(mark.at, strip.until, width)).collect();
    // A later mark lies on top of an earlier one: what it would hide isn't made.
    let mut seen: Vec<usize> = Vec::new();
    for index in (0..strip.marks.len()).rev() {
        let above = seen.last().and_then(|above| places.get(*above)).copied();
        if seen.len() < 300 && above.is_none_or(|above| above - places[index] >= COVERED) {
            seen.push(index);
        }
    }
    let shown = seen.iter().rev().enumerate().map(|(nth, index)| {
        let (x, mark) = (places[*index], &strip.marks[*index]);
        let above = seen.len().checked_sub(nth + 2).map(|above| places[seen[above]]);
        let next = above.unwrap_or(width);
        let letters: f64 =
            mark.label.chars().map(|c| if c.is_ascii() { 6.2 } else { 11.5 }).sum::<f64>() + 26.0;
        let worded = next - x > letters;
        html! { <MarkItem key={mark.row} mark={mark.clone()} {x} {worded} /> }
    });
    let label = lang.t(k::TRANSPORT_MARKS);
    html! { <div class="marks" role="group" aria-label={label}>{for shown}</div> }
}

#[derive(PartialEq, Properties)]
struct MarkItemProps {
    mark: Shown,
    x: f64,
    worded: bool,
}

#[component]
fn MarkItem(props: &MarkItemProps) -> Html {
    let ctx = use_ctx();
    let mark = &props.mark;
    let row = mark.row;
    let onclick = Callback::from(move |event: MouseEvent| {
        event.stop_propagation();
        ctx.engine.seek_row(row);
        ctx.act(crate::state::UiAction::Select(crate::state::Selected::Row(row)));
    });
    let onpointerdown = Callback::from(|event: PointerEvent| event.stop_propagation());
    let class = classes!("mark", mark.class, mark.yours.then_some("yours"));
    html! {
        <button type="button" {class} style={format!("left:{:.1}px", props.x)} {onclick}
            {onpointerdown} tabindex="-1" title={format!("{} s  {}", mark.at, mark.label)}
            aria-label={mark.label.clone()} data-testid={format!("timeline-mark-{row}")}>
            <span class="dot"><crate::widgets::Icon name={mark.icon} /></span>
            if props.worded { <span class="lab">{mark.label.clone()}</span> }
        </button>
    }
}

#[derive(PartialEq, Properties)]
struct PlayheadProps {
    until: Instant,
    width: f64,
    /// Since when somebody is dead whose session still counts.
    open: Option<Instant>,
}

/// The slider: scrubs by pointer through the strip, and by keys.
#[component]
fn Playhead(props: &PlayheadProps) -> Html {
    let lang = use_lang();
    let engine = use_engine();
    let now = use_clock();
    let x = x_of(now, props.until, props.width);
    let explored = engine.read(Lab::explored);
    let end = x_of(explored, props.until, props.width);
    let onkeydown = {
        let (engine, until) = (engine.clone(), props.until);
        Callback::from(move |event: KeyboardEvent| {
            let hundredth = until.micros() / 100;
            let now = engine.read(Lab::now).micros();
            let to = match event.key().as_str() {
                "ArrowRight" | "ArrowUp" => now + hundredth,
                "ArrowLeft" | "ArrowDown" => now.saturating_sub(hundredth),
                "PageUp" => now + 10 * hundredth,
                "PageDown" => now.saturating_sub(10 * hundredth),
                "Home" => 0,
                "End" => engine.read(Lab::explored).micros(),
                _ => return,
            };
            event.prevent_default();
            event.stop_propagation();
            engine.seek(Instant(to.min(until.micros())));
        })
    };
    html! {
        <>
            if let Some(from) = props.open.filter(|from| *from < now) {
                <span class="blind" style={format!("left:{0:.1}px;width:{1:.1}px",
                    x_of(from, props.until, props.width),
                    x - x_of(from, props.until, props.width))} />
            }
            <span class="ahead" style={format!("left:{end:.1}px;right:{LEFT}px")} />
            <span class="playhead" style={format!("transform:translateX({x:.1}px)")}
                data-testid="timeline" role="slider" tabindex="0" {onkeydown}
                aria-label={lang.t(k::TRANSPORT_TIMELINE)} aria-valuemin="0"
                aria-valuemax={(props.until.micros() / 1_000).to_string()}
                aria-valuenow={now.millis().to_string()} aria-valuetext={format!("{now} s")} />
        </>
    }
}

#[derive(PartialEq, Properties)]
struct DensityProps {
    strip: Rc<Strip>,
    width: f64,
}

#[component]
fn Density(props: &DensityProps) -> Html {
    let canvas = use_node_ref();
    let lang = use_lang();
    let strip = props.strip.clone();
    use_effect_with(
        (canvas.clone(), strip.clone(), props.width as u32),
        |(canvas, strip, width)| {
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                paint(&canvas, strip, f64::from(*width));
            }
        },
    );
    let dead = strip.view.dead.iter().filter_map(|span| Some((span.from, span.to?)));
    let dead = dead.map(|(begun, to)| {
        let from = x_of(begun, strip.until, props.width);
        let width = (x_of(to, strip.until, props.width) - from).max(2.0);
        html! { <span class="blind" style={format!("left:{from:.1}px;width:{width:.1}px")}
        title={lang.t(k::TRANSPORT_DEAD)} /> }
    });
    html! { <><canvas ref={canvas} class="den" width="1" height="1" />{for dead}</> }
}

/// Grey: what is read and pinged; amber: what changes something.
fn paint(canvas: &HtmlCanvasElement, strip: &Strip, width: f64) {
    const HEIGHT: f64 = 30.0;
    let scale = window().device_pixel_ratio().clamp(1.0, 2.0);
    canvas.set_width((width * scale) as u32);
    canvas.set_height((HEIGHT * scale) as u32);
    let context = canvas.get_context("2d").ok().flatten();
    let Some(g) = context.and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok()) else {
        return;
    };
    let _ = g.scale(scale, scale);
    let most = strip.view.density.iter().map(|bar| bar.ordinary + bar.coordination).max();
    let most = f64::from(most.unwrap_or(1).max(4)).sqrt();
    // The square root keeps a lone ping visible beside an election.
    let tall = |count: u32| (f64::from(count).sqrt() / most * HEIGHT).max(1.5);
    for (coordination, colour) in [(false, "rgb(140 154 168 / .62)"), (true, "#d9a63a")] {
        g.set_fill_style_str(colour);
        for (index, bar) in strip.view.density.iter().enumerate() {
            let count =
                if coordination { bar.coordination } else { bar.ordinary + bar.coordination };
            if count > 0 {
                let height = tall(count);
                g.fill_rect(LEFT + index as f64 * BAR, HEIGHT - height, BAR - 1.0, height);
            }
        }
    }
}

/// The element's width, followed.
#[hook]
fn use_width(root: &NodeRef) -> f64 {
    let width = use_state(|| 1_000.0);
    let setter = width.setter();
    use_effect_with(root.clone(), move |root| {
        let element = root.cast::<HtmlElement>();
        let seen = element.clone();
        let measure = move || {
            if let Some(wide) = seen.as_ref().map(|one| one.client_width()).filter(|w| *w > 0) {
                setter.set(f64::from(wide));
            }
        };
        measure();
        let call = Closure::<dyn FnMut()>::new(measure);
        let observer = ResizeObserver::new(call.as_ref().unchecked_ref()).ok();
        if let (Some(observer), Some(element)) = (&observer, &element) {
            observer.observe(element);
        }
        move || {
            if let Some(observer) = observer {
                observer.disconnect();
            }
            drop(call);
        }
    });
    *width
}
