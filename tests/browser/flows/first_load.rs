//! The page loads and shows itself.

use browser::{Browser, Options, Result};

pub fn run(browser: &Browser) -> Result<()> {
    let page = browser.open(&Options::default())?;
    page.testid("app").wait()
}
