//! Producers and consumers are added by hand; who owns what is shown with the formula's numbers,
//! what would move is told before it happens, and a killed member's partitions go to the others.

use crate::hands::{choose, fill, play_to, play_until, set_playing};
use browser::{Browser, Options, Page, Result, ensure};

const RUN: &str = "#s=kafkascope+1;profile+textbook+seed+7;at+0s+start+broker+1..2;\
                   at+1s+create+topic+orders+partitions+4+replication+2";

pub fn run(browser: &Browser) -> Result<()> {
    let options = Options { fragment: RUN.to_owned(), ..Options::default() };
    let page = browser.open(&options)?;
    play_to(&page, 2.0)?;

    page.testid("add-producer").click()?;
    page.testid("dialog-add-producer").wait()?;
    fill(&page, "field-producer-keys", "a*0")?;
    page.testid("field-producer-keys-error").wait_text("a*0")?;
    fill(&page, "field-producer-keys", "a*3,b,c")?;
    page.testid("dialog-submit").click()?;
    page.testid("producer-p1").wait()?;

    // What can't be is told and changes nothing.
    page.testid("add-consumer").click()?;
    page.testid("dialog-add-consumer").wait()?;
    fill(&page, "field-consumer-topics", "log.[")?;
    page.testid("field-consumer-topics-error").wait_text("log.[")?;
    fill(&page, "field-consumer-topics", "orders")?;
    fill(&page, "field-consumer-group", "bill ing")?;
    page.testid("field-consumer-group-error").wait_text("can't be in a name")?;
    page.testid("dialog-submit").click()?;
    page.testid("field-consumer-group-error").wait_text("can't be in a name")?;
    page.testid("dialog-cancel").click()?;
    ensure!(!page.testid("member-c1").exists()?, "a refused consumer was added");

    add_consumer(&page)?;
    play_until(&page, "c1 to own all", |page| owns(page, "c1", "4"))?;
    add_consumer(&page)?;
    play_until(&page, "c1 and c2 to share", |page| {
        Ok(owns(page, "c1", "2")? && owns(page, "c2", "2")?)
    })?;
    set_playing(&page, false)?;

    page.testid("dock-tab-ownership").click()?;
    page.testid("formula-orders").wait_text("⌈4 / 2⌉ = 2")?;
    page.testid("phase-claim").wait()?;
    // What became of each partition, how long nobody owned it, and how the lag went.
    page.testid("grid-marks").wait_text("→")?;
    page.testid("grid-marks").wait_text("=")?;
    ensure!(
        page.testid("grid-stood").text()?.chars().any(|c| c.is_ascii_digit()),
        "no time that a partition stood still"
    );
    page.testid("trend-whole").wait()?;
    page.testid("trend-orders-3").wait()?;
    page.testid("if-add").click()?;
    page.testid("what-if-answer").wait_text("0 of 4")?;
    page.testid("what-if-answer").wait_text("idle: c3")?;
    page.testid("if-kill-c2").click()?;
    page.testid("what-if-answer").wait_text("2 of 4")?;
    page.testid("what-if-do").click()?;

    // Killed: its lock stays as long as its session, then the other one gets everything.
    set_playing(&page, true)?;
    play_until(&page, "c1 to own all again", |page| owns(page, "c1", "4"))?;

    settings_and_records(&page)
}

/// Settings of a running consumer, and a record that is followed until somebody has read it.
fn settings_and_records(page: &Page) -> Result<()> {
    choose(page, "member-c1-menu", "tune")?;
    page.testid("dialog-tune").wait()?;
    fill(page, "field-tune-commit", "0")?;
    page.testid("field-tune-commit-error").wait()?;
    fill(page, "field-tune-commit", "700")?;
    fill(page, "field-tune-processing", "3")?;
    page.testid("dialog-submit").click()?;
    page.testid("dialog-tune").wait_gone()?;

    choose(page, "producer-p1-menu", "produce")?;
    page.testid("dialog-produce").wait()?;
    fill(page, "field-produce-key", &"7".repeat(5_000))?;
    page.testid("field-produce-key-error").wait_text("long")?;
    fill(page, "field-produce-key", "order 7")?;
    page.testid("dialog-produce").wait_text("mod 4 is P")?;
    page.testid("dialog-submit").click()?;
    page.testid("dialog-produce").wait_gone()?;
    play_until(page, "the record to be consumed", |page| {
        Ok(page.testid("story").text()?.contains("order 7"))
    })
}

fn add_consumer(page: &Page) -> Result<()> {
    page.testid("add-consumer").click()?;
    page.testid("dialog-add-consumer").wait()?;
    page.testid("dialog-submit").click()?;
    page.testid("dialog-add-consumer").wait_gone()
}

fn owns(page: &Page, member: &str, n: &str) -> Result<bool> {
    let card = page.css(&format!("[data-testid=\"member-{member}\"][data-owned=\"{n}\"]"));
    card.exists()
}
