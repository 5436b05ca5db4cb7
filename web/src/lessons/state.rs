//! What this region remembers. No browser here.

use kafkascope_core::base::Instant;
use kafkascope_core::script::Answer;

/// A value in a text, and what the run said when the text was reached.
pub type Value = (String, Answer);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LessonUi {
    pub open: Option<Place>,
}

/// Where the reader stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub lesson: usize,
    /// What is read: the number of a statement. `None` before the first.
    pub at: Option<usize>,
    pub phase: Phase,
    /// The moment of the run that the text speaks of.
    pub stand: Instant,
    pub values: Vec<Value>,
    pub question: Option<Question>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Reading,
    /// The run plays on; then the statement of this number is next.
    Playing(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub options: Vec<Answer>,
    pub picked: Option<usize>,
    pub hints: usize,
    pub revealed: Option<Revealed>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Revealed {
    pub answer: usize,
    /// Of the explanation: as the run will be.
    pub values: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LessonAction {
    Open(usize),
    /// The run plays on towards the statement of this number.
    Play(usize),
    /// A text is reached.
    Arrive {
        at: usize,
        stand: Instant,
        values: Vec<Value>,
        options: Vec<Answer>,
    },
    Pick(usize),
    Hint,
    Reveal {
        options: Vec<Answer>,
        revealed: Revealed,
    },
    Leave,
}

impl LessonUi {
    /// Whether the side panel shows a lesson.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn apply(&mut self, action: LessonAction) {
        match action {
            LessonAction::Open(lesson) => {
                self.open = Some(Place {
                    lesson,
                    at: None,
                    phase: Phase::Reading,
                    stand: Instant::ZERO,
                    values: Vec::new(),
                    question: None,
                });
            }
            LessonAction::Leave => self.open = None,
            other => {
                if let Some(place) = &mut self.open {
                    place.apply(other);
                }
            }
        }
    }
}

impl Place {
    fn apply(&mut self, action: LessonAction) {
        match (action, &mut self.question) {
            (LessonAction::Play(next), _) => self.phase = Phase::Playing(next),
            (LessonAction::Arrive { at, stand, values, options }, question) => {
                *question = (!options.is_empty()).then_some(Question {
                    options,
                    picked: None,
                    hints: 0,
                    revealed: None,
                });
                self.at = Some(at);
                self.phase = Phase::Reading;
                (self.stand, self.values) = (stand, values);
            }
            (LessonAction::Pick(index), Some(question))
                if question.revealed.is_none() && index < question.options.len() =>
            {
                question.picked = Some(index);
            }
            (LessonAction::Hint, Some(question)) => question.hints += 1,
            (LessonAction::Reveal { options, revealed }, Some(question)) => {
                question.options = options;
                question.revealed = Some(revealed);
            }
            _ => {}
        }
    }

    pub fn is_playing(&self) -> bool {
        matches!(self.phase, Phase::Playing(_))
    }

    /// A question that waits for its answer.
    pub fn is_asking(&self) -> bool {
        let open = self.question.as_ref().is_some_and(|question| question.revealed.is_none());
        open && !self.is_playing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> LessonUi {
        let mut ui = LessonUi::default();
        ui.apply(LessonAction::Open(1));
        let options = vec![Answer::Present, Answer::Absent];
        let stand = Instant(5);
        ui.apply(LessonAction::Arrive { at: 3, stand, values: Vec::new(), options });
        ui
    }

    fn question(ui: &LessonUi) -> &Question {
        ui.open.as_ref().and_then(|place| place.question.as_ref()).expect("a question")
    }

    #[test]
    fn nothing_can_be_picked_once_the_answer_is_shown() {
        let mut ui = asked();
        ui.apply(LessonAction::Pick(7));
        assert_eq!(question(&ui).picked, None);
        ui.apply(LessonAction::Pick(1));
        let options = question(&ui).options.clone();
        let revealed = Revealed { answer: 0, values: Vec::new() };
        ui.apply(LessonAction::Reveal { options, revealed });
        ui.apply(LessonAction::Pick(0));
        assert_eq!(question(&ui).picked, Some(1));
        assert!(!ui.open.as_ref().expect("open").is_asking());
    }

    #[test]
    fn the_next_text_forgets_the_question() {
        let mut ui = asked();
        let stand = Instant(9);
        ui.apply(LessonAction::Arrive { at: 4, stand, values: Vec::new(), options: Vec::new() });
        let place = ui.open.clone().expect("open");
        assert_eq!((place.at, place.question), (Some(4), None));
        ui.apply(LessonAction::Leave);
        ui.apply(LessonAction::Hint);
        assert!(!ui.is_open());
    }
}
