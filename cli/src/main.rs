//! The command `kafkascope`: plays scripts and recordings without a page.

use std::process::ExitCode;

use kafkascope_cli::commands;

const USAGE: &str = "\
usage: kafkascope COMMAND

  run FILE [--json] [--digest] [--detail] [--seed N]   play a script and print its transcript
  check FILE [--bless]    compare with the transcript below `----`; --bless writes it anew
  link FILE               print the share link of a script
  open LINK               print the script that a link holds
  replay RECORDING.json   play a recording's operations and print what happened, as JSON

FILE may be `-` for standard input.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.split_first() {
        Some((&"run", rest)) => commands::run(rest),
        Some((&"check", rest)) => commands::check(rest),
        Some((&"link", [file])) => commands::link(file),
        Some((&"open", [link])) => commands::open(link),
        Some((&"replay", [file])) => commands::replay(file),
        Some((&("help" | "--help" | "-h"), _)) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Some((word, _)) => Err(format!("`{word}` can't be understood like this\n\n{USAGE}")),
        None => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
