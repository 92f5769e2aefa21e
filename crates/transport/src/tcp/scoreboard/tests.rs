//! The scoreboard, compared with one that walks over its segments one by one.

use std::collections::BTreeMap;

use super::{Delivered, Scoreboard};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Segment {
    dsn: u32,
    time: u64,
    sacked: bool,
    lost: bool,
    retransmitted: bool,
    again: bool,
}

/// The meaning of the flags, in the words of Linux and of RFC 6675.
#[derive(Debug, Default)]
struct Naive {
    window: BTreeMap<u32, Segment>,
    nxt: u32,
    judged: u32,
}

impl Naive {
    fn count(&self, which: impl Fn(&Segment) -> bool) -> u32 {
        self.window.values().filter(|s| which(s)).count() as u32
    }

    fn acknowledge(&mut self, seq: u32) -> Vec<(u32, u64, bool)> {
        let rest = self.window.split_off(&seq);
        let gone = std::mem::replace(&mut self.window, rest);
        gone.iter().filter(|(_, s)| !s.sacked).map(|(&seq, s)| (seq, s.time, s.again)).collect()
    }

    fn sack(&mut self, start: u32, end: u32) -> Vec<(u32, u64, bool)> {
        let mut told = Vec::new();
        for (&seq, s) in self.window.range_mut(start..end).filter(|(_, s)| !s.sacked) {
            told.push((seq, s.time, s.again));
            *s = Segment { dsn: s.dsn, time: s.time, sacked: true, ..Segment::default() };
        }
        told
    }

    fn judge(&mut self, threshold: usize) {
        let sacked = self.window.iter().rev().filter(|(_, s)| s.sacked);
        let Some((&limit, _)) = sacked.take(threshold).nth(threshold - 1) else { return };
        for (_, s) in self.window.range_mut(..limit).filter(|(seq, s)| !s.sacked && **seq >= self.judged) {
            s.lost = true;
        }
        self.judged = self.judged.max(limit);
    }

    fn lose_all(&mut self, keep: bool) {
        for s in self.window.values_mut() {
            let sacked = keep && s.sacked;
            *s = Segment { dsn: s.dsn, time: s.time, sacked, lost: !sacked, ..Segment::default() };
        }
        self.judged = self.nxt;
    }

    fn retransmit(&mut self, now: u64) -> Option<(u32, u32)> {
        let (&seq, s) = self.window.iter_mut().find(|(_, s)| s.lost && !s.retransmitted)?;
        (s.retransmitted, s.again, s.time) = (true, true, now);
        Some((seq, s.dsn))
    }

    fn lose_older(&mut self, now: u64, newest: (u64, u32), patience: u64) {
        for (&seq, s) in &mut self.window {
            let in_network = !s.sacked && (!s.lost || s.retransmitted);
            if in_network && (s.time, seq) < newest && s.time + patience <= now {
                (s.lost, s.retransmitted) = (true, false);
            }
        }
    }

    fn lose_on_timeout(&mut self, now: u64, age: u64) {
        let first = self.window.keys().next().copied();
        for (&seq, s) in &mut self.window {
            let in_network = !s.sacked && (!s.lost || s.retransmitted);
            if in_network && (Some(seq) == first || s.time + age <= now) {
                (s.lost, s.retransmitted) = (true, false);
            }
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) % u64::from(n)) as u32
    }
}

fn same(board: &mut Scoreboard, naive: &Naive, what: &str) {
    assert_eq!(board.outstanding(), naive.window.len() as u32, "{what}");
    assert_eq!(board.sacked(), naive.count(|s| s.sacked), "{what}");
    assert_eq!(board.lost(), naive.count(|s| s.lost), "{what}");
    assert_eq!(board.retransmitted(), naive.count(|s| s.retransmitted), "{what}");
    assert_eq!(board.has_lost(), naive.count(|s| s.lost && !s.retransmitted) > 0, "{what}");
    let mut unsacked = Vec::new();
    board.for_each_unsacked(|dsn| unsacked.push(dsn));
    let dsns: Vec<u32> = naive.window.values().filter(|s| !s.sacked).map(|s| s.dsn).collect();
    assert_eq!(unsacked, dsns, "{what}");
}

