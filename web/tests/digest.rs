//! The same run gives the same digest in the browser as it does natively.

#![cfg(target_arch = "wasm32")]

use kafkascope_core::base::Instant;
use kafkascope_core::lab::Lab;
use kafkascope_core::script;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

const STORY: &str = include_str!("../../tests/script/kill-and-return.scn");
const OLD: &str = include_str!("../../tests/script/release-0.8.2.2-deposed-controller.scn");
const NEW: &str = include_str!("../../tests/script/release-2.8.2-controller-dies.scn");
/// A line a story.
const GOLDEN: &str = include_str!("../../tests/golden-digest.txt");
const END: Instant = Instant(60_000_000);

fn lab(text: &str) -> Lab {
    Lab::new(script::run_of(&script::parse(text).expect("the script is well-formed")))
}

#[wasm_bindgen_test]
fn the_browser_gives_the_native_digests() {
    let mut found = Vec::new();
    for text in [STORY, OLD, NEW] {
        let mut lab = lab(text);
        let _ = lab.advance(END, u32::MAX);
        found.push(format!("{:016x}", lab.digest()));
    }
    assert_eq!(found, GOLDEN.lines().collect::<Vec<_>>());
}

#[wasm_bindgen_test]
fn seeking_gives_it_too() {
    let mut lab = lab(STORY);
    let _ = lab.advance(END, u32::MAX);
    let last = lab.world().event_no;
    lab.seek_event(last / 3);
    lab.seek_event(last);
    assert_eq!(Some(&*format!("{:016x}", lab.digest())), GOLDEN.lines().next());
}
