//! Graphs of messages: when tasks begin, what is rejected, and repeatability.

use proptest::prelude::*;
use tresse_workload::{Graph, GraphError, Job, MOST_FLOWS, Source, Task, Work};

use crate::ideal::{Ideal, Run};

/// A message takes 10 ps plus 1 ps a byte.
const NET: Ideal = Ideal { alpha: 10, beta: 1 };

fn graph(tasks: &[Task], edges: &[(u32, u32)]) -> Graph {
    let mut graph = Graph::new();
    for &task in tasks {
        graph.add(task).unwrap();
    }
    for &(task, predecessor) in edges {
        graph.after(task, predecessor);
    }
    graph
}

fn run(graph: Graph) -> Run {
    NET.run(&mut graph.tasks(1, 0).unwrap())
}

fn message(bytes: u64) -> Task {
    Task::message(0, 1, bytes)
}

/// Name, start and end of every flow.
fn times(run: &Run) -> Vec<(u64, u64, Option<u64>)> {
    run.flows.iter().map(|f| (f.start.name, f.at, f.end)).collect()
}

#[test]
fn a_chain_goes_link_by_link() {
    let wait = Task::new(Work::Wait(1000));
    let later = Task { delay: 7, ..message(20) };
    let r = run(graph(&[message(90), wait, later], &[(1, 0), (2, 1)]));
    assert_eq!(times(&r), [(0, 0, Some(100)), (2, 1107, Some(1137))]);
}

#[test]
fn a_gate_joins_and_forks_at_once() {
    let tasks = [message(90), message(40), Task::new(Work::Gate), message(1), message(2)];
    let r = run(graph(&tasks, &[(2, 0), (2, 1), (3, 2), (4, 2)]));
    assert_eq!(times(&r)[2..], [(3, 100, Some(111)), (4, 100, Some(112))]);
}

#[test]
fn two_of_five_are_enough_and_the_others_start_nothing_again() {
    let mut tasks: Vec<Task> = [50, 10, 40, 20, 30].map(message).to_vec();
    tasks.push(message(100));
    let mut g = graph(&tasks, &[(5, 0), (5, 1), (5, 2), (5, 3), (5, 4)]);
    g.needs(5, 2);
    let r = run(g);
    // The second of them has arrived after 10 + 20 ps.
    assert_eq!(times(&r)[5], (5, 30, Some(140)));
    assert_eq!(r.flows.len(), 6);
}

#[test]
fn a_dependency_said_twice_is_one() {
    let mut g = graph(&[message(10), message(20), message(5)], &[(2, 0), (2, 0), (2, 1)]);
    g.needs(2, 1);
    assert_eq!(times(&run(g))[2], (2, 20, Some(35)));
    let mut g = graph(&[message(10), message(5)], &[(1, 0), (1, 0)]);
    g.needs(1, 2);
    assert_eq!(g.tasks(1, 0).unwrap_err(), GraphError::Quorum { task: 1, needed: 2, predecessors: 1 });
}

#[test]
fn flows_without_predecessors_start_by_their_times_not_by_their_order() {
    let tasks = [300, 100, 200, 100].map(|delay| Task { delay, ..message(1000) });
    let r = run(graph(&tasks, &[]));
    let starts: Vec<_> = r.flows.iter().map(|f| (f.at, f.start.name)).collect();
    assert_eq!(starts, [(100, 1), (100, 3), (200, 2), (300, 0)]);
}

#[test]
fn a_stop_counts_from_the_same_moment_as_the_delay_and_frees_who_waits() {
    let endless = |delay, stop| Task {
        delay,
        stop: Some(stop),
        ..Task::new(Work::Message { from: 0, to: 1, bytes: None })
    };
    let tasks = [message(90), endless(5, 50), message(1), endless(500, 900)];
    let r = run(graph(&tasks, &[(1, 0), (2, 1)]));
    let rows = [(0, 0, Some(100)), (1, 105, Some(150)), (2, 150, Some(161)), (3, 500, Some(900))];
    assert_eq!(times(&r), rows);
    assert_eq!(r.flows.iter().map(|f| f.stopped).collect::<Vec<_>>(), [false, true, false, true]);
}

