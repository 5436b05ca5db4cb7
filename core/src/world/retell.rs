//! The same command in the words of another profile.

use std::sync::Arc;

use super::{Command, Profile};
use crate::kafka::real::task::{Layout, Task};

impl Command {
    /// `None`: it is the same there, or the profile lacks it.
    pub fn retold(&self, profile: Profile) -> Option<Command> {
        match profile {
            Profile::Textbook => to_textbook(self),
            Profile::V08 | Profile::V2 => to_release(self),
        }
    }
}

fn to_release(command: &Command) -> Option<Command> {
    let task = match command {
        Command::CreateTopic { topic, partitions, replication } => Task::Create {
            topic: topic.clone(),
            layout: Layout::Counts { partitions: *partitions, replication: *replication },
            configs: Vec::new(),
        },
        Command::DeleteTopic { topic } => Task::Delete { topic: topic.clone() },
        _ => return None,
    };
    Some(Command::Admin(Arc::new(task)))
}

fn to_textbook(command: &Command) -> Option<Command> {
    let Command::Admin(task) = command else { return None };
    match &**task {
        Task::Create { topic, layout: Layout::Counts { partitions, replication }, configs }
            if configs.is_empty() =>
        {
            let (partitions, replication) = (*partitions, *replication);
            Some(Command::CreateTopic { topic: topic.clone(), partitions, replication })
        }
        Task::Delete { topic } => Some(Command::DeleteTopic { topic: topic.clone() }),
        // Said the same everywhere, but the textbook places them itself.
        Task::AddPartitions { topic, total, assignment: Some(_) } => {
            let (topic, total) = (topic.clone(), *total);
            Some(Command::Admin(Task::AddPartitions { topic, total, assignment: None }.into()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::release::Release;
    use crate::world::Config;

    #[test]
    fn a_topic_goes_there_and_back() {
        let create = Command::CreateTopic { topic: "t".into(), partitions: 3, replication: 2 };
        let told = create.retold(Profile::V2).unwrap();
        assert!(matches!(told, Command::Admin(_)));
        assert_eq!(told.retold(Profile::V08), None);
        assert_eq!(told.retold(Profile::Textbook), Some(create));
    }

    #[test]
    fn more_partitions_are_asked_for_in_the_same_words() {
        let task = Task::AddPartitions { topic: "t".into(), total: 5, assignment: None };
        let add = Command::Admin(Arc::new(task));
        assert_eq!(Profile::ALL.map(|profile| add.retold(profile)), [None, None, None]);
        let assignment = Some(vec![vec![1, 2]]);
        let task = Task::AddPartitions { topic: "t".into(), total: 5, assignment };
        let placed = Command::Admin(Arc::new(task));
        assert_eq!(placed.retold(Profile::V08), None);
        assert_eq!(placed.retold(Profile::Textbook), Some(add));
    }

    #[test]
    fn what_a_person_set_goes_along_and_defaults_do_not() {
        let mut own = Config::of(Profile::Textbook);
        own.tick_ms = 1_234;
        let mut other = Config::release(Release::V2_8_2);
        other.keep_changes_of(&own);
        assert_eq!((other.tick_ms, other.session_timeout_ms), (1_234, 18_000));
    }
}
