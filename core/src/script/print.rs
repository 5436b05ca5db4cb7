//! Script to text, so that reading it back gives the same script.

use std::fmt::Write;

use super::{Expectation, Script, Statement, VERSION};
use crate::base::Span;
use crate::lab::MODEL;
use crate::world::config::SETTINGS;
use crate::world::{Config, Profile};

pub fn print(script: &Script) -> String {
    let mut text = format!("kafkascope {VERSION}\n");
    if script.model != MODEL {
        let _ = writeln!(text, "model {}", script.model);
    }
    let config = &script.config;
    let textbook = config.profile == Profile::Textbook;
    let usual = if textbook { Config::of(config.profile) } else { Config::release(config.release) };
    let _ = write!(text, "profile {}", config.profile.name());
    if config.release != config.profile.release() {
        let _ = write!(text, " release {}", config.release.as_str());
    }
    if textbook && config.zookeeper != usual.zookeeper {
        let _ = write!(text, " release {}", config.zookeeper.name());
    }
    let _ = writeln!(text, " seed {}", script.seed);
    for (index, setting) in SETTINGS.iter().enumerate() {
        if config.get(index) != usual.get(index) {
            let _ = writeln!(text, "set {} {}", setting.name, config.get(index));
        }
    }
    for line in &script.lines {
        let _ = writeln!(text, "{}", statement(&line.statement));
    }
    if let Some(expected) = &script.expected {
        text.push_str("----\n");
        for line in expected {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn statement(statement: &Statement) -> String {
    match statement {
        Statement::At(at, command) => format!("at {} {command}", Span(at.0)),
        Statement::Do(command) => format!("do {command}"),
        Statement::Wait(span) => format!("wait {span}"),
        Statement::Settle(span) => format!("settle {span}"),
        Statement::Say(key) => format!("say {key}"),
        Statement::Ask(ask) => ask.to_string(),
        Statement::Expect(Expectation::Is(query, answer)) => format!("expect {query} = {answer}"),
        Statement::Expect(Expectation::Refused) => "expect refused".to_owned(),
        Statement::Expect(Expectation::Breach(name)) => {
            format!("expect breach {}", name.as_deref().unwrap_or("none"))
        }
        Statement::Expect(Expectation::Printed(text)) => format!("expect printed {text}"),
    }
}
