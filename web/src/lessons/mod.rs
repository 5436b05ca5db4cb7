//! Lessons: text bound to the run, in the side panel in place of tree and story.

mod state;

use yew::prelude::*;

pub use state::{LessonAction, LessonUi};

impl LessonUi {
    /// Whether the side panel shows a lesson.
    pub fn is_open(&self) -> bool {
        false
    }
}

/// A slide remote's "next". False if no lesson is open, so that the page steps instead.
pub fn next(ui: &LessonUi, _ctx: &crate::app::Ctx) -> bool {
    ui.is_open()
}

#[derive(PartialEq, Properties)]
pub struct LessonProps {
    pub ui: LessonUi,
}

#[component]
pub fn Lesson(props: &LessonProps) -> Html {
    let _ = &props.ui;
    html! { <section class="panel lesson" data-testid="lesson" /> }
}
