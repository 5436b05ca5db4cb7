//! A link holds the whole run; a broken one says where it is broken, and the page goes on.

use crate::hands::{Row, clock, fill, play_opening, play_to, play_until, story, znode};
use browser::{Browser, Context, Options, Page, Result, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    round_trip(browser)?;
    let page = browser.open(&Options::default())?;
    broken(&page, "#s=kafkascope+1;nonsense", "Line 2, column 1: “nonsense”")?;
    broken(&page, "#s=kafkascope+9;at+0s+start+broker+1", "Line 1, column 12: version “9”")?;
    broken(&page, "#s=kafkascope+1;at+0s+kill+-9+broker+x", "Line 2, column")?;
    broken(&page, "#s=%00%ff", "damaged")?;
    broken(&page, "#z=not-deflated", "damaged")
}

fn round_trip(browser: &Browser) -> Result<()> {
    let first = browser.open(&Options::default())?;
    play_opening(&first)?;
    first.testid("add-broker").click()?;
    fill(&first, "field-broker-id", "17")?;
    first.testid("dialog-submit").click()?;
    let registered = |page: &Page| znode(page, "/brokers/ids/17").exists();
    play_until(&first, "broker 17 to be registered", registered)?;

    first.testid("share-open").click()?;
    first.testid("share-link").wait()?;
    let link = first.testid("share-link").value()?;
    let (address, fragment) = link.split_once('#').context("the link has no fragment")?;
    ensure!(address == first.address(), "the link leads to {address}");
    first.testid("share-address").click()?;
    first.wait_until("the link in the address bar", |page| Ok(page.url()? == link))?;
    first.press("Escape")?;
    first.testid("share").wait_gone()?;

    let fragment = format!("#{fragment}");
    let second = browser.open(&Options { fragment, ..Options::default() })?;
    second.testid("try-0").wait_text("Jump to")?;
    play_to(&second, clock(&first)?)?;
    ensure!(registered(&second)?, "broker 17 is not there at the same time");
    ensure!(!second.testid("share-error").exists()?, "the link is called broken");
    let last = so_far(&first)?.last().context("no story")?.number;
    for page in [&first, &second] {
        page.css(&format!("[data-testid=\"story-row-{last}\"] .time")).click()?;
        page.wait_until("the run to stand there", |page| {
            Ok(so_far(page)?.last().is_some_and(|row| row.number == last))
        })?;
    }
    let (here, there) = (so_far(&first)?, so_far(&second)?);
    ensure!(here.len() == there.len(), "{} and {} steps", here.len(), there.len());
    for (here, there) in here.iter().zip(&there) {
        // What a person did is for whoever opens the link a part of the scenario.
        let text = here.text.replace("You started", "The scenario started");
        ensure!(Row { text, ..here.clone() } == *there, "the stories differ: {here:?}, {there:?}");
    }
    ensure!(clock(&first)? == clock(&second)?, "the clocks differ");
    Ok(())
}

fn so_far(page: &Page) -> Result<Vec<Row>> {
    Ok(story(page)?.into_iter().filter(|row| !row.later).collect())
}

/// The link can't be opened: it says so, and the page plays its opening all the same.
fn broken(page: &Page, fragment: &str, why: &str) -> Result<()> {
    page.go(fragment)?;
    page.testid("share-error").wait_text(why).with_context(|| fragment.to_owned())?;
    let title = page.testid("share").attr("aria-label")?.unwrap_or_default();
    ensure!(title.contains("does not open"), "the dialog is called `{title}`");
    page.testid("share-close").click()?;
    page.testid("share").wait_gone()?;
    play_until(page, "the opening", |page| znode(page, "/brokers/ids/1").exists())?;
    // The same in the dialog, where it stands beside the field.
    page.testid("share-open").click()?;
    let text = format!("http://elsewhere.example/{fragment}");
    fill(page, "share-paste", &text)?;
    page.testid("share-paste-open").click()?;
    page.testid("share-paste-error").wait_text(why).with_context(|| fragment.to_owned())?;
    ensure!(znode(page, "/brokers/ids/1").exists()?, "the run is gone");
    Ok(())
}
