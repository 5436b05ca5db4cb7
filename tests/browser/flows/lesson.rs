//! The first lesson: read, predict, see, and play on where it stands.

use crate::hands::{choose, clock, is_playing, said, set_playing, story};
use browser::{Browser, Options, Page, Result, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    page.testid("app").wait()?;
    choose(&page, "scenario", "lesson-zookeeper")?;
    let lesson = page.testid("lesson");
    lesson.wait()?;
    at(&page, "tree")?;
    ensure!(!page.testid("story").exists()?, "the story stands beside the lesson");
    ensure!(!page.testid("try-0").exists()?, "the caption offers something else to do");

    page.testid("lesson-next").click()?;
    page.wait_until("the question", |page| {
        if page.testid("lesson-option-0").exists()? {
            return Ok(true);
        }
        let skip = page.testid("lesson-skip");
        let button = if skip.exists()? { skip } else { page.testid("lesson-next") };
        // It may become the other one meanwhile.
        let _ = button.js("e.click()");
        Ok(false)
    })?;
    at(&page, "bob-dies")?;
    ensure!(!page.testid("lesson-answer").exists()?, "the answer is told at once");
    page.testid("lesson-hint").click()?;
    page.testid("lesson-hint-text").wait()?;
    page.testid("lesson-option-0").click()?;
    page.css("[data-testid=\"lesson-option-0\"].sel").wait()?;
    page.testid("lesson-reveal").click()?;
    page.testid("lesson-answer").wait()?;
    page.testid("lesson-verdict").wait()?;
    let right = page.css("[data-testid^=\"lesson-option-\"].right").count()?;
    ensure!(right == 1, "{right} options are marked as right");

    let before = clock(&page)?;
    page.testid("lesson-next").click()?;
    page.wait_until("the next text", |page| {
        let skip = page.testid("lesson-skip");
        if skip.exists()? {
            let _ = skip.js("e.click()");
        }
        Ok(page.testid("lesson").attr("data-step")?.as_deref() == Some("expired"))
    })?;
    ensure!(clock(&page)? > before, "the run didn't go on");

    page.testid("lesson-leave").click()?;
    lesson.wait_gone()?;
    page.testid("story").wait()?;
    page.testid("znodes").wait()?;
    ensure!(said(&page, "The lesson killed")?.is_some(), "who killed bob? {:?}", story(&page)?);
    let left = clock(&page)?;
    set_playing(&page, true)?;
    page.wait_until("the run to go on", |page| Ok(clock(page)? > left))?;
    ensure!(is_playing(&page)?, "it has stopped");
    Ok(())
}

fn at(page: &Page, step: &str) -> Result<()> {
    page.wait_until(&format!("the lesson at {step}"), |page| {
        Ok(page.testid("lesson").attr("data-step")?.as_deref() == Some(step))
    })
}
