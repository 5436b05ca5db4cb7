//! Processes: what runs, where it stands, and its line to ZooKeeper.

use std::sync::Arc;

use super::command::Who;
use super::item::Item;
use crate::base::{Digest, Instant};
use crate::kafka::TopicPartition;
use crate::kafka::admin::Admin;
use crate::kafka::broker::{Broker, Phase};
use crate::kafka::consumer_zk::Connector;
use crate::kafka::consumer_zk::spec::ConsumerSpec;
use crate::kafka::log::manager::{Role, Roles};
use crate::kafka::log::store::{Log, Store};
use crate::kafka::producer::{Producer, ProducerSpec};
use crate::kafka::real;
use crate::sim::RowId;
use crate::zk::client::Client;
use crate::zk::op::ConnId;
use crate::zk::shell::Shell;

/// The server's place in the table of processes.
pub const ZOOKEEPER: u16 = 0;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    ZooKeeper,
    Broker(u32),
    /// Another machine with a broker's id.
    Impostor(u32, Arc<str>),
    Client(Arc<str>),
    /// An administrator's tool.
    Admin,
    Consumer(Arc<str>),
    Producer(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Started, not yet running.
    Booting,
    Up,
    Paused {
        until: Instant,
        /// It had not begun to run.
        booting: bool,
    },
    Down,
}

/// What runs. Shared between checkpoints until it changes.
#[derive(Clone)]
pub enum Node {
    Nothing,
    Broker(Arc<Broker>),
    Shell(Arc<Shell>),
    Admin(Arc<Admin>),
    /// A broker of a real release.
    Real(Arc<real::Broker>),
    /// A tool of a real release.
    Tool(Arc<real::Tool>),
    Consumer(Arc<Connector>),
    Producer(Arc<Producer>),
}

#[derive(Clone)]
pub struct Proc {
    pub kind: Kind,
    pub state: State,
    /// Counts the starts: what was meant for a former life is not for this one.
    pub life: u32,
    pub node: Node,
    pub conn: Option<ConnId>,
    /// When the next timer event of its ZooKeeper client is in the queue.
    pub timer_at: Instant,
    /// What arrived while it stood still.
    pub backlog: Vec<Item>,
    /// The row that last kept it from speaking to the server: a kill, a pause, a cut.
    pub fault: RowId,
    /// What was last started with, for a restart.
    pub rack: Option<Arc<str>>,
    /// What a consumer or a producer was last started with, for a restart.
    pub consumer: Option<Arc<ConsumerSpec>>,
    /// The id that a consumer last had in its group.
    pub client_id: Option<Arc<str>>,
    pub producer: Option<Arc<ProducerSpec>>,
    /// A broker's logs while it doesn't run.
    pub disk: Arc<Store>,
}

impl Proc {
    pub fn new(kind: Kind) -> Proc {
        Proc {
            kind,
            state: State::Down,
            life: 0,
            node: Node::Nothing,
            conn: None,
            timer_at: Instant::NEVER,
            backlog: Vec::new(),
            fault: RowId::NONE,
            rack: None,
            consumer: None,
            client_id: None,
            producer: None,
            disk: Arc::default(),
        }
    }

    pub fn who(&self) -> Option<Who> {
        match &self.kind {
            Kind::ZooKeeper => Some(Who::ZooKeeper),
            Kind::Broker(id) => Some(Who::Broker(*id)),
            Kind::Client(name) => Some(Who::Client(name.clone())),
            Kind::Impostor(id, host) => Some(Who::Machine(*id, host.clone())),
            Kind::Admin => None,
            Kind::Consumer(name) => Some(Who::Consumer(name.clone())),
            Kind::Producer(name) => Some(Who::Producer(name.clone())),
        }
    }

    pub fn is_running(&self) -> bool {
        self.state != State::Down
    }

    pub fn client(&self) -> Option<&Client> {
        match &self.node {
            Node::Nothing => None,
            Node::Broker(broker) => Some(broker.zk.client()),
            Node::Shell(shell) => Some(shell.client()),
            Node::Admin(admin) => Some(admin.zk.client()),
            Node::Real(broker) => Some(broker.zk.client()),
            Node::Tool(tool) => tool.zk.as_ref().map(|zk| zk.client()),
            Node::Consumer(consumer) => Some(consumer.zk.client()),
            Node::Producer(producer) => producer.client(),
        }
    }

    /// The id that a broker or another machine claims.
    pub fn broker_id(&self) -> Option<u32> {
        match self.kind {
            Kind::Broker(id) | Kind::Impostor(id, _) => Some(id),
            _ => None,
        }
    }

    /// Where a broker is in its life.
    pub fn phase(&self) -> Option<Phase> {
        match &self.node {
            Node::Broker(broker) => Some(broker.phase),
            Node::Real(broker) => Some(broker.phase),
            _ => None,
        }
    }

