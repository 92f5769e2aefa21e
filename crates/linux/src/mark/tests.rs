use super::{Class, Length, Match, Settings, add};
use crate::Error;

fn class(name: &str, rule: Match) -> Class {
    Class { name: name.into(), weight: 1, rule, threshold: None }
}

fn refused(change: impl FnOnce(&mut Settings)) -> String {
    let mut settings = Settings {
        rate_bps: 1_000_000_000,
        threshold: Length::Packets(20),
        classes: vec![class("a", Match::Dscp(10)), class("b", Match::Mark(10))],
    };
    settings.check().expect("they are fine");
    change(&mut settings);
    // Rejected before the device or the permission is checked.
    match add("tresse-no-such-device", &settings, None) {
        Err(Error::Input(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    assert!(refused(|s| s.rate_bps = 0).contains("a rate of 0 bit/s"));
    assert!(refused(|s| s.rate_bps = 401_000_000_000).contains("400 Gbit/s"));
    assert!(refused(|s| s.threshold = Length::Bytes(0)).contains("a threshold of 0"));
    assert!(refused(|s| s.threshold = Length::Bytes(1 << 27)).contains("at most 64 MiB"));
    assert!(refused(|s| s.classes[1].threshold = Some(Length::Packets(0))).contains("a threshold of 0"));
    assert!(refused(|s| s.classes[1].rule = Match::Dscp(10)).contains("`a` and `b` both take dscp 10"));
    assert!(refused(|s| s.classes[0].rule = Match::Dscp(64)).contains("expected 0 to 63"));
    assert!(refused(|s| s.classes[1].name = "a".into()).contains("two classes are called `a`"));
    assert!(refused(|s| s.classes[1].name = "default".into()).contains("choose another name"));
    for name in ["", "sixteen-letters-", "a b", "ü"] {
        assert!(refused(|s| s.classes[1].name = name.into()).contains("1 to 15 letters"), "{name}");
    }
    for weight in [0, 1001] {
        assert!(refused(|s| s.classes[1].weight = weight).contains("expected 1 to 1000"));
    }
    let nine = (0..9).map(|i| class(&format!("c{i}"), Match::Dscp(i))).collect();
    assert!(refused(|s| s.classes = nine).contains("9 classes: at most 8"));
}
