//! A stand-alone server's process: the server, its timers, what its start and stop mean.

use kafkascope_core::base::{Instant, Span};
use kafkascope_core::zk::op::{ConnId, Release, SessionId, ToServer};
use kafkascope_core::zk::server::{Config, Server, ServerOut};

/// All clients come over loopback.
const LOOPBACK: [u8; 4] = [127, 0, 0, 1];
/// `znode.container.checkIntervalMs`. [spec zookeeper.md Z6]
const CONTAINERS_EVERY: Span = Span::from_secs(60);

/// A recording's `server`: null or missing is the default.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub tick_ms: u32,
    pub min_session_ms: Option<i32>,
    pub max_session_ms: Option<i32>,
}

#[derive(Clone)]
pub struct Host {
    server: Server,
    containers_at: Instant,
}

impl Host {
    pub fn new(release: Release, settings: Settings, now: Instant) -> Host {
        let mut server = Server::new(Config {
            release,
            tick_ms: settings.tick_ms,
            min_session_timeout_ms: settings.min_session_ms,
            max_session_timeout_ms: settings.max_session_ms,
            ..Config::default()
        });
        server.restart(now);
        Host { server, containers_at: now + CONTAINERS_EVERY }
    }

    /// Started again with its data. [spec zookeeper.md Q10: sessions get their full time]
    pub fn start_again(&mut self, now: Instant) {
        self.server.restart(now);
        self.containers_at = now + CONTAINERS_EVERY;
    }

    pub fn receive(
        &mut self,
        now: Instant,
        conn: ConnId,
        frame: ToServer,
        out: &mut Vec<ServerOut>,
    ) {
        self.server.receive(now, conn, LOOPBACK, frame, out);
    }

    pub fn hung_up(&mut self, conn: ConnId) {
        self.server.connection_closed(conn);
    }

    pub fn next_deadline(&self) -> Instant {
        self.server.next_expiry().min(self.containers_at)
    }

    pub fn due(&mut self, now: Instant, out: &mut Vec<ServerOut>) {
        self.server.expire(now, out);
        if now >= self.containers_at {
            self.containers_at = now + CONTAINERS_EVERY;
            self.server.check_containers(now, out);
        }
    }

    pub fn halted(&self) -> bool {
        self.server.halted()
    }

    pub fn tick_ms(&self) -> u32 {
        self.server.config().tick_ms
    }

    /// When the session ends unless it is heard from.
    pub fn deadline(&self, session: SessionId) -> Option<Instant> {
        self.server.session(session).map(|s| s.deadline)
    }

    /// Puts a data version into a node, as the recorder did inside the real server.
    pub fn put_version(&mut self, path: &str, version: i32) {
        self.server.put_version(path, version);
    }
}
