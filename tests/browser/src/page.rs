//! A page in a browser of its own.

use crate::keys;
use crate::mark::Mark;
use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fantoccini::Client;
use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::error::CmdError;
use fantoccini::wd::WebDriverCompatibleCommand;
use hyper::Method;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// How long a condition may take to come true. Generous: CI machines are slow and shared.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// No single answer of the browser takes longer than this, unless the page hangs.
const ANSWER: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub width: u32,
    pub height: u32,
    /// The browser's own language: `navigator.language` and `Accept-Language`.
    pub language: String,
    pub scheme: Scheme,
    pub reduced_motion: bool,
    /// What follows the address, for instance `#s=…`.
    pub fragment: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 1440,
            height: 900,
            language: "en".to_owned(),
            scheme: Scheme::Light,
            reduced_motion: false,
            fragment: String::new(),
        }
    }
}

pub(crate) struct Core {
    runtime: Rc<Runtime>,
    client: RefCell<Option<Client>>,
    address: String,
    expects_errors: Cell<bool>,
    // Removed from disk when the last handle goes.
    _profile: TempDir,
}

impl Core {
    pub fn new(runtime: Rc<Runtime>, client: Client, address: String, profile: TempDir) -> Self {
        let client = RefCell::new(Some(client));
        Self { runtime, client, address, expects_errors: Cell::new(false), _profile: profile }
    }

    pub fn close(&self) {
        if let Some(client) = self.client.take() {
            // Timers only exist inside of the runtime: hence a block around them.
            let closed = async { tokio::time::timeout(ANSWER, client.close()).await };
            let _ = self.runtime.block_on(closed);
        }
    }
}

#[derive(Clone)]
pub struct Page {
    core: Rc<Core>,
}

impl Page {
    pub(crate) fn new(core: Rc<Core>) -> Self {
        Self { core }
    }

    /// Waits for one answer of the browser.
    pub(crate) fn ask<T, F: Future<Output = Result<T, CmdError>>>(
        &self,
        question: impl FnOnce(Client) -> F,
    ) -> Result<T> {
        let client = self.core.client.borrow().clone().context("the page is closed")?;
        let answer = async { tokio::time::timeout(ANSWER, question(client)).await };
        let answer = self.core.runtime.block_on(answer);
        Ok(answer.context("the page doesn't answer: does it hang?")??)
    }

    // --- where ---------------------------------------------------------------------------------

    /// The address of the page, without a fragment.
    pub fn address(&self) -> &str {
        &self.core.address
    }

    /// Loads the page afresh, with this fragment.
    pub fn go(&self, fragment: &str) -> Result<()> {
        // From the page itself, another fragment alone would not load it again.
        self.ask(|c| async move { c.goto("about:blank").await })?;
        let address = format!("{}{fragment}", self.core.address);
        self.ask(|c| async move { c.goto(&address).await })
    }

    pub fn reload(&self) -> Result<()> {
        self.ask(|c| async move { c.refresh().await })
    }

    pub fn url(&self) -> Result<String> {
        self.script("return location.href").map(|url| url.as_str().unwrap_or_default().to_owned())
    }

    // --- what ----------------------------------------------------------------------------------

    /// What carries this `data-testid`. Looked up anew on each use, so it outlives re-rendering.
    pub fn testid(&self, id: &str) -> Mark {
        let escaped = id.replace('\\', "\\\\").replace('"', "\\\"");
        Mark::new(self.clone(), format!("[data-testid=\"{escaped}\"]"))
    }

    pub fn css(&self, selector: &str) -> Mark {
        Mark::new(self.clone(), selector.to_owned())
    }

    /// What has the focus, by `data-testid`, or else its tag's name.
    pub fn focused(&self) -> Result<String> {
        let found = self.script(
            "const e = document.activeElement; \
             return e ? e.dataset.testid ?? e.tagName.toLowerCase() : ''",
        )?;
        Ok(found.as_str().unwrap_or_default().to_owned())
    }

    /// Runs JavaScript as the body of a function; `return` hands a value back.
    pub fn script(&self, body: &str) -> Result<Value> {
        self.script_with(body, Vec::new())
    }

    /// The same, with `arguments`.
    pub fn script_with(&self, body: &str, arguments: Vec<Value>) -> Result<Value> {
        self.ask(|c| async move { c.execute(body, arguments).await })
    }

