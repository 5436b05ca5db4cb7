//! Where the system asks for less motion, nothing moves by itself.

use crate::hands::{choose, clock, is_playing, znode};
use browser::{Browser, Options, Page, Result, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options { reduced_motion: true, ..Options::default() })?;
    page.testid("app").wait()?;
    frames(&page)?;
    ensure!(!is_playing(&page)?, "it plays");
    ensure!(clock(&page)? == 0.0, "the run has begun");
    still(&page)?;
    // A step is there at once, not on its way.
    page.wait_until("a broker to be registered", |page| {
        page.testid("transport-step").click()?;
        let at = clock(page)?;
        still(page)?;
        frames(page)?;
        ensure!(clock(page)? == at, "the clock glides");
        znode(page, "/brokers/ids/1").exists()
    })?;
    ensure!(!is_playing(&page)?, "a step plays");

    // A lesson's run is there at once, too.
    choose(&page, "scenario", "lesson-zookeeper")?;
    page.testid("lesson-next").click()?;
    page.wait_until("the next text", |page| {
        Ok(page.testid("lesson").attr("data-step")?.as_deref() == Some("session"))
    })?;
    ensure!(!is_playing(&page)?, "the lesson plays");
    still(&page)
}

/// Two frames, so that what was to begin has begun.
fn frames(page: &Page) -> Result<()> {
    let body = "return new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))";
    page.script(body).map(drop)
}

fn still(page: &Page) -> Result<()> {
    let moving = page.script(
        "return document.getAnimations().filter(a => a.playState === 'running').map(a => \
         `${a.animationName ?? a.transitionProperty} of ${a.effect.target.className?.baseVal ?? \
         a.effect.target.className}`).join(', ')",
    )?;
    let moving = moving.as_str().unwrap_or("no answer");
    ensure!(moving.is_empty(), "it moves: {moving}");
    Ok(())
}
