//! Counts what the test programs print, and decides which of their lines are worth showing.

use std::time::Duration;

#[derive(Default, Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// What was skipped, by name, each with its reason.
    pub skips: Vec<String>,
}

/// How a program words its results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// One check that passes or fails by its exit code.
    Check,
    /// `cargo test`; also wasm-bindgen's runner.
    Libtest,
    /// `NAME passed/total skipped n (reason)`.
    Vectors,
    /// `VERSION/NAME settled a/b order c/d …` or `VERSION/NAME waiting (for what)`.
    Recordings,
    /// `ok NAME` or `FAILED NAME`.
    Flows,
}

impl Tally {
    pub fn skip(&mut self, count: u64, what: impl Into<String>) {
        self.skipped += count;
        self.skips.push(what.into());
    }

    /// Takes one line into account; returns whether it should be shown.
    pub fn line(&mut self, wording: Wording, line: &str, in_ci: bool) -> bool {
        if let Some(what) = line.strip_prefix("skipped: ") {
            // A test that couldn't run for want of something. CI has everything, so there it fails.
            if in_ci && wording == Wording::Libtest {
                self.failed += 1;
            } else {
                self.skip(1, what);
            }
            return true;
        }
        match wording {
            Wording::Check => !is_chatter(line),
            Wording::Libtest => self.libtest(line),
            Wording::Vectors => self.vectors(line),
            Wording::Recordings => self.recordings(line),
            Wording::Flows => self.flows(line),
        }
    }

    fn libtest(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("test result: ") {
            let counts = |word: &str| count_before(rest, word);
            self.passed += counts("passed");
            self.failed += counts("failed");
            self.skipped += counts("ignored");
            return counts("failed") > 0;
        }
        if let Some(rest) = line.strip_prefix("test ")
            && let Some((name, outcome)) = rest.split_once(" ... ")
        {
            if let Some(reason) = outcome.strip_prefix("ignored") {
                self.skips.push(format!("{name}{reason}"));
            }
            return outcome != "ok";
        }
        !is_chatter(line)
    }

    fn vectors(&mut self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let (Some(name), Some(ratio)) = (words.next(), words.next()) else { return true };
        let Some((passed, total)) = fraction(ratio).filter(|_| name != "total") else {
            return !is_chatter(line);
        };
        let skipped = match words.next() {
            Some("skipped") => words.next().and_then(|n| n.parse().ok()).unwrap_or(0),
            _ => 0,
        };
        self.passed += passed;
        self.failed += total.saturating_sub(passed + skipped);
        if skipped > 0 {
            let reason: Vec<&str> = words.collect();
            self.skip(skipped, format!("{name}: {skipped} {}", reason.join(" ")));
        }
        true
    }

    fn recordings(&mut self, line: &str) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_name = words.first().is_some_and(|word| word.contains('/'));
        if is_name && words.get(1) == Some(&"waiting") {
            self.skip(1, line);
        } else if is_name && words.get(1) == Some(&"settled") {
            let whole = |word: &str| {
                let ratio = words.iter().skip_while(|w| **w != word).nth(1);
                ratio.and_then(|ratio| fraction(ratio)).is_none_or(|(a, b)| a == b)
            };
            if whole("settled") && whole("order") {
                self.passed += 1;
                return false;
            }
            self.failed += 1;
        }
        !is_chatter(line)
    }

    fn flows(&mut self, line: &str) -> bool {
        self.passed += u64::from(line.starts_with("ok "));
        self.failed += u64::from(line.starts_with("FAILED "));
        !is_chatter(line)
    }
}

fn fraction(word: &str) -> Option<(u64, u64)> {
    let (a, b) = word.split_once('/')?;
    Some((a.parse().ok()?, b.parse().ok()?))
}

fn count_before(text: &str, word: &str) -> u64 {
    let words: Vec<&str> = text.split([' ', ';', '.']).filter(|w| !w.is_empty()).collect();
    let at = words.iter().position(|w| *w == word);
    at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
}

