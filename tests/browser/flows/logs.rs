//! A producer fills the logs; a record tells of itself; a step back shows fewer; and what is left
//! when brokers die is found by trying.

use crate::hands::{play_to, play_until, set_playing};
use browser::{Browser, Options, Page, Result, ensure};

const RUN: &str = "#s=kafkascope+1;profile+textbook+seed+7;at+0s+start+broker+1..3;\
                   at+1s+create+topic+orders+partitions+1+replication+3";

pub fn run(browser: &Browser) -> Result<()> {
    let options = Options { fragment: RUN.to_owned(), ..Options::default() };
    let page = browser.open(&options)?;
    play_to(&page, 2.0)?;

    // Nothing yet: it says how to get records.
    page.testid("dock-tab-logs").click()?;
    page.testid("logs").wait_text("Add a producer")?;
    page.testid("logs-add-producer").click()?;
    page.testid("dialog-add-producer").wait()?;
    page.testid("dialog-submit").click()?;
    page.testid("dialog-add-producer").wait_gone()?;
    play_until(&page, "records in the logs", |page| Ok(cells(page)? >= 9))?;

    // Three replicas, each with its own marks.
    for broker in 1..=3 {
        page.testid(&format!("log-row-{broker}")).wait_text("orders-0")?;
        page.testid(&format!("log-row-{broker}")).wait_text("LEO")?;
    }
    page.css("#log-record-1-0").click()?;
    page.testid("logs-record").wait_text("Offset 0")?;
    page.testid("logs-record").wait_text("broker 1, broker 2, broker 3")?;
    page.press("ArrowRight")?;
    page.testid("logs-record").wait_text("Offset 1")?;

    // The run goes back, the logs with it.
    let before = cells(&page)?;
    page.testid("transport-message-back").wait()?;
    page.wait_until("fewer records", |page| {
        page.testid("transport-message-back").click()?;
        Ok(cells(page)? < before)
    })?;

    // Asking changes nothing.
    let shown = cells(&page)?;
    page.testid("loss-accepted").wait_text("acks all yes")?;
    page.testid("loss-ask").click()?;
    page.testid("loss-verdict").wait_text("Any one broker may die")?;
    let rows = page.css("[data-testid=loss-answer] tbody tr").count()?;
    ensure!(rows == 6, "three brokers and three pairs, not {rows}");
    ensure!(cells(&page)? == shown, "asking changed the logs");

    // A dead broker's log is still there to be looked at.
    crate::hands::choose(&page, "broker-3-menu", "kill")?;
    page.testid("log-row-3").wait_text("offline")?;
    set_playing(&page, false)
}

fn cells(page: &Page) -> Result<usize> {
    page.css("[id^=log-record-]").count()
}
