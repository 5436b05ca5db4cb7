//! English and Chinese, light and dark: chosen by the browser at first, then by the person.

use browser::{Browser, Options, Page, Result, Scheme, ensure};

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    page.testid("app").wait()?;
    let english = texts(&page)?;
    ensure!(tongue(&page)? == "en" && !english.iter().any(|t| is_chinese(t)), "not English");

    page.testid("lang-switch").click()?;
    chinese(&page)?;
    page.reload()?;
    chinese(&page)?;
    page.testid("lang-switch").click()?;
    page.wait_until("English again", |page| Ok(tongue(page)? == "en"))?;
    page.wait_until("the same texts as before", |page| Ok(texts(page)? == english))?;
    page.reload()?;
    page.wait_until("English after a reload", |page| Ok(texts(page)? == english))?;

    let light = background(&page)?;
    page.testid("theme-switch").click()?;
    page.wait_until("the dark", |page| Ok(theme(page)? == "dark" && background(page)? != light))?;
    page.reload()?;
    page.testid("app").wait()?;
    page.wait_until("the dark, still", |page| Ok(theme(page)? == "dark"))?;
    page.testid("theme-switch").click()?;
    page.wait_until("the light", |page| Ok(background(page)? == light))?;

    let options =
        Options { language: "zh-CN".into(), scheme: Scheme::Dark, ..Options::default() };
    let other = browser.open(&options)?;
    chinese(&other)?;
    ensure!(background(&other)? != light, "a dark system has a light page");
    // Every dialog speaks it too.
    for (opener, dialog) in [
        ("help-open", "help"),
        ("share-open", "share"),
        ("add-broker", "dialog-add-broker"),
        ("add-topic", "dialog-create-topic"),
        ("add-client", "dialog-open-client"),
    ] {
        other.testid(opener).click()?;
        let shown = other.testid(dialog);
        shown.wait()?;
        let title = shown.js("e.querySelector('h2').textContent")?;
        ensure!(title.as_str().is_some_and(is_chinese), "{dialog} is titled {title}");
        other.testid(&format!("{dialog}-close")).click()?;
        shown.wait_gone()?;
    }
    Ok(())
}

fn chinese(page: &Page) -> Result<()> {
    page.testid("app").wait()?;
    page.wait_until("Chinese", |page| {
        Ok(tongue(page)? == "zh-CN" && texts(page)?.iter().all(|text| is_chinese(text)))
    })
}

/// What doesn't change as the run goes on.
fn texts(page: &Page) -> Result<Vec<String>> {
    let one = |selector: &str| page.css(selector).text();
    Ok(vec![
        one("[data-testid=story] h2")?,
        one("[data-testid=znodes] h2")?,
        one("[data-testid=dock-tab-console]")?,
        one("[data-testid=share-open]")?,
        one("[data-testid=add-client]")?,
        page.testid("transport-step").attr("aria-label")?.unwrap_or_default(),
        page.testid("help-open").attr("aria-label")?.unwrap_or_default(),
    ])
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|letter| ('\u{4E00}'..='\u{9FFF}').contains(&letter))
}

fn tongue(page: &Page) -> Result<String> {
    Ok(page.css("html").attr("lang")?.unwrap_or_default())
}

fn theme(page: &Page) -> Result<String> {
    Ok(page.css("html").attr("data-theme")?.unwrap_or_default())
}

fn background(page: &Page) -> Result<String> {
    let colour = page.css("body").js("getComputedStyle(e).backgroundColor")?;
    Ok(colour.as_str().unwrap_or_default().to_owned())
}
