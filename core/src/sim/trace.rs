//! The trace: one row for everything that happened, each with the row that caused it.

use crate::base::Instant;

/// A row's place in the trace of its branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u32);

impl RowId {
    /// The cause of what nothing caused.
    pub const NONE: RowId = RowId(u32::MAX);

    pub fn is_none(self) -> bool {
        self == RowId::NONE
    }
}

/// Row = event + time + cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<E> {
    pub at: Instant,
    /// How many events of the queue had been taken out when this happened (its own included).
    pub event_no: u64,
    pub cause: RowId,
    /// The process it happened at.
    pub proc: u16,
    /// Not a step of its own: the story folds it away.
    pub detail: bool,
    pub event: E,
}
