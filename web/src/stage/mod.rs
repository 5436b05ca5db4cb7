//! The stage: ZooKeeper on top, brokers as columns, partitions as lanes, plain clients at the
//! right, and everything that is on its way between them.

mod band;
mod cells;
mod clients;
mod columns;
mod dense;
mod flights;
mod layout;
mod legend;
mod links;
mod members;
mod menus;
mod people;
mod ring;
mod scene;

pub use members::hue;

use std::rc::Rc;

use gloo::utils::window;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{HtmlElement, ResizeObserver};
use yew::prelude::*;

use self::layout::{Geo, Level};
use self::scene::Scene;
use crate::engine::{use_flow, use_world};
use crate::i18n::{k, use_lang};
use crate::state::{Menu, Selected};

#[derive(PartialEq, Properties)]
pub struct StageProps {
    pub selected: Option<Selected>,
    pub menu: Option<Menu>,
}

/// What the parts of the stage share.
#[derive(Clone, PartialEq)]
pub struct Parts {
    pub scene: Rc<Scene>,
    pub geo: Rc<Geo>,
    pub selected: Option<Selected>,
}

#[derive(PartialEq, Properties)]
pub struct PartProps {
    pub parts: Parts,
}

#[component]
pub fn Stage(props: &StageProps) -> Html {
    let lang = use_lang();
    let engine = use_world();
    let flow = use_flow();
    let root = use_node_ref();
    let size = use_size(&root);
    let key = engine.read(|lab| scene::Key::of(lab, flow.run));
    let memory = use_mut_ref(kafkascope_core::view::Memory::default);
    let scene =
        use_memo((key, lang), |_| engine.read(|lab| scene::scene(lab, &mut memory.borrow_mut())));
    let geo = use_memo((scene.clone(), size, lang), |(scene, (w, h), lang)| {
        layout::layout(*lang, (&scene.view, &scene.groups), &scene.pending_counts(), *w, *h)
    });
    let parts = Parts { scene, geo: geo.clone(), selected: props.selected.clone() };
    let style = format!("height:{}px", geo.h);
    let is_dense = geo.level == Level::Dense;
    html! {
        <section class={classes!("stage", geo.narrow.then_some("narrow"))} ref={root}
            data-testid="stage" data-level={geo.level.name()} aria-label={lang.t(k::STAGE_TITLE)}>
            <div class="stage-in" {style}>
                if is_dense {
                    <dense::Dense parts={parts.clone()} />
                }
                <svg class="stage-svg" width={geo.w.to_string()} height={geo.h.to_string()}
                    viewBox={format!("0 0 {} {}", geo.w, geo.h)} role="group"
                    aria-label={lang.t(k::STAGE_TITLE)}>
                    {defs()}
                    <links::Links parts={parts.clone()} />
                    <band::Band parts={parts.clone()} />
                    if !is_dense {
                        <columns::Columns parts={parts.clone()} />
                        <cells::Cells parts={parts.clone()} />
                    }
                    <members::Members parts={parts.clone()} />
                    <clients::Clients parts={parts.clone()} />
                    if !geo.narrow {
                        <legend::Legend parts={parts.clone()} />
                    }
                    <flights::Flights parts={parts.clone()} />
                </svg>
                <menus::Menus parts={parts.clone()} menu={props.menu.clone()} />
                <flights::Card {parts} />
            </div>
        </section>
    }
}

fn defs() -> Html {
    html! {
        <defs>
            <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)">
                <path d="M0 0v6" class="hatchl" />
            </pattern>
        </defs>
    }
}

/// The element's inner size, followed.
#[hook]
fn use_size(root: &NodeRef) -> (f64, f64) {
    let size = use_state(|| {
        let width = window().inner_width().ok().and_then(|w| w.as_f64()).unwrap_or(1_440.0);
        let height = window().inner_height().ok().and_then(|h| h.as_f64()).unwrap_or(900.0);
        match width {
            w if w < 720.0 => (w, 0.0),
            w if w < 1_180.0 => (w, 520.0),
            w => (w - 372.0, height - 236.0),
        }
    });
    let setter = size.setter();
    use_effect_with(root.clone(), move |root| {
        let element = root.cast::<HtmlElement>();
        let seen = element.clone();
        let measure = move || {
            if let Some(element) = &seen {
                let (w, h) = (element.client_width(), element.client_height());
                if w > 0 {
                    let h = if w < 700 { 0 } else { h };
                    setter.set((f64::from(w), f64::from(h)));
                }
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
    *size
}
