//! What the page shows, as plain structs of ids and numbers. No prose.

pub mod beliefs;
pub mod differ;
pub mod groups;
pub mod logs;
pub mod loss;
pub mod ownership;
pub mod stage;
pub mod timeline;
pub mod tree;
pub mod trend;

pub use beliefs::{Belief, Beliefs, beliefs};
pub use differ::{Difference, differences};
pub use groups::{GroupView, GroupsView, MemberView, ProducerView, Seat, groups};
pub use logs::{LogsView, PartitionLogs, ReplicaLog, logs};
pub use loss::Loss;
pub use ownership::{Plan, Rebalance, Rule, Suppose, moves, rebalance};
pub use stage::{
    BrokerView, ChipGroup, ClientView, ControllerView, Flight, FlightKind, KafkaRelease, Life,
    Memory, PartitionView, ReplicaView, Role, SessionState, SessionView, StageView, TopicView,
    ZkView, flights, release, session, stage, stage_with,
};
pub use timeline::{DeadSpan, Density, Mark, MarkKind, TimelineView, timeline};
pub use tree::{ChildView, NodeView, WatcherView, children, node};
pub use trend::{Trend, trend};