/// Blocks as a receiver reports them: runs of its segments, the same ones again and again, longer each time.
fn blocks(received: &BTreeMap<u32, bool>, una: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for (&seq, _) in received.range(una..).filter(|(_, here)| **here) {
        match runs.last_mut() {
            Some(run) if run.1 == seq => run.1 += 1,
            _ => runs.push((seq, seq + 1)),
        }
    }
    let first = random.below(runs.len().max(1) as u32) as usize;
    runs.iter().cycle().skip(first).take(runs.len().min(3)).copied().collect()
}

fn play(seed: u64, timed: bool, window: u32) {
    let mut random = Random(seed * 2 + 1);
    let mut board = if timed { Scoreboard::timed() } else { Scoreboard::new() };
    let mut naive = Naive::default();
    let mut received = BTreeMap::new();
    let mut una = 0;
    for now in 1..2000u64 {
        let what = format!("seed {seed}, timed {timed}, window {window}, step {now}");
        match random.below(12) {
            0..=3 if board.outstanding() < window => {
                for _ in 0..=random.below(window / 4) {
                    let dsn = random.below(1 << 20);
                    let seq = board.push(now, dsn);
                    naive.window.insert(seq, Segment { dsn, time: now, ..Segment::default() });
                    naive.nxt = seq + 1;
                }
            }
            0..=8 => {
                for _ in 0..random.below(4) {
                    let seq = una + random.below(board.outstanding().max(1));
                    if seq < board.nxt() {
                        received.insert(seq, true);
                    }
                }
                while received.contains_key(&una) && random.below(3) > 0 {
                    una += 1;
                }
                let mut told = Vec::new();
                let tell = |d: Delivered| told.push((d.seq, d.time, d.again));
                let mut expected = naive.acknowledge(una);
                let mut delivered =
                    if timed { board.acknowledge_timed(una, tell) } else { board.acknowledge(una) };
                for (start, end) in blocks(&received, una, &mut random) {
                    expected.extend(naive.sack(start, end));
                    delivered += if timed {
                        board.sack_timed(start, end, |d| told.push((d.seq, d.time, d.again)))
                    } else {
                        board.sack(start, end)
                    };
                }
                assert_eq!(delivered, expected.len() as u32, "{what}");
                assert!(!timed || told == expected, "{what}: {told:?} {expected:?}");
            }
            9 if timed => {
                let newest = (now.saturating_sub(u64::from(random.below(40))), random.below(board.nxt() + 1));
                let patience = u64::from(random.below(40));
                board.lose_older(now, newest, patience);
                naive.lose_older(now, newest, patience);
            }
            9 => {
                let threshold = 1 + random.below(80);
                board.judge(threshold);
                naive.judge(threshold as usize);
            }
            10 if random.below(8) == 0 => {
                if timed {
                    let age = u64::from(random.below(60));
                    board.lose_on_timeout(now, age);
                    naive.lose_on_timeout(now, age);
                } else {
                    let keep = random.below(2) == 0;
                    board.lose_all(keep);
                    naive.lose_all(keep);
                }
            }
            _ => {
                for _ in 0..random.below(8) {
                    assert_eq!(board.retransmit(now), naive.retransmit(now), "{what}");
                }
            }
        }
        same(&mut board, &naive, &what);
    }
}

#[test]
fn it_is_what_a_walk_over_the_segments_gives() {
    let seeds = if std::env::var_os("TRESSE_TEST_ALL").is_some() { 40 } else { 8 };
    for seed in 1..=seeds {
        for window in [8, 60, 64, 200, 1000] {
            play(seed, false, window);
            play(seed, true, window);
        }
    }
}