#[test]
fn a_message_that_arrives_before_its_stop_wakes_nobody_later() {
    let early = Task { stop: Some(1_000_000), ..message(90) };
    let mut tasks = graph(&[early], &[]).tasks(1, 0).unwrap();
    let r = NET.run(&mut tasks);
    assert_eq!((r.end, r.flows[0].stopped), (100, false));
}

#[test]
fn an_endless_flow_holds_nobody_up_but_is_no_end_either() {
    let endless = Task::new(Work::Message { from: 0, to: 1, bytes: None });
    let mut both = graph(&[endless, message(90)], &[]).tasks(1, 0).unwrap();
    assert!(!both.is_endless());
    assert_eq!((both.expected_bytes(), both.messages(), both.hosts()), (90, 2, 2));
    let r = NET.run(&mut both);
    assert_eq!((r.end, r.flows[0].end), (100, None));

    let alone = graph(&[endless, Task { delay: 50, ..endless }], &[]).tasks(1, 0).unwrap();
    assert!(alone.is_endless());
    assert_eq!(alone.expected_bytes(), 0);
    let g = graph(&[message(1), endless], &[]);
    assert_eq!(g.tasks(2, 0).unwrap_err(), GraphError::EndlessIteration(1));
}

#[test]
fn a_deadline_counts_from_the_flows_own_start() {
    let hurried = Task { delay: 30, deadline: Some(12), ..message(5) };
    let r = run(graph(&[message(90), hurried], &[(1, 0)]));
    assert_eq!(r.flows[1].start.deadline, Some(130 + 12));
    assert_eq!(r.flows[0].start.deadline, None);
}

#[test]
fn jobs_are_numbered_as_they_begin_and_end_with_their_last_task() {
    let job = |number, task| Task { job: Some(number), ..task };
    let tasks = [
        job(7, Task { delay: 40, ..message(10) }),
        job(3, message(90)),
        job(3, Task::new(Work::Wait(1000))),
        message(5),
        job(7, Task { delay: 45, ..message(1000) }),
    ];
    let r = run(graph(&tasks, &[(2, 1)]));
    let job = |number, start, end, flows| Job { number, start, end, flows, deadline: None };
    assert_eq!(r.jobs, [job(1, 40, 1055, 2), job(0, 0, 1100, 1)]);
    let of_flows: Vec<_> = r.flows.iter().map(|f| (f.start.name, f.start.job)).collect();
    assert_eq!(of_flows, [(1, Some(0)), (3, None), (0, Some(1)), (4, Some(1))]);
    // Its last task was not a message, and it did not end before that.
    assert_eq!(r.end, 1100);
}

#[test]
fn an_iteration_begins_a_pause_after_the_last_one() {
    let job = |task| Task { job: Some(0), ..task };
    let g = graph(&[job(message(90)), job(Task { delay: 5, ..message(40) })], &[(1, 0)]);
    let mut tasks = g.tasks(3, 1000).unwrap();
    assert_eq!(tasks.expected_bytes(), 390);
    let r = NET.run(&mut tasks);
    let starts: Vec<_> = r.flows.iter().map(|f| (f.at, f.start.name, f.start.round)).collect();
    let second = 1 << 32;
    assert_eq!(starts[..4], [(0, 0, 0), (105, 1, 0), (1155, second, 1), (1260, second + 1, 1)]);
    assert_eq!(starts.len(), 6);
    let jobs: Vec<_> = r.jobs.iter().map(|j| (j.number, j.start, j.end, j.flows)).collect();
    assert_eq!(jobs, [(0, 0, 155, 2), (1, 1155, 1310, 2), (2, 2310, 2465, 2)]);
    // No pause after the last one.
    assert_eq!(r.end, 2465);
}

