//! The queue of what is to come, in a total order: (moment, class, sequence number).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::Instant;

/// What goes first among things of one moment. Commands precede all else, so that a script's
/// `at 2s` means the state before anything else of that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Command,
    Process,
    Delivery,
    Timer,
}

type Key = (Instant, Class, u64);

/// Payloads lie in slots, so that the heap moves only keys about.
#[derive(Clone)]
pub struct Queue<T> {
    heap: BinaryHeap<Reverse<(Key, u32)>>,
    slots: Vec<Option<T>>,
    free: Vec<u32>,
    next_seq: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { heap: BinaryHeap::new(), slots: Vec::new(), free: Vec::new(), next_seq: 0 }
    }
}

/// An event that was taken out.
#[derive(Debug)]
pub struct Popped<T> {
    pub at: Instant,
    pub class: Class,
    pub seq: u64,
    pub payload: T,
}

impl<T> Queue<T> {
    /// Puts `payload` in at its place and returns its sequence number, which no other has.
    pub fn push(&mut self, at: Instant, class: Class, payload: T) -> u64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(payload);
                slot
            }
            None => {
                self.slots.push(Some(payload));
                (self.slots.len() - 1) as u32
            }
        };
        self.heap.push(Reverse(((at, class, seq), slot)));
        seq
    }

    pub fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(((at, _, _), _))| *at)
    }

    pub fn pop(&mut self) -> Option<Popped<T>> {
        let Reverse(((at, class, seq), slot)) = self.heap.pop()?;
        let payload = self.slots[slot as usize].take()?;
        self.free.push(slot);
        Some(Popped { at, class, seq, payload })
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// All that waits, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Instant, Class, u64, &T)> {
        self.heap.iter().filter_map(|Reverse(((at, class, seq), slot))| {
            self.slots[*slot as usize].as_ref().map(|payload| (*at, *class, *seq, payload))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moment_then_class_then_sequence() {
        let mut queue = Queue::default();
        queue.push(Instant(5), Class::Timer, 'd');
        queue.push(Instant(5), Class::Delivery, 'b');
        queue.push(Instant(5), Class::Delivery, 'c');
        queue.push(Instant(4), Class::Timer, 'a');
        let order: String = std::iter::from_fn(|| queue.pop().map(|p| p.payload)).collect();
        assert_eq!(order, "abcd");
    }

    #[test]
    fn slots_are_used_again() {
        let mut queue = Queue::default();
        for round in 0..100 {
            queue.push(Instant(round), Class::Timer, round);
            assert_eq!(queue.pop().map(|p| p.payload), Some(round));
        }
        assert_eq!(queue.slots.len(), 1);
    }
}
