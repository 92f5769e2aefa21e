//! THESIS Table 3.1, the line "LIA (Coupled)", as printed.

use tresse_controllers::Cause;

use super::{Reading, Real, SHARE_ERROR, View, half, share};

/// The fully coupled increase.
pub struct CoupledT31;

impl Reading for CoupledT31 {
    /// "Increase (per Ack)": (W_l/tau_l^2) / (sum W_i/tau_i)^2. The last digit of Q48 is lost too.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let increase = packets * share(all, i);
        Real { packets: increase, within: increase * SHARE_ERROR + packets * 2f64.powi(-48) }
    }

    /// "Decrease (per loss)": W_l/2.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        half(&all[i])
    }
}
