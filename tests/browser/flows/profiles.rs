//! The same commands told to another profile and release: what comes out differently is listed,
//! the moment stays, and what only real releases know can be asked for there.

use crate::hands::{choose, clock, fill, play_to, play_until, set_playing, znode};
use browser::{Browser, Options, Result, ensure};

const RUN: &str = "#s=kafkascope+1;profile+textbook+seed+7;at+0s+start+broker+1..3;\
                   at+2s+create+topic+orders+partitions+4+replication+2;at+4s+kill+-9+broker+1";

pub fn run(browser: &Browser) -> Result<()> {
    let options = Options { fragment: RUN.to_owned(), ..Options::default() };
    let page = browser.open(&options)?;
    play_to(&page, 15.0)?;
    set_playing(&page, false)?;
    let at = clock(&page)?;

    // The textbook's sessions last 6 s, those of 2.8.2 18 s: the dead broker still counts there.
    page.testid("profile-2.x").click()?;
    page.testid("compare").wait_text("2.8.2")?;
    page.testid("difference-0").wait()?;
    ensure!(clock(&page)? == at, "the moment has moved from {at}");
    page.testid("compare").wait_text("[1, 2, 3]")?;
    ensure!(page.testid("release").text()?.contains("2.8.2"), "another release is named");
    znode(&page, "/feature").wait()?;

    page.testid("dock-tab-topics").click()?;
    page.testid("topics-text").wait_text("TopicId: ")?;
    page.testid("topics-text").wait_text("Partition: 3")?;

    // A release within the profile.
    choose(&page, "release", "1.1.1")?;
    page.testid("compare").wait_text("1.1.1")?;
    page.testid("dock-tab-topics").click()?;
    page.testid("topics-text").wait_text("Topic:orders")?;

    // What the textbook doesn't have.
    page.testid("profile-2.x").wait()?;
    choose(&page, "release", "3.9.2")?;
    page.testid("compare").wait_text("3.9.2")?;
    page.testid("topic-orders-menu").click()?;
    page.testid("topic-orders-menu-item-add-partitions").click()?;
    page.testid("dialog-add-partitions").wait()?;
    fill(&page, "field-total", "3")?;
    page.testid("field-total-error").wait_text("already")?;
    fill(&page, "field-total", "6")?;
    page.testid("dialog-submit").click()?;
    page.testid("dialog-add-partitions").wait_gone()?;
    play_until(&page, "six partitions", |page| page.testid("lane-orders-5").exists())?;
    choose(&page, "topic-orders-menu", "elect")?;

    // Back in the textbook the election becomes a row that says so.
    page.testid("profile-textbook").click()?;
    page.testid("compare").wait_text("3.9.2")?;
    page.testid("story").wait_text("The textbook profile does not have this")
}
