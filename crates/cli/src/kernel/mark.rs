//! `tresse mark add`, `del` and `show`.

use std::io::{self, Write};

use tresse_linux::mark::{self, Class, ClassStatus, Length, Marker, Match, Settings};
use tresse_units::{Duration, Queue, Rate, SECOND};
use tresse_workbench::Failure;

use crate::ended::Ended;
use crate::output::print_json;
use crate::table::Table;

/// Set ECN marks where no queue does, with a virtual queue at the egress of a device
///
/// For hosts and virtual switches without active queue management. See `tresse explain marker`.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Add(AddArgs),
    Del(DelArgs),
    Show(ShowArgs),
}

/// Mark the packets that leave a device
///
/// The marker computes how long the queue would be if the link had the given rate, and sets CE on
/// ECN-capable packets that would find more than the threshold there. It stays until `tresse mark
/// del` or until the device disappears.
///
/// Examples:
///
///   tresse mark add eth0 --rate 1Gbps --threshold 20pkt
///   tresse mark add eth0 --rate 10Gbps --rtt 200us      # vMCC's threshold, 42.5 kB
///
///   Two classes of service, which share the rate and the threshold 3 : 1 while both have packets
///   waiting; packets that match neither are in the class `default`, with weight 1:
///
///   tresse mark add eth0 --rate 10Gbps --threshold 65pkt \
///       --class web,weight=3,dscp=10 --class backup,weight=1,mark=0x2,threshold=30kB
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, group(clap::ArgGroup::new("k").required(true).args(["threshold", "rtt"])))]
pub struct AddArgs {
    /// The network device
    device: String,
    /// The rate of the link to mark for, 1Mbps to 400Gbps
    #[arg(long)]
    rate: Rate,
    /// K: packets that find more in the queue are marked; full-sized frames ("20pkt") or bytes ("30kB")
    #[arg(long)]
    threshold: Option<Queue>,
    /// Instead of K: the mean round-trip time without queues. K is then rate x RTT x lambda, at least two frames
    /// (vMCC, equation (1))
    #[arg(long)]
    rtt: Option<Duration>,
    /// Lambda of that K: about 0.17 for a cut like DCTCP's, 1 for controllers that halve their window
    #[arg(long, value_name = "FACTOR", default_value = "0.17", requires = "rtt", value_parser = lambda)]
    lambda: f64,
    /// A class of service, at most 8: its name, its weight (1 to 1000), which packets it takes (DSCP
    /// 0 to 63, or a packet mark), and optionally its own threshold instead of a share of --threshold.
    /// The first class that matches decides
    #[arg(long = "class", value_name = "NAME,weight=W,dscp=N|mark=N[,threshold=K]", value_parser = class)]
    classes: Vec<Class>,
    /// The network namespace of the device, as `ip netns` names it
    #[arg(long, value_name = "NAME")]
    netns: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Remove the marker from a device
///
/// The clsact queueing discipline is removed too if nothing else is attached to it.
#[derive(Debug, clap::Args)]
pub struct DelArgs {
    /// The network device
    device: String,
    /// The network namespace of the device, as `ip netns` names it
    #[arg(long, value_name = "NAME")]
    netns: Option<String>,
}

/// Show markers and what they have counted
///
/// threshold and backlog are the current ones, in bytes. `not ECT` counts packets that found the
/// queue above the threshold and could not be marked, because their sender does not use ECN.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The network device [default: all devices]
    device: Option<String>,
    /// The network namespace of the devices, as `ip netns` names it
    #[arg(long, value_name = "NAME")]
    netns: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(command: Command) -> Result<(), Ended> {
    match command {
        Command::Add(args) => add(args),
        Command::Del(args) => Ok(mark::del(&args.device, args.netns.as_deref())?),
        Command::Show(args) => {
            let markers = mark::show(args.device.as_deref(), args.netns.as_deref())?;
            if markers.is_empty() && !args.json {
                let device = args.device.as_deref().unwrap_or("no device");
                let has = if args.device.is_some() { "has no marker" } else { "has a marker" };
                let place =
                    args.netns.map_or_else(|| "this namespace".to_owned(), |name| format!("`{name}`"));
                return Ok(writeln!(io::stdout(), "{device} of {place} {has}")?);
            }
            print(args.netns.as_deref(), &markers, args.json)
        }
    }
}

fn add(args: AddArgs) -> Result<(), Ended> {
    let threshold = match (args.threshold, args.rtt) {
        (Some(threshold), _) => length(threshold).map_err(|e| Failure::Input(format!("--threshold: {e}")))?,
        (None, rtt) => of_rtt(args.rate, rtt.unwrap_or(Duration(0)), args.lambda),
    };
    let settings = Settings { rate_bps: args.rate.0, threshold, classes: args.classes };
    let marker = mark::add(&args.device, &settings, args.netns.as_deref())?;
    if marker.gso_max_segs > 1 {
        let (device, segments) = (&marker.device, marker.gso_max_segs);
        let netns = args.netns.as_ref().map(|n| format!("-n {n} ")).unwrap_or_default();
        // Standard error may be closed.
        let _ = writeln!(
            io::stderr(),
            "warning: a packet of {device} may hold {segments} segments, which are marked together or \
             not at all\n\nhint: `ip {netns}link set {device} gso_max_segs 1`"
        );
    }
    print(args.netns.as_deref(), &[marker], args.json)
}

fn print(netns: Option<&str>, markers: &[Marker], json: bool) -> Result<(), Ended> {
    if json {
        return print_json(&serde_json::json!({
            "schema": "tresse/mark/1", "netns": netns, "devices": markers,
        }));
    }
    let head = [
        "device",
        "rate",
        "class",
        "match",
        "weight",
        "threshold",
        "backlog",
        "packets",
        "marked",
        "not ECT",
    ];
    let mut table = Table::new(&head);
    for marker in markers {
        for (i, class) in marker.classes.iter().enumerate() {
            let of_device = [marker.device.clone(), Rate(marker.rate_bps).to_string()];
            let head = if i == 0 { of_device } else { Default::default() };
            table.row(head.into_iter().chain(cells(class)).collect());
        }
    }
    write!(io::stdout(), "{table}")?;
    Ok(())
}

fn cells(class: &ClassStatus) -> [String; 8] {
    let numbers = [class.backlog_bytes, class.packets, class.marked_pkts, class.not_ect_pkts];
    let [backlog, packets, marked, not_ect] = numbers.map(|n| n.to_string());
    let rule = class.rule.map_or_else(|| "other".to_owned(), |r| r.to_string());
    let [weight, threshold] = [class.weight, class.threshold_bytes].map(|n| n.to_string());
    [class.name.clone(), rule, weight, threshold, backlog, packets, marked, not_ect]
}

fn length(queue: Queue) -> Result<Length, String> {
    match queue {
        Queue::Packets(n) => Ok(Length::Packets(n)),
        Queue::Bytes(n) => Ok(Length::Bytes(n)),
        Queue::Unlimited => {
            Err("an unlimited threshold marks nothing; expected a value such as \"20pkt\"".to_owned())
        }
    }
}

/// K of a link: rate x RTT x lambda, at least two full frames (vMCC eq. (1)).
fn of_rtt(rate: Rate, rtt: Duration, lambda: f64) -> Length {
    let bytes = rate.0 as f64 / 8.0 * (rtt.0 as f64 / SECOND as f64) * lambda;
    match bytes.round() as u64 {
        0..=TWO_FRAMES => Length::Packets(2),
        bytes => Length::Bytes(bytes),
    }
}

/// A factor of the RTT.
fn lambda(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor| (0.001..=100.0).contains(factor));
    factor.ok_or_else(|| "expected a number from 0.001 to 100, such as 0.17".to_owned())
}

