//! Second names: another title, and else the controller.

use tresse_controllers::{Controller, built_in, find};

#[test]
fn second_names_are_what_their_titles_say() {
    let second = built_in().into_iter().filter_map(|c| Some((c, c.alias_of()?)));
    let second: Vec<(Controller, &str)> = second.collect();
    let names: Vec<_> = second.iter().map(|(c, of)| (c.name(), *of)).collect();
    let expected = [
        ("dcmptcp", "dcm"),
        ("emptcp", "semicoupled"),
        ("eutcp1", "semicoupled"),
        ("newreno", "reno"),
        ("uncoupled", "reno"),
    ];
    assert_eq!(names, expected);
    for (controller, of) in second {
        let first = find(of).expect("it is built in");
        assert_ne!(controller.title(), first.title());
        let whose = first.title().split([':', ' ']).next().expect("a word").to_owned();
        assert!(controller.title().contains(&format!("{whose} ")), "{}", controller.title());
        assert_eq!(controller.source_file(), first.source_file());
        assert_eq!(controller.parameters(), first.parameters());
    }
}
