//! Jobs that arrive: every scheme carries the same work at the same times.

use std::collections::{BTreeMap, BTreeSet};

use tresse_units::Time;
use tresse_workload::{ArrivalConfig, Gaps, Limit, OpenJobs, OpenJobsConfig, Source, Span, Start};

use crate::common::{Seen, drive, random};

const MEAN: Time = 400_000_000;

fn jobs(gaps: Gaps, limit: Limit) -> OpenJobs {
    OpenJobs::new(OpenJobsConfig {
        hosts: 16,
        servers: 5,
        request: 2_000,
        response: 64_000,
        deadline: Some(Span::Fixed(3 * MEAN)),
        arrivals: ArrivalConfig { interval: MEAN as f64, gaps, limit },
        seed: 7,
    })
}

fn run(salt: u64) -> Seen {
    drive(&mut jobs(Gaps::Poisson, Limit::Flows(300)), random(salt), usize::MAX)
}

#[test]
fn who_asks_whom_when_does_not_depend_on_how_fast_flows_are() {
    let [quick, slow] = [1, 2].map(run);
    // Responses follow their requests, which do.
    let requests = |seen: &Seen| {
        seen.starts.iter().copied().filter(|(_, start)| start.bytes == Some(2_000)).collect::<Vec<_>>()
    };
    assert_eq!(requests(&quick).len(), 300 * 5);
    assert_eq!(requests(&quick), requests(&slow));
    assert!(quick.is_over && slow.is_over);
    assert_ne!(quick.jobs, slow.jobs, "they end at other times");
}

#[test]
fn a_response_follows_its_request_and_the_last_one_ends_the_job() {
    let seen = run(1);
    let finished: BTreeMap<u64, Time> = seen.finishes.iter().map(|&(time, name)| (name, time)).collect();
    let mut at_once = 0;
    assert_eq!(seen.jobs.len(), 300);
    for job in &seen.jobs {
        let own = seen.starts.iter().filter(|(_, start)| start.job == Some(job.number));
        let (requests, responses) =
            own.partition::<Vec<&(Time, Start)>, _>(|(_, start)| start.bytes == Some(2_000));
        assert_eq!((requests.len(), responses.len(), job.flows), (5, 5, 10));
        let client = requests[0].1.from;
        let servers: BTreeSet<u32> = requests.iter().map(|(_, request)| request.to).collect();
        assert!(servers.len() == 5 && !servers.contains(&client));
        for (time, request) in requests {
            assert_eq!((*time, request.from, request.deadline), (job.start, client, job.deadline));
            let response = responses.iter().find(|(_, response)| response.from == request.to);
            let (time, response) = response.expect("it is answered");
            assert_eq!((*time, response.to, response.bytes), (finished[&request.name], client, Some(64_000)));
        }
        assert_eq!(responses.iter().map(|(_, response)| finished[&response.name]).max(), Some(job.end));
        assert_eq!(job.deadline, Some(job.start + 3 * MEAN));
        at_once +=
            usize::from(seen.jobs.iter().any(|other| other.start > job.start && other.start < job.end));
    }
    assert!(at_once > 50, "{at_once} jobs began before an earlier one had ended");
}

#[test]
fn jobs_come_as_often_as_they_should() {
    let mut source = jobs(Gaps::Periodic, Limit::Until(100 * MEAN));
    let expected = source.expected_bytes();
    let seen = drive(&mut source, |_| 1, usize::MAX);
    let starts: Vec<Time> = seen.jobs.iter().map(|job| job.start).collect();
    assert_eq!(starts, (1..100).map(|n| n * MEAN).collect::<Vec<Time>>());
    assert_eq!(expected, 100 * 5 * 66_000);
}