/// Progress of cargo and of test runners that says nothing when all is well.
fn is_chatter(line: &str) -> bool {
    const STARTS: [&str; 19] = [
        "Compiling ",
        "Checking ",
        "Downloaded ",
        "Downloading ",
        "Fresh ",
        "Finished ",
        "Running ",
        "Doc-tests ",
        "Locking ",
        "Adding ",
        "Updating ",
        "Blocking ",
        "Dirty ",
        "running ",
        "Set timeout to ",
        "Executing bindgen",
        "Try find ",
        "Loading scripts",
        "Loading Wasm",
    ];
    let line = line.trim();
    // Trunk's own log, and the runner's answer to its search for webdriver.json.
    let trunk = line.contains("Z  INFO ") || line == "Ok";
    line.is_empty() || trunk || STARTS.iter().any(|start| line.starts_with(start))
}

pub struct Kind {
    pub name: &'static str,
    pub tally: Tally,
    pub took: Duration,
}

/// The table of all kinds, what was skipped, and last the one line that sums up.
pub fn report(kinds: &[Kind]) -> String {
    let mut text =
        format!("\n{:<24}{:>8}{:>8}{:>8}{:>9}\n", "", "passed", "failed", "skipped", "s");
    let mut sum = Tally::default();
    for Kind { name, tally, took } in kinds {
        let Tally { passed, failed, skipped, .. } = tally;
        let seconds = took.as_secs_f64();
        text += &format!("{name:<24}{passed:>8}{failed:>8}{skipped:>8}{seconds:>9.1}\n");
        sum.passed += passed;
        sum.failed += failed;
        sum.skipped += skipped;
    }
    text.push('\n');
    for Kind { name, tally, .. } in kinds {
        for skip in &tally.skips {
            text += &format!("skipped in {name}: {skip}\n");
        }
    }
    text + &format!("{} passed, {} failed, {} skipped", sum.passed, sum.failed, sum.skipped)
}

#[cfg(test)]
mod tests {
    use super::{Kind, Tally, Wording, report};
    use std::time::Duration;

    fn read(wording: Wording, in_ci: bool, text: &str) -> (u64, u64, u64) {
        let mut tally = Tally::default();
        for line in text.lines() {
            tally.line(wording, line, in_ci);
        }
        (tally.passed, tally.failed, tally.skipped)
    }

    #[test]
    fn libtest_results_are_summed() {
        let text = "test a::b ... ok\ntest c ... ignored, too slow\n\
                    test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                    test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured";
        assert_eq!(read(Wording::Libtest, false, text), (13, 2, 1));
    }

    #[test]
    fn a_test_without_its_tool_is_skipped_and_in_ci_fails() {
        let text = "skipped: real ZooKeeper (no Java)";
        assert_eq!(read(Wording::Libtest, false, text), (0, 0, 1));
        assert_eq!(read(Wording::Libtest, true, text), (0, 1, 0));
    }

    #[test]
    fn vectors_count_every_vector() {
        let text = "zk-ops.json 250/256 skipped 4 (the ensemble)\nzk-misc.json 57/57\n\
                    total 307/313 skipped 4";
        assert_eq!(read(Wording::Vectors, true, text), (307, 2, 4));
    }

    #[test]
    fn recordings_count_files() {
        let text = "3.8.4/a settled 5/5 order 7/7 steered 1 excluded 0\n\
                    3.8.4/b settled 4/5 order 7/7 steered 1 excluded 0\n\
                    2.8.2/c waiting (for the group coordinator)\n\
                    total settled 9/10 order 14/14";
        assert_eq!(read(Wording::Recordings, true, text), (1, 1, 1));
    }

    #[test]
    fn the_last_line_is_the_sum() {
        let mut tally = Tally { passed: 2, failed: 1, ..Tally::default() };
        tally.skip(3, "x (because)");
        let kinds = [Kind { name: "native", tally, took: Duration::from_millis(1500) }];
        let text = report(&kinds);
        assert!(text.contains("skipped in native: x (because)\n"), "{text}");
        assert_eq!(text.lines().last(), Some("2 passed, 1 failed, 3 skipped"));
    }
}
