//! The queues of ports as classes of HTB, and their markers.

use std::fmt::Write as _;

use tresse_fabric::Threshold;
use tresse_linux::mark::{Class as Service, Length, MAX_THRESHOLD, MAX_WEIGHT, Match, Settings};
use tresse_units::{BitsPerSecond, SECOND};

use super::layout::{Class, Layout, Mark, Port};
use super::names::{FRAME, interface};
use crate::clock::Scale;

/// The number of a port's first class in HTB.
const FIRST: u32 = 0x10;

/// HTB's largest quantum, bytes.
const MOST_QUANTUM: u64 = 60_000;

/// How much HTB may save up while its timers are late. What it cannot save it loses: it is then slower than its marker
/// believes, which loses sight of the queue.
const SLACK: u64 = SECOND / 200;

/// The marker of a port; `None` if it marks nothing.
pub(super) fn marker(port: &Port, scale: Scale) -> Option<Settings> {
    // The marker drains 1 % faster than it is told. Drained faster than the real queue, it would lose sight of it.
    let rate_bps = scale.rate(port.rate) * 99 / 100;
    let length = |mark: Option<Mark>| match mark {
        Some(Mark::Above(bytes)) if bytes.is_bytes() => Length::Bytes(bytes.value()),
        Some(Mark::Above(packets)) => Length::Packets(packets.value()),
        Some(Mark::Share(bytes)) => Length::Bytes(bytes),
        None => Length::Bytes(MAX_THRESHOLD),
    };
    let threshold = port.classes.iter().find_map(|class| class.mark)?;
    let threshold = length(Some(threshold));
    if let [_] = port.classes[..] {
        return Some(Settings { rate_bps, threshold, classes: Vec::new() });
    }
    let least = port.classes.iter().map(|class| class.quantum).min().unwrap_or(1).max(1);
    let class = |(dscp, class): (u8, &Class)| Service {
        name: format!("class-{dscp}"),
        // In proportion, with two places for a weight that is no multiple of the least.
        weight: (u64::from(class.quantum) * 100 / u64::from(least)).clamp(1, MAX_WEIGHT.into()) as u32,
        rule: Match::Dscp(dscp),
        threshold: (!matches!(class.mark, Some(Mark::Share(_)))).then(|| length(class.mark)),
    };
    Some(Settings { rate_bps, threshold, classes: (0..).zip(&port.classes).map(class).collect() })
}

/// Commands for `tc`: the queues, and the place for filters and markers on the ports of machines.
pub(super) fn queues(layout: &Layout, scale: Scale) -> String {
    let mut lines = String::new();
    for (number, port) in (0..).zip(&layout.ports) {
        let name = interface(number);
        if port.ends[0] < layout.nics {
            let _ = writeln!(lines, "qdisc add dev {name} clsact");
        }
        if !port.can_fill {
            continue;
        }
        let rate = scale.rate(port.rate);
        let burst = (u128::from(rate) * u128::from(SLACK) / u128::from(8 * SECOND)).max(FRAME.into()) + 86;
        let burst = format!("burst {burst} cburst {burst}");
        let _ = writeln!(
            lines,
            "qdisc add dev {name} root handle 1: htb default {FIRST:x}\n\
             class add dev {name} parent 1: classid 1:1 htb rate {rate}bit ceil {rate}bit {burst} quantum {FRAME}"
        );
        // A class has its share of the rate, and borrows what others leave, in proportion to the quanta.
        let all: u64 = port.classes.iter().map(|class| u64::from(class.quantum)).sum();
        let least = port.classes.iter().map(|class| u64::from(class.quantum)).min().unwrap_or(1).max(1);
        for (class, own) in (FIRST..).zip(&port.classes) {
            let share = u128::from(rate) * u128::from(own.quantum) / u128::from(all.max(1));
            let quantum = (FRAME * u64::from(own.quantum) / least).clamp(FRAME, MOST_QUANTUM);
            let limit = match own.limit {
                Threshold::UNLIMITED => "pfifo limit 1000000".to_owned(),
                bytes if bytes.is_bytes() => format!("bfifo limit {}", bytes.value().max(FRAME)),
                packets => format!("pfifo limit {}", packets.value().max(1)),
            };
            let _ = writeln!(
                lines,
                "class add dev {name} parent 1:1 classid 1:{class:x} htb rate {share}bit ceil {rate}bit {burst} \
                 quantum {quantum}\n\
                 qdisc add dev {name} parent 1:{class:x} handle {class:x}: {limit}"
            );
            if class > FIRST {
                let _ = writeln!(
                    lines,
                    "filter add dev {name} parent 1: protocol ip prio 1 u32 match ip tos {:#x} 0xfc flowid \
                     1:{class:x}",
                    (class - FIRST) << 2
                );
            }
        }
    }
    lines
}

impl Scale {
    /// A rate on the machine.
    fn rate(self, rate: BitsPerSecond) -> BitsPerSecond {
        let second = self.wall(SECOND).as_nanos().max(1);
        (u128::from(rate) * 1_000_000_000 / second) as BitsPerSecond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_a_third_of_the_speed_a_rate_is_a_third() {
        let third: Scale = "1/3".parse().expect("a fraction");
        assert_eq!(third.rate(600_000_000), 200_000_000);
        assert_eq!(Scale::WHOLE.rate(1_000_000_007), 1_000_000_007);
    }
}
