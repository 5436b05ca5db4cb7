//! `vectors [DIR]`: puts every vector of a folder to the model and says how many pass.

use std::path::PathBuf;
use std::process::ExitCode;

use kafkascope_tests::vectors::{default_dir, run_dir};

fn main() -> ExitCode {
    let dir = std::env::args_os().nth(1).map_or_else(default_dir, PathBuf::from);
    let reports = run_dir(&dir);
    for report in &reports {
        report.print();
    }
    let good = !reports.is_empty() && reports.iter().all(|report| report.is_good());
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
