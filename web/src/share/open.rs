//! Opening a run from the address or a file. What can't be read changes nothing.

use gloo::events::{EventListener, EventListenerOptions};
use gloo::file::callbacks::{FileReader, read_as_text};
use gloo::file::{File, FileReadError};
use kafkascope_core::base::limits;
use kafkascope_core::lab::Lab;
use kafkascope_core::script::{self, Problem, Script, ScriptError};
use wasm_bindgen::JsCast;
use yew::prelude::*;

use super::state::{Broken, ShareAction};
use crate::app::Ctx;
use crate::engine::scenario::Origin;
use crate::platform::address;
use crate::state::{Dialog, UiAction};

type Read = Result<Script, ScriptError>;

/// The run in the address, if there is one.
pub fn initial() -> Option<Read> {
    let fragment = address::fragment();
    let ours = fragment.starts_with("#s=") || fragment.starts_with("#z=");
    ours.then(|| script::link::read(&fragment))
}

/// What the page says about the run that it was opened with, if there is something to say.
pub fn remark(ctx: &Ctx, first: &Read) {
    match first {
        Ok(script) if script.model == kafkascope_core::lab::MODEL => {}
        Ok(_) => ctx.act(UiAction::OpenDialog(Dialog::Share)),
        Err(error) => broken(ctx, None, error.clone()),
    }
}

/// Opens what was read, or says why not.
pub fn open(ctx: &Ctx, file: Option<String>, read: Read) {
    match read {
        Ok(script) => {
            let older = script.model != kafkascope_core::lab::MODEL;
            ctx.act(UiAction::Lesson(crate::lessons::LessonAction::Leave));
            ctx.engine.load(Lab::new(script::run_of(&script)), Origin::Shared);
            ctx.act(UiAction::Share(ShareAction::Opened));
            ctx.act(match older {
                true => UiAction::OpenDialog(Dialog::Share),
                false => UiAction::CloseDialog,
            });
        }
        Err(error) => broken(ctx, file, error),
    }
}

fn broken(ctx: &Ctx, file: Option<String>, error: ScriptError) {
    ctx.act(UiAction::Share(ShareAction::Broken(Broken { file, error })));
    ctx.act(UiAction::OpenDialog(Dialog::Share));
}

/// Text that somebody gave: a link, or a script.
pub fn read_text(text: &str) -> Read {
    let text = text.trim();
    let link = text.contains("#s=") || text.contains("#z=");
    if link && !text.contains('\n') { script::link::read(text) } else { script::parse(text) }
}

/// Reads a file and opens it. The reader has to be kept until then.
pub fn open_file(ctx: &Ctx, file: web_sys::File) -> Option<FileReader> {
    let file = File::from(file);
    let name = file.name();
    if file.size() > limits::SCRIPT_BYTES as u64 {
        let limit = limits::SCRIPT_BYTES as u64;
        let problem = Problem::TooLarge { limit };
        broken(ctx, Some(name), ScriptError { line: 1, column: 1, problem });
        return None;
    }
    let ctx = ctx.clone();
    Some(read_as_text(&file, move |text: Result<String, FileReadError>| {
        let unreadable = ScriptError { line: 1, column: 1, problem: Problem::NotAScript };
        open(&ctx, Some(name), text.map_err(|_| unreadable).and_then(|text| read_text(&text)));
    }))
}

/// Another link in the address, and files that are dropped anywhere on the page.
#[hook]
pub fn use_opening(ctx: &Ctx) {
    let ctx = ctx.clone();
    let reader = use_mut_ref(|| None::<FileReader>);
    use_effect_with((), move |()| {
        let window = gloo::utils::window();
        let here = ctx.clone();
        let address = EventListener::new(&window, "hashchange", move |_| {
            if let Some(read) = initial() {
                open(&here, None, read);
            }
        });
        let options = EventListenerOptions::enable_prevent_default();
        let over = EventListener::new_with_options(&window, "dragover", options, |event| {
            event.prevent_default();
        });
        let drop_here = EventListener::new_with_options(&window, "drop", options, move |event| {
            event.prevent_default();
            let file = event
                .dyn_ref::<DragEvent>()
                .and_then(|event| event.data_transfer()?.files()?.get(0));
            if let Some(file) = file {
                *reader.borrow_mut() = open_file(&ctx, file);
            }
        });
        move || drop((address, over, drop_here))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_scripts_are_told_apart() {
        let script = "kafkascope 1\nprofile textbook seed 7\nat 0s start broker 1\n";
        let read = read_text(script).expect("a script");
        let link = script::link::write(&read);
        assert_eq!(read_text(&format!(" https://x/{link}\n")), Ok(read));
        assert!(read_text("#s=kafkascope+1;at+0s+dance").is_err());
        assert!(read_text("").is_err());
    }
}
