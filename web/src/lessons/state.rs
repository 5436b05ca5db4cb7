//! What this region remembers. No browser here.

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LessonUi {}

#[derive(Clone, Debug, PartialEq)]
pub enum LessonAction {}

impl LessonUi {
    pub fn apply(&mut self, action: LessonAction) {
        match action {}
    }
}
