//! What a controller may ask of its host in addition to a window: to ignore a mark, and to be alone.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use tresse_controllers::{ConfiguredController, Controller, State, load};
use tresse_transport::Config;
use tresse_transport::tcp::Sender;

use crate::pipe::{MILLISECOND, MSS, ack, config, poll};

/// A sender of `wishes/hermit.c` with five packets outstanding on each subflow.
fn hermit(subflows: usize) -> Sender {
    static LOADED: OnceLock<Controller> = OnceLock::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wishes/hermit.c");
    let controller = LOADED.get_or_init(|| load(&file).expect("it compiles")[0]);
    let scheme = Arc::new(ConfiguredController::new(*controller, []).expect("it has no parameters"));
    let config = Config { initial_window: 5, ..config() };
    let mut sender = Sender::new(config, scheme, subflows, 1000 * u64::from(MSS));
    assert_eq!(poll(&mut sender, 0).len(), 5 * subflows);
    sender
}

/// The window keeps rising with the marked ACKs themselves, and no cut is counted.
#[test]
fn an_ignored_mark_is_no_congestion() {
    let mut sender = hermit(1);
    for seq in 1..=5 {
        sender.handle_ack(MILLISECOND, 0, &ack(seq, 0, 1));
        poll(&mut sender, MILLISECOND);
        let own = &sender.group()[0];
        assert_eq!((own.state, own.cwnd), (State::Open, 5 + seq), "ACK {seq}");
    }
    assert_eq!((sender.counters(0).marks, sender.counters(0).mark_cuts), (5, 0));
}

/// New data goes to the subflow that wants to be alone, although the sibling has room; the sibling repairs
/// its own losses; and the wish ends.
#[test]
fn who_wishes_to_be_alone_gets_all_new_data() {
    let mut sender = hermit(2);
    sender.handle_ack(MILLISECOND, 1, &ack(1, 0, 1));
    sender.handle_ack(MILLISECOND, 0, &ack(1, 0, 0));
    assert_eq!(poll(&mut sender, MILLISECOND), [(1, 5), (1, 6)], "subflow 0 has room for two");

    // Three duplicates: segment 1 is lost.
    for _ in 0..3 {
        sender.handle_ack(MILLISECOND, 0, &ack(1, 0, 0));
    }
    assert_eq!(poll(&mut sender, MILLISECOND), [(0, 1)], "a repair is not new data");

    sender.handle_ack(MILLISECOND, 1, &ack(2, 0, 0));
    let sent = poll(&mut sender, MILLISECOND);
    assert_eq!(sent, [(0, 5), (0, 6), (1, 7), (1, 8)], "the wish has ended");
}
