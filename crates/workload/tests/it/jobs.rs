//! Jobs of requests and responses, and the plain fan-in.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tresse_units::Time;
use tresse_workload::{Incast, IncastConfig, Jobs, JobsConfig, Size, Source, Span, Start};

use crate::common::{Seen, drive, random};

const XMP: JobsConfig = JobsConfig {
    hosts: 128,
    jobs: 8,
    servers: 8,
    request: 2_000,
    response: 64_000,
    gap: Span::Fixed(0),
    deadline: None,
    count: Some(400),
    seed: 1,
};

fn run(config: &JobsConfig, salt: u64) -> Seen {
    drive(&mut Jobs::new(config.clone()), random(salt), usize::MAX)
}

/// The flows of each job by number, with their start times.
fn by_job(seen: &Seen) -> BTreeMap<u32, Vec<(Time, Start)>> {
    let mut jobs = BTreeMap::<u32, Vec<(Time, Start)>>::new();
    for &(time, start) in &seen.starts {
        jobs.entry(start.job.expect("it has a job")).or_default().push((time, start));
    }
    jobs
}

#[test]
fn a_job_is_eight_requests_and_their_responses() {
    let seen = run(&XMP, 1);
    let finished: BTreeMap<u64, Time> = seen.finishes.iter().map(|&(time, name)| (name, time)).collect();
    let jobs = by_job(&seen);
    assert_eq!((jobs.len(), seen.jobs.len()), (400, 400));
    for ended in &seen.jobs {
        let flows = &jobs[&ended.number];
        let (requests, responses) = flows.split_at(8);
        let client = requests[0].1.from;
        let servers: BTreeSet<u32> = requests.iter().map(|(_, s)| s.to).collect();
        assert!(servers.len() == 8 && !servers.contains(&client));
        for &(time, request) in requests {
            assert_eq!((time, request.from, request.bytes), (ended.start, client, Some(2_000)));
        }
        for &(time, response) in responses {
            assert_eq!((response.to, response.bytes), (client, Some(64_000)));
            // At once when that server's request has arrived.
            let request = requests.iter().find(|(_, s)| s.to == response.from).expect("it was asked");
            assert_eq!(time, finished[&request.1.name]);
        }
        let last = flows.iter().map(|(_, s)| finished[&s.name]).max();
        assert_eq!((Some(ended.end), ended.flows), (last, 16));
    }
    assert_eq!(Jobs::new(XMP).expected_bytes(), 400 * 8 * 66_000);
}

#[test]
fn as_many_jobs_as_asked_for_run_side_by_side() {
    let seen = run(&XMP, 1);
    let mut steps: Vec<(Time, i32)> = seen.jobs.iter().flat_map(|j| [(j.start, 1), (j.end, -1)]).collect();
    // At one instant the ends come first.
    steps.sort_unstable();
    let mut live = 0;
    let mut times = BTreeMap::new();
    for (time, by) in steps {
        live += by;
        times.insert(time, live);
    }
    let last = seen.jobs.iter().map(|j| j.start).max().expect("jobs");
    assert!(times.range(..=last).all(|(_, &live)| live == 8), "{times:?}");
    // Numbers are in the order of the starts.
    let starts: BTreeMap<u32, Time> = seen.jobs.iter().map(|j| (j.number, j.start)).collect();
    assert!(starts.values().is_sorted() && starts.keys().copied().eq(0..400));
}

#[test]
fn clients_and_servers_are_chosen_uniformly() {
    let config = JobsConfig { hosts: 10, servers: 3, count: Some(10_000), ..XMP };
    let (mut clients, mut servers) = ([0u32; 10], [0u32; 10]);
    for flows in by_job(&run(&config, 1)).values() {
        clients[flows[0].1.from as usize] += 1;
        flows[..3].iter().for_each(|(_, s)| servers[s.to as usize] += 1);
    }
    // 1000 each with a standard deviation of 30, and 3000 with one of 46.
    assert!(clients.iter().all(|n| (880..1120).contains(n)), "{clients:?}");
    assert!(servers.iter().all(|n| (2810..3190).contains(n)), "{servers:?}");
}

/// The gap after each job, ps: one place, so that jobs follow each other.
fn gaps(gap: Span) -> Vec<f64> {
    let config = JobsConfig { jobs: 1, servers: 1, count: Some(20_001), gap, ..XMP };
    let seen = run(&config, 1);
    seen.jobs.windows(2).map(|j| (j[1].start - j[0].end) as f64).collect()
}