#[test]
fn what_makes_no_graph_is_refused() {
    let refused = |g: Graph| g.tasks(1, 0).unwrap_err();
    let mut g = Graph::new();
    assert_eq!(g.add(Task::message(3, 3, 1)), Err(GraphError::Itself(0)));
    assert_eq!(g.add(message(0)), Err(GraphError::Empty(0)));
    assert_eq!(g.add(message(u64::MAX)), Err(GraphError::TooLarge(0)), "it would be endless");
    let early = Task { delay: 5, stop: Some(5), ..message(1) };
    assert_eq!(g.add(early), Err(GraphError::StopsEarly(0)));
    let wait = Task { deadline: Some(5), ..Task::new(Work::Wait(1)) };
    assert_eq!(g.add(wait), Err(GraphError::NoMessage(0)));
    assert!(g.is_empty());
    let one = |edges| graph(&[message(1)], edges);
    assert_eq!(refused(one(&[(0, 1)])), GraphError::NoPredecessor { task: 0, predecessor: 1 });
    assert_eq!(refused(one(&[(0, 0)])), GraphError::Cycle(vec![0]));
    let mut g = one(&[]);
    g.needs(0, 1);
    assert_eq!(refused(g), GraphError::Quorum { task: 0, needed: 1, predecessors: 0 });
    assert_eq!(one(&[]).tasks(0, 0).unwrap_err(), GraphError::NoIterations);
    let many = one(&[]).tasks(u32::MAX, 0).unwrap_err();
    assert_eq!(many, GraphError::TooManyFlows(u64::from(u32::MAX)));
    assert!(many.to_string().contains("memory"), "{many}");
    assert!(u64::from(u32::MAX) > MOST_FLOWS);
}

#[test]
fn a_cycle_is_told_by_its_tasks_each_before_the_one_that_it_waits_for() {
    // 0 -> 1 -> 2 -> 3 -> 1, and 4 and 5 behind it.
    let tasks = [message(1); 6];
    let g = graph(&tasks, &[(1, 0), (2, 1), (3, 2), (1, 3), (4, 3), (5, 4)]);
    let GraphError::Cycle(mut cycle) = g.tasks(1, 0).unwrap_err() else { panic!("no cycle") };
    let first = cycle.iter().position(|&task| task == 1).expect("it is in it");
    cycle.rotate_left(first);
    assert_eq!(cycle, [1, 3, 2]);
}

#[test]
fn a_million_tasks_take_a_moment() {
    // Two chains of 500,000: nothing is quadratic.
    let mut g = Graph::new();
    for i in 0..1_000_000 {
        let task = g.add(Task::message(i % 2, 2, 1)).unwrap();
        if i >= 2 {
            g.after(task, i - 2);
        }
    }
    let mut tasks = g.tasks(1, 0).unwrap();
    let r = NET.run(&mut tasks);
    assert_eq!((r.flows.len(), r.end), (1_000_000, 500_000 * 11));
}

proptest! {
    /// Against a plain implementation: in the order of numbers, a task begins when enough of its predecessors
    /// have ended.
    #[test]
    fn random_graphs_run_as_their_definition_says(
        tasks in prop::collection::vec((0u8..3, 1u64..200, 0u64..50, prop::collection::vec(any::<prop::sample::Index>(), 0..4), any::<bool>()), 1..40),
    ) {
        let mut g = Graph::new();
        let mut begins = Vec::<u64>::new();
        let mut ends = Vec::<u64>::new();
        for (i, (kind, amount, delay, predecessors, some)) in tasks.iter().enumerate() {
            let work = [message(*amount).work, Work::Wait(*amount), Work::Gate][usize::from(*kind)];
            let task = g.add(Task { delay: *delay, ..Task::new(work) }).unwrap();
            let mut before: Vec<usize> = if i == 0 { vec![] } else { predecessors.iter().map(|p| p.index(i)).collect() };
            before.sort_unstable();
            before.dedup();
            for &p in &before {
                g.after(task, p as u32);
            }
            let mut at: Vec<u64> = before.iter().map(|&p| ends[p]).collect();
            at.sort_unstable();
            let ready = if *some && !at.is_empty() {
                g.needs(task, 1);
                at[0]
            } else {
                at.last().copied().unwrap_or(0)
            };
            begins.push(ready + delay);
            ends.push(ready + delay + match work { Work::Gate => 0, Work::Wait(t) => t, _ => 10 + amount });
        }
        let mut source = g.tasks(1, 0).unwrap();
        let again = source.clone();
        let r = NET.run(&mut source);
        for flow in &r.flows {
            let i = flow.start.name as usize;
            prop_assert_eq!((flow.at, flow.end), (begins[i], Some(ends[i])));
        }
        prop_assert_eq!(r.flows.len(), tasks.iter().filter(|t| t.0 == 0).count());
        prop_assert_eq!(r, NET.run(&mut again.clone()));
    }
}