    /// The epoch of a broker that acts as controller.
    pub fn controller_epoch(&self) -> Option<i32> {
        match &self.node {
            Node::Broker(broker) => broker.controller.as_ref().map(|acting| acting.epoch),
            Node::Real(broker) => {
                Some(&broker.controller).filter(|acting| acting.active).map(|acting| acting.epoch)
            }
            _ => None,
        }
    }

    /// Who a broker believes is the controller.
    pub fn known_controller(&self) -> Option<u32> {
        match &self.node {
            Node::Broker(broker) => broker.known_controller,
            Node::Real(broker) => broker.controller.known,
            _ => None,
        }
    }

    /// What a broker believes about a replica of its own: its leader, its epoch, and whether it
    /// has caught up.
    pub fn replica(&self, tp: &TopicPartition) -> Option<(Option<u32>, i32, bool)> {
        match &self.node {
            Node::Broker(broker) => {
                let replica = broker.replicas.get(tp)?;
                Some((replica.leader, replica.leader_epoch, replica.caught_up))
            }
            Node::Real(broker) => {
                let replica = broker.replicas.map.get(tp)?;
                let state = &replica.state;
                Some((state.leader, state.leader_epoch, replica.caught_up))
            }
            _ => None,
        }
    }

    /// The same, with who else is in sync.
    pub fn role(&self, tp: &TopicPartition) -> Option<Role<'_>> {
        match &self.node {
            Node::Broker(broker) => broker.replicas.role(tp),
            Node::Real(broker) => broker.replicas.role(tp),
            _ => None,
        }
    }

    /// A tool of a real release that has its answer, even if it still holds a session.
    pub fn tool_is_done(&self) -> bool {
        matches!(&self.node, Node::Tool(tool) if tool.is_done())
    }

    pub fn real_broker(&self) -> Option<&real::Broker> {
        match &self.node {
            Node::Real(broker) => Some(broker),
            _ => None,
        }
    }

    /// A broker's log of a partition, running or not.
    pub fn log(&self, tp: &TopicPartition) -> Option<&Log> {
        self.store().get(tp)
    }

    /// A broker's logs, running or not.
    pub fn store(&self) -> &Store {
        match &self.node {
            Node::Broker(broker) => &broker.logs.store,
            Node::Real(broker) => &broker.logs.store,
            _ => &self.disk,
        }
    }

    /// The process ends, however: its logs stay.
    pub fn end(&mut self) {
        match &self.node {
            Node::Broker(broker) => self.disk = broker.logs.store.clone(),
            Node::Real(broker) => self.disk = broker.logs.store.clone(),
            _ => {}
        }
        self.state = State::Down;
        self.node = Node::Nothing;
        self.backlog.clear();
        self.timer_at = Instant::NEVER;
    }

    pub fn consumer(&self) -> Option<&Connector> {
        match &self.node {
            Node::Consumer(consumer) => Some(consumer),
            _ => None,
        }
    }

    pub fn producer(&self) -> Option<&Producer> {
        match &self.node {
            Node::Producer(producer) => Some(producer),
            _ => None,
        }
    }

    pub fn broker(&self) -> Option<&Broker> {
        match &self.node {
            Node::Broker(broker) => Some(broker),
            _ => None,
        }
    }

    pub fn shell(&self) -> Option<&Shell> {
        match &self.node {
            Node::Shell(shell) => Some(shell),
            _ => None,
        }
    }

    pub fn next_deadline(&self) -> Instant {
        match &self.node {
            Node::Nothing => Instant::NEVER,
            Node::Broker(broker) => broker.zk.next_deadline(),
            Node::Shell(shell) => shell.next_deadline(),
            Node::Admin(admin) => admin.zk.next_deadline(),
            Node::Real(broker) => broker.zk.next_deadline(),
            Node::Tool(tool) => tool.zk.as_ref().map_or(Instant::NEVER, |zk| zk.next_deadline()),
            Node::Consumer(consumer) => consumer.zk.next_deadline(),
            Node::Producer(producer) => {
                producer.zk.as_ref().map_or(Instant::NEVER, |zk| zk.next_deadline())
            }
        }
    }

    pub fn digest(&self, digest: &mut Digest) {
        digest.u64(u64::from(self.life));
        digest.u64(match self.state {
            State::Booting => 1,
            State::Up => 2,
            State::Paused { until, booting } => until.0 << 3 | if booting { 5 } else { 3 },
            State::Down => 4,
        });
        match &self.node {
            Node::Nothing => {
                digest.u64(0);
                self.disk.digest(digest);
            }
            Node::Broker(broker) => broker.digest(digest),
            Node::Shell(shell) => shell.digest(digest),
            Node::Admin(admin) => admin.zk.client().digest(digest),
            Node::Real(broker) => broker.digest(digest),
            Node::Tool(tool) => {
                if let Some(zk) = &tool.zk {
                    zk.client().digest(digest);
                }
            }
            Node::Consumer(consumer) => consumer.digest(digest),
            Node::Producer(producer) => producer.digest(digest),
        }
    }
}
