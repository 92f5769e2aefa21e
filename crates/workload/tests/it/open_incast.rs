//! Incasts that arrive: every scheme carries the same work at the same times.

use std::collections::BTreeSet;

use crate::common::{drive, random};
use tresse_units::{NEVER, Time};
use tresse_workload::{Action, ArrivalConfig, Gaps, Limit, OpenIncast, OpenIncastConfig, Size, Source};

const MEAN: Time = 400_000_000;

fn config(gaps: Gaps, limit: Limit) -> OpenIncastConfig {
    OpenIncastConfig {
        senders: (0..16).collect(),
        receivers: vec![3, 20],
        servers: 5,
        connections: 2,
        size: Size::Uniform(1000, 9000),
        arrivals: ArrivalConfig { interval: MEAN as f64, gaps, limit },
        seed: 7,
    }
}

#[test]
fn what_starts_when_does_not_depend_on_how_fast_flows_are() {
    let all = |salt| {
        let mut source = OpenIncast::new(config(Gaps::Poisson, Limit::Flows(300)));
        drive(&mut source, random(salt), usize::MAX)
    };
    let [quick, slow] = [1, 2].map(all);
    assert_eq!(quick.starts, slow.starts);
    assert!(quick.is_over && slow.is_over);
    assert_ne!(quick.jobs, slow.jobs, "they end at other times");
    assert_eq!(quick.jobs.len(), 300);
}

#[test]
fn an_incast_is_a_job_of_different_servers_that_start_together() {
    let mut source = OpenIncast::new(config(Gaps::Poisson, Limit::Flows(200)));
    let seen = drive(&mut source, random(1), usize::MAX);
    let mut receivers = BTreeSet::new();
    let mut at_once = 0;
    for job in &seen.jobs {
        let own = seen.starts.iter().filter(|(_, start)| start.job == Some(job.number));
        let own: Vec<_> = own.collect();
        assert_eq!((own.len(), job.flows), (10, 10));
        assert!(own.iter().all(|(time, start)| *time == job.start && start.to == own[0].1.to));
        let senders: BTreeSet<u32> = own.iter().map(|(_, start)| start.from).collect();
        assert_eq!(senders.len(), 5, "two connections of each of five servers");
        assert!(senders.iter().all(|from| *from < 16 && *from != own[0].1.to));
        assert_eq!(job.end, job_end(&seen.finishes, job.number), "it ends with its last flow");
        receivers.insert(own[0].1.to);
        at_once +=
            usize::from(seen.jobs.iter().any(|other| other.start > job.start && other.start < job.end));
    }
    assert_eq!(receivers, BTreeSet::from([3, 20]));
    assert!(at_once > 50, "{at_once} incasts began before an earlier one had ended");
}

fn job_end(finishes: &[(Time, u64)], number: u32) -> Time {
    let own = finishes.iter().filter(|(_, name)| (name >> 32) as u32 == number);
    own.map(|(time, _)| *time).max().expect("it has flows")
}

#[test]
fn when_closed_no_more_come_and_the_last_ones_end() {
    let mut source = OpenIncast::new(config(Gaps::Periodic, Limit::Until(NEVER)));
    let mut live = Vec::new();
    while let Some(Action::Start(start)) = source.poll(MEAN) {
        live.push(start.name);
    }
    assert!(source.is_endless() && !source.has_arrived() && !live.is_empty());
    source.close();
    assert!(source.has_arrived() && !source.is_endless() && !source.is_over() && source.next() == NEVER);
    live.into_iter().for_each(|name| source.handle_finished(2 * MEAN, name));
    assert!(matches!(source.poll(2 * MEAN), Some(Action::Ended(_))));
    assert!(source.poll(9 * MEAN).is_none() && source.is_over());
}

#[test]
fn incasts_come_as_often_as_they_should() {
    let starts = |gaps, limit| {
        let mut source = OpenIncast::new(config(gaps, limit));
        let expected = source.expected_bytes();
        let seen = drive(&mut source, |_| 1, usize::MAX);
        let bytes: u64 = seen.starts.iter().filter_map(|(_, start)| start.bytes).sum();
        assert!((bytes as f64 / expected as f64 - 1.0).abs() < 0.06, "{bytes} bytes, {expected} expected");
        seen.jobs.iter().map(|job| job.start).collect::<Vec<Time>>()
    };
    let periodic = starts(Gaps::Periodic, Limit::Until(100 * MEAN));
    assert_eq!(periodic, (1..100).map(|n| n * MEAN).collect::<Vec<Time>>());
    let mut poisson = starts(Gaps::Poisson, Limit::Flows(4000));
    poisson.sort_unstable();
    let mean = *poisson.last().expect("there are some") as f64 / 4000.0 / MEAN as f64;
    assert!((mean - 1.0).abs() < 0.05, "a mean gap of {mean}");
    // Exponential gaps: 37 % are longer than their mean.
    let long = poisson.windows(2).filter(|two| two[1] - two[0] > MEAN).count() as f64 / 3999.0;
    assert!((long - (-1.0_f64).exp()).abs() < 0.03, "{long} of the gaps are longer than the mean");
}
