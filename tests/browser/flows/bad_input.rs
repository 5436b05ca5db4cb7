//! What can't be is told with its place, changes nothing and freezes nothing.

use crate::hands::{fill, play_opening, play_until, story, znode};
use browser::{Browser, Options, Page, Result, ensure};
use std::path::Path;

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    play_opening(&page)?;
    console(&page)?;
    files(&page)
}

fn console(page: &Page) -> Result<()> {
    page.testid("dock-tab-console").click()?;
    let (input, output) = (page.testid("console-input"), page.testid("console-output"));

    let before = story(page)?;
    for megabyte in ["'x'.repeat(1 << 20)", "'语'.repeat(1 << 19)"] {
        input.focus()?;
        input.js(&format!(
            "(e.value = {megabyte}, e.dispatchEvent(new Event('input', {{ bubbles: true }})))"
        ))?;
        page.testid("console-error").wait()?;
        page.press("Enter")?;
        page.testid("console-error").wait()?;
        ensure!(story(page)? == before, "a megabyte was taken");
    }
    fill(page, "console-input", "")?;

    enter(page, "frobnicate /x")?;
    play_until(page, "an answer", |_| Ok(output.text()?.contains("frobnicate")))?;
    enter(page, "get no-slash")?;
    play_until(page, "the refused path", |_| Ok(output.text()?.contains("slash")))?;
    enter(page, "create /节点 \"数据 🎉\"")?;
    play_until(page, "a name in Chinese", |page| znode(page, "/节点").exists())?;
    znode(page, "/节点").wait_text("数据 🎉")
}

fn enter(page: &Page, line: &str) -> Result<()> {
    fill(page, "console-input", line)?;
    page.press("Enter")?;
    page.wait_until("the line to be taken", |page| {
        Ok(page.testid("console-input").value()?.is_empty())
    })
}

fn files(page: &Page) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = |name: &str, text: &[u8]| -> Result<std::path::PathBuf> {
        let path = folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    };
    let script = "kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1\n";
    let wrong = file("wrong.scn", format!("{script}at 1s start broker x\n").as_bytes())?;
    let binary = file("binary.scn", &[0, 255, 254, 1, 128])?;
    let large = file("large.scn", &vec![b'#'; 2 << 20])?;
    let good = file("good.scn", format!("{script}at 0s start broker 7\n").as_bytes())?;

    page.testid("share-open").click()?;
    open(page, &wrong, &["wrong.scn", "Line 4, column 20"])?;
    open(page, &binary, &["binary.scn", "control character"])?;
    open(page, &large, &["large.scn", "longer"])?;
    ensure!(znode(page, "/节点").exists()?, "the run is gone");
    page.testid("share-open-file").choose_file(&good)?;
    page.testid("share").wait_gone()?;
    play_until(page, "the run of the file", |page| znode(page, "/brokers/ids/7").exists())?;
    ensure!(!znode(page, "/节点").exists()?, "the other run is still there");
    ensure!(!page.testid("broker-2").exists()?, "a broker of the other run is there");
    Ok(())
}

/// A file that can't be opened.
fn open(page: &Page, path: &Path, says: &[&str]) -> Result<()> {
    page.testid("share-open-file").choose_file(path)?;
    says.iter().try_for_each(|part| page.testid("share-error").wait_text(part))
}
