//! The rules that the fluid models average, packet by packet: subflows that send a packet every T/w, over
//! ports that lose or mark each one independently. No queue, no delay of the signal, no slow start.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A walk of one connection.
pub struct Walk<'a> {
    /// The controller.
    pub name: &'a str,
    /// By subflow, the probability that a packet is lost or marked.
    pub probabilities: [f64; 2],
    /// By subflow, seconds.
    pub rtts: [f64; 2],
    /// By subflow, the window at the start.
    pub windows: [f64; 2],
    /// Packets of all subflows together; the first half is not measured.
    pub packets: u64,
    /// For the random numbers.
    pub seed: u64,
    /// Every change of a window is multiplied by this. The fluid model stays the same, because growth and
    /// cuts shrink equally; but windows spread less about their mean.
    pub step: f64,
    /// Whether a loss is answered once a round, as in a transport's recovery: no cut and no growth until a
    /// window of packets has been sent.
    pub recovery: bool,
    /// Whether OLIA knows the probabilities, instead of only the last two intervals between losses.
    pub informed: bool,
}

#[derive(Clone, Debug)]
struct Subflow {
    window: f64,
    rtt: f64,
    probability: f64,
    /// When the next packet is sent.
    next: f64,
    sent: u64,
    /// Packets since the last signal, and between the last two.
    since: f64,
    between: f64,
    /// The remaining packets of a round that has been answered.
    silent: f64,
    /// Marks and packets of this round, and DCTCP's alpha.
    marks: f64,
    seen: f64,
    alpha: f64,
}

impl Subflow {
    fn rate(&self) -> f64 {
        self.window / self.rtt
    }

    fn quality(&self, informed: bool) -> f64 {
        let interval = if informed { 1.0 / self.probability } else { self.since.max(self.between) };
        interval / (self.rtt * self.rtt)
    }
}

impl Walk<'_> {
    /// Mean packets per second of each subflow.
    pub fn rates(&self) -> [f64; 2] {
        let start = |i: usize| Subflow {
            window: self.windows[i],
            rtt: self.rtts[i],
            probability: self.probabilities[i],
            next: 0.0,
            sent: 0,
            since: 0.0,
            between: 0.0,
            silent: 0.0,
            marks: 0.0,
            seen: 0.0,
            alpha: 1.0,
        };
        let mut flows = [start(0), start(1)];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let (mut now, mut half) = (0.0, 0.0);
        for packet in 0..self.packets {
            if packet == self.packets / 2 {
                half = now;
                flows.iter_mut().for_each(|f| f.sent = 0);
            }
            let r = usize::from(flows[1].next < flows[0].next);
            now = flows[r].next;
            flows[r].sent += 1;
            let signalled = ((random.next_u64() >> 11) as f64) < flows[r].probability * (1u64 << 53) as f64;
            match self.name {
                "xmp" | "dctcp" => mark(self.name, &mut flows, r, signalled),
                _ => self.lose(&mut flows, r, signalled),
            }
            flows[r].next = now + flows[r].rtt / flows[r].window;
        }
        flows.map(|f| f.sent as f64 / (now - half))
    }

    fn lose(&self, flows: &mut [Subflow; 2], r: usize, lost: bool) {
        let top = flows.iter().map(Subflow::rate).fold(0.0, f64::max);
        let (w, a) = (flows[r].window, top / flows[r].rate());
        flows[r].since += 1.0;
        if lost {
            flows[r].between = flows[r].since;
            flows[r].since = 0.0;
        }
        if flows[r].silent > 0.0 {
            flows[r].silent -= 1.0;
            return;
        }
        let change = if lost {
            if self.recovery {
                flows[r].silent = w;
            }
            let cut = if self.name == "balia" { a.min(1.5) } else { 1.0 };
            -w / 2.0 * cut
        } else {
            self.increase(flows, r, a)
        };
        flows[r].window = (w + self.step * change).max(1.0);
    }

    /// Packets that an ACK adds; `a` is the fastest subflow's rate over that of `r`.
    fn increase(&self, flows: &[Subflow; 2], r: usize, a: f64) -> f64 {
        let total: f64 = flows.iter().map(Subflow::rate).sum();
        let (w, rtt) = (flows[r].window, flows[r].rtt);
        let own = w / (rtt * rtt) / (total * total);
        match self.name {
            "lia" => {
                let best = flows.iter().map(|f| f.window / (f.rtt * f.rtt)).fold(0.0, f64::max);
                (best / (total * total)).min(1.0 / w)
            }
            "balia" => own * (1.0 + a) / 2.0 * (4.0 + a) / 5.0,
            "semicoupled" => 1.0 / (rtt * total),
            "olia" => own + olia_alpha(flows, r, self.informed) / w,
            _ => 1.0 / w,
        }
    }
}

fn olia_alpha(flows: &[Subflow], r: usize, informed: bool) -> f64 {
    let n = flows.len() as f64;
    let best = flows.iter().map(|f| f.quality(informed)).fold(0.0, f64::max);
    let widest = flows.iter().map(|f| f.window).fold(0.0, f64::max);
    let is_outdone = |f: &Subflow| f.quality(informed) == best && f.window < widest;
    let outdone = flows.iter().filter(|f| is_outdone(f)).count() as f64;
    let wide = flows.iter().filter(|f| f.window == widest).count() as f64;
    match () {
        () if outdone == 0.0 => 0.0,
        () if is_outdone(&flows[r]) => 1.0 / (n * outdone),
        () if flows[r].window == widest => -1.0 / (n * wide),
        () => 0.0,
    }
}

fn mark(name: &str, flows: &mut [Subflow], r: usize, marked: bool) {
    let total: f64 = flows.iter().map(Subflow::rate).sum();
    let shortest = flows.iter().map(|f| f.rtt).fold(f64::INFINITY, f64::min);
    let f = &mut flows[r];
    f.seen += 1.0;
    f.marks += f64::from(u8::from(marked));
    if f.seen >= f.window {
        f.alpha += (f.marks / f.seen - f.alpha) / 16.0;
        (f.seen, f.marks) = (0.0, 0.0);
    }
    if f.silent > 0.0 {
        f.silent -= 1.0;
    } else if marked {
        f.silent = f.window;
        let cut = if name == "xmp" { f.window / 4.0 } else { f.window * f.alpha / 2.0 };
        f.window = (f.window - cut).max(1.0);
    } else {
        // A round's growth, spread over its packets.
        f.window += if name == "xmp" { 1.0 / (total * shortest) } else { 1.0 / f.window };
    }
}
