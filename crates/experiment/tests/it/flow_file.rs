//! Flow files: what they say becomes flows, and what is wrong in them is told with its place.

use tresse_experiment::read::flow_file::{Flow, read, tasks, write};
use tresse_experiment::schema::host_names::{Host, Hosts};
use tresse_units::{Bytes, Duration, NEVER};
use tresse_workload::{Action, Source, Start};

fn hosts() -> Hosts {
    Hosts::new(["host 0", "host 1", "host 2", "host 3"])
}

/// The flows with the times of their starts, where each takes a microsecond.
fn run(source: &mut impl Source) -> Vec<(u64, Start)> {
    let (mut flows, mut underway) = (Vec::new(), Vec::<(u64, u64)>::new());
    let mut now = 0;
    loop {
        while let Some(action) = source.poll(now) {
            match action {
                Action::Start(start) => {
                    flows.push((now, start));
                    if start.bytes.is_some() {
                        underway.push((now + 1_000_000, start.name));
                    }
                }
                Action::Stop(name) => underway.retain(|u| u.1 != name),
                Action::Ended(_) => {}
            }
        }
        let first = underway.iter().min().copied();
        now = source.next().min(first.map_or(NEVER, |f| f.0));
        if now == NEVER {
            return flows;
        }
        if let Some((_, name)) = first.filter(|f| f.0 == now && source.next() > now) {
            underway.retain(|u| u.1 != name);
            source.handle_finished(now, name);
        }
    }
}

const US: u64 = 1_000_000;

#[test]
fn a_file_becomes_its_flows() {
    let text = "\
# an incast with an answer
to, from, start, size, id, after, deadline, stop, job
0, 1, 0us, 2kB, a, , , , 0
\"host 0\", host 2, 1.5us, 2kB, b, , 10us, , 0

1, 0, 5us, 1B, c, 1 of a b, , ,
3, 2, 100us, , d, , , 1ms,
2, 3, 0s, 1MiB, e, a b, , ,
";
    let flows = run(&mut read("flows.csv", text, &hosts(), u64::MAX).unwrap());
    let rows: Vec<_> = flows.iter().map(|(at, s)| (*at, s.name, s.from, s.to, s.bytes, s.job)).collect();
    assert_eq!(
        rows,
        [
            (0, 0, 1, 0, Some(2000), Some(0)),
            (3 * US / 2, 1, 2, 0, Some(2000), Some(0)),
            (5 * US / 2, 4, 3, 2, Some(1 << 20), None),
            (6 * US, 2, 0, 1, Some(1), None),
            (100 * US, 3, 2, 3, None, None),
        ]
    );
    assert_eq!(flows[1].1.deadline, Some(23 * US / 2));
}

#[test]
fn without_ids_flows_go_by_their_places() {
    let text = "from,to,size,start,after\n0,1,1kB,0s,\n1,2,1kB,0s,0\n2,3,1kB,1us,1\n";
    let flows = run(&mut read("f", text, &hosts(), u64::MAX).unwrap());
    assert_eq!(flows.iter().map(|f| f.0).collect::<Vec<_>>(), [0, US, 3 * US]);
}

