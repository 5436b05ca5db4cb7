//! On a telephone's screen nothing is cut off, and everything can be hit with a finger.

use crate::hands::{play_opening, play_to, set_playing};
use browser::{Browser, Context, Options, Page, Result, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    // All that is wrong is told at once: it is rarely one thing alone.
    let mut wrong = Vec::new();
    for (width, language) in [(390, "en"), (390, "zh-CN"), (360, "en")] {
        let options =
            Options { width, height: 844, language: language.into(), ..Options::default() };
        let page = browser.open(&options)?;
        play_opening(&page)?;
        let place = format!("{width} px, {language}");
        fits(&page, &place, &mut wrong)?;
        for tab in ["znodes", "logs", "znode", "console", "invariants", "story"] {
            tap(&page, &format!("narrow-tab-{tab}"))?;
            let region = if tab == "znode" { "inspector" } else { tab };
            page.testid(region).wait()?;
            fits(&page, &format!("{place}, {tab}"), &mut wrong)?;
        }
        dialogs(&page, &place, &mut wrong)?;
        fork(&page, &place, &mut wrong)?;
        lesson(&page, &place, &mut wrong)?;
    }
    logs(browser, &mut wrong)?;
    ensure!(wrong.is_empty(), "{}", wrong.join("\n  "));
    Ok(())
}

fn dialogs(page: &Page, place: &str, wrong: &mut Vec<String>) -> Result<()> {
    for (opener, dialog) in [
        ("add-broker", "dialog-add-broker"),
        ("add-topic", "dialog-create-topic"),
        ("add-client", "dialog-open-client"),
        ("share-open", "share"),
        ("help-open", "help"),
    ] {
        tap(page, opener)?;
        page.testid(dialog).wait()?;
        fits(page, &format!("{place}, {dialog}"), wrong)?;
        tap(page, &format!("{dialog}-close"))?;
        page.testid(dialog).wait_gone()?;
    }
    for menu in ["scenario", "transport-speed", "broker-1-menu", "broker-3-menu"] {
        tap(page, menu)?;
        page.testid(&format!("{menu}-menu")).wait()?;
        fits(page, &format!("{place}, {menu}"), wrong)?;
        page.press("Escape")?;
        page.testid(&format!("{menu}-menu")).wait_gone()?;
    }
    Ok(())
}

/// More records than a narrow screen has room for scroll within their panel.
fn logs(browser: &Browser, wrong: &mut Vec<String>) -> Result<()> {
    let fragment = "#s=kafkascope+1;profile+textbook+seed+7;at+0s+start+broker+1..3;\
                    at+1s+create+topic+orders+partitions+3+replication+3;\
                    at+2s+start+producer+p1+acks+all+topic+orders+every+40ms"
        .to_owned();
    let options = Options { width: 360, height: 844, fragment, ..Options::default() };
    let page = browser.open(&options)?;
    play_to(&page, 4.0)?;
    tap(&page, "narrow-tab-logs")?;
    page.testid("log-row-3").wait()?;
    fits(&page, "360 px, logs with records", wrong)?;
    tap(&page, "loss-ask")?;
    page.testid("loss-answer").wait()?;
    fits(&page, "360 px, what is lost", wrong)
}

/// Where there are branches, there is the button that lists them.
fn fork(page: &Page, place: &str, wrong: &mut Vec<String>) -> Result<()> {
    tap(page, "transport-back")?;
    tap(page, "transport-back")?;
    tap(page, "add-client")?;
    tap(page, "dialog-submit")?;
    page.testid("dialog-open-client").wait_gone()?;
    fits(page, &format!("{place}, forked"), wrong)?;
    tap(page, "branch-list")?;
    page.testid("branch-list-item-1").wait()?;
    fits(page, &format!("{place}, branches"), wrong)?;
    tap(page, "branch-list-item-0")?;
    page.testid("branch-list-menu").wait_gone()
}

fn lesson(page: &Page, place: &str, wrong: &mut Vec<String>) -> Result<()> {
    tap(page, "scenario")?;
    tap(page, "scenario-item-lesson-zookeeper")?;
    page.testid("lesson-next").wait()?;
    let seen = "e.getBoundingClientRect().bottom > 0";
    ensure!(page.testid("zookeeper").js(seen)? == true, "{place}: a lesson hides ZooKeeper");
    set_playing(page, false)?;
    fits(page, &format!("{place}, lesson"), wrong)
}

/// A finger scrolls first: bars lie over the page's upper and lower end.
fn tap(page: &Page, id: &str) -> Result<()> {
    let mark = page.testid(id);
    mark.wait()?;
    mark.js("e.scrollIntoView({ block: 'center' })")?;
    mark.click()
}

/// Nothing is wider than the screen, and nothing too small for a finger.
fn fits(page: &Page, place: &str, wrong: &mut Vec<String>) -> Result<()> {
    // Marks of the timeline lie where the moments are: they may be close, and keys reach them all.
    let body = "
        const root = document.scrollingElement, wide = innerWidth, wrong = [];
        if (root.scrollWidth > wide) wrong.push(`the page is ${root.scrollWidth} px wide`);
        const modal = document.querySelector('[role=dialog]');
        for (const e of (modal ?? document).querySelectorAll('[data-testid]')) {
            const r = e.getBoundingClientRect(), id = e.dataset.testid;
            if (!r.width || !r.height || e.classList.contains('vh')) continue;
            if (!e.checkVisibility({ visibilityProperty: true })) continue;
            const control = e.matches('button, a, input, select, textarea, [role=button]');
            if (id.startsWith('timeline-mark-')) continue;
            if (e.closest('.story .row') || e.closest('.zn')) continue;
            const sides = [r.x, r.y, r.width, r.height].map(n => n.toFixed(1));
            const box = `${id} ${sides.join(' ')}`;
            if (e.matches('.playhead')) continue;
            if (r.left < -0.5 || r.right > wide + 0.5) wrong.push('beyond the screen: ' + box);
            const least = e.matches('.tb') ? 44 : 24;
            if (control && (r.width < least - 0.5 || r.height < least - 0.5))
                wrong.push('too small: ' + box);
        }
        return wrong";
    let found = page.script(body)?;
    let found = found.as_array().context("no answer")?;
    wrong.extend(found.iter().map(|what| format!("{place}: {what}")));
    Ok(())
}
