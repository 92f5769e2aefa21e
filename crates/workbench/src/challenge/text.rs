//! The experiment of a condition, and a condition in words.

use std::fmt::Write;

use tresse_controllers::Controller;

use super::condition::{Condition, Network, Of};

/// The scheme that has the challenged controller, and the one beside it. Flows of the latter are a group of this name.
pub const CANDIDATE: &str = "candidate";
pub const CROSS: &str = "cross";

/// How many parts of a run are sampled.
pub const SAMPLES: u64 = 50;

/// Hosts' links are this many times as fast as the bottlenecks.
const FASTER: u64 = 10;

/// Hosts of a leaf of the incast's network: 16 in all.
const INCAST_HOSTS: u64 = 4;

/// The experiment's file, without the comment at its head.
pub fn toml(condition: &Condition, controller: Controller, title: &str) -> String {
    let duration = condition.duration_us(controller.needs_ecn());
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    line(format!("title = {}\n", quoted(title)));
    fabric(condition, controller).into_iter().for_each(&mut line);
    line("\n[transport]\nprofile = \"linux\"\nhandshake = false".to_owned());
    line("rto_min = \"10ms\"          # as data centres have it".to_owned());
    line("rto_initial = \"10ms\"".to_owned());
    if condition.at(Of::AckEvery) != 1 {
        line(format!("ack_every = \"{}\"", condition.level(Of::AckEvery)));
    }
    let subflows = condition.number(Of::Subflows);
    line(format!("\n[schemes.{CANDIDATE}]\ncontroller = \"{}\"\nsubflows = {subflows}", controller.name()));
    if condition.at(Of::Cross) > 0 {
        let cross = condition.level(Of::Cross);
        line(format!("\n[schemes.{CROSS}]\ncontroller = \"{cross}\"\naxis = false"));
    }
    workload(condition, duration).into_iter().for_each(&mut line);
    events(condition, duration).into_iter().for_each(&mut line);
    let samples =
        if condition.network() == Network::Incast { "1ms".to_owned() } else { us(duration / SAMPLES) };
    line(format!("\n[measure]\nsamples = \"{samples}\""));
    text
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A time with the largest unit that leaves a whole number.
fn us(time: u64) -> String {
    if time.is_multiple_of(1000) { format!("{}ms", time / 1000) } else { format!("{time}us") }
}

/// Half a microsecond is the smallest part of a delay here.
fn half_us(halves: u64) -> String {
    if halves.is_multiple_of(2) { format!("{}us", halves / 2) } else { format!("{}.5us", halves / 2) }
}

/// A multiple or a part of a level such as `2Gbps`.
fn scaled(rate: &str, times: u64, over: u64) -> String {
    let digits = rate.trim_end_matches(|c: char| !c.is_ascii_digit());
    let mbps = digits.parse::<u64>().expect("a level begins with a number")
        * if rate.ends_with("Gbps") { 1000 } else { 1 };
    format!("{}Mbps", mbps * times / over)
}

/// Flows in all: those of the controller and those beside them.
fn flows(condition: &Condition) -> u64 {
    let own = condition.number(Of::Flows);
    if condition.at(Of::Cross) > 0 { 2 * own } else { own }
}

/// Whether all subflows share the bottleneck, which then leads to the one receiver.
fn to_one_host(condition: &Condition) -> bool {
    condition.network() == Network::Bottleneck && condition.number(Of::Subflows) > 1
}

fn fabric(condition: &Condition, controller: Controller) -> Vec<String> {
    let rate = condition.level(Of::Rate);
    let rtt = condition.number(Of::Rtt);
    let fast = scaled(rate, FASTER, 1);
    let mut lines = vec!["[fabric]".to_owned()];
    // Four hops of the empty path have 1 us each; the rest of half the RTT is divided among the others.
    let two_tiers = |lines: &mut Vec<String>, shape: [u64; 3], rate: String| {
        let [leaves, spines, hosts] = shape;
        lines.push("topology = \"leaf-spine\"".to_owned());
        lines.push(format!("leaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {hosts}"));
        lines.push(format!("rate = {rate}"));
        lines.push(format!("delay = {{ rack = \"1us\", spine = \"{}\" }}", spine_delay(rtt)));
    };
    match condition.network() {
        Network::Bottleneck if !to_one_host(condition) => {
            lines.push(format!("topology = \"dumbbell\"\npairs = {}", flows(condition)));
            lines.push(format!("rate = {{ access = \"{fast}\", bottleneck = \"{rate}\" }}"));
            lines.push(format!("delay = {{ access = \"1us\", bottleneck = \"{}us\" }}", rtt / 2 - 2));
        }
        Network::Bottleneck => {
            let shape = [2, condition.number(Of::Subflows), flows(condition)];
            two_tiers(&mut lines, shape, quoted(&fast));
        }
        Network::Paths => {
            let shape = [2, condition.number(Of::Subflows), flows(condition)];
            two_tiers(&mut lines, shape, format!("{{ rack = \"{fast}\", spine = \"{rate}\" }}"));
        }
        Network::ParkingLot => {
            lines.push(format!("topology = \"parking-lot\"\nhops = {}", condition.hops()));
            lines.push(format!("rate = {{ access = \"{fast}\", bottleneck = \"{rate}\" }}"));
            lines.push(format!("delay = {{ access = \"1us\", bottleneck = \"{}us\" }}", rtt / 2 - 2));
        }
        Network::LeafSpine => {
            two_tiers(&mut lines, [4, 4, condition.number(Of::Flows)], quoted(rate));
        }
        Network::Incast => two_tiers(&mut lines, [4, 4, INCAST_HOSTS], quoted(rate)),
    }
    lines.push(format!("queue = \"{}\"", condition.level(Of::Buffer)));
    if controller.needs_ecn() || condition.level(Of::Cross) == "dctcp" {
        lines.push(format!("mark = \"{}\"", condition.level(Of::Mark)));
    }
    lines.push(format!("host_queue = \"{}\"", condition.level(Of::HostQueue)));
    if condition.at(Of::Loss) > 0 {
        let layer = if lines[1].contains("leaf-spine") { "spine" } else { "bottleneck" };
        let other = if layer == "spine" { "rack" } else { "access" };
        lines.push(format!("loss = {{ {other} = 0, {layer} = {} }}", condition.level(Of::Loss)));
    }
    let links = links(condition);
    if !links.is_empty() {
        lines.push(format!(
            "links = [\n{}]",
            links.iter().map(|link| format!("  {{ {link} }},\n")).collect::<String>()
        ));
    }
    lines
}

/// The delay of a link to a spine on a path with this RTT, us.
fn spine_delay(rtt: u64) -> String {
    half_us(rtt / 2 - 2)
}

/// The links that differ from the rest.
fn links(condition: &Condition) -> Vec<String> {
    let (ratio, slower) = (condition.number(Of::RttRatio), condition.number(Of::RateRatio));
    let rate = condition.level(Of::Rate);
    let rtt = condition.number(Of::Rtt);
    let mut links = Vec::new();
    if to_one_host(condition) {
        links.push(format!("ends = [\"leaf 1\", \"host {}\"], rate = \"{rate}\"", flows(condition)));
    }
    if condition.network() == Network::Bottleneck && ratio > 1 {
        for flow in (0..flows(condition)).filter(|flow| flow % 2 == 1) {
            let ends = if to_one_host(condition) {
                format!("\"host {flow}\", \"leaf 0\"")
            } else {
                format!("\"S{}\", \"left\"", flow + 1)
            };
            links.push(format!("ends = [{ends}], delay = \"{}us\"", rtt * (ratio - 1) / 2 + 1));
        }
    }
    if condition.network() == Network::Paths && ratio * slower > 1 {
        for path in (0..condition.number(Of::Subflows)).filter(|path| path % 2 == 1) {
            let mut link = format!("ends = [\"leaf 0..2\", \"spine {path}\"]");
            if ratio > 1 {
                write!(link, ", delay = \"{}\"", spine_delay(rtt * ratio)).expect("text takes text");
            }
            if slower > 1 {
                write!(link, ", rate = \"{}\"", scaled(rate, 1, slower)).expect("text takes text");
            }
            links.push(link);
        }
    }
    if condition.network() == Network::LeafSpine && slower > 1 {
        let rate = scaled(rate, 1, slower);
        links.extend(
            [1, 3].map(|spine| format!("ends = [\"leaf 0..4\", \"spine {spine}\"], rate = \"{rate}\"")),
        );
    }
    links
}

fn workload(condition: &Condition, duration_us: u64) -> Vec<String> {
    let duration = us(duration_us);
    match condition.network() {
        Network::LeafSpine => vec![
            "\n[workloads.permutation]\npattern = \"permutation\"\nsize = \"1TB\"            # more than arrives".to_owned(),
            format!("rounds = 1\nduration = \"{duration}\""),
        ],
        Network::Incast => vec![
            format!("\n[workloads.incast]\npattern = \"incast\"\nservers = {}", condition.number(Of::Flows)),
            format!("size = \"{}\"\nrounds = 3\nduration = \"2s\"", condition.level(Of::Size)),
        ],
        _ => {
            let mut lines = vec![format!("\n[workloads.flows]\npattern = \"flows\"\nduration = \"{duration}\"\nflow = [")];
            lines.extend(list(condition, duration_us));
            lines.push("]".to_owned());
            lines
        }
    }
}

/// The flows, a line each.
fn list(condition: &Condition, duration_us: u64) -> Vec<String> {
    let own = condition.number(Of::Flows);
    let over = duration_us / [u64::MAX, 10, 4][usize::from(condition.at(Of::Start))];
    let line = |flow: u64, of: u64, ends: String| {
        let start = if of > 1 { over * flow / (of - 1) / 100 * 100 } else { 0 };
        let start = if start > 0 { format!(", start = \"{}\"", us(start)) } else { String::new() };
        format!("  {{ {ends}{start} }},")
    };
    if condition.network() == Network::ParkingLot {
        let all = condition.hops() + 1;
        return (0..all)
            .map(|flow| line(flow, all, format!("from = \"S{flow}\", to = \"D{flow}\"")))
            .collect();
    }
    let all = flows(condition);
    let ends = |flow: u64| {
        let beside =
            if flow >= own { format!(", name = \"{CROSS}\", scheme = \"{CROSS}\"") } else { String::new() };
        let hosts = match condition.network() {
            Network::Paths => format!("from = {flow}, to = {}", flow + all),
            _ if to_one_host(condition) => format!("from = {flow}, to = {all}"),
            _ => format!("from = \"S{0}\", to = \"D{0}\"", flow + 1),
        };
        hosts + &beside
    };
    (0..all).map(|flow| line(flow, all, ends(flow))).collect()
}

/// The link that an event is about, and how many times slower than the bottleneck it is.
fn changing(condition: &Condition) -> (String, u64) {
    match condition.network() {
        Network::Bottleneck if to_one_host(condition) => {
            (format!("\"leaf 1\", \"host {}\"", flows(condition)), 1)
        }
        Network::Bottleneck => ("\"left\", \"right\"".to_owned(), 1),
        Network::Paths => ("\"leaf 0\", \"spine 1\"".to_owned(), condition.number(Of::RateRatio)),
        Network::ParkingLot => ("\"switch 0\", \"switch 1\"".to_owned(), 1),
        Network::LeafSpine | Network::Incast => ("\"leaf 0\", \"spine 0\"".to_owned(), 1),
    }
}

/// When an event begins and ends, in parts of the run.
pub const OUTAGE: [(u64, u64); 2] = [(2, 5), (1, 2)];

fn events(condition: &Condition, duration_us: u64) -> Vec<String> {
    let kind = condition.level(Of::Event);
    if kind == "none" {
        return Vec::new();
    }
    let (link, slower) = changing(condition);
    let rate = |slower| format!("rate = \"{}\"", scaled(condition.level(Of::Rate), 1, slower));
    let states = match kind {
        "slow" => [rate(10 * slower), rate(slower)],
        _ => ["failed = true".to_owned(), "failed = false".to_owned()],
    };
    let at = OUTAGE.map(|(part, of)| us(duration_us * part / of));
    let change =
        |(at, state): (String, String)| format!("\n[[changes]]\nat = \"{at}\"\nlink = [{link}]\n{state}");
    at.into_iter().zip(states).map(change).collect()
}

/// A condition in words, for the sentence of a failure.
pub fn words(condition: &Condition, controller: &str) -> String {
    let [n, subflows] = [Of::Flows, Of::Subflows].map(|of| condition.number(of));
    let counted = |n: u64, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
    let rate = condition.level(Of::Rate).replace("Gbps", " Gbit/s").replace("Mbps", " Mbit/s");
    let mut text = match condition.network() {
        Network::Bottleneck => format!("{} of {controller}", counted(n, "flow")),
        Network::Paths => format!("{} of {controller} over {subflows} paths", counted(n, "flow")),
        Network::ParkingLot => format!("{controller} over {} bottlenecks in a row", condition.hops()),
        Network::LeafSpine => format!("a permutation of {} hosts with {controller}", 4 * n),
        Network::Incast => {
            format!(
                "an incast of {} with {controller}, {} each",
                counted(n, "sender"),
                condition.level(Of::Size)
            )
        }
    };
    if subflows > 1 && condition.network() != Network::Paths {
        write!(text, ", {subflows} subflows each,").expect("text takes text");
    }
    if condition.at(Of::Cross) > 0 {
        write!(text, " beside as many of {}", condition.level(Of::Cross)).expect("text takes text");
    }
    write!(text, " at {rate} and {} us", condition.number(Of::Rtt)).expect("text takes text");
    let mut more = Vec::new();
    let other = if condition.network() == Network::Bottleneck { "flow" } else { "path" };
    if condition.at(Of::RttRatio) > 0 {
        more.push(format!("every other {other} with {} times the RTT", condition.number(Of::RttRatio)));
    }
    if condition.at(Of::RateRatio) > 0 {
        more.push(format!("every other path {} times slower", condition.number(Of::RateRatio)));
    }
    match condition.level(Of::Start) {
        "soon" => more.push("flows starting over a tenth of the run".to_owned()),
        "late" => more.push("flows starting over a quarter of the run".to_owned()),
        _ => {}
    }
    match condition.level(Of::Event) {
        "slow" => more.push("a link at a tenth of its rate for a tenth of the run".to_owned()),
        "fail" => more.push("a link down for a tenth of the run".to_owned()),
        _ => {}
    }
    if condition.at(Of::Loss) > 0 {
        more.push(format!("{} of the packets lost", condition.level(Of::Loss)));
    }
    if condition.at(Of::AckEvery) != 1 {
        let every = condition.number(Of::AckEvery);
        more.push(if every == 1 {
            "an ACK for each packet".to_owned()
        } else {
            format!("an ACK for every {every} packets")
        });
    }
    if condition.at(Of::HostQueue) > 0 {
        more.push(format!("a host queue of {}", condition.level(Of::HostQueue)));
    }
    more.push(format!("queues of {} packets", condition.number(Of::Buffer)));
    format!("{text}, {}", more.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OWNERS;
    use crate::challenge::condition::Space;
    use tresse_experiment::{Profile, Source};
    use tresse_units::SplitMix;

    #[test]
    fn every_condition_is_an_experiment_of_one_case() {
        for (controller, subflows, seed) in [("xmp", 4, 1), ("reno", 1, 2), ("lia", 4, 3)] {
            let own = tresse_controllers::find(controller).expect("it is built in");
            let (space, mut random) = (Space::whole(subflows), SplitMix::new(seed));
            for _ in 0..200 {
                let condition = space.draw(&mut random);
                if !space.has(condition.network()) {
                    continue;
                }
                let condition = condition.settled(&space, own.needs_ecn());
                let text = toml(&condition, own, "One");
                let source = Source { name: "one".to_owned(), text: text.clone() };
                let loaded =
                    OWNERS.load(source, Profile::Quick, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let plan = OWNERS.resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
                assert_eq!(plan.cases.len(), 1, "{text}");
            }
        }
    }

    #[test]
    fn delays_add_up_to_the_round_trip() {
        assert_eq!(spine_delay(200), "49us");
        assert_eq!(spine_delay(50), "11.5us");
        assert_eq!(scaled("2Gbps", 10, 1), "20000Mbps");
        assert_eq!(us(500_000), "500ms");
        assert_eq!(us(400), "400us");
    }
}
