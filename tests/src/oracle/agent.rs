//! The Java process that runs real servers. It ends when its stdin does: at the end, on a panic,
//! and when the test is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::Trouble;
use super::tools::Tools;

pub struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    folder: PathBuf,
}

/// What the process gets to stop its server and to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// Tells apart the processes that one test program starts.
static NEXT: AtomicU32 = AtomicU32::new(0);

impl Agent {
    pub fn start(tools: &Tools) -> Result<Agent, Trouble> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = tools.work.join(format!("data-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let mut child = Command::new("java")
            .args(["-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            // Nothing is to be kept: no waiting for the disk, no files of 64 MB.
            .args(["-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=64"])
            .args(["-Dzookeeper.admin.enableServer=false", "-cp", &tools.class_path, "Oracle"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = stdout.ok_or_else(|| Trouble::Broken("java has no stdout".into()))?;
        Ok(Agent { child, stdin, stdout: BufReader::new(stdout), folder })
    }

    /// One command, and the line that answers it.
    pub fn ask(&mut self, command: &str) -> Result<String, Trouble> {
        let gone = || Trouble::Broken("the Java process has ended".into());
        let stdin = self.stdin.as_mut().ok_or_else(gone)?;
        stdin.write_all(format!("{command}\n").as_bytes())?;
        stdin.flush()?;
        self.line()
    }

    fn line(&mut self) -> Result<String, Trouble> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            return Err(Trouble::Broken("the Java process has ended".into()));
        }
        Ok(line.trim_end_matches('\n').into())
    }

    pub fn expect_ok(&mut self, command: &str) -> Result<(), Trouble> {
        match self.ask(command)? {
            answer if answer == "ok" => Ok(()),
            answer => Err(Trouble::Broken(format!("{command}: {answer}"))),
        }
    }

    /// The lines of a dump.
    pub fn dump(&mut self) -> Result<Vec<String>, Trouble> {
        let mut lines = Vec::new();
        let mut line = self.ask("dump")?;
        while line != "." {
            if line.starts_with("error") {
                return Err(Trouble::Broken(line));
            }
            lines.push(line);
            line = self.line()?;
        }
        Ok(lines)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stdin = None;
        let end = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > end {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
