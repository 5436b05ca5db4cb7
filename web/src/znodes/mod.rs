//! The znode tree (side panel) and the node inspector (dock).

mod data;
mod flat;
mod history;
mod inspector;
mod process;
mod row;
mod stat;
mod state;
mod step;
mod tree;

pub use flat::by_number;
pub use inspector::Inspector;
pub use state::{ZnodesAction, ZnodesUi};
pub use tree::Tree;
