//! `cargo xtask bench`: native measurements, what the page weighs on the wire, then the same in
//! Chromium.

use crate::{native, run, setup};
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

pub fn bench(rest: &[String]) -> Result<u8, String> {
    let mut code = 0;
    if native::exists("bench") {
        let status = native::cargo_run("bench", "bench", rest)
            .status()
            .map_err(|why| format!("can't run cargo: {why}"))?;
        code = u8::from(!status.success());
    } else {
        println!("native measurements: tests/src/bin/bench.rs isn't there yet");
    }
    if !setup::setup(setup::Scope::Everything).is_empty() {
        return Ok(1);
    }
    page_sizes()?;
    let mut speed = run::command("cargo");
    speed.args(["run", "--quiet", "--package", "kafkascope-browser-tests", "--bin", "speed"]);
    speed.args(["--", "--dist"]).arg(run::target_dir().join("page"));
    let status = speed.status().map_err(|why| format!("can't run cargo: {why}"))?;
    Ok(code.max(u8::from(!status.success())))
}

fn page_sizes() -> Result<(), String> {
    let dist = run::target_dir().join("page");
    let mut trunk = run::command("trunk");
    trunk.args(["build", "--release", "--dist"]).arg(&dist);
    let outcome = run::stream("page build", trunk, |_| false);
    if !outcome.ok {
        outcome.tail.iter().for_each(|line| println!("{line}"));
        return Err("the page couldn't be built".to_owned());
    }
    let mut files = Vec::new();
    collect(&dist, &mut files).map_err(|why| format!("{}: {why}", dist.display()))?;
    files.sort();
    let (mut plain, mut packed) = (0, 0);
    for file in &files {
        let size = std::fs::metadata(file).map_or(0, |about| about.len());
        let gzip = gzip_size(file)?;
        let name = file.strip_prefix(&dist).unwrap_or(file).display();
        println!("page {name}: {size} bytes, {gzip} bytes gzip -9");
        plain += size;
        packed += gzip;
    }
    println!("page total: {plain} bytes, {packed} bytes ({} KB) gzip -9", packed.div_ceil(1000));
    Ok(())
}

fn collect(folder: &Path, into: &mut Vec<std::path::PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else {
            into.push(path);
        }
    }
    Ok(())
}

fn gzip_size(file: &Path) -> Result<u64, String> {
    let input = File::open(file).map_err(|why| format!("{}: {why}", file.display()))?;
    let output = run::command("gzip")
        .args(["-9", "-c"])
        .stdin(input)
        .stderr(Stdio::null())
        .output()
        .map_err(|why| format!("can't run gzip: {why}"))?;
    Ok(output.stdout.len() as u64)
}
