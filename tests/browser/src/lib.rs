//! The harness of the browser flows: chromedriver, a file server for the built page, and pages to
//! act on as a person would.
//!
//! Everything blocks, so that a flow reads from top to bottom; nothing sleeps for a fixed time: all
//! waiting is for a condition, with a deadline.

mod driver;
mod keys;
mod mark;
mod page;
mod site;

pub use driver::Browser;
pub use mark::Mark;
pub use page::{Options, Page, Scheme};
pub use site::Site;

pub use anyhow::{Context, Result, bail, ensure};
pub use serde_json::{Value, json};
