//! Values with a unit: what they accept, print and reject.

use proptest::prelude::{any, prop_assert_eq, proptest};
use tresse_units::{Bytes, Duration, Flops, Packets, Probability, Queue, Rate};

#[test]
fn units_are_decimal_and_exact() {
    assert_eq!("10Gbps".parse(), Ok(Rate(10_000_000_000)));
    assert_eq!("2.5 Gbps".parse(), Ok(Rate(2_500_000_000)));
    assert_eq!("20us".parse(), Ok(Duration(20_000_000)));
    assert_eq!("1.5ns".parse(), Ok(Duration(1_500)));
    assert_eq!("64MB".parse(), Ok(Bytes(64_000_000)));
    assert_eq!("64MiB".parse(), Ok(Bytes(64 << 20)));
    assert_eq!("1pkt".parse(), Ok(Packets(1)));
    assert_eq!("312Tflops".parse(), Ok(Flops(312_000_000_000_000)));
    assert_eq!("150kB".parse(), Ok(Queue::Bytes(150_000)));
    assert_eq!("100pkt".parse(), Ok(Queue::Packets(100)));
    assert_eq!("unlimited".parse(), Ok(Queue::Unlimited));
}

#[test]
fn what_is_refused_says_why() {
    let reason = |r: Result<Duration, String>| r.expect_err("refused");
    assert!(reason("20".parse()).contains("has no unit"));
    assert!(reason("us".parse()).contains("has no number"));
    assert!(reason("-3us".parse()).contains("is negative"));
    assert!(reason("3min".parse()).contains("\"min\" is not a unit of a duration"));
    assert!(reason("1.2.3us".parse()).contains("is not a number"));
    assert!(reason("0.5ps".parse()).contains("finer than one ps"));
    assert!(reason("99999999999999s".parse()).contains("too large"));
    assert!(reason("99999999999999999999999999999999s".parse()).contains("too large"));
    assert!(reason("0.99999999999999999999999999999999s".parse()).contains("is not a number"));
    assert!("3Gbps".parse::<Duration>().is_err(), "a rate is no duration");
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(n in any::<u64>(), m in any::<u32>()) {
        prop_assert_eq!(Rate(n).to_string().parse(), Ok(Rate(n)));
        prop_assert_eq!(Duration(n).to_string().parse(), Ok(Duration(n)));
        prop_assert_eq!(Bytes(n).to_string().parse(), Ok(Bytes(n)));
        prop_assert_eq!(Flops(n).to_string().parse(), Ok(Flops(n)));
        prop_assert_eq!(Packets(m).to_string().parse(), Ok(Packets(m)));
    }

    #[test]
    fn nothing_that_is_typed_panics(text in "[-0-9. a-zA-Z]{0,12}") {
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Queue>();
    }
}

#[test]
fn a_probability_is_rounded_to_parts_of_2_to_the_32() {
    let read = |text: &str| toml::from_str::<std::collections::BTreeMap<String, Probability>>(text);
    for (text, parts) in [("0", 0), ("0.0", 0), ("1", 1 << 32), ("0.001", 4_294_967), ("2.4e-10", 1)] {
        let read = read(&format!("p = {text}")).expect("a probability");
        assert_eq!(read["p"].parts(), parts, "{text}");
    }
    for text in ["-0.1", "1.001", "nan", "inf", "1e-10", "\"1 %\"", "true"] {
        assert!(read(&format!("p = {text}")).is_err(), "{text}");
    }
}
