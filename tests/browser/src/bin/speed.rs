//! What the built page costs in Chromium: the price of an event, and frames a second with a large
//! cluster on the stage. Prints figures; nothing here passes or fails. `speed [--dist DIR]`.

use browser::{Browser, Options, Result};
use std::process::ExitCode;

const BIG: &str = "#s=kafkascope+1;profile+textbook+seed+7;at+0s+start+broker+1..50;\
                   at+5s+create+topic+events+partitions+1000+replication+2";
const ROLL: &str = "#s=kafkascope+1;profile+2.x+seed+7;at+0s+start+broker+1..50;\
                    at+10s+create+topic+events+partitions+1000+replication+2;\
                    at+30s+roll+brokers";
/// Runs of a measurement; the middle one counts.
const RUNS: usize = 5;

const EVENTS: u32 = 300_000;

const FRAMES: &str = "return new Promise(done => {
    let frames = 0, begun = performance.now();
    const next = now => {
        frames += 1;
        if (now - begun > 4000) done(frames * 1000 / (now - begun));
        else requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
})";

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("speed: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}

fn measure() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let dist = match &args[..] {
        [_, flag, dist] if flag == "--dist" => dist.clone(),
        _ => "dist".to_owned(),
    };
    let browser = Browser::start(dist.as_ref())?;
    let options = Options { reduced_motion: true, ..Options::default() };
    let page = browser.open(&options)?;
    page.testid("app").wait()?;
    let body = format!("return window.wasmBindings.kafkascope_measure({EVENTS})");
    let mut price = Vec::new();
    for _ in 0..RUNS {
        let took = page.script(&body)?.as_f64().unwrap_or(0.0);
        price.push(took * 1_000.0 / f64::from(EVENTS));
    }
    println!("browser, event, running: {:.3} us (median of {RUNS})", median(price));
    drop(page);

    let options = Options { fragment: BIG.to_owned(), ..Options::default() };
    let page = browser.open(&options)?;
    page.testid("stage").wait()?;
    let full = page.script(FRAMES)?.as_f64().unwrap_or(0.0);
    println!("browser, 50 brokers and 1,000 partitions starting: {full:.1} frames a second");
    drop(page);

    let options = Options { fragment: ROLL.to_owned(), ..Options::default() };
    let page = browser.open(&options)?;
    // The caption offers to go to the last command, the rolling restart.
    page.testid("try-0").click()?;
    page.wait_until("the restart to begin", |page| {
        Ok(page.testid("clock").text()?.trim_start().starts_with("30"))
    })?;
    page.testid("transport-play").click()?;
    let rolling = page.script(FRAMES)?.as_f64().unwrap_or(0.0);
    println!("browser, a rolling restart of 50 brokers of 2.8.2: {rolling:.1} frames a second");
    Ok(())
}
