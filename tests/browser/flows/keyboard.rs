//! Everything by keys, nothing by the mouse.

use crate::hands::{clock, is_playing, znode};
use browser::{Browser, Options, Page, Result, bail, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    page.testid("app").wait()?;
    ensure!(is_playing(&page)?, "it doesn't play");
    page.press("Space")?;
    page.wait_until("a pause", |page| Ok(!is_playing(page)?))?;
    page.press("Space")?;
    page.wait_until("playing again", is_playing)?;
    page.press("Space")?;
    page.wait_until("a pause again", |page| Ok(!is_playing(page)?))?;
    steps(&page)?;
    help(&page)?;
    add_a_broker(&page)?;
    menu(&page)
}

fn steps(page: &Page) -> Result<()> {
    let mut stands = vec![stand(page)?];
    for number in 1..=6 {
        page.press("ArrowRight")?;
        let before = stands[stands.len() - 1].clone();
        page.wait_until(&format!("step {number}"), |page| Ok(stand(page)? != before))?;
        settle(page)?;
        stands.push(stand(page)?);
    }
    stands.pop();
    while let Some(before) = stands.pop() {
        page.press("ArrowLeft")?;
        // The first was in the midst of a step: back from its end leads to its beginning.
        if !stands.is_empty() {
            page.wait_until(&format!("the step before, `{before}`"), |page| {
                let now = stand(page)?;
                ensure!(now == before, "it is `{now}`");
                Ok(true)
            })?;
        }
    }
    Ok(())
}

/// A step glides for a third of a second, and a frame counts for a sixtieth at least.
fn settle(page: &Page) -> Result<()> {
    let body = "return new Promise(r => { let left = 40; \
                (function f() { left-- ? requestAnimationFrame(f) : r() })() })";
    page.script(body).map(drop)
}

/// The clock, and the step that the story stands at.
fn stand(page: &Page) -> Result<String> {
    let row = page.script(
        "const e = document.querySelector('[data-testid=story] .row.now'); \
         return e ? e.dataset.testid : ''",
    )?;
    Ok(format!("{} {}", clock(page)?, row.as_str().unwrap_or_default()))
}

fn help(page: &Page) -> Result<()> {
    tab_to(page, "transport-step")?;
    page.press("?")?;
    page.testid("help").wait()?;
    inside(page, "help")?;
    page.press("Escape")?;
    page.testid("help").wait_gone()?;
    page.wait_until("the focus to return", |page| Ok(page.focused()? == "transport-step"))
}

fn add_a_broker(page: &Page) -> Result<()> {
    tab_to(page, "add-broker")?;
    page.press("Enter")?;
    page.testid("dialog-add-broker").wait()?;
    page.wait_until("the first field", |page| Ok(page.focused()? == "field-broker-id"))?;
    inside(page, "dialog-add-broker")?;
    tab_to(page, "field-broker-id")?;
    page.press("Control+a")?;
    page.type_keys("9")?;
    page.press("Enter")?;
    page.testid("dialog-add-broker").wait_gone()?;
    page.testid("broker-9").wait()?;
    page.wait_until("the focus to return", |page| Ok(page.focused()? == "add-broker"))?;
    page.wait_until("broker 9 to be registered", |page| {
        page.press("ArrowRight")?;
        znode(page, "/brokers/ids/9").exists()
    })
}

/// Menus open by Enter, arrows move in them, Escape closes and gives the focus back.
fn menu(page: &Page) -> Result<()> {
    tab_to(page, "broker-9-menu")?;
    page.press("Enter")?;
    page.testid("broker-9-menu-menu").wait()?;
    page.wait_until("the first entry", |page| Ok(page.focused()? == "broker-9-menu-item-kill"))?;
    page.press("ArrowDown")?;
    ensure!(page.focused()? == "broker-9-menu-item-stop", "an arrow leads to {}", page.focused()?);
    page.press("Escape")?;
    page.testid("broker-9-menu-menu").wait_gone()?;
    page.wait_until("the focus to return", |page| Ok(page.focused()? == "broker-9-menu"))?;
    page.press("Enter")?;
    page.wait_until("the first entry", |page| Ok(page.focused()? == "broker-9-menu-item-kill"))?;
    page.press("Enter")?;
    page.css("[data-testid=\"broker-9\"].dead").wait()
}

/// Presses Tab until it comes to this; says where it went instead.
fn tab_to(page: &Page, id: &str) -> Result<()> {
    let mut seen = Vec::new();
    while page.focused()? != id {
        if seen.len() > 250 {
            seen.dedup();
            bail!("Tab doesn't reach {id}, but {}", seen.join(", "));
        }
        page.press("Tab")?;
        seen.push(page.focused()?);
    }
    Ok(())
}

/// Tab goes round within the dialog.
fn inside(page: &Page, dialog: &str) -> Result<()> {
    for chord in ["Tab", "Shift+Tab"] {
        for _ in 0..25 {
            page.press(chord)?;
            let held = page.testid(dialog).js("e.contains(document.activeElement)")?;
            ensure!(held == true, "{chord} leaves {dialog} for {}", page.focused()?);
        }
    }
    Ok(())
}