#[test]
fn gaps_have_their_mean_and_their_shape() {
    let mean = 50_000_000_000; // 50 ms
    // The variance over the mean's square: for the slides' author's log-normal gaps, 10 ms / 50 ms.
    for (gap, spread) in
        [(Span::Fixed(mean), 0.0), (Span::LogNormal(mean), 0.2), (Span::Exponential(mean), 1.0)]
    {
        let gaps: Vec<f64> = gaps(gap).into_iter().map(|g| g / mean as f64).collect();
        assert_eq!(gap.mean(), mean);
        let n = gaps.len() as f64;
        let first = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|g| (g - first).powi(2)).sum::<f64>() / n;
        assert!((first - 1.0).abs() < 4.0 / n.sqrt(), "{gap:?}: {first}");
        assert!((variance - spread).abs() < 0.1 * spread + 1e-9, "{gap:?}: {variance}");
        if let Span::LogNormal(_) = gap {
            // Its median is mean / sqrt(1 + 0.2).
            let below = gaps.iter().filter(|&&g| g < 1.2f64.sqrt().recip()).count() as f64 / n;
            assert!((below - 0.5).abs() < 4.0 * 0.5 / n.sqrt(), "{below}");
        }
    }
}

#[test]
fn a_deadline_is_the_jobs_and_all_its_flows() {
    let config = JobsConfig { deadline: Some(Span::Fixed(20_000_000_000)), ..XMP };
    let seen = run(&config, 1);
    let ends: BTreeMap<u32, Option<Time>> = seen.jobs.iter().map(|j| (j.number, j.deadline)).collect();
    assert!(seen.jobs.iter().all(|j| j.deadline == Some(j.start + 20_000_000_000)));
    assert!(seen.starts.iter().all(|(_, s)| s.deadline == ends[&s.job.expect("a job")]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn jobs_end_and_the_order_of_finishing_changes_no_draws(
        hosts in 5u32..30, jobs in 1u32..6, servers in 1u32..5, count in 0u32..60, seed in 0u64..100,
        salts in any::<[u64; 2]>(), gap in prop::sample::select(vec![0u64, 1, 1_000_000_000]),
    ) {
        let gap = Span::Exponential(gap);
        let config = JobsConfig { hosts, jobs, servers, count: Some(count), gap, seed, ..XMP };
        let [a, b] = salts.map(|salt| run(&config, salt));
        prop_assert!(a.is_over && a.jobs.len() as u32 == count && a.starts.len() as u32 == 2 * servers * count);
        let others = b.by_name();
        for (name, flow) in a.by_name() {
            if let Some(other) = others.get(&name) {
                prop_assert_eq!((flow.from, flow.to, flow.bytes), (other.from, other.to, other.bytes));
            }
        }
        // More parallel jobs leave the others unchanged.
        let more = run(&JobsConfig { jobs: jobs + 1, ..config.clone() }, salts[0]).by_name();
        for (name, flow) in a.by_name() {
            if let Some(other) = more.get(&name) {
                prop_assert_eq!((flow.from, flow.to), (other.from, other.to));
            }
        }
        prop_assert_eq!(a, run(&config, salts[0]));
    }

    #[test]
    fn a_fan_in_is_rounds_of_one_flow_from_each_sender(
        senders in 1u32..40, rounds in 1u32..10, seed in 0u64..100, salt in any::<u64>(),
    ) {
        let size = Size::Uniform(1, 1_000_000);
        let config = IncastConfig { senders: (1..=senders).collect(), receiver: 0, size, rounds, seed };
        let seen = drive(&mut Incast::new(config.clone()), random(salt), usize::MAX);
        prop_assert!(seen.is_over && seen.jobs.len() as u32 == rounds);
        let flows = by_job(&seen);
        let mut end = 0;
        for job in &seen.jobs {
            // At once when the last has ended.
            prop_assert_eq!((job.start, job.flows), (end, senders));
            prop_assert!(flows[&job.number].iter().all(|&(time, s)| time == end && s.to == 0 && s.round == job.number));
            prop_assert!(flows[&job.number].iter().map(|(_, s)| s.from).eq(1..=senders));
            end = job.end;
        }
        prop_assert_eq!(seen.finishes.last().map(|f| f.0), Some(end));
        prop_assert_eq!(Incast::new(config).expected_bytes(), 500_000 * u64::from(senders * rounds));
    }
}
