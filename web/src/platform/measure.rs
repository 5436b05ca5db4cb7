//! The price of an event in this browser, for `cargo xtask bench`. Nothing on the page calls it.

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::lab::{Lab, Progress};
use kafkascope_core::script;
use wasm_bindgen::prelude::wasm_bindgen;

const BIG: &str = include_str!("../../../tests/big.scn");
/// The cluster has started by then.
const STARTED: Instant = Instant(20_000_000);

fn now_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |clock| clock.now())
}

/// Milliseconds for `events` events of 50 brokers and 1,000 partitions that have started.
#[wasm_bindgen]
pub fn kafkascope_measure(events: u32) -> f64 {
    let Ok(script) = script::parse(BIG) else { return 0.0 };
    let mut lab = Lab::new(script::run_of(&script));
    let _ = lab.advance(STARTED, u32::MAX);
    let last = lab.world().event_no + u64::from(events);
    let begun = now_ms();
    while lab.world().event_no < last {
        let until = lab.now() + Span::from_secs(60);
        if lab.advance(until, 100_000) == Progress::Limit {
            break;
        }
    }
    now_ms() - begun
}
