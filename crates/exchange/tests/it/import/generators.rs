//! The exact output of the generators of htsim and of the HPCC simulator, except for their random numbers.

use std::fmt::Write;

/// Random numbers for this file.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn shuffled(&mut self, n: u64) -> Vec<u64> {
        let mut all: Vec<u64> = (0..n).collect();
        (1..all.len()).rev().for_each(|i| all.swap(i, self.below(i as u64 + 1) as usize));
        all
    }
}

/// csg-htsim `gen_permutation.py`.
pub fn permutation(nodes: u64, conns: u64, size: u64, extra_us: u64) -> String {
    let mut random = Random::new(1);
    let (from, mut to) = (random.shuffled(nodes), random.shuffled(nodes));
    for n in 0..nodes as usize {
        if from[n] == to[n] {
            to.swap(n, (n + 1) % nodes as usize);
        }
    }
    let mut out = format!("Nodes {nodes}\nConnections {conns}\n");
    for (id, (from, to)) in (1..=conns).zip(from.into_iter().zip(to)) {
        let start = extra_us * 1_000_000;
        writeln!(out, "{from}->{to} id {id} start {start} size {size}").unwrap();
    }
    out
}

/// csg-htsim `gen_incast.py`.
pub fn incast(nodes: u64, conns: u64, size: u64, extra_us: u64) -> String {
    let mut random = Random::new(2);
    let from = random.shuffled(nodes - 1);
    let mut out = format!("Nodes {nodes}\nConnections {conns}\n");
    for (id, from) in (1..=conns).zip(from) {
        let start = random.below(extra_us * 1_000_000 + 1);
        writeln!(out, "{}->0 id {id} start {start} size {size}", from + 1).unwrap();
    }
    out
}

/// csg-htsim `gen_outcast_incast.py`.
pub fn outcast_incast(nodes: u64, incast: u64, outcast: u64, size: u64) -> String {
    let conns = incast + (incast - 1) * (outcast - 1);
    let mut out = format!("Nodes {nodes}\nConnections {conns}\n");
    let (mut target, mut id) = (incast + 1, 1);
    for n in 0..incast {
        writeln!(out, "{}->0 id {id} start 0 size {size}", n + 1).unwrap();
        id += 1;
        if n != 0 {
            for _ in 0..outcast - 1 {
                writeln!(out, "{}->{target} id {id} start 0 size {size}", n + 1).unwrap();
                target += 1;
                id += 1;
            }
        }
    }
    out
}

/// csg-htsim `gen_allreduce.py`, with locality.
pub fn allreduce(nodes: u64, conns: u64, group: u64, size: u64) -> String {
    let mut out = format!(
        "Nodes {nodes}\nConnections {}\nTriggers {}\n",
        conns * (2 * group - 1),
        conns * (2 * group - 2)
    );
    let hosts = Random::new(3).shuffled(nodes);
    let (mut id, mut trigger) = (0, 1);
    for hosts in hosts.chunks(group as usize).take((conns / group) as usize) {
        let mut hosts = hosts.to_vec();
        hosts.sort_unstable();
        for s in 0..group {
            for d in 1..2 * group {
                id += 1;
                let [from, to] = [s + d - 1, s + d].map(|n| hosts[(n % group) as usize]);
                write!(out, "{from}->{to} id {id}").unwrap();
                if d == 1 {
                    write!(out, " start 0").unwrap();
                } else {
                    write!(out, " trigger {trigger}").unwrap();
                    trigger += 1;
                }
                write!(out, " size {size}").unwrap();
                if d != 2 * group - 1 {
                    write!(out, " send_done_trigger {trigger}").unwrap();
                }
                out.push('\n');
            }
        }
    }
    (1..trigger).for_each(|t| writeln!(out, "trigger id {t} oneshot").unwrap());
    out
}

