//! On a telephone's screen nothing is cut off, and everything can be hit with a finger.

use crate::hands::{choose, play_opening, set_playing};
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
        for tab in ["znodes", "znode", "console", "invariants", "story"] {
            page.testid(&format!("narrow-tab-{tab}")).click()?;
            let region = if tab == "znode" { "inspector" } else { tab };
            page.testid(region).wait()?;
            fits(&page, &format!("{place}, {tab}"), &mut wrong)?;
        }
        dialogs(&page, &place, &mut wrong)?;
        lesson(&page, &place, &mut wrong)?;
    }
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
        page.testid(opener).click()?;
        page.testid(dialog).wait()?;
        fits(page, &format!("{place}, {dialog}"), wrong)?;
        page.testid(&format!("{dialog}-close")).click()?;
        page.testid(dialog).wait_gone()?;
    }
    for menu in ["scenario", "transport-speed", "branch-list", "broker-1-menu", "broker-3-menu"] {
        page.testid(menu).click()?;
        page.testid(&format!("{menu}-menu")).wait()?;
        fits(page, &format!("{place}, {menu}"), wrong)?;
        page.press("Escape")?;
        page.testid(&format!("{menu}-menu")).wait_gone()?;
    }
    Ok(())
}

fn lesson(page: &Page, place: &str, wrong: &mut Vec<String>) -> Result<()> {
    choose(page, "scenario", "lesson-zookeeper")?;
    page.testid("lesson-next").wait()?;
    set_playing(page, false)?;
    fits(page, &format!("{place}, lesson"), wrong)
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
            if (id.startsWith('timeline-mark-') || e.closest('.story .row') || e.closest('.zn')) continue;
            const box = `${id} ${r.x.toFixed(1)} ${r.y.toFixed(1)} ${r.width.toFixed(1)}×${r.height.toFixed(1)}`;
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
