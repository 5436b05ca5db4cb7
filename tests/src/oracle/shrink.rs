//! Makes a failing sequence small, and words it.

use std::fmt::Write as _;

use super::Difference;
use super::draw::Drawn;
use super::player::{Step, name};
use kafkascope_core::zk::op::Op;

/// Each try starts a real server, so they are counted.
const TRIES: usize = 400;

/// Drops steps as long as the rest still fails: halves first, single ones last.
pub fn shrink(drawn: &Drawn, mut fails: impl FnMut(&Drawn) -> bool) -> Drawn {
    let mut best = Drawn { slots: drawn.slots, steps: drawn.steps.clone() };
    let mut size = best.steps.len() / 2;
    let mut tries = 0;
    while size > 0 && tries < TRIES {
        let before = best.steps.len();
        let mut at = before;
        while at > 0 && tries < TRIES {
            at = at.saturating_sub(size);
            let mut less = Drawn { slots: best.slots, steps: best.steps.clone() };
            less.steps.drain(at..(at + size).min(less.steps.len()));
            tries += 1;
            if fails(&less) {
                best = less;
            }
        }
        if size == 1 && best.steps.len() == before {
            break;
        }
        size = (size / 2).max(1);
    }
    for at in 0..best.steps.len() {
        while let Some(less) = fewer(&best, at).into_iter().find(|less| fails(less)) {
            best = less;
        }
    }
    best
}

/// The sequence with one request, or one part of a multi, less in a step.
fn fewer(drawn: &Drawn, at: usize) -> Vec<Drawn> {
    let Step::Ask { slot, ops } = &drawn.steps[at] else { return Vec::new() };
    let without = |ops: &[Op], gone: usize| -> Vec<Op> {
        ops.iter().enumerate().filter(|(n, _)| *n != gone).map(|(_, op)| op.clone()).collect()
    };
    let mut tries = Vec::new();
    if ops.len() > 1 {
        tries.extend((0..ops.len()).map(|gone| without(ops, gone)));
    }
    for (n, op) in ops.iter().enumerate() {
        if let Op::Multi(parts) = op {
            for gone in 0..parts.len() {
                let mut ops = ops.clone();
                ops[n] = Op::Multi(without(parts, gone));
                tries.push(ops);
            }
        }
    }
    let with = |ops: Vec<Op>| {
        let mut steps = drawn.steps.clone();
        steps[at] = Step::Ask { slot: *slot, ops };
        Drawn { slots: drawn.slots, steps }
    };
    tries.into_iter().map(with).collect()
}

/// The steps, and both answers to the one at which the servers part.
pub fn tell(drawn: &Drawn, found: &Difference) -> String {
    let mut text = format!("step {} of {}: {}\n", found.step + 1, drawn.steps.len(), found.what);
    for (at, step) in drawn.steps.iter().enumerate() {
        let mark = if at == found.step { ">" } else { " " };
        let _ = writeln!(text, "{mark} {:2} {}", at + 1, words(step));
    }
    for (who, lines, others) in
        [("ours", &found.ours, &found.real), ("real", &found.real, &found.ours)]
    {
        let _ = writeln!(text, "{who}:");
        for line in lines {
            let mark = if others.contains(line) { " " } else { "*" };
            let _ = writeln!(text, "  {mark} {line}");
        }
    }
    text
}

pub fn words(step: &Step) -> String {
    match step {
        Step::Open { slot, timeout_ms } => format!("{} opens with {timeout_ms} ms", name(*slot)),
        Step::Ask { slot, ops } => {
            let ops: Vec<String> = ops.iter().map(op).collect();
            format!("{} asks {}", name(*slot), ops.join(" + "))
        }
        Step::Drop { slot } => format!("{} drops its connection", name(*slot)),
        Step::Resume { slot, claim, rearm } => {
            format!("{} resumes, {claim:?}, rearm {rearm}", name(*slot))
        }
        Step::Expire { slot, away } => format!("{} expires, away {away}", name(*slot)),
    }
}

/// Long data would hide the rest.
fn op(op: &Op) -> String {
    match op {
        Op::Create { path, data, acl, mode, .. } => {
            let data = super::seen::bytes(data);
            format!("create {mode:?} {path:?} {data} {}", super::seen::acls(acl))
        }
        Op::SetData { path, data, version } => {
            format!("setData {path:?} {} {version}", super::seen::bytes(data))
        }
        Op::SetAcl { path, acl, version } => {
            format!("setACL {path:?} {} {version}", super::seen::acls(acl))
        }
        Op::Multi(ops) => {
            let ops: Vec<String> = ops.iter().map(self::op).collect();
            format!("multi [{}]", ops.join("; "))
        }
        Op::MultiRead(ops) => {
            let ops: Vec<String> = ops.iter().map(self::op).collect();
            format!("multiRead [{}]", ops.join("; "))
        }
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_failure_needs_is_left() {
        let ask = |ops: Vec<Op>| Step::Ask { slot: 0, ops };
        let check = || Op::Check { path: "/a".into(), version: 0 };
        let mut steps: Vec<Step> = (0..40).map(|_| ask(vec![Op::WhoAmI])).collect();
        steps[7] = Step::Drop { slot: 1 };
        steps[30] = ask(vec![Op::WhoAmI, Op::Multi(vec![check(), check(), check()])]);
        let found = |less: &Drawn| {
            let multi = |op: &Op| matches!(op, Op::Multi(parts) if !parts.is_empty());
            let asks = |step: &Step| matches!(step, Step::Ask { ops, .. } if ops.iter().any(multi));
            less.steps.contains(&Step::Drop { slot: 1 }) && less.steps.iter().any(asks)
        };
        let small = shrink(&Drawn { slots: 2, steps }, found);
        assert_eq!(small.steps, [Step::Drop { slot: 1 }, ask(vec![Op::Multi(vec![check()])])]);
    }
}
