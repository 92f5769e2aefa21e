//! Checks of the transport's values.

use tresse_controllers as controllers;
use tresse_transport::{Config, Reduction, TimeoutCut};
use tresse_units::Duration;

use crate::schema::bounds::LONGEST;
use crate::schema::transport::Wrong;

const SPRAYED_BUFFER: &str = "with profile = \"spray\" a network card puts data where it belongs, in order or not: use \
                              receive_window";

/// Refuses values that cannot be simulated.
pub(super) fn check(config: &Config, sprayed: bool) -> Result<(), Wrong> {
    if config.mss == 0 || config.mss.saturating_add(config.header) > 65_535 {
        return Err(("mss", "a packet has 1 to 65535 bytes, headers included".into()));
    }
    if config.ack == 0 || config.ack > 65_535 {
        return Err(("ack", "an ACK has 1 to 65535 bytes".into()));
    }
    if config.initial_window == 0 || config.initial_window >= controllers::CWND_LIMIT {
        return Err(("initial_window", format!("1 to {} packets", controllers::CWND_LIMIT - 1)));
    }
    if config.initial_ssthresh == 0 || config.initial_ssthresh > controllers::INFINITE_SSTHRESH {
        return Err(("initial_ssthresh", format!("1 to {} packets", controllers::INFINITE_SSTHRESH)));
    }
    if config.floor == Some(0) {
        return Err(("floor", "at least 1 packet".into()));
    }
    if config.receive_window < config.initial_window || config.receive_window >= controllers::CWND_LIMIT {
        let most = controllers::CWND_LIMIT - 1;
        return Err(("receive_window", format!("at least initial_window and at most {most} packets")));
    }
    if let Some(buffer) = config.receive_buffer {
        if buffer.bytes < config.mss.into() {
            return Err(("receive_buffer", "at least one full segment (mss)".into()));
        }
        if sprayed {
            return Err(("receive_buffer", SPRAYED_BUFFER.into()));
        }
    }
    if !(1..=1 << 20).contains(&config.send_segment) {
        return Err(("send_segment", "more than 0B and at most 1MiB".into()));
    }
    if config.port_limit == 0 {
        return Err(("port_limit", "more than 0B".into()));
    }
    if config.grow_in_cwr && config.reduction == Reduction::Prr {
        return Err((
            "grow_in_cwr",
            "PRR sets the window in that round: use reduction = \"immediate\"".into(),
        ));
    }
    if sprayed && config.handshake {
        return Err(("handshake", "a sprayed connection exists from the start: use false".into()));
    }
    if sprayed && config.timeout_cut == TimeoutCut::AsLoss {
        return Err(("timeout", "a sprayed connection has timeouts of its own: leave this key out".into()));
    }
    if sprayed && config.plb.is_some() {
        return Err(("plb", "with profile = \"spray\" a scheme's `balancer` chooses paths".into()));
    }
    for (key, timeout) in [("rto_min", config.rto_min), ("rto_initial", config.rto_initial)] {
        if timeout == 0 || timeout > config.rto_max {
            let timeout = Duration(timeout);
            return Err((key, format!("{timeout}: a timeout is above 0 and at most rto_max")));
        }
    }
    if config.rto_max > LONGEST {
        return Err(("rto_max", "at most 1000s".into()));
    }
    if config.delayed_ack.every == 0 {
        return Err(("ack_every", "one ACK for at least 1 packet".into()));
    }
    if config.delayed_ack.timer == 0 || config.delayed_ack.timer > LONGEST {
        return Err(("ack_timer", "above 0 and at most 1000s".into()));
    }
    if config.timer_slack > LONGEST {
        return Err(("timer_slack", "at most 1000s".into()));
    }
    for (key, segments) in [("tso", config.tso), ("gro", config.gro.segments)] {
        if segments == 0 {
            return Err((key, "at least 1pkt, which turns it off".into()));
        }
    }
    if config.gro.interval > LONGEST {
        return Err(("gro_interval", "at most 1000s".into()));
    }
    Ok(())
}
