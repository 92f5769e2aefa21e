//! The verifier accepts every controller.

use super::{controllers, kernel_is_here, scheme};

/// The verifier gives up at a million; other kernels may walk further for the same program.
const BUDGET: u32 = 500_000;

#[test]
fn every_controller_passes_with_room_to_spare() {
    if !kernel_is_here() {
        return;
    }
    assert!(controllers().len() >= 7);
    for controller in controllers() {
        let programs = tresse_linux::check(&scheme(controller)).expect("the verifier takes it");
        assert_eq!(programs.len(), 8, "one for each hook");
        for p in programs {
            assert!(p.instructions > 0 && p.machine_code_bytes > 0, "{p:?}");
            assert!(p.verified_instructions < BUDGET, "{}: {p:?}", controller.name());
        }
    }
}
