//! Attributes of links in other tools' words: read where their unit is known, refused where it is not.

use super::Attribute;

/// What a foreign attribute of a link is here.
#[derive(Debug, PartialEq, Eq)]
pub enum Foreign {
    /// One of ours, with its value in our form.
    Ours(&'static str, String),
    /// One of ours, in a unit that the file does not say, or with a value that is not a number.
    Unclear(&'static str),
    /// It says the unit of another attribute.
    Companion,
    /// Nothing that is known.
    Unknown,
}

/// Words for ours, in small letters without anything between them.
const WORDS: [(&str, &str); 31] = [
    ("rate", "rate"),
    ("bandwidth", "rate"),
    ("bw", "rate"),
    ("capacity", "rate"),
    ("datarate", "rate"),
    ("bitrate", "rate"),
    ("speed", "rate"),
    ("throughput", "rate"),
    ("linkspeed", "rate"),
    ("linkrate", "rate"),
    ("linkbandwidth", "rate"),
    ("linkbw", "rate"),
    ("linkcapacity", "rate"),
    ("portspeed", "rate"),
    ("maxbandwidth", "rate"),
    ("maxspeed", "rate"),
    ("delay", "delay"),
    ("latency", "delay"),
    ("linkdelay", "delay"),
    ("linklatency", "delay"),
    ("propagation", "delay"),
    ("propagationdelay", "delay"),
    ("buffer", "queue"),
    ("buffersize", "queue"),
    ("queuesize", "queue"),
    ("queuelimit", "queue"),
    ("ecn", "mark"),
    ("threshold", "mark"),
    ("lossrate", "loss"),
    ("errorrate", "loss"),
    ("tier", "layer"),
];

/// Units at the end of a name, in small letters; a name in capitals alone does not tell bits from bytes.
const UNITS: [(&str, &str, &str); 19] = [
    ("rate", "tbps", "Tbps"),
    ("rate", "gbps", "Gbps"),
    ("rate", "mbps", "Mbps"),
    ("rate", "kbps", "kbps"),
    ("rate", "gbits", "Gbps"),
    ("rate", "mbits", "Mbps"),
    ("rate", "kbits", "kbps"),
    ("rate", "gbit", "Gbps"),
    ("rate", "mbit", "Mbps"),
    ("rate", "kbit", "kbps"),
    ("rate", "bps", "bps"),
    ("delay", "ns", "ns"),
    ("delay", "us", "us"),
    ("delay", "ms", "ms"),
    ("delay", "sec", "s"),
    ("queue", "packets", "pkt"),
    ("queue", "pkts", "pkt"),
    ("queue", "pkt", "pkt"),
    ("queue", "bytes", "B"),
];

/// The Internet Topology Zoo's `LinkSpeedRaw`, bit/s, and the unit of its `LinkSpeed`.
const RAW: &str = "linkspeedraw";
const ZOO_UNITS: &str = "linkspeedunits";

/// What the attribute `name` with this value says; `all` are those of the same link.
pub fn read(name: &str, value: Option<&str>, all: &[Attribute]) -> Foreign {
    let plain = plain(name);
    if plain == ZOO_UNITS {
        return Foreign::Companion;
    }
    let Some((ours, unit)) = ours(&plain) else { return Foreign::Unknown };
    if ours == "rate" && (name.ends_with("Bps") && unit.is_some() || name.contains("Byte")) {
        // Bytes or bits: `bandwidth_MBps` means the former, `bandwidthBps` may mean either.
        return Foreign::Unclear(ours);
    }
    let companion = || {
        let attribute = all.iter().find(|a| self::plain(&a.name) == ZOO_UNITS)?;
        match attribute.value.as_deref()?.to_lowercase().as_str() {
            "t" | "tbps" => Some("Tbps"),
            "g" | "gbps" => Some("Gbps"),
            "m" | "mbps" => Some("Mbps"),
            "k" | "kbps" => Some("kbps"),
            _ => None,
        }
    };
    let unit = unit.or_else(|| (plain == "linkspeed").then(companion).flatten());
    let Some(value) = value.map(str::trim).filter(|_| ours != "layer") else { return Foreign::Unclear(ours) };
    let said = match (unit, decimal(value)) {
        (Some(unit), Some(number)) => format!("{number}{unit}"),
        // A value with its unit, which our reader checks.
        (None, None) if value.starts_with(|c: char| c.is_ascii_digit()) => value.to_owned(),
        _ => return Foreign::Unclear(ours),
    };
    Foreign::Ours(ours, said)
}

/// Small letters and digits alone: `Link_Speed` is `linkspeed`.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Which of ours a name in plain form means, and the unit that it ends in.
fn ours(plain: &str) -> Option<(&'static str, Option<&'static str>)> {
    if plain == RAW {
        return Some(("rate", Some("bps")));
    }
    let word = |plain: &str| WORDS.iter().find(|(word, _)| *word == plain).map(|(_, ours)| *ours);
    if let Some(ours) = word(plain) {
        return Some((ours, None));
    }
    let with_unit = |&(of, end, unit): &(&str, &str, &'static str)| {
        let stem = plain.strip_suffix(end)?;
        // `queue` alone is ours, but `queue_pkts` is not.
        let ours = word(stem).or_else(|| (stem == "queue").then_some("queue"))?;
        (ours == of || of == "queue" && ours == "mark").then_some((ours, Some(unit)))
    };
    UNITS.iter().find_map(with_unit)
}

/// A number without sign or exponent, as our units have it: `1000000000.0`, and `1e9` written out.
fn decimal(value: &str) -> Option<String> {
    let number: f64 = value.parse().ok().filter(|n: &f64| n.is_finite() && (0.0..1e18).contains(n))?;
    let is_plain = value.chars().all(|c| c.is_ascii_digit() || c == '.');
    // `Display` has no exponent, and the digits that make up this number.
    Some(if is_plain { value.to_owned() } else { number.to_string() })
}

#[cfg(test)]
mod tests {
    use super::{Attribute, Foreign, read};

    fn of(name: &str, value: &str, unit: Option<&str>) -> Foreign {
        let units = unit.map(|unit| Attribute {
            name: "LinkSpeedUnits".to_owned(),
            value: Some(unit.to_owned()),
            at: 0,
        });
        read(name, Some(value), &units.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn values_whose_unit_is_known_are_read() {
        let rate = |text: &str| Foreign::Ours("rate", text.to_owned());
        for (name, value, unit, expected) in [
            ("LinkSpeedRaw", "1000000000.0", None, rate("1000000000.0bps")),
            ("LinkSpeedRaw", "1.0E10", None, rate("10000000000bps")),
            ("LinkSpeed", "2.5", Some("G"), rate("2.5Gbps")),
            ("linkspeed", "1Gbps", None, rate("1Gbps")),
            ("link_speed_mbps", "100", None, rate("100Mbps")),
            ("bandwidthGbps", "40", None, rate("40Gbps")),
            ("CAPACITY_GBPS", "1", None, rate("1Gbps")),
            ("latency_us", "2.5", None, Foreign::Ours("delay", "2.5us".to_owned())),
            ("delay_ms", "1", None, Foreign::Ours("delay", "1ms".to_owned())),
            ("queue_pkts", "64", None, Foreign::Ours("queue", "64pkt".to_owned())),
            ("ecn_bytes", "3000", None, Foreign::Ours("mark", "3000B".to_owned())),
        ] {
            assert_eq!(of(name, value, unit), expected, "{name}");
        }
    }

    #[test]
    fn values_in_an_unknown_unit_are_not_guessed() {
        for (name, value, unit) in [
            ("linkspeed", "1000", None),
            ("LinkSpeed", "10", Some("furlongs")),
            ("LinkSpeed", "<10", Some("G")),
            ("bandwidth", "10", None),
            ("bandwidth_MBps", "10", None),
            ("bandwidth_mbps", "fast", None),
        ] {
            assert_eq!(of(name, value, unit), Foreign::Unclear("rate"), "{name}");
        }
        assert_eq!(of("loss_rate", "0.1", None), Foreign::Unclear("loss"), "a probability or per cent");
        assert_eq!(of("LinkSpeedUnits", "G", None), Foreign::Companion);
        for name in ["cap", "weight", "LinkLabel", "cost_ms", "status"] {
            assert_eq!(of(name, "5", None), Foreign::Unknown, "{name}");
        }
    }
}
