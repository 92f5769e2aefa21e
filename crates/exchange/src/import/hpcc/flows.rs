//! The flows: `flow.txt`.

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::read::flow_file::Flow;
use tresse_experiment::read::sniff_format::instead;
use tresse_experiment::schema::host_names::Host;
use tresse_units::{Bytes, Duration, SECOND};
use tresse_workload::MOST_FLOWS;

use super::topology::Network;
use crate::import::packets::Packets;
use crate::import::words::{Input, Word, of_line};

/// The simulator's default sizes.
pub(super) const PACKETS: Packets =
    Packets { mss: 1000, header: 48, ack: 46, origin: "PACKET_PAYLOAD_SIZE's default; headers without INT" };

/// This format, for messages about files that look like several formats.
const FLOWS: &str = "the second file of hpcc";

/// The priority groups of a port in the simulator (`qCnt`).
const GROUPS: u32 = 8;

/// The dialects by their number of columns, for the message about another one.
const EXPECTED: &str =
    "expected `src dst pg dport size start`, as in HPCC, or `src dst pg size start`, as in ConWeave";

/// Another simulator's lines, which look like HPCC's.
const DCQCN: &str = "`src dst priority packets start end` of DCQCN's simulator (ns3-rdma)";
const NEXT: &str = "write each as `src dst pg dport size start`, with its size in bytes";

/// The parts of the file that are left out, and the evidence for another dialect.
#[derive(Default)]
struct Columns {
    groups: bool,
    ports: bool,
    /// Lines whose size in bytes is below their start in seconds.
    tiny: u64,
}

/// Reads `flow.txt`: the number of flows, then `src dst pg dport size start` for each, by their starts; ConWeave's has
/// no `dport`.
pub(super) fn read(
    input: &Input,
    network: &Network,
    notes: &mut Vec<String>,
) -> Result<Vec<Flow>, Diagnostic> {
    let mut lines = (1..).zip(input.text.lines()).map(|(n, text)| of_line(n, text)).filter(|w| !w.is_empty());
    let Some(first) = lines.next() else { return input.ends("the number of flows") };
    let count = count(input, &first)?;
    let mut flows: Vec<Flow> = Vec::new();
    let mut seen = Columns::default();
    let mut columns = 0;
    let mut rest = 0;
    let mut place = first[0];
    for words in lines {
        if flows.len() as u64 == count {
            rest += 1;
            continue;
        }
        if flows.is_empty() {
            if words.len() == 5 && !words[4].text.contains('.') {
                // It may be HPCC's line without its start.
                let message = format!("{EXPECTED} (with a decimal point in the start); found 5 words");
                return words[0].error(input, message);
            }
            (columns, place) = (words.len(), words[0]);
        } else if words.len() != columns {
            let message = format!("{} words, but the first flow has {columns}", words.len());
            return words[0].error(input, message);
        }
        let flow = flow(input, network, &words, &mut seen)?;
        if flows.last().is_some_and(|last| last.start > flow.start) {
            let message = "it starts before the flow above it; the simulator needs the flows sorted by start";
            let hint = "sort the lines after the first by their last column";
            return words[words.len() - 1].error(input, message).map_err(|e| e.hint(hint));
        }
        flows.push(flow);
    }
    if columns == 6 && seen.tiny == flows.len() as u64 && seen.tiny > 0 {
        let what = "every flow has fewer bytes than seconds until its start";
        if seen.ports {
            let message = format!("{what}: are these lines {DCQCN}?");
            return place.error(input, message).map_err(|e| e.hint(NEXT));
        }
        notes.push(format!("{}: {what}: if the lines are {DCQCN}, they are misread; {NEXT}", input.name));
    }
    tell(input, count, flows.len() as u64, rest, notes)?;
    if columns == 5 {
        notes.push(format!("{}: five columns, as in ConWeave: `src dst pg size start`", input.name));
    }
    if seen.groups {
        notes.push("`pg` is left out: all flows are in one class".to_owned());
    }
    if seen.ports {
        notes.push("`dport` is left out: each flow has its own ports".to_owned());
    }
    Ok(flows)
}

/// The number of flows in the first line.
fn count(input: &Input, first: &[Word]) -> Result<u64, Diagnostic> {
    if first.len() != 1 {
        return first[0]
            .error(input, instead("expected only the number of flows in the first line", input.text, FLOWS));
    }
    let count: u64 = first[0].number(input, "the number of flows")?;
    if count == 0 {
        return first[0].error(input, "no flows");
    }
    if count > MOST_FLOWS {
        return first[0]
            .error(input, format!("{count} flows do not fit into memory: a workload may have at most 10^8"));
    }
    Ok(count)
}

