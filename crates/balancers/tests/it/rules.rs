//! One rule at a time, worked out by hand.

use std::sync::Arc;

use tresse_balancers::{ConfiguredBalancer, Feedback, Spread, find};

use Feedback::{Ecn, Good, Timeout, Trim};

const US: u64 = 1000;
const MS: u64 = 1000 * US;
const S: u64 = 1000 * MS;

/// A connection with a window of `window` packets, whose fates the test decides.
struct Connection {
    spread: Spread,
    now: u64,
    window: u32,
    sent: u32,
}

fn connection(name: &str, paths: u32, settings: &[(&str, u64)]) -> Connection {
    let balancer = find(name).expect("it is built in");
    let scheme = ConfiguredBalancer::new(balancer, settings.iter().copied()).expect("in range");
    let spread = Spread::new(Arc::new(scheme), paths, 11);
    Connection { spread, now: 5 * S, window: 1, sent: 0 }
}

impl Connection {
    fn pick(&mut self) -> u32 {
        self.sent += 1;
        self.spread.pick(self.now, self.window, self.sent - 1)
    }

    fn picks(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.pick()).collect()
    }

    /// In the order of their numbers.
    fn sorted(&mut self, count: usize) -> Vec<u32> {
        let mut picks = self.picks(count);
        picks.sort();
        picks
    }

    fn told(&mut self, what: Feedback, path: u32) {
        self.spread.feedback(self.now, path, what);
    }

    fn alive(&self) -> Vec<u32> {
        (0..self.spread.paths()).filter(|&path| self.spread.alive_at(self.now, path)).collect()
    }
}

#[test]
fn oblivious_takes_each_path_once_a_lap() {
    for paths in [1, 2, 5, 8, 100, 2049] {
        let mut c = connection("oblivious", paths, &[]);
        let all: Vec<u32> = (0..paths).collect();
        for _ in 0..5 {
            assert_eq!(c.sorted(paths as usize), all);
        }
    }
    let mut c = connection("oblivious", 64, &[]);
    let laps: Vec<_> = (0..4).map(|_| c.picks(64)).collect();
    assert!(laps.windows(2).any(|two| two[0] != two[1]), "another order each");
    // A power of 2: only the index differs within a lap.
    assert!(laps.iter().all(|lap| (0..64).all(|i| lap[i] ^ lap[0] == i as u32)));
}

#[test]
fn oblivious_does_not_listen() {
    let (mut one, mut other) = (connection("oblivious", 9, &[]), connection("oblivious", 9, &[]));
    for what in [Ecn, Trim, Timeout, Good] {
        (0..9).for_each(|path| one.told(what, path));
        assert_eq!(one.picks(20), other.picks(20));
    }
}

#[test]
fn bitmap_passes_over_a_path_as_often_as_its_penalty() {
    for (what, penalty) in [(Good, 0), (Ecn, 1), (Trim, 4), (Timeout, 15)] {
        let mut c = connection("bitmap", 8, &[]);
        c.told(what, 3);
        // Each lap skips it once.
        let mut laps = 0;
        while !c.picks(8 - usize::from(laps < penalty)).contains(&3) {
            laps += 1;
        }
        assert_eq!(laps, penalty, "{what:?}");
    }
}

#[test]
fn bitmap_s_penalties_add_up_to_15() {
    let mut c = connection("bitmap", 2, &[]);
    for what in [Trim, Ecn, Trim, Timeout, Timeout] {
        c.told(what, 1);
    }
    // The other one gets every packet meanwhile, even when a lap begins with the first.
    let first = c.picks(100).iter().position(|&path| path == 1).expect("it comes back");
    assert!((15..=30).contains(&first), "{first}");
    let mut c = connection("bitmap", 2, &[("trim", 0)]);
    c.told(Trim, 1);
    assert_eq!(c.sorted(2), [0, 1], "a penalty of 0 is none");
}

