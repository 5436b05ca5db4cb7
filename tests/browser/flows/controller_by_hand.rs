//! The console takes the controller's office away; then back, and another way from there.

use crate::hands::{branches, choose, play_opening, play_until, znode, znode_data};
use browser::{Browser, Options, Page, Result, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    play_opening(&page)?;
    ensure!(epoch(&page)? == "1", "not the first epoch");
    page.testid("dock-tab-console").click()?;

    enter(&page, "stat -w /controller")?;
    let output = page.testid("console-output");
    play_until(&page, "the answer", |_| Ok(output.text()?.contains("cZxid")))?;
    enter(&page, "delete /controller")?;
    play_until(&page, "another epoch", |page| Ok(epoch(page)? == "2"))?;
    output.wait_text("WATCHER::")?;
    output.wait_text("NodeDeleted")?;
    page.testid("crown").wait_text("2")?;

    page.wait_until("epoch 1 again, step by step back", |page| {
        page.testid("transport-back").click()?;
        Ok(epoch(page)? == "1" && !output.text()?.contains("delete"))
    })?;
    ensure!(branches(&page)? == 1, "going back has made a branch");
    // The console calls the branch as its menu does.
    page.testid("console-past").wait_text(page.testid("branch-list").text()?.trim())?;
    enter(&page, "create /mine hello")?;
    page.wait_until("two branches", |page| Ok(branches(page)? == 2))?;
    play_until(&page, "the new branch's node", |page| znode(page, "/mine").exists())?;
    ensure!(epoch(&page)? == "1", "the deletion happened on the new branch too");

    choose(&page, "branch-list", "0")?;
    znode(&page, "/mine").wait_gone()?;
    play_until(&page, "the old branch's election", |page| Ok(epoch(page)? == "2"))?;
    ensure!(!znode(&page, "/mine").exists()?, "the old branch has the new one's node");
    choose(&page, "branch-list", "1")?;
    play_until(&page, "the new branch again", |page| znode(page, "/mine").exists())?;
    ensure!(epoch(&page)? == "1", "the new branch has the old one's epoch");
    ensure!(branches(&page)? == 2, "looking has made a branch");
    Ok(())
}

fn epoch(page: &Page) -> Result<String> {
    znode_data(page, "/controller_epoch")
}

fn enter(page: &Page, line: &str) -> Result<()> {
    let input = page.testid("console-input");
    input.wait()?;
    input.focus()?;
    page.type_keys(line)?;
    page.press("Enter")?;
    page.wait_until("the line to be taken", |_| Ok(input.value()?.is_empty()))
}
