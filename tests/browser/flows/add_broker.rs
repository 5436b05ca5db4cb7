//! A broker is added by the +; ids, counts and factors that can't be are refused beside the field.

use crate::hands::{fill, play_opening, play_until, story, znode};
use browser::{Browser, Options, Page, Result, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    play_opening(&page)?;

    page.testid("add-broker").click()?;
    page.testid("dialog-add-broker").wait()?;
    let offered = page.testid("field-broker-id").value()?;
    ensure!(offered == "4", "offered is id `{offered}`");
    page.testid("dialog-submit").click()?;
    page.testid("dialog-add-broker").wait_gone()?;
    page.testid("broker-4").wait()?;
    play_until(&page, "broker 4 to be registered", |page| {
        znode(page, "/brokers/ids/4").is_shown()
    })?;

    let before = shown(&page)?;
    page.testid("add-broker").click()?;
    refused(&page, "field-broker-id", "1", "running already")?;
    refused(&page, "field-broker-id", "-1", "below zero")?;
    refused(&page, "field-broker-id", "4x", "place 2")?;
    refused(&page, "field-broker-id", "1000000000", "65535")?;
    page.testid("dialog-cancel").click()?;
    page.testid("dialog-add-broker").wait_gone()?;

    page.testid("add-topic").click()?;
    page.testid("dialog-create-topic").wait()?;
    for (text, why) in [
        ("0", "between"),
        ("abc", "“a” at place 1"),
        ("1000000000", "between"),
        ("-3", "below zero"),
        ("分区", "“分” at place 1"),
    ] {
        refused(&page, "field-partitions", text, why)?;
    }
    fill(&page, "field-partitions", "2")?;
    refused(&page, "field-replication", "0", "between")?;
    refused(&page, "field-replication", "9", "only 4 brokers")?;
    fill(&page, "field-replication", "2")?;
    refused(&page, "field-topic-name", "no spaces", "can't be in a name")?;
    refused(&page, "field-topic-name", "orders", "exists already")?;
    page.testid("dialog-cancel").click()?;
    page.testid("dialog-create-topic").wait_gone()?;
    ensure!(shown(&page)? == before, "what was refused has changed something");

    // What is mended is accepted.
    page.testid("add-topic").click()?;
    fill(&page, "field-topic-name", "mended")?;
    fill(&page, "field-partitions", "2")?;
    page.testid("dialog-submit").click()?;
    page.testid("dialog-create-topic").wait_gone()?;
    play_until(&page, "the topic", |page| page.testid("lane-mended-1").exists())
}

/// A bad value is told beside its field, and the button doesn't do it.
fn refused(page: &Page, field: &str, text: &str, why: &str) -> Result<()> {
    fill(page, field, text)?;
    page.testid(&format!("{field}-error")).wait_text(why)?;
    page.testid("dialog-submit").click()?;
    page.testid(&format!("{field}-error")).wait_text(why)?;
    ensure!(page.testid("dialog-submit").is_shown()?, "the dialog closed over `{text}`");
    Ok(())
}

/// Brokers, lanes, steps of the story.
fn shown(page: &Page) -> Result<(usize, usize, usize)> {
    let brokers = page.css("g.broker").count()?;
    let lanes = page.css("[data-testid^=\"lane-\"]").count()?;
    Ok((brokers, lanes, story(page)?.len()))
}
