//! A link of DCTCP's or XMP's flows is a processor that is shared equally: messages that arrive at random take as long as
//! they would if each of n that are there had 1/n of the rate. In the mean that is 1/(1 - load) times as long as alone,
//! whatever the distribution of sizes (Kleinrock 1967).
//!
//! The same arrivals are computed both ways, so that chance moves both alike.

use tresse_units::{MICROSECOND, SECOND, Stream, Time, seconds};

use crate::common::{Acking, Bottleneck, GIGABIT, MSS, Net, flow, mean, run_until, scheme};

/// A message: when it arrives, s, and how many segments it has.
type Message = (f64, u64);

/// Segments of a message in the mean: 25 ms at 1 Gbit/s, a hundred round trips, so that slow start matters little.
const MEAN: f64 = 2000.0;

/// Messages at a load of the link, all of the same size, or of a Pareto distribution with shape 2.2.
fn messages(count: usize, load: f64, pareto: bool, packet: f64) -> Vec<Message> {
    let mut random = Stream::new(7, "processor sharing", u64::from(pareto));
    let mut now = 0.0;
    let size = |random: &mut Stream| match pareto {
        true => MEAN * (1.2 / 2.2) * random.unit().powf(-1.0 / 2.2),
        false => MEAN,
    };
    let message = |_| {
        now += random.exponential(MEAN * packet / load);
        (now, size(&mut random) as u64)
    };
    (0..count).map(message).collect()
}

/// How long each takes where all that are there have the same rate, s: `packet` is a segment's time alone.
fn shared(messages: &[Message], packet: f64) -> Vec<f64> {
    let mut times = vec![0.0; messages.len()];
    // What is there: its number, and the work that is left.
    let mut there: Vec<(usize, f64)> = Vec::new();
    let (mut now, mut next) = (0.0, 0);
    while next < messages.len() || !there.is_empty() {
        let arrives = messages.get(next).map_or(f64::INFINITY, |&(at, _)| at);
        let least = there.iter().map(|&(_, left)| left).fold(f64::INFINITY, f64::min);
        let ends = if there.is_empty() { f64::INFINITY } else { now + least * there.len() as f64 };
        let until = arrives.min(ends);
        let share = if there.is_empty() { 0.0 } else { (until - now) / there.len() as f64 };
        there.iter_mut().for_each(|(_, left)| *left -= share);
        now = until;
        if arrives <= ends {
            there.push((next, messages[next].1 as f64 * packet));
            next += 1;
        } else {
            let (done, _) = there.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).expect("one is there");
            times[done] = now - messages[done].0;
            there.retain(|&(i, _)| i != done);
        }
    }
    times
}

/// The mean of what messages took over what they take alone.
fn slowdown(messages: &[Message], times: &[f64], packet: f64) -> f64 {
    let each = messages.iter().zip(times).map(|(&(_, segments), time)| time / (segments as f64 * packet));
    mean(&each.collect::<Vec<_>>())
}

#[test]
fn equal_shares_take_as_long_as_queueing_theory_says() {
    for pareto in [false, true] {
        for load in [0.3, 0.7] {
            let messages = messages(100_000, load, pareto, 1.0);
            let mean = slowdown(&messages, &shared(&messages, 1.0), 1.0);
            assert!((mean * (1.0 - load) - 1.0).abs() < 0.03, "load {load}, Pareto: {pareto}: {mean}");
        }
    }
}

#[test]
fn dctcp_and_xmp_share_a_link_as_a_processor() {
    let link = Bottleneck::marking(GIGABIT, 20);
    let packet = seconds(link.packet_time());
    for name in ["dctcp", "xmp"] {
        for (load, pareto) in [(0.3, false), (0.7, false), (0.5, true), (0.7, true)] {
            let messages = messages(300, load, pareto, packet);
            let senders = 40;
            let net = Net::new(225 * MICROSECOND, &[link], senders);
            let mut world = net.world();
            let controller = scheme(name, &[]);
            let mut times = vec![0.0; messages.len()];
            let mut ended = |records: Vec<tresse_sim::FlowRecord>| {
                for record in records {
                    times[record.id as usize] = seconds(record.end - record.start);
                }
            };
            for (id, &(at, segments)) in (0..).zip(&messages) {
                ended(run_until(&mut world, (at * SECOND as f64) as Time));
                let path = net.path(id as u32 % senders, 0);
                let bytes = segments * u64::from(MSS);
                world.start(flow(id, &controller, Acking::Each, bytes, vec![path]));
            }
            let end = world.now() + 100 * SECOND;
            ended(run_until(&mut world, end));
            assert!(times.iter().all(|time| *time > 0.0), "{name}: all messages arrive");
            let [ours, theory] = [&times, &shared(&messages, packet)].map(|t| slowdown(&messages, t, packet));
            println!(
                "{name}, load {load}, Pareto: {pareto}: slowdown {ours:.3}, {theory:.3} if shares are equal"
            );
            assert!(
                (ours / theory - 1.0).abs() < 0.07,
                "{name}, load {load}, Pareto: {pareto}: {ours} and {theory}"
            );
        }
    }
}
