//! One thing on the page, by its selector.

use crate::page::{PATIENCE, Page};
use anyhow::{Context, Result};
use fantoccini::Locator;
use fantoccini::elements::Element;
use serde_json::{Value, json};

/// Looked up anew on each use: Yew may replace the element between two of them.
#[derive(Clone)]
pub struct Mark {
    page: Page,
    selector: String,
}

impl Mark {
    pub(crate) fn new(page: Page, selector: String) -> Self {
        Self { page, selector }
    }

    /// A descendant of this, by its `data-testid`.
    pub fn testid(&self, id: &str) -> Mark {
        let inner = self.page.testid(id);
        Mark { page: self.page.clone(), selector: format!("{} {}", self.selector, inner.selector) }
    }

    fn element(&self) -> Result<Element> {
        let selector = self.selector.clone();
        self.page
            .ask(|c| async move { c.find(Locator::Css(&selector)).await })
            .with_context(|| self.selector.clone())
    }

    /// Waits for the element, then acts on it; again if it was replaced or covered meanwhile.
    fn act(&self, what: &str, mut action: impl FnMut(Element) -> Result<()>) -> Result<()> {
        let what = format!("{} to be {what}", self.selector);
        self.page.wait_for(&what, PATIENCE, |_| action(self.element()?).map(Some))
    }

    pub fn click(&self) -> Result<()> {
        self.act("clicked", |e| self.page.ask(|_| async move { e.click().await }))
    }

    /// Types into this (a person's keys, one by one).
    pub fn type_text(&self, text: &str) -> Result<()> {
        self.act("shown", |e| self.page.ask(|_| async move { e.is_displayed().await }).map(drop))?;
        let element = self.element()?;
        self.page.ask(|_| async move { element.send_keys(text).await })
    }

    pub fn clear(&self) -> Result<()> {
        self.act("cleared", |e| self.page.ask(|_| async move { e.clear().await }))
    }

    pub fn focus(&self) -> Result<()> {
        self.act("focused", |_| self.js("e.focus()").map(drop))
    }

    /// Chooses an option of a `<select>` by its value.
    pub fn select(&self, value: &str) -> Result<()> {
        self.act("a select", |e| self.page.ask(|_| async move { e.select_by_value(value).await }))
    }

    /// Sends the paths of files to an `<input type=file>`.
    pub fn choose_file(&self, path: &std::path::Path) -> Result<()> {
        let path = path.display().to_string();
        let element = self.element()?;
        self.page.ask(|_| async move { element.send_keys(&path).await })
    }

    // --- questions; none of them waits ---------------------------------------------------------

    /// JavaScript with this element as `e`; the value of the expression is handed back.
    pub fn js(&self, expression: &str) -> Result<Value> {
        let body = format!(
            "const e = document.querySelector(arguments[0]); \
             if (!e) throw new Error('not on the page: ' + arguments[0]); return ({expression})"
        );
        self.page.script_with(&body, vec![json!(self.selector)])
    }

    pub fn count(&self) -> Result<usize> {
        let selector = vec![json!(self.selector)];
        let body = "return document.querySelectorAll(arguments[0]).length";
        let count = self.page.script_with(body, selector)?;
        Ok(count.as_u64().unwrap_or(0) as usize)
    }

    pub fn exists(&self) -> Result<bool> {
        Ok(self.count()? > 0)
    }

    pub fn is_shown(&self) -> Result<bool> {
        let element = self.element()?;
        self.page.ask(|_| async move { element.is_displayed().await })
    }

    pub fn is_enabled(&self) -> Result<bool> {
        let element = self.element()?;
        self.page.ask(|_| async move { element.is_enabled().await })
    }

    pub fn is_focused(&self) -> Result<bool> {
        Ok(self.js("e === document.activeElement")? == Value::Bool(true))
    }

    /// The text as it is rendered.
    pub fn text(&self) -> Result<String> {
        let element = self.element()?;
        self.page.ask(|_| async move { element.text().await })
    }

    pub fn value(&self) -> Result<String> {
        Ok(self.js("e.value")?.as_str().unwrap_or_default().to_owned())
    }

    pub fn attr(&self, name: &str) -> Result<Option<String>> {
        let element = self.element()?;
        self.page.ask(|_| async move { element.attr(name).await })
    }

    /// Left, top, width and height in pixels of the viewport.
    pub fn rect(&self) -> Result<[f64; 4]> {
        let found = self.js("(r => [r.x, r.y, r.width, r.height])(e.getBoundingClientRect())")?;
        let side = |at: usize| found[at].as_f64().unwrap_or(0.0);
        Ok([side(0), side(1), side(2), side(3)])
    }

    // --- waiting -------------------------------------------------------------------------------

    pub fn wait(&self) -> Result<()> {
        self.page.wait_until(&format!("{} to show", self.selector), |_| self.is_shown())
    }

    pub fn wait_gone(&self) -> Result<()> {
        let what = format!("{} to go", self.selector);
        self.page.wait_until(&what, |_| Ok(!self.exists()? || !self.is_shown()?))
    }

    /// Waits until the text contains this; says what it was instead.
    pub fn wait_text(&self, part: &str) -> Result<()> {
        let mut last = String::new();
        let what = format!("{} to say `{part}`", self.selector);
        let found = self.page.wait_until(&what, |_| {
            last = self.text()?;
            Ok(last.contains(part))
        });
        found.with_context(|| format!("it said `{last}`"))
    }
}
