//! `cargo xtask serve`: the page, built and served by trunk, rebuilt on every change.

use crate::{args, run, setup};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const PORT: u16 = 8080;

pub fn serve(rest: &[String]) -> Result<u8, String> {
    let given = args::parse("serve", rest, &["--no-setup", "--release", "--no-open"], &["--port"])?;
    let port = match given.value("--port") {
        None => PORT,
        Some(text) => match text.parse() {
            Ok(port) if port > 0 => port,
            _ => return Err(format!("`--port` takes a number from 1 to 65535, not `{text}`")),
        },
    };
    // Asked before set-up and build, so that nobody waits minutes for this answer.
    if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
        return Err(format!("port {port} is taken; choose another: cargo xtask serve --port N"));
    }
    let release = given.has("--release");
    if !given.has("--no-setup") {
        let scope = if release { setup::Scope::Release } else { setup::Scope::Page };
        if !setup::setup(scope).is_empty() {
            return Ok(1);
        }
    }
    let address = format!("http://127.0.0.1:{port}/");
    println!("building the page; it will be at {address}");
    announce(port, address);
    let mut trunk = run::command("trunk");
    trunk.args(["serve", "--port", &port.to_string()]);
    if release {
        trunk.arg("--release");
    }
    if !given.has("--no-open") && has_screen() {
        trunk.arg("--open");
    }
    let status = trunk.status().map_err(|why| format!("can't run trunk: {why}"))?;
    Ok(u8::from(!status.success()))
}

/// Says when the page answers. The thread ends with the process.
fn announce(port: u16, address: String) {
    let begun = Instant::now();
    thread::spawn(move || {
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        while TcpStream::connect_timeout(&at, Duration::from_secs(1)).is_err() {
            thread::sleep(Duration::from_millis(200));
        }
        let seconds = begun.elapsed().as_secs();
        println!("\nThe page is up after {seconds} s: {address}  (Ctrl-C ends it)\n");
    });
}

/// On a server without a display there is no browser to open, and trying prints an error.
fn has_screen() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
