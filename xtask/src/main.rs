//! `cargo xtask …`: set-up, serve, test, bench, vectors, recordings. Standard library only, so that
//! it is built within seconds on a bare machine.

mod args;
mod bench;
mod native;
mod run;
mod serve;
mod setup;
mod tally;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  setup                           install what is missing, to build, serve and test the page
  serve [--no-setup] [--release] [--port N] [--no-open]
                                  set up, build and serve the page, open it in the browser
  test  [--no-setup] [--no-browser] [--no-wasm] [--fast]
                                  format, lints, all tests; ends with a count of each kind
  bench [ARG…]                    native measurements, then the sizes of the page
  vectors [DIR]                   every vector file of DIR (default tests/vectors)
  recordings [DIR] [NAME…] [--diff NAME]
                                  every recording of DIR (default tests/recordings)
  help                            this text

  --no-browser   leave out the flows through a whole browser
  --no-wasm      leave out all that needs the wasm target (the browser flows too)
  --fast         the page unoptimised; tests see KAFKASCOPE_FAST=1 and may do less";

fn main() -> ExitCode {
    let mut given = std::env::args().skip(1);
    let command = given.next().unwrap_or_default();
    let rest: Vec<String> = given.collect();
    let done = match command.as_str() {
        "setup" => setup_command(&rest),
        "serve" => serve::serve(&rest),
        "test" => test::test(&rest),
        "bench" => bench::bench(&rest),
        "vectors" | "recordings" => native::pass_through(&command, &rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(0)
        }
        "" => Err(format!("a command is missing\n\n{USAGE}")),
        other => Err(format!("there is no command `{other}`\n\n{USAGE}")),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::from(2)
        }
    }
}

fn setup_command(rest: &[String]) -> Result<u8, String> {
    args::parse("setup", rest, &[], &[])?;
    let problems = setup::setup(setup::Scope::Everything);
    Ok(u8::from(!problems.is_empty()))
}
