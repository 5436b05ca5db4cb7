//! The page opens playing, and the opening runs: three brokers, a controller, a topic.

use crate::hands;
use browser::{Browser, Options, Result, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    for region in
        ["app", "topbar", "stage", "caption", "znodes", "story", "transport", "timeline", "clock"]
    {
        page.testid(region).wait()?;
    }
    ensure!(hands::is_playing(&page)?, "it doesn't play");
    let begun = hands::clock(&page)?;
    page.wait_until("the clock to run", |page| Ok(hands::clock(page)? > begun))?;
    hands::play_opening(&page)?;
    for broker in 1..=3 {
        page.testid(&format!("broker-{broker}")).wait()?;
        hands::znode(&page, &format!("/brokers/ids/{broker}")).wait()?;
    }
    let lanes = page.css("[data-testid^=\"lane-orders-\"]").count()?;
    ensure!(lanes == 4, "orders has {lanes} lanes");
    for partition in 0..4 {
        let name = format!("orders-{partition}");
        page.testid(&format!("lane-{name}")).wait()?;
        page.wait_until(&format!("a leader of {name}"), |page| {
            Ok(hands::leader(page, &name)?.is_some())
        })?;
    }
    page.testid("crown").wait()?;
    ensure!(hands::znode_data(&page, "/controller_epoch")? == "1", "not the first epoch");
    ensure!(page.testid("laws").text()?.chars().any(|c| c.is_ascii_digit()), "no invariants");
    ensure!(page.css("[data-testid^=\"breach-\"]").count()? == 0, "an invariant is violated");
    Ok(())
}
