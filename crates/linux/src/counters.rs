//! What the wrapper counts, in the order of `enum counter` in `bpf/wrapper.h`.

/// The name of each counter in `tresse status --json`, and its meaning.
pub const COUNTERS: [(&str, &str); 10] = [
    ("sockets_begun", "sockets that took the controller"),
    ("sockets_ended", "sockets that stopped using it"),
    ("without_ecn", "sockets that fell back to Reno because the peer does not support ECN"),
    ("cuts_by_mark", "reductions after an ECN echo"),
    ("cuts_by_loss", "reductions after a loss, timeouts included"),
    ("cuts_by_local_drop", "reductions after a drop in the host's own queue"),
    ("timeouts", "retransmission timeouts"),
    ("undone", "reductions that turned out to be unnecessary"),
    ("repairs", "hooks that the kernel skipped, whose effects were repaired"),
    ("walks_cut_short", "walks over the siblings that met a closing one, or more than 64"),
];