/// Two frames of Ethernet's usual size.
const TWO_FRAMES: u64 = 2 * 1514;

/// `NAME,weight=W,dscp=N|mark=N[,threshold=K]`.
fn class(text: &str) -> Result<Class, String> {
    const EXPECTED: &str = "expected NAME,weight=W,dscp=N or NAME,weight=W,mark=N";
    let mut parts = text.split(',').map(str::trim);
    let name = parts.next().unwrap_or_default();
    if name.contains('=') {
        return Err(format!("`{name}` is not a name; {EXPECTED}"));
    }
    let (mut weight, mut rule, mut threshold) = (None, None, None);
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(|| format!("`{part}`: {EXPECTED}"))?;
        let number = |what: &str| format!("{key}={value}: expected {what}");
        let twice = match key {
            "weight" => weight.replace(value.parse().map_err(|_| number("a whole number"))?).is_some(),
            "dscp" => rule.replace(Match::Dscp(value.parse().map_err(|_| number("0 to 63"))?)).is_some(),
            "mark" => {
                let bits =
                    value.strip_prefix("0x").map_or_else(|| value.parse(), |v| u32::from_str_radix(v, 16));
                rule.replace(Match::Mark(bits.map_err(|_| number("32 bits, such as 10 or 0xa"))?)).is_some()
            }
            "threshold" => {
                let queue: Queue = value.parse().map_err(|e| format!("threshold: {e}"))?;
                threshold.replace(length(queue).map_err(|e| format!("threshold: {e}"))?).is_some()
            }
            _ => {
                let hint = tresse_experiment::did_you_mean(key, ["weight", "dscp", "mark", "threshold"]);
                return Err(format!("`{key}` is not a key of a class{hint}; {EXPECTED}"));
            }
        };
        if twice {
            return Err(format!("`{part}` conflicts with an earlier key; {EXPECTED}"));
        }
    }
    let (Some(weight), Some(rule)) = (weight, rule) else {
        return Err(format!(
            "{} is missing; {EXPECTED}",
            if weight.is_none() { "weight" } else { "dscp or mark" }
        ));
    };
    Ok(Class { name: name.to_owned(), weight, rule, threshold })
}