    /// Waits until the condition holds; errors on the way (a mark not there yet) count as not yet.
    pub fn wait_until(
        &self,
        what: &str,
        mut condition: impl FnMut(&Page) -> Result<bool>,
    ) -> Result<()> {
        self.wait_for(what, PATIENCE, |page| Ok(condition(page)?.then_some(())))
    }

    /// The same for a value, and with a deadline of one's own.
    pub fn wait_for<T>(
        &self,
        what: &str,
        patience: Duration,
        mut attempt: impl FnMut(&Page) -> Result<Option<T>>,
    ) -> Result<T> {
        let begun = Instant::now();
        loop {
            let last = match attempt(self) {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => String::new(),
                Err(why) => format!(": {why:#}"),
            };
            if begun.elapsed() > patience {
                bail!("waited {} s in vain for {what}{last}", patience.as_secs());
            }
            self.core.runtime.block_on(async { tokio::time::sleep(POLL).await });
        }
    }

    // --- gestures ------------------------------------------------------------------------------

    /// Presses one chord, as `"Tab"`, `"Shift+Tab"`, `"Control+k"`, on whatever has the focus.
    pub fn press(&self, chord: &str) -> Result<()> {
        let keys = keys::parse(chord)?;
        let mut actions = KeyActions::new("keyboard".to_owned());
        for &value in &keys {
            actions = actions.then(KeyAction::Down { value });
        }
        for &value in keys.iter().rev() {
            actions = actions.then(KeyAction::Up { value });
        }
        self.ask(|c| async move { c.perform_actions(actions).await })
    }

    /// Types text, key by key, on whatever has the focus.
    pub fn type_keys(&self, text: &str) -> Result<()> {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for value in text.chars() {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.ask(|c| async move { c.perform_actions(actions).await })
    }

    // --- circumstances -------------------------------------------------------------------------

    /// The viewport to the pixel. (A window can't be made as narrow as a telephone.)
    pub fn set_size(&self, width: u32, height: u32) -> Result<()> {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size).map(drop)
    }

    pub fn emulate(&self, scheme: Scheme, reduced_motion: bool) -> Result<()> {
        let scheme = if scheme == Scheme::Dark { "dark" } else { "light" };
        let motion = if reduced_motion { "reduce" } else { "no-preference" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": motion },
        ]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).map(drop)
    }

    /// Any command of Chrome's own protocol.
    pub fn devtools(&self, command: &str, params: Value) -> Result<Value> {
        let body = json!({ "cmd": command, "params": params });
        self.ask(|c| async move { c.issue_cmd(Extension("goog/cdp/execute", body)).await })
            .with_context(|| format!("devtools {command}"))
    }

    // --- evidence ------------------------------------------------------------------------------

    /// A picture of the viewport.
    pub fn screenshot(&self, path: &Path) -> Result<()> {
        let png = self.ask(|c| async move { c.screenshot().await })?;
        std::fs::write(path, png).with_context(|| path.display().to_string())
    }

    /// A picture of the whole page, however long.
    pub fn screenshot_whole(&self, path: &Path) -> Result<()> {
        let size = self.devtools("Page.getLayoutMetrics", json!({}))?["cssContentSize"].clone();
        let clip = json!({
            "x": 0, "y": 0, "scale": 1, "width": size["width"], "height": size["height"],
        });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let answer = self.devtools("Page.captureScreenshot", params)?;
        let png = STANDARD.decode(answer["data"].as_str().unwrap_or_default())?;
        std::fs::write(path, png).with_context(|| path.display().to_string())
    }

    /// Errors that the page has logged since this was last asked: uncaught exceptions, panics,
    /// files not found. A flow fails if any are left at its end.
    pub fn console_errors(&self) -> Result<Vec<String>> {
        let body = json!({ "type": "browser" });
        let entries = self.ask(|c| async move { c.issue_cmd(Extension("se/log", body)).await })?;
        if self.core.expects_errors.get() {
            return Ok(Vec::new());
        }
        let entries = entries.as_array().cloned().unwrap_or_default();
        let severe = entries.iter().filter(|entry| entry["level"] == "SEVERE");
        Ok(severe.map(|entry| entry["message"].as_str().unwrap_or("?").to_owned()).collect())
    }

    /// For a flow that provokes errors on purpose.
    pub fn expect_console_errors(&self) {
        self.core.expects_errors.set(true);
    }
}

/// chromedriver's own additions to the WebDriver protocol: all are posts to the session.
#[derive(Debug)]
struct Extension(&'static str, Value);

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.0))
    }

    fn method_and_body(&self, _: &url::Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.1.to_string()))
    }
}
