//! What several flows do with the page: always by its own controls.

use browser::{Context, Mark, Page, Result};

/// One line of the story.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub number: u64,
    pub time: String,
    pub text: String,
    /// It lies ahead of the moment that is shown.
    pub later: bool,
}

/// Chooses an entry of a menu.
pub fn choose(page: &Page, menu: &str, entry: &str) -> Result<()> {
    page.testid(menu).click()?;
    page.testid(&format!("{menu}-item-{entry}")).click()
}

/// What stood in the field is replaced, by keys.
pub fn fill(page: &Page, id: &str, text: &str) -> Result<()> {
    let field = page.testid(id);
    field.wait()?;
    field.focus()?;
    page.press("Control+a")?;
    page.press("Delete")?;
    page.type_keys(text)?;
    page.wait_until(&format!("{id} to hold `{text}`"), |_| Ok(field.value()? == text))
}

/// Simulated seconds.
pub fn clock(page: &Page) -> Result<f64> {
    let text = page.testid("clock").text()?;
    let number = text.split_whitespace().next().unwrap_or_default();
    number.parse().with_context(|| format!("the clock says `{text}`"))
}

pub fn is_playing(page: &Page) -> Result<bool> {
    let playing = page.testid("transport-play").attr("data-playing")?;
    Ok(playing.context("play says nothing of playing")? == "true")
}

pub fn set_playing(page: &Page, wanted: bool) -> Result<()> {
    page.testid("transport-play").wait()?;
    if is_playing(page)? != wanted {
        page.testid("transport-play").click()?;
    }
    page.wait_until("playing to change", |page| Ok(is_playing(page)? == wanted))
}

/// Plays five times as fast as real time until the condition holds, and stops.
pub fn play_until(
    page: &Page,
    what: &str,
    condition: impl FnMut(&Page) -> Result<bool>,
) -> Result<()> {
    page.testid("app").wait()?;
    if page.testid("transport-speed").text()? != "5×" {
        choose(page, "transport-speed", "5-1")?;
    }
    set_playing(page, true)?;
    page.wait_until(what, condition)?;
    set_playing(page, false)
}

pub fn play_to(page: &Page, seconds: f64) -> Result<()> {
    play_until(page, &format!("{seconds} s of the run"), |page| Ok(clock(page)? >= seconds))
}

/// The opening is over: three brokers, a topic, a client that watches.
pub fn play_opening(page: &Page) -> Result<()> {
    play_to(page, 2.7)
}

/// A znode's row in the tree; not the shadow of one that has just gone.
pub fn znode(page: &Page, path: &str) -> Mark {
    page.css(&format!("[data-testid=\"znode-row-{path}\"]:not(.gone)"))
}

pub fn znode_data(page: &Page, path: &str) -> Result<String> {
    let text = znode(page, path).js("e.querySelector('.data').textContent")?;
    Ok(text.as_str().unwrap_or_default().to_owned())
}

/// Who leads the partition by what the stage shows.
pub fn leader(page: &Page, partition: &str) -> Result<Option<u32>> {
    let prefix = format!("replica-{partition}-");
    let body = "const e = document.querySelector(`[data-testid^=\"${arguments[0]}\"].lead`); \
                return e && e.dataset.testid.slice(arguments[0].length)";
    let found = page.script_with(body, vec![prefix.into()])?;
    found.as_str().map(|id| id.parse().context("a broker's id")).transpose()
}

/// The lines of the story that are in the list.
pub fn story(page: &Page) -> Result<Vec<Row>> {
    let body = "return [...document.querySelectorAll('li[data-testid^=\"story-row-\"]')].map(e => \
                [+e.dataset.testid.slice(10), e.querySelector('.time').textContent, \
                 e.querySelector('div').textContent, e.classList.contains('later')])";
    let rows = page.script(body)?;
    let rows = rows.as_array().cloned().unwrap_or_default();
    let text = |value: &browser::Value| value.as_str().unwrap_or_default().to_owned();
    Ok(rows
        .iter()
        .map(|row| Row {
            number: row[0].as_u64().unwrap_or_default(),
            time: text(&row[1]),
            text: text(&row[2]),
            later: row[3] == true,
        })
        .collect())
}

/// The newest line of the story so far that says this.
pub fn said(page: &Page, part: &str) -> Result<Option<Row>> {
    Ok(story(page)?.into_iter().rev().find(|row| !row.later && row.text.contains(part)))
}

/// How many branches there are, by the menu that lists them.
pub fn branches(page: &Page) -> Result<usize> {
    page.testid("branch-list").click()?;
    page.testid("branch-list-menu").wait()?;
    let count = page.css("[data-testid^=\"branch-list-item-\"]").count()?;
    page.press("Escape")?;
    page.testid("branch-list-menu").wait_gone()?;
    Ok(count)
}
