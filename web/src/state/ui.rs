//! The state of the page.

use std::rc::Rc;
use std::sync::Arc;

use kafkascope_core::world::Who;

use crate::compare::Comparison;
use crate::console::ConsoleUi;
use crate::i18n::Lang;
use crate::lessons::LessonUi;
use crate::logs::LogsUi;
use crate::ownership::OwnershipUi;
use crate::share::ShareUi;
use crate::znodes::ZnodesUi;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub const fn name(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    pub fn parse(name: &str) -> Theme {
        match name {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => Theme::System,
        }
    }
}

/// What the person points at; shown blue everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    Proc(u16),
    /// A row of the story: its chain of causes is marked.
    Row(u32),
    Znode(Arc<str>),
    /// Something in flight, by its number.
    Flight(u64),
    Partition(Arc<str>, u32),
}

/// A menu that hangs open. At most one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Menu {
    Scenario,
    Profile,
    Speed,
    Branches,
    StoryFilter,
    Proc(u16),
    Topic(Arc<str>),
}

/// A dialog that is open. At most one; what it edits is its own affair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialog {
    AddBroker,
    CreateTopic,
    DeleteTopic(Arc<str>),
    AddPartitions(Arc<str>),
    AlterConfig(Arc<str>),
    Reassign(Arc<str>),
    OpenClient,
    /// In this group to begin with.
    AddConsumer(Option<Arc<str>>),
    AddProducer,
    /// The producer that sends.
    Produce(Arc<str>),
    Pause(Who),
    /// Settings of a consumer.
    Tune(Arc<str>),
    DeleteZnode(Arc<str>),
    SetData(Arc<str>),
    /// The path to begin with.
    CreateZnode(Arc<str>),
    Share,
    /// Keys, legend and what is left out.
    Help,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DockTab {
    Logs,
    Ownership,
    #[default]
    Znode,
    Console,
    Topics,
    Invariants,
    /// Shown once there is something to compare.
    Compare,
}

/// The tab strip under the caption of a narrow screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NarrowTab {
    #[default]
    Story,
    Znodes,
    Dock(DockTab),
    Lesson,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoryFilter {
    /// Steps; details are folded.
    #[default]
    Steps,
    All,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct UiState {
    pub lang: Lang,
    pub theme: Theme,
    pub selected: Option<Selected>,
    pub menu: Option<Menu>,
    pub dialog: Option<Dialog>,
    /// The open tab of the dock; `None`: only its strip is shown.
    pub dock: Option<DockTab>,
    pub narrow: NarrowTab,
    pub story: StoryFilter,
    pub znodes: ZnodesUi,
    pub console: ConsoleUi,
    pub lesson: LessonUi,
    pub share: ShareUi,
    pub logs: LogsUi,
    pub ownership: OwnershipUi,
    pub comparison: Option<Rc<Comparison>>,
}
