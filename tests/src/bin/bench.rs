//! Measures what the page needs: the price of an event, of going anywhere in a long run, of the
//! views. Processor time, which a busy machine doesn't stretch. Nothing here passes or fails.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ProcessTime as Clock;
use kafkascope_core::base::{Instant, Span};
use kafkascope_core::lab::{Lab, Progress};
use kafkascope_core::world::{Event, ZkEvent};
use kafkascope_core::{script, view};

const BIG: &str = include_str!("../../big.scn");

fn lab() -> Lab {
    let script = script::parse(BIG).expect("the script is well-formed");
    Lab::new(script::run_of(&script))
}

fn per(total: Duration, count: u64) -> String {
    let nanos = total.as_nanos() / u128::from(count.max(1));
    format!("{}.{:03} us", nanos / 1_000, nanos % 1_000)
}

/// Plays until `events` are done.
fn play(lab: &mut Lab, events: u64) {
    while lab.world().event_no < events {
        let until = lab.now() + Span::from_secs(60);
        if lab.advance(until, 100_000) == Progress::Limit {
            break;
        }
    }
}

fn main() {
    // The last part alone.
    if std::env::args().nth(1).as_deref() == Some("herd") {
        return herd();
    }
    let mut lab = lab();
    let clock = Clock::now();
    let _ = lab.advance(Instant(20_000_000), u32::MAX);
    let events = lab.world().event_no;
    println!("start-up, 50 brokers, 1,000 partitions: {events} events, {} rows", lab.rows().len());
    println!("event, start-up: {}", per(clock.elapsed(), events));

    let million = 1_000_000;
    let clock = Clock::now();
    let before = lab.world().event_no;
    play(&mut lab, million);
    let after = lab.world().event_no;
    println!("event, running: {}", per(clock.elapsed(), after - before));
    println!("a million events: {} s simulated, {} rows", lab.now(), lab.rows().len());

    let mut worst = Duration::ZERO;
    let mut total = Duration::ZERO;
    let seeks = 60;
    for n in 0..seeks {
        // A fixed walk over the whole run that is never near where it was.
        let event = (n * 617_327 + 12_345) % million;
        let clock = Clock::now();
        lab.seek_event(event);
        let took = clock.elapsed();
        worst = worst.max(took);
        total += took;
    }
    println!("seek in a million events: mean {}, worst {}", per(total, seeks), per(worst, 1));

    let clock = Clock::now();
    let rounds = 50;
    let mut memory = view::Memory::default();
    for _ in 0..rounds {
        black_box(view::stage_with(&lab, &mut memory));
    }
    println!("view of the stage: {}", per(clock.elapsed(), rounds));
    let clock = Clock::now();
    for _ in 0..rounds {
        black_box(view::flights(&lab));
    }
    println!("view of the flights: {}", per(clock.elapsed(), rounds));
    let clock = Clock::now();
    black_box(view::timeline(&lab, lab.explored(), 700));
    println!("view of the timeline: {}", per(clock.elapsed(), 1));
    println!("digest: {:016x}", lab.digest());
    drop(lab);
    for partitions in [10, 100, 1_000, 10_000] {
        real(partitions);
    }
    herd();
}