#[track_caller]
fn refused(text: &str, place: &str, message: &str) {
    let error = read("f.csv", text, &hosts(), u64::MAX).unwrap_err().to_string();
    assert!(error.starts_with(&format!("f.csv:{place}: ")) && error.contains(message), "{error}");
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_line() {
    const HEAD: &str = "from,to,size,start";
    let row = |row: &str| format!("{HEAD}\n0,1,1kB,0s\n{row}\n");
    refused("from,to,size\n", "1:1", "the column `start` is missing");
    refused("from,to,size,start,from\n", "1:20", "twice");
    refused("from,to,bytes,start\n", "1:9", "there is no column `bytes`");
    refused("from,to,size,strat\n", "1:14", "did you mean `start`?");
    refused("Nodes 16\nConnections 3\n0->1 start 0 size 5\n", "1:1", "htsim connection matrix");
    refused("2\n0 1 3 100 5 2\n1 0 3 100 5 2\n", "1:1", "HPCC simulator");
    refused(&format!("\n{HEAD}\n"), "2:1", "no flows follow");
    refused(&row("0,1,1kB"), "3:1", "3 values, but the first line names 4 columns");
    refused(&row("0,4,1kB,0s"), "3:3", "there is no host 4: hosts are 0 to 3");
    refused(&row("0,hots 1,1kB,0s"), "3:3", "did you mean `host 1`?");
    refused(&row("0, ,1kB,0s"), "3:4", "`to` has no value");
    refused(&row("0,1,1000,0s"), "3:5", "\"1000\" has no unit");
    refused(&row("0,1,1kB,0"), "3:9", "\"0\" has no unit");
    refused(&row("0,1,0B,0s"), "3:5", "at least 1B");
    refused(&row("2,2,1kB,0s"), "3:3", "does not send to itself");
    let error = read("f.csv", &row("0,1,1kB,0"), &hosts(), u64::MAX).unwrap_err().to_string();
    assert!(error.ends_with("\n  |\n3 | 0,1,1kB,0\n  |         ^"), "{error}");

    const WIDE: &str = "id,from,to,size,start,after,stop";
    let rows = |rows: &str| format!("{WIDE}\na,0,1,1kB,0s,,\n{rows}\n");
    refused(&rows("a,0,1,1kB,0s,,"), "3:1", "has the id `a` too");
    refused(&rows("b c,0,1,1kB,0s,,"), "3:1", "is not an id");
    refused(&rows("b,0,1,1kB,0s,z,"), "3:14", "no flow has the id `z`");
    refused(&rows("b,0,1,1kB,0s,2 of a,"), "3:14", "it waits for 2 of 1 flows");
    refused(&rows("b,0,1,1kB,0s,x of a,"), "3:14", "`x` is not a number");
    refused(&rows("b,0,1,1kB,0s,c,\n\nc,0,1,1kB,0s,b,"), "5:14", "it waits for itself");
    refused(&rows("b,0,1,1kB,5us,,5us"), "3:16", "stopped before it starts");

    let empty = read("f.csv", "# nothing\n", &hosts(), u64::MAX).unwrap_err().to_string();
    assert!(empty.starts_with("f.csv: no flows"), "{empty}");
}

#[test]
fn what_is_written_is_read_back() {
    let host = |n| Host::Number(n);
    let mut flows = vec![Flow::new(host(0), host(1), Bytes(2_000_000), Duration(0)); 3];
    flows[1].from = Host::Name("host 2".into());
    assert_eq!(write(&flows), "from,to,size,start\n0,1,2MB,0ps\nhost 2,1,2MB,0ps\n0,1,2MB,0ps\n");
    for (flow, id) in flows.iter_mut().zip(["x", "y", "z"]) {
        flow.id = Some(id.to_owned());
    }
    flows[1].after = Some("x z".into());
    flows[2] = Flow {
        size: None,
        stop: Some(Duration(7)),
        deadline: Some(Duration(9)),
        job: Some(3),
        ..flows[2].clone()
    };
    let text = write(&flows);
    let [written, listed] =
        [read("f", &text, &hosts(), u64::MAX).unwrap(), tasks(flows, &hosts(), u64::MAX).unwrap()]
            .map(|mut tasks| run(&mut tasks));
    assert_eq!(written, listed);
    assert_eq!(written.len(), 3);
    assert!(text.starts_with("from,to,size,start,id,after,deadline,stop,job\n"), "{text}");
}

#[test]
fn a_list_in_an_experiment_is_the_same() {
    let table = |flows: &str| -> String {
        let text = tresse_experiment::find("xmp/table1").expect("built in").text.replace("k = 8 ", "k = 4 ");
        let workloads = text.find("[workloads.").expect("it has workloads");
        format!("{}[workloads.few]\npattern = \"flows\"\n{flows}", &text[..workloads])
    };
    let plan = |flows: &str| {
        let source = tresse_experiment::Source { name: "few.toml".into(), text: table(flows) };
        let loaded = tresse_experiment::load(source, tresse_experiment::Profile::Full, &[])
            .map_err(|e| e.to_string())?;
        tresse_experiment::resolve(&loaded, &[]).map_err(|e| e.to_string())
    };
    let flows = "flow = [
        { from = 0, to = \"host 1\", size = \"1kB\" },
        { from = 1, to = 2, start = \"1us\", stop = \"5us\", after = \"0\" },
    ]";
    let plan_of_two = plan(flows).expect("valid");
    let mut source = plan_of_two.cases[0].parts[0].source(1);
    let Some(Action::Start(first)) = source.poll(0) else { panic!("the first starts at once") };
    assert_eq!((first.from, first.to, first.bytes, source.poll(0)), (0, 1, Some(1000), None));
    source.handle_finished(US, first.name);
    assert_eq!((source.poll(US), source.next()), (None, 2 * US));
    let Some(Action::Start(second)) = source.poll(2 * US) else { panic!("the second waits for it") };
    assert_eq!((second.bytes, source.next()), (None, 6 * US));
    assert_eq!(source.poll(6 * US), Some(Action::Stop(second.name)));
    let place =
        format!("few.toml:{}:26: there is no host 16: hosts are 0 to 15", table("flow").lines().count());
    for (flow, message) in [
        ("from = 0, to = 16, size = \"1kB\"", &*place),
        ("from = 0, to = 1, size = 1000", "has no unit"),
        ("from = 3, to = 3, size = \"1kB\"", "a host does not send to itself"),
    ] {
        let error = plan(&format!("flow = [{{ {flow} }}]")).expect_err("it is wrong");
        assert!(error.contains(message), "{error}");
    }
}