#[test]
fn bitmap_goes_on_when_every_path_has_a_penalty() {
    let mut c = connection("bitmap", 4, &[]);
    (0..4).for_each(|path| c.told(Ecn, path));
    let first = c.pick(); // it loses its penalty, and is the only one without
    assert!(c.picks(2).contains(&first));
    c.picks(20);
    let mut all = c.picks(7); // wherever the lap begins
    all.sort();
    all.dedup();
    assert_eq!(all, [0, 1, 2, 3], "each has lost its penalty");
}

#[test]
fn reps_takes_good_paths_once_more_the_oldest_first() {
    let mut c = connection("reps", 1000, &[]);
    for path in [7, 8, 9] {
        c.told(Good, path);
    }
    c.told(Ecn, 1);
    c.told(Trim, 2);
    assert_eq!(c.picks(3), [7, 8, 9]);
    let random = c.picks(3);
    assert!(random.iter().all(|path| ![7, 8, 9, 1, 2].contains(path)), "one of a thousand: {random:?}");
    for path in 0..10 {
        c.told(Good, path);
    }
    assert_eq!(c.picks(8), [2, 3, 4, 5, 6, 7, 8, 9], "the ring has 8");
}

#[test]
fn reps_freezes_on_a_timeout_for_10_ms() {
    let mut c = connection("reps", 1000, &[]);
    for path in [7, 8, 9] {
        c.told(Good, path);
    }
    assert_eq!(c.pick(), 7);
    c.told(Timeout, 500);
    assert_eq!(c.alive(), [7, 8, 9]);
    assert_eq!(c.picks(7), [8, 9, 7, 8, 9, 7, 8], "fresh ones, then all in turn");
    c.now += 9 * MS;
    c.told(Timeout, 501);
    c.told(Good, 40);
    assert_eq!(c.picks(2), [40, 9]);
    c.now += MS;
    assert_eq!(c.alive().len(), 1000);
    // 16 explore; then the paths that were good meanwhile are taken once more.
    c.told(Good, 3);
    c.told(Timeout, 4);
    let explored = c.picks(16);
    assert!(!explored.contains(&40) && !explored.contains(&7), "{explored:?}");
    assert_eq!(c.pick(), 3);
    assert_eq!(c.alive().len(), 1000, "a timeout while exploring is of the same failure");
}

#[test]
fn reps_without_a_good_path_is_not_frozen() {
    let mut c = connection("reps", 16, &[]);
    c.told(Timeout, 1);
    assert_eq!(c.alive().len(), 16);
    let mut picks = c.picks(300);
    picks.sort();
    picks.dedup();
    assert_eq!(picks.len(), 16);
}

#[test]
fn mixed_goes_round_once_a_window_then_takes_good_paths_again() {
    let mut c = connection("mixed", 8, &[]);
    c.window = 12;
    assert_eq!(c.sorted(8), [0, 1, 2, 3, 4, 5, 6, 7]);
    c.told(Good, 3);
    let rest = c.picks(4);
    assert_eq!(rest.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "the window is not over");
    for path in [5, 5, 2] {
        c.told(Good, path);
    }
    assert_eq!(c.picks(4), [3, 5, 5, 2]);
    c.told(Timeout, 6);
    c.window = 100;
    let bitmap = c.picks(40);
    assert!(!bitmap.contains(&6) && bitmap.contains(&3), "{bitmap:?}");
}

#[test]
fn mixed_keeps_as_many_good_paths_as_there_are_paths() {
    let mut c = connection("mixed", 3, &[]);
    c.pick();
    for path in [0, 1, 2, 2, 1] {
        c.told(Good, path);
    }
    assert_eq!(c.picks(3), [2, 2, 1]);
}

#[test]
fn mrc_avoids_marked_and_trimmed_paths_for_a_while() {
    let mut c = connection("mrc", 4, &[("avoid", 50)]);
    c.told(Ecn, 1);
    c.told(Trim, 2);
    let picks = c.picks(20);
    assert!(picks.iter().all(|path| [0, 3].contains(path)), "{picks:?}");
    assert_eq!(c.alive(), [0, 1, 2, 3], "avoided is not retired");
    c.told(Good, 1);
    c.now += 50 * US - 1;
    assert!(!c.picks(8).contains(&1), "good of an older packet changes nothing");
    c.now += 1;
    assert_eq!(c.sorted(4).iter().filter(|&&path| path == 1).count(), 1);
}

