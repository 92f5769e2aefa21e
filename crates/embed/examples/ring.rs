//! A ring all-reduce that is driven from outside the simulator:
//! `cargo run --release -p tresse-embed --example ring`.
//!
//! Each rank sends a chunk to the next one as soon as it has received the chunk of the previous one, 2 (ranks
//! - 1) times.

use tresse_embed::experiment::Diagnostic;
use tresse_embed::units::NEVER;
use tresse_embed::{Event, Options, Simulation};

const RANKS: u32 = 16;
const BYTES: u64 = 1 << 20;

fn main() -> Result<(), Diagnostic> {
    let only = ["scheme=reps", "variant=all-fast"].map(str::to_owned).to_vec();
    let options = Options { only, persistent: true, ..Options::default() };
    let mut network = Simulation::open("today/uet-permutation", &options)?;

    // By message: its receiver. By rank: how many have arrived there.
    let mut receivers = Vec::new();
    let mut received = [0; RANKS as usize];
    let pass_on = |network: &mut Simulation, receivers: &mut Vec<u32>, from: u32| {
        let to = (from + 1) % RANKS;
        receivers.push(to);
        network.send(from, to, BYTES / u64::from(RANKS))
    };
    for rank in 0..RANKS {
        pass_on(&mut network, &mut receivers, rank)?;
    }
    while let Some(event) = network.next(NEVER)? {
        let Event::Arrived(record) = event else { continue };
        let rank = receivers[record.id as usize];
        received[rank as usize] += 1;
        if received[rank as usize] < 2 * (RANKS - 1) {
            pass_on(&mut network, &mut receivers, rank)?;
        }
    }
    println!("{} messages, {:.3} us", receivers.len(), network.now() as f64 / 1e6);
    Ok(())
}
