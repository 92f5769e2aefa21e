//! Which controllers run over QUIC.

use tresse_controllers::{Signal, built_in};
use tresse_quic::CoupledFactory;

use crate::scheme;

#[test]
fn those_that_need_losses_or_marks_run_and_others_are_refused_with_the_reason() {
    for controller in built_in() {
        let enough = controller.signals().iter().all(|signal| matches!(signal, Signal::Loss | Signal::Ecn));
        assert_eq!(CoupledFactory::new(scheme(controller.name())).is_ok(), enough, "{}", controller.name());
    }
    for (name, message) in [
        (
            "xmp",
            "xmp does not run over QUIC: it counts every CE mark, but noq only reports that an ACK had some",
        ),
        (
            "nscc",
            "nscc does not run over QUIC: it governs one window over many paths, but each QUIC path has its own",
        ),
    ] {
        assert_eq!(CoupledFactory::new(scheme(name)).expect_err("refused").to_string(), message);
    }
}
