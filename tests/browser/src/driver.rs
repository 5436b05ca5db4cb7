//! One chromedriver for all flows, and a fresh browser with a fresh profile for each page.

use crate::page::{Core, Options, Page};
use crate::site::Site;
use anyhow::{Context, Result, bail};
use fantoccini::ClientBuilder;
use fantoccini::wd::Capabilities;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;

const FLAGS: [&str; 10] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // The small /dev/shm of containers makes tabs crash.
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
];

pub struct Browser {
    runtime: Rc<Runtime>,
    driver: Child,
    driver_address: String,
    site: Site,
    pages: RefCell<Vec<Rc<Core>>>,
}

impl Browser {
    /// Starts chromedriver (`$CHROMEDRIVER` or from the PATH) and a server for the page in `dist`.
    pub fn start(dist: &Path) -> Result<Self> {
        let site = Site::serve(dist)?;
        let program = std::env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let mut driver = Command::new(&program)
            .args(["--port=0", "--log-level=SEVERE"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("can't run {}", program.display()))?;
        let stdout = driver.stdout.take().context("chromedriver has no stdout")?;
        let port = match read_port(stdout) {
            Ok(port) => port,
            Err(why) => {
                let _ = driver.kill();
                return Err(why);
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            runtime: Rc::new(runtime),
            driver,
            driver_address: format!("http://127.0.0.1:{port}"),
            site,
            pages: RefCell::default(),
        })
    }

    /// Opens the page in a new browser.
    pub fn open(&self, options: &Options) -> Result<Page> {
        let page = self.open_blank(options)?;
        page.go(&options.fragment)?;
        Ok(page)
    }

    /// Opens a new browser without visiting the page yet.
    pub fn open_blank(&self, options: &Options) -> Result<Page> {
        let profile = tempfile::Builder::new().prefix("kafkascope-browser-").tempdir()?;
        let capabilities = capabilities(options, profile.path());
        let mut builder =
            ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new());
        builder.capabilities(capabilities);
        let connect = async {
            // Started beside a compiler, a browser may take its time.
            let limit = Duration::from_secs(90);
            tokio::time::timeout(limit, builder.connect(&self.driver_address)).await
        };
        let client =
            self.runtime.block_on(connect).context("the browser didn't start in time")??;
        let address = self.site.address().to_owned();
        let core = Rc::new(Core::new(self.runtime.clone(), client, address, profile));
        self.pages.borrow_mut().push(core.clone());
        let page = Page::new(core);
        page.set_size(options.width, options.height)?;
        page.emulate(options.scheme, options.reduced_motion)?;
        Ok(page)
    }

    /// Ends all open browsers. Returns what their pages have logged as errors; with `shots`, a
    /// picture of each is left at that path first.
    pub fn close_pages(&self, shots: Option<&Path>) -> Vec<String> {
        let mut errors = Vec::new();
        for (number, core) in self.pages.take().into_iter().enumerate() {
            let page = Page::new(core.clone());
            if let Some(path) = shots {
                let path = path.with_extension(format!("{number}.png"));
                match page.screenshot(&path) {
                    Ok(()) => println!("  picture: {}", path.display()),
                    Err(why) => println!("  no picture: {why:#}"),
                }
            }
            match page.console_errors() {
                Ok(logged) => errors.extend(logged),
                Err(why) => errors.push(format!("the console can't be read: {why:#}")),
            }
            core.close();
        }
        errors
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.close_pages(None);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn capabilities(options: &Options, profile: &Path) -> Capabilities {
    let mut args: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
    args.push(format!("--user-data-dir={}", profile.display()));
    args.push(format!("--window-size={},{}", options.width, options.height));
    args.push(format!("--lang={}", options.language));
    let mut chrome = json!({
        "args": args,
        "prefs": { "intl.accept_languages": options.language },
    });
    if let Ok(binary) = std::env::var("CHROMIUM") {
        chrome["binary"] = Value::from(binary);
    }
    let mut capabilities = Capabilities::new();
    capabilities.insert("browserName".to_owned(), json!("chrome"));
    capabilities.insert("goog:chromeOptions".to_owned(), chrome);
    capabilities.insert("goog:loggingPrefs".to_owned(), json!({ "browser": "ALL" }));
    capabilities
}

/// chromedriver takes a free port by itself, and says which.
fn read_port(stdout: impl Read + Send + 'static) -> Result<u16> {
    let mut lines = BufReader::new(stdout).lines();
    let mut said = Vec::new();
    while let Some(Ok(line)) = lines.next() {
        if let Some((_, after)) = line.split_once("started successfully on port ") {
            let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
            // Listened to further, so that chromedriver never blocks on a full pipe.
            thread::spawn(move || lines.for_each(drop));
            return digits.parse().context("chromedriver's port");
        }
        said.push(line);
    }
    bail!("chromedriver didn't start: {}", said.join(" / "))
}