/// 100 members of a group of 0.8 with 1,000 partitions; one more joins, and all share anew: what
/// ten simulated seconds of that cost.
fn herd() {
    let mut text = String::from("kafkascope 1\nprofile 0.8 seed 7\nat 0s start broker 1..3\n");
    text += "at 5s create topic t partitions 1000 replication 1\n";
    text += "at 20s start consumer c1..99 group g topic t\n";
    let script = script::parse(&text).expect("the script is well-formed");
    let mut lab = Lab::new(script::run_of(&script));
    let clock = Clock::now();
    let _ = lab.advance(Instant(60_000_000), u32::MAX);
    println!("0.8, 99 members, 1,000 partitions: 60 s simulated in {}", per(clock.elapsed(), 1));

    let joins = script::parse_command("start consumer c100 group g topic t").expect("a command");
    let (rows, events) = (lab.rows().len(), lab.world().event_no);
    let clock = Clock::now();
    let _ = lab.submit(joins);
    let until = lab.now() + Span::from_secs(10);
    let _ = lab.advance(until, u32::MAX);
    let took = clock.elapsed();
    let fresh = &lab.rows()[rows..];
    let fired = |event: &Event| match event {
        Event::Zk(ZkEvent::WatchesFired { whom, .. }) => whom.len(),
        _ => 0,
    };
    let watch_events: usize = fresh.iter().map(|row| fired(&row.event)).sum();
    let told = fresh.iter().filter(|row| matches!(row.event, Event::Told { .. })).count();
    let reads = fresh.iter().filter(|row| is_read(&row.event)).count();
    let writes = fresh.iter().filter(|row| is_write(&row.event)).count();
    let events = lab.world().event_no - events;
    println!("  one more joins: 10 s simulated in {}, {events} events", per(took, 1));
    println!("  {reads} reads and {writes} writes of ZooKeeper, refused ones too");
    println!("  {watch_events} watch events sent, {told} arrived, {} rows", fresh.len());
    let breaches = lab.rows().iter().filter(|row| matches!(row.event, Event::Breach(_))).count();
    println!("  {breaches} breaches");
}

fn is_read(event: &Event) -> bool {
    matches!(event, Event::Zk(ZkEvent::Read { .. } | ZkEvent::ReadFailed { .. }))
}

fn is_write(event: &Event) -> bool {
    matches!(
        event,
        Event::Zk(
            ZkEvent::Created { .. }
                | ZkEvent::DataSet { .. }
                | ZkEvent::Deleted { .. }
                | ZkEvent::Failed { .. }
        )
    )
}

/// 50 brokers of 2.8.2 with so many partitions of three replicas: what an event costs while nothing
/// happens but the look at who leads every 300 s, and what the crash of a broker costs until all
/// is quiet again.
fn real(partitions: u32) {
    let topics = partitions.div_ceil(1_000);
    let each = partitions / topics;
    let mut text = String::from("kafkascope 1\nprofile 2.x release 2.8.2 seed 7\n");
    text += "at 0s start broker 1\nat 1s start broker 2..50\n";
    for n in 0..topics {
        let at = 5 + n;
        text += &format!("at {at}s create topic t{n} partitions {each} replication 3\n");
    }
    let script = script::parse(&text).expect("the script is well-formed");
    let mut lab = Lab::new(script::run_of(&script));
    let clock = Clock::now();
    let _ = lab.advance(Instant(60_000_000), u32::MAX);
    let made = clock.elapsed();

    let mut world = lab.world().clone();
    let (commands, mut rows) = (lab.run().commands.clone(), Vec::new());
    let clock = Clock::now();
    while world.next_at(&commands).is_some_and(|at| at <= Instant(360_000_000)) {
        rows.clear();
        world.step(&commands, &mut rows);
    }
    let alone = per(clock.elapsed(), world.event_no - lab.world().event_no);
    let before = lab.world().event_no;
    let clock = Clock::now();
    let _ = lab.advance(Instant(360_000_000), u32::MAX);
    let idle = per(clock.elapsed(), lab.world().event_no - before);

    let kill = script::parse_command("kill -9 broker 7").expect("a command");
    let rows = lab.rows().len();
    let before = lab.world().event_no;
    let clock = Clock::now();
    let _ = lab.submit(kill);
    let until = lab.now() + Span::from_secs(30);
    let _ = lab.advance(until, u32::MAX);
    let crash = per(clock.elapsed(), 1);
    let (events, rows) = (lab.world().event_no - before, lab.rows().len() - rows);
    println!("2.8.2, 50 brokers, {partitions} partitions x 3: made in {}", per(made, 1));
    println!("  idle event: {idle}, without checks and checkpoints {alone}");
    println!("  crash of a broker until quiet: {crash}, {events} events, {rows} rows");
}
