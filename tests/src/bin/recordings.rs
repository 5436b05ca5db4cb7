//! Replays recordings of the real systems and compares: see `recordings --help`.

use kafkascope_cli::replay::replay;
use kafkascope_tests::recordings::command;
use std::io::Write as _;
use std::process::exit;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    let status = command::run(&args, replay, &mut out).and_then(|status| {
        out.flush()?;
        Ok(status)
    });
    // A reader that has gone (`| head`) is no reason to complain.
    exit(status.unwrap_or(1));
}