#[test]
fn mrc_retires_a_path_that_loses_a_packet_and_probes_it() {
    let mut c = connection("mrc", 3, &[]);
    c.told(Timeout, 1);
    assert_eq!(c.alive(), [0, 2]);
    c.told(Good, 1); // an older packet
    assert!(!c.picks(30).contains(&1));
    c.now += MS;
    assert_eq!(c.alive(), [0, 1, 2], "it may be probed");
    let probes = c.picks(30).iter().filter(|&&path| path == 1).count();
    assert_eq!(probes, 1, "one packet");
    assert_eq!(c.alive(), [0, 2]);
    c.now += MS;
    assert!(c.picks(6).contains(&1), "the probe is lost too");
    c.told(Timeout, 1);
    c.now += MS - 1;
    assert_eq!(c.alive(), [0, 2]);
    c.now += 1;
    assert!(c.picks(6).contains(&1));
    c.told(Good, 1);
    assert_eq!(c.alive(), [0, 1, 2]);
    assert!(c.picks(6).iter().filter(|&&path| path == 1).count() >= 1);
}

#[test]
fn mrc_avoids_a_path_whose_probe_is_marked() {
    let mut c = connection("mrc", 2, &[]);
    c.told(Timeout, 1);
    c.now += MS;
    assert_eq!(c.sorted(2), [0, 1]);
    c.told(Trim, 1);
    assert_eq!(c.alive(), [0, 1]);
    assert_eq!(c.picks(3), [0, 0, 0]);
    c.now += 20 * US;
    assert_eq!(c.sorted(2), [0, 1]);
}

#[test]
fn mrc_sends_when_no_path_is_left() {
    let mut c = connection("mrc", 4, &[]);
    (0..4).for_each(|path| c.told(Timeout, path));
    assert_eq!(c.sorted(4), [0, 1, 2, 3], "all retired: each in turn");
    c.told(Ecn, 2); // of the probe
    assert_eq!(c.picks(5), [2; 5], "avoided is better than retired");
}

#[test]
fn plb_changes_its_path_after_12_congested_rounds() {
    let mut c = connection("plb", 16, &[]);
    c.window = 4;
    let first = c.pick();
    let round = |c: &mut Connection, marked: u32| {
        let path = c.pick();
        (0..4).for_each(|i| c.told(if i < marked { Ecn } else { Good }, path));
    };
    (0..11).for_each(|_| round(&mut c, 2));
    assert_eq!(c.pick(), first);
    round(&mut c, 1); // below half: the count restarts
    (0..11).for_each(|_| round(&mut c, 4));
    assert_eq!(c.pick(), first);
    round(&mut c, 2);
    let second = c.pick();
    assert_ne!(second, first);
    c.told(Trim, second);
    assert_eq!(c.alive().len(), 16);
}

#[test]
fn plb_leaves_a_path_at_a_timeout_and_stays_away_for_a_while() {
    let mut c = connection("plb", 16, &[("rehash_rounds", 1)]);
    let first = c.pick();
    c.told(Timeout, first);
    let second = c.pick();
    assert_ne!(second, first);
    c.told(Timeout, first); // an older packet
    assert_eq!(c.pick(), second);
    c.now += 60 * S - 1;
    c.told(Ecn, second);
    assert_eq!(c.pick(), second, "suspended");
    c.now += 60 * S;
    c.told(Ecn, second);
    assert_ne!(c.pick(), second);
}

#[test]
fn plb_with_one_path_keeps_it() {
    let mut c = connection("plb", 1, &[("rehash_rounds", 1)]);
    c.told(Timeout, 0);
    c.told(Ecn, 0);
    assert_eq!(c.picks(3), [0; 3]);
}
