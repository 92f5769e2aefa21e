//! What a sender receives from a path's signal in a round.

use super::Signal;

/// Averages over rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundSignals {
    /// The share of a round's growth that happens.
    pub grow: f64,
    /// Cuts a round.
    pub cut: f64,
}

/// For a sender that answers every signal: each lost packet is a cut, and every other packet grows the
/// window.
pub(super) fn each(signal: Signal, probability: f64, loss: f64, window: f64) -> RoundSignals {
    match signal {
        Signal::PerPacket => {
            let fraction = either(probability, loss);
            RoundSignals { grow: 1.0 - fraction, cut: fraction * window }
        }
        Signal::PerRound => {
            let cut = either(probability, in_a_round(loss, window));
            RoundSignals { grow: 1.0 - cut, cut }
        }
    }
}

/// For a sender that answers at most one signal a round and does not grow in a round with an answer.
///
/// Per packet: a silent round, then on average `1/p` packets until the next signal, which are `1/(p w)`
/// rounds. So a share `p w / (1 + p w)` of the rounds is silent. (XMP section 2.1 has `1 - (1 - p)^w`, for
/// rounds that may all be cut; both are `p w` to first order.)
pub(super) fn once_a_round(signal: Signal, probability: f64, window: f64) -> RoundSignals {
    let cut = match signal {
        Signal::PerPacket => in_a_round(probability, window),
        Signal::PerRound => probability,
    };
    RoundSignals { grow: 1.0 - cut, cut }
}

/// The probability of a or b, if they are independent.
pub(super) fn either(a: f64, b: f64) -> f64 {
    a + b - a * b
}

pub(super) fn in_a_round(per_packet: f64, window: f64) -> f64 {
    per_packet * window / (1.0 + per_packet * window)
}
