//! The application's side of the Java client: Watcher objects by name over the library's tables.

use kafkascope_core::zk::op::{Error, EventType, Op, Release};
use kafkascope_core::zk::watcher::{Local, WatchTables, WatcherId, answers_locally};
use serde_json::{Value, json};

use super::zk_shape;

pub struct JavaClient {
    release: Release,
    name: String,
    pub tables: WatchTables,
    /// Names of the Watcher objects, by their id less one: 0 is the default watcher.
    watchers: Vec<String>,
}

impl JavaClient {
    pub fn new(name: &str, release: Release) -> JavaClient {
        let tables = WatchTables::new(release);
        JavaClient { release, name: name.into(), tables, watchers: Vec::new() }
    }

    /// The same name is the same object.
    pub fn watcher(&mut self, name: &str) -> WatcherId {
        let known = self.watchers.iter().position(|watcher| watcher == name);
        let at = known.unwrap_or_else(|| {
            self.watchers.push(name.into());
            self.watchers.len() - 1
        });
        WatcherId(u32::try_from(at).unwrap_or_default() + 1)
    }

    fn told(&self, watchers: Vec<WatcherId>, kind: EventType, path: &str, out: &mut Vec<Value>) {
        for watcher in watchers {
            let name = self.watchers.get(watcher.0 as usize - 1).map(String::as_str);
            out.push(zk_shape::event(&self.name, name, kind, path));
        }
    }

    /// An event has arrived.
    pub fn event(&mut self, kind: EventType, path: &str, out: &mut Vec<Value>) {
        let watchers = self.tables.materialize(kind, path);
        self.told(watchers, kind, path, out);
    }

    /// What the library answers by itself, as the recorder writes it down.
    pub fn refuses(&self, op: &Op) -> Option<Value> {
        Some(match answers_locally(op, self.release)? {
            Local::IllegalArgument => json!({"error": "client:IllegalArgumentException"}),
            Local::Failed(error) => zk_shape::error(error),
            Local::Done(reply) => zk_shape::result(op, &Ok(reply), &zk_shape::Owners::new()),
        })
    }

    /// The answer to a request has arrived; a removal may turn it into a refusal.
    pub fn answered(
        &mut self,
        op: &Op,
        watcher: Option<WatcherId>,
        answer: Result<(), Error>,
        out: &mut Vec<Value>,
    ) -> Result<(), Error> {
        match op {
            Op::CheckWatches { path, kind } | Op::RemoveWatches { path, kind } => {
                for (event, watchers) in self.tables.remove(path, watcher, *kind, answer)? {
                    self.told(watchers, event, path, out);
                }
                Ok(())
            }
            _ => {
                if let Some(watcher) = watcher {
                    self.tables.register(op, watcher, answer);
                }
                answer
            }
        }
    }
}