/// The flow of a line.
fn flow(input: &Input, network: &Network, words: &[Word], seen: &mut Columns) -> Result<Flow, Diagnostic> {
    let (src, dst, pg, dport, size, start) = match words {
        [src, dst, pg, dport, size, start] => (src, dst, pg, Some(dport), size, start),
        [src, dst, pg, size, start] => (src, dst, pg, None, size, start),
        _ => {
            let message = format!("{EXPECTED}; found {} words", words.len());
            return words[0].error(input, instead(&message, input.text, FLOWS));
        }
    };
    let host = |word: &Word| {
        let id: u32 = word.number(input, "the id of a host")?;
        match network.numbers.get(&id) {
            Some(_) if network.alike => Ok(Host::Number(id)),
            Some(_) => Ok(Host::Name(format!("host {id}"))),
            None if id < network.nodes => word.error(input, format!("node {id} is a switch, not a host")),
            None => word.error(input, format!("there is no node {id} in the topology")),
        }
    };
    let (from, to) = (host(src)?, host(dst)?);
    if from == to {
        return dst.error(input, "the host sends to itself");
    }
    let group: u32 = pg.number(input, "a priority group")?;
    if group >= GROUPS {
        return pg.error(input, format!("{group} is no priority group: a port has {GROUPS}, from 0"));
    }
    seen.groups |= group != 3;
    if let Some(dport) = dport {
        let port: u64 = dport.number(input, "a port")?;
        if u16::try_from(port).is_err() {
            let message = format!("{port} is no port, which is at most 65535: is this line {DCQCN}?");
            return dport.error(input, message).map_err(|e| e.hint(NEXT));
        }
        seen.ports |= port != 100;
    }
    let Ok(bytes) = size.text.parse::<u64>() else {
        let whose = match size.text.parse::<f64>() {
            Ok(_) => format!("; is this line {DCQCN}?"),
            Err(_) => String::new(),
        };
        return size.error(input, format!("expected a size in bytes, found `{}`{whose}", size.text));
    };
    if bytes == 0 {
        return size.error(input, "a flow of 0 bytes would never end in the simulator");
    }
    if let Some(message) = PACKETS.refuse(bytes) {
        return size.error(input, message);
    }
    let begin = seconds(start, input)?;
    seen.tiny += u64::from(bytes < begin.0 / SECOND);
    Ok(Flow::new(from, to, Bytes(bytes), begin))
}

/// What the number of flows in the first line says of a file with `found`, and `rest` lines after them.
fn tell(input: &Input, count: u64, found: u64, rest: u64, notes: &mut Vec<String>) -> Result<(), Diagnostic> {
    if found < count {
        if !is_overwritten(count, found) {
            return input.ends(&format!("{count} flows, as the first line says; found {found}"));
        }
        notes.push(format!(
            "{}: the first line says {count} flows, but there are {found}: traffic_gen.py leaves digits of its \
             estimate behind the number",
            input.name
        ));
    }
    if rest > 0 {
        notes.push(format!(
            "{}: {rest} lines after the {count} flows of the first line are left out, as the simulator does",
            input.name
        ));
    }
    Ok(())
}

/// Whether traffic_gen.py wrote `count` for `found` flows: it first writes an estimate and then the number
/// over it, so the last digit of an estimate with one more digit stays: 998 over 1003 gives 9983.
fn is_overwritten(count: u64, found: u64) -> bool {
    let digits = found.checked_ilog10().unwrap_or(0);
    // Estimates are close; the number of flows left in a truncated file is not.
    count / 10 == found && found >= 8 * 10u64.pow(digits)
}

/// A time in seconds, to a picosecond; exponents are rounded to a nanosecond.
fn seconds(word: &Word, input: &Input) -> Result<Duration, Diagnostic> {
    if let Ok(exact) = format!("{}s", word.text).parse() {
        return Ok(exact);
    }
    match word.text.parse::<f64>() {
        Ok(seconds) if (0.0..1e6).contains(&seconds) => Ok(Duration((seconds * 1e9).round() as u64 * 1000)),
        _ => word.error(input, format!("expected a start in seconds, found `{}`", word.text)),
    }
}
