//! Second names: the same hooks, signals, floor and parameters.

use tresse_controllers::find;

#[test]
fn aliases_are_what_their_titles_say() {
    for (alias, of, named) in
        [("dcmptcp", "dcm", "DCM"), ("newreno", "reno", "Reno"), ("uncoupled", "reno", "Reno")]
    {
        let controller = find(alias).expect("it is built in");
        assert_eq!(controller.alias_of(), Some(of));
        assert!(controller.title().starts_with(&format!("{named} under the name")), "{}", controller.title());
    }
    // The same file, but another cut.
    assert_eq!(find("halving").expect("it is built in").alias_of(), None);
}
