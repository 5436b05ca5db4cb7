//! Every bound of the model, named. Where one bites, the message names it.

/// The largest whole request packet of ZooKeeper (`jute.maxbuffer`) in bytes.
/// [spec zookeeper.md Z7]
pub const JUTE_MAX_BUFFER: usize = 0xf_ffff;
/// Brokers of a run.
pub const BROKERS: usize = 200;
/// The largest broker id.
pub const BROKER_ID: u32 = 65_535;
/// Partitions of one topic.
pub const PARTITIONS_PER_TOPIC: u32 = 10_000;
/// Partitions of a run.
pub const PARTITIONS: usize = 20_000;
/// Topics of a run.
pub const TOPICS: usize = 1_000;
/// The longest topic name, as Kafka has it.
pub const TOPIC_NAME: usize = 249;
/// Plain ZooKeeper clients of a run.
pub const CLIENTS: usize = 200;
/// Consumers of a run.
pub const CONSUMERS: usize = 1_000;
/// Streams of a consumer and topic.
pub const STREAMS: u32 = 1_000;
/// Producers of a run.
pub const PRODUCERS: usize = 200;
/// The longest key of a record, and the longest pattern of topics, in bytes.
pub const KEY: usize = 1_000;
/// How often a producer may be told to try again.
pub const RETRIES: u32 = 1_000;
/// Records that one command may send.
pub const BATCH: u32 = 100_000;
/// The longest name of a client.
pub const CLIENT_NAME: usize = 40;
/// The longest pause of a process in seconds.
pub const PAUSE_SECS: u64 = 3_600;
/// The longest simulated time that one command of a script may ask for, in seconds.
pub const WAIT_SECS: u64 = 86_400;
/// Bytes of a script, a file or a link.
pub const SCRIPT_BYTES: usize = 1 << 20;
/// Commands of a run.
pub const COMMANDS: usize = 100_000;
/// The longest line of the console in bytes.
pub const CONSOLE_LINE: usize = 65_536;
/// Events that one run may process.
pub const EVENTS: u64 = 20_000_000;
/// Bytes that the checkpoints of a run may take, by estimate.
pub const CHECKPOINT_BYTES: usize = 128 << 20;
/// Offsets of a log that are shown side by side.
pub const LOG_WINDOW: u32 = 64;
/// Partitions that are listed before the rest is counted.
pub const LOG_LIST: usize = 200;
/// Rows further back than this are not searched for what a log lost.
pub const LOST_ROWS: usize = 20_000;
/// Events that are done again at most to see a log as it was.
pub const PEEK_EVENTS: u64 = 50_000;
/// "Will I lose data?": replicas of which one or two are killed.
pub const LOSS_REPLICAS: usize = 6;
/// "Will I lose data?": records that are looked for afterwards, the newest ones.
pub const LOSS_RECORDS: u64 = 100_000;
/// "Will I lose data?": simulated seconds that a cluster gets to settle.
pub const LOSS_SECS: u64 = 120;
/// "Will I lose data?": events that one case may take.
pub const LOSS_EVENTS: u32 = 200_000;
