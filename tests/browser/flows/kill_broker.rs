//! A leader is killed: its session expires, its znode vanishes, another leads; the story tells why.

use crate::hands::{choose, fill, leader, play_opening, play_until, said, story, znode};
use browser::{Browser, Context, Options, Result, ensure};

const CLICK: &str = "e.dispatchEvent(new MouseEvent('click', { bubbles: true }))";

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    play_opening(&page)?;
    let dead = leader(&page, "orders-0")?.context("orders-0 has no leader")?;
    let id = format!("/brokers/ids/{dead}");
    znode(&page, &id).wait()?;

    choose(&page, &format!("broker-{dead}-menu"), "kill")?;
    page.wait_until("the kill in the story", |page| {
        Ok(said(page, &format!("killed broker {dead}"))?.is_some())
    })?;
    // Something else between the two, else the cause stands right above and needs no link.
    page.testid("add-client").click()?;
    fill(&page, "field-client-name", "bystander")?;
    page.testid("dialog-submit").click()?;
    page.testid("client-bystander").wait()?;
    // What is pointed at shows its details.
    page.testid(&format!("session-broker-{dead}")).wait()?;
    page.css(&format!("[data-testid=\"broker-{dead}\"] .bhead")).js(CLICK)?;
    page.testid("process-inspector").wait_text("rounded up")?;
    // Dead, but nobody knows yet.
    ensure!(znode(&page, &id).exists()?, "the znode went at once");

    play_until(&page, "the znode to vanish", |page| Ok(!znode(page, &id).exists()?))?;
    play_until(&page, "a new leader", |page| {
        Ok(leader(page, "orders-0")?.is_some_and(|now| now != dead))
    })?;

    let sentence = format!("The session of broker {dead} expires");
    let expiry = said(&page, &sentence)?
        .with_context(|| format!("the story doesn't tell of it: {:#?}", story(&page)))?;
    let kill = said(&page, &format!("killed broker {dead}"))?.context("where is the kill?")?;
    let link = page.testid(&format!("story-cause-{}", expiry.number));
    ensure!(link.exists()?, "the expiry has no cause: {expiry:?} in {:#?}", story(&page)?);
    let time = link.text()?;
    ensure!(time == kill.time, "the cause is at {time}, the kill was at {}", kill.time);
    link.click()?;
    let there = page.css(&format!("[data-testid=\"story-row-{}\"].sel", kill.number));
    there.wait()?;
    // The run stands at the kill again: the znode is there, and its leader.
    znode(&page, &id).wait()?;
    let offline = page.css(&format!("[data-testid=\"replica-orders-0-{dead}\"].stale"));
    offline.wait()
}
