//! Every vector that the workspace holds.

use kafkascope_tests::vectors::{default_dir, run_dir};

#[test]
fn every_vector_passes() {
    let reports = run_dir(&default_dir());
    let bad: Vec<&str> = reports.iter().filter(|r| !r.is_good()).map(|r| &*r.name).collect();
    for report in reports.iter().filter(|report| !report.is_good()) {
        report.print();
    }
    assert!(!reports.is_empty(), "no vectors at {}", default_dir().display());
    assert!(bad.is_empty(), "failed: {bad:?}");
}