#[cfg(test)]
mod tests {
    use super::{Class, Length, Match, class, lambda, of_rtt};

    #[test]
    fn k_is_rate_times_rtt_times_lambda_and_two_frames_at_least() {
        let k = |rate: &str, rtt: &str, factor: &str| {
            of_rtt(
                rate.parse().expect("a rate"),
                rtt.parse().expect("a time"),
                lambda(factor).expect("a factor"),
            )
        };
        assert_eq!(k("10Gbps", "200us", "0.17"), Length::Bytes(42_500));
        assert_eq!(k("10Gbps", "200us", "1"), Length::Bytes(250_000));
        assert_eq!(k("300Mbps", "200us", "0.17"), Length::Packets(2));
        assert!(["0", "-1", "x", "inf"].iter().all(|wrong| lambda(wrong).is_err()));
    }

    #[test]
    fn a_class_is_read() {
        let web = Class { name: "web".into(), weight: 3, rule: Match::Dscp(10), threshold: None };
        assert_eq!(class("web,weight=3,dscp=10"), Ok(web));
        let bulk = class("bulk, mark=0x2, weight=1, threshold=30kB").expect("it is one");
        assert_eq!((bulk.rule, bulk.threshold), (Match::Mark(2), Some(Length::Bytes(30_000))));
    }

    #[test]
    fn what_is_wrong_with_a_class_is_said() {
        for (text, message) in [
            ("weight=3,dscp=10", "`weight=3` is not a name"),
            ("web,dscp=10", "weight is missing"),
            ("web,weight=3", "dscp or mark is missing"),
            ("web,weight=3,dscp=10,mark=1", "`mark=1` conflicts with an earlier key"),
            ("web,weight=3,dscp=EF", "expected 0 to 63"),
            ("web,weight=3,mark=0xg", "expected 32 bits"),
            ("web,wieght=3,dscp=10", "did you mean `weight`?"),
            ("web,weight=3,dscp=10,threshold=20", "has no unit"),
            ("web,weight=3,dscp=10,threshold=unlimited", "marks nothing"),
            ("web,3", "`3`: expected NAME"),
        ] {
            let error = class(text).expect_err(text);
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
