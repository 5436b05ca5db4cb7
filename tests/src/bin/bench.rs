//! Measures what the page needs: the price of an event, of going anywhere in a long run, of the
//! views. Processor time, which a busy machine doesn't stretch. Nothing here passes or fails.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ProcessTime as Clock;
use kafkascope_core::base::{Instant, Span};
use kafkascope_core::lab::{Lab, Progress};
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