/// csg-htsim `gen_allreduce_butterfly.py`, which declares one trigger too few.
pub fn butterfly(nodes: u64, groups: u64, group: u64, size: u64) -> String {
    let bits = group.ilog2();
    let conns = groups * group * u64::from(bits);
    let mut out = format!("Nodes {nodes}\nConnections {conns}\nTriggers {}\n", conns - group * groups);
    let (mut id, mut last) = (0, 0);
    for g in 0..groups {
        let mut triggers = vec![vec![0; nodes as usize]; bits as usize];
        for d in 0..bits {
            let step = 1 << d;
            let is_last = d + 1 == bits;
            for src in (0..group).filter(|src| (src / step) % 2 == 0) {
                let dst = src + step;
                for (from, to) in [(src, dst), (dst, src)] {
                    id += 1;
                    let before = if d > 0 { triggers[d as usize - 1][from as usize] } else { 0 };
                    let begin = if d == 0 { "start 0".to_owned() } else { format!("trigger {before}") };
                    write!(out, "{}->{} id {id} {begin} size {size}", g * group + from, g * group + to)
                        .unwrap();
                    if !is_last {
                        last += 1;
                        triggers[d as usize][to as usize] = last;
                        write!(out, " recv_done_trigger {last}").unwrap();
                    }
                    out.push('\n');
                }
            }
        }
    }
    (1..last).for_each(|t| writeln!(out, "trigger id {t} oneshot").unwrap());
    out
}

/// csg-htsim `gen_serialn_alltoall.py`, or `_prio.py`; with more than one group, its header counts the
/// triggers differently.
pub fn serialn_alltoall(nodes: u64, conns: u64, group: u64, parallel: u64, size: u64, prio: bool) -> String {
    let mut out = format!("Nodes {nodes}\nConnections {}\n", conns * (group - 1));
    let all = (conns - 1) / parallel - u64::from((conns - 1).is_multiple_of(parallel));
    writeln!(out, "Triggers {}", group * all).unwrap();
    let hosts = Random::new(4).shuffled(nodes);
    let (half, left) = ((group - 1) / parallel, (group - 1) % parallel);
    let (mut id, mut last) = (0, 0);
    for hosts in hosts.chunks(group as usize).take((conns / group) as usize) {
        for s in 0..group {
            let mut line = |dst: u64, begin: &str, end: &str, level: u64| {
                id += 1;
                let (from, to) = (hosts[s as usize], hosts[(dst % group) as usize]);
                write!(out, "{from}->{to} id {id}{begin} size {size}{end}").unwrap();
                if prio {
                    write!(out, " prio {level}").unwrap();
                }
                out.push('\n');
            };
            for d in 1..=half {
                let begin = if d == 1 { " start 0".to_owned() } else { format!(" trigger {last}") };
                let more = d != half || left > 0;
                last += u64::from(more);
                let end = if more { format!(" send_done_trigger {last}") } else { String::new() };
                (0..parallel).for_each(|n| line(s + d + n * half, &begin, &end, d));
            }
            (0..left)
                .for_each(|n| line(s + parallel * half + n + 1, &format!(" trigger {last}"), "", half + 1));
        }
    }
    (1..=last).for_each(|t| writeln!(out, "trigger id {t} multishot").unwrap());
    out
}

/// The HPCC simulator's `fat.txt`: 320 hosts, 20 racks, 5 pods, 16 core switches.
pub fn hpcc_fat() -> String {
    let switches: Vec<String> = (320..376).map(|s| s.to_string()).collect();
    let mut out = format!("376 56 480\n{}\n", switches.join(" "));
    let mut link = |a: u32, b: u32, rate: u32| writeln!(out, "{a} {b} {rate}Gbps 1000ns 0.000000").unwrap();
    (0..320).for_each(|host| link(host, 320 + host / 16, 100));
    for tor in 0..20 {
        (0..4).for_each(|n| link(320 + tor, 340 + tor / 4 * 4 + n, 400));
    }
    for aggregation in 0..20 {
        (0..4).for_each(|n| link(340 + aggregation, 360 + aggregation % 4 * 4 + n, 400));
    }
    out + "\n"
}

/// The HPCC simulator's `traffic_gen.py`: this many flows, and the estimate that it wrote first.
pub fn traffic_gen(hosts: u64, flows: u64, estimate: u64) -> String {
    let mut random = Random::new(5);
    let head = format!("{estimate} \n");
    let number = flows.to_string();
    // It writes the number over the estimate.
    let head = number.clone() + &head[number.len().min(head.len())..];
    let mut out = if head.ends_with('\n') { head } else { head + "\n" };
    let mut ns = 2_000_000_000;
    for _ in 0..flows {
        ns += random.below(20_000);
        let from = random.below(hosts);
        let to = (from + 1 + random.below(hosts - 1)) % hosts;
        let size = 1 + random.below(1_000_000);
        writeln!(out, "{from} {to} 3 100 {size} {}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000).unwrap();
    }
    out
}
