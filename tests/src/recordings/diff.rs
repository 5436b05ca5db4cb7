//! Expected against got of one recording, step by step.

use super::command::{Examined, Verdict};
use super::judge::count::{entries_of, is_by_entry, is_loaded, is_order};
use super::judge::{Difference, Outcome, Side, fields_of};
use serde_json::Value;
use std::io::{self, Write};

/// A value is shown up to so many characters.
const LONGEST: usize = 2000;

/// Shows every step: fields that are equal by name, entries that are not with both sides.
pub fn show(examined: &Examined, out: &mut dyn Write) -> io::Result<()> {
    let Verdict::Compared { outcome, run, .. } = &examined.verdict else { return Ok(()) };
    for difference in of_step(outcome, None) {
        show_one(difference, out)?;
    }
    let steps = examined.recording["steps"].as_array().into_iter().flatten();
    for (i, step) in steps.enumerate() {
        let done = step.get("do").or(step.get("note")).and_then(Value::as_str).unwrap_or("");
        writeln!(out, "step {i}: {done}")?;
        if is_loaded(i, step) {
            writeln!(out, "  loaded, not compared")?;
            continue;
        }
        let taken = run.get("steered").and_then(Value::as_array).into_iter().flatten();
        for steered in taken.filter(|s| s.get("step").and_then(Value::as_u64) == Some(i as u64)) {
            writeln!(out, "  ~ steered: {}", steered["what"].as_str().unwrap_or(""))?;
        }
        for (field, _) in fields_of(step) {
            if !of_step(outcome, Some(i)).any(|difference| difference.field == field) {
                writeln!(out, "  = {field}{}", many(field, &step[field]))?;
            }
        }
        for difference in of_step(outcome, Some(i)) {
            show_one(difference, out)?;
        }
    }
    Ok(())
}

fn of_step(outcome: &Outcome, step: Option<usize>) -> impl Iterator<Item = &Difference> {
    outcome.differences.iter().filter(move |difference| difference.step == step)
}

fn many(field: &str, value: &Value) -> String {
    let counted = is_order(field, value) || is_by_entry(field, value);
    if counted { format!(" ({})", entries_of(value)) } else { String::new() }
}

fn show_one(difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  ≠ {} {}", difference.field, difference.entry)?;
    writeln!(out, "      expected {}", short(&difference.expected))?;
    writeln!(out, "      got      {}", short(&difference.got))
}

fn short(side: &Side) -> String {
    let all = side.to_string();
    match all.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &all[..end]),
        None => all,
    }
}
