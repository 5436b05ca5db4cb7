//! What a thread of a real broker has asked ZooKeeper and waits for. The thread itself is a stack
//! of steps that its owner keeps; a step asks, and the next one takes the answers.

use crate::zk::client::WatcherId;
use crate::zk::op::{Failure, Op, Reply};

pub type Answer = Result<Reply, Failure>;

#[derive(Clone, Debug, Default)]
pub struct Fiber {
    asked: Vec<(Op, Option<WatcherId>)>,
    answers: Vec<Option<Answer>>,
    sent: usize,
    /// Places to send once more.
    again: Vec<u32>,
    answered: usize,
    /// Counts what was taken: answers to what was given up are dropped.
    pub batch: u32,
}

impl Fiber {
    pub fn ask(&mut self, op: Op) {
        self.asked.push((op, None));
    }

    pub fn watch(&mut self, op: Op, watcher: WatcherId) {
        self.asked.push((op, Some(watcher)));
    }

    pub fn get(&mut self, path: crate::zk::op::Path) {
        self.ask(Op::GetData { path, watch: false });
    }

    pub fn is_waiting(&self) -> bool {
        self.answered < self.asked.len()
    }

    /// The next request to send: all at once, or each when the one before it is answered.
    pub fn next_to_send(&mut self, one_by_one: bool) -> Option<(u32, Op, Option<WatcherId>)> {
        if let Some(slot) = self.again.pop() {
            let (op, watcher) = self.asked.get(slot as usize)?.clone();
            return Some((slot, op, watcher));
        }
        if one_by_one && self.answered < self.sent {
            return None;
        }
        let (op, watcher) = self.asked.get(self.sent)?.clone();
        self.answers.push(None);
        self.sent += 1;
        Some((self.sent as u32 - 1, op, watcher))
    }

    /// What was asked at a place, to ask it again.
    pub fn asked(&self, batch: u32, slot: u32) -> Option<(Op, Option<WatcherId>)> {
        if batch != self.batch {
            return None;
        }
        self.asked.get(slot as usize).cloned()
    }

    /// The session went with what was under way: it goes out again in the new one.
    pub fn resend(&mut self) {
        let open = (0..self.sent as u32)
            .filter(|slot| matches!(self.answers.get(*slot as usize), Some(None)));
        self.again = open.collect();
        self.again.reverse();
    }

    pub fn answer(&mut self, batch: u32, slot: u32, answer: Answer) {
        if batch == self.batch
            && let Some(place @ None) = self.answers.get_mut(slot as usize)
        {
            *place = Some(answer);
            self.answered += 1;
        }
    }

    /// The answers, in the order of the questions.
    pub fn take(&mut self) -> Vec<Answer> {
        self.batch = self.batch.wrapping_add(1);
        self.asked.clear();
        self.sent = 0;
        self.answered = 0;
        self.again.clear();
        std::mem::take(&mut self.answers).into_iter().flatten().collect()
    }

    /// The answer to the only question.
    pub fn one(&mut self) -> Option<Answer> {
        self.take().pop()
    }
}
