//! The transport of a scheme: what all schemes have in common, and the scheme's own keys over it.

use tresse_transport::Config;

use crate::keys::transport::Transport;

/// The keys that lead to what is wrong, from the scheme's table on, and why.
type Wrong = (Vec<&'static str>, String);

impl Transport {
    /// The transport of a scheme whose own keys are `own`; `common` is what `self` comes to without them.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub(crate) fn of_scheme(&self, own: Option<&Self>, common: &Config) -> Result<Config, Wrong> {
        let Some(own) = own else { return Ok(*common) };
        if own.profile.is_some() && self.profile.is_none() {
            let message = "keys come before profiles, and [transport], which has no profile, says every key, so \
                           this one would change little\n\nhint: a profile in [transport] too, and there only \
                           the keys that no scheme's profile is to change";
            return Err((vec!["transport", "profile"], message.to_owned()));
        }
        own.over(self).config().map_err(|(key, message)| {
            // Alone, [transport] is right: what does not stand here is wrong beside something that does.
            let stands_here = toml::Table::try_from(own).is_ok_and(|table| table.contains_key(key));
            match stands_here {
                true => (vec!["transport", key], message),
                false => (vec!["transport"], format!("with what [transport] says, {key}: {message}")),
            }
        })
    }

    /// These keys, and those of `common` where there is none.
    fn over(&self, common: &Self) -> Self {
        Self {
            profile: self.profile.or(common.profile),
            mss: self.mss.or(common.mss),
            header: self.header.or(common.header),
            ack: self.ack.or(common.ack),
            initial_window: self.initial_window.or(common.initial_window),
            rto_min: self.rto_min.or(common.rto_min),
            rto_initial: self.rto_initial.or(common.rto_initial),
            rto_max: self.rto_max.or(common.rto_max),
            recovery: self.recovery.or(common.recovery),
            reduction: self.reduction.or(common.reduction),
            floor: self.floor.or(common.floor),
            grow_in_cwr: self.grow_in_cwr.or(common.grow_in_cwr),
            ect_acks: self.ect_acks.or(common.ect_acks),
            receive_window: self.receive_window.or(common.receive_window),
            ack_every: self.ack_every.or(common.ack_every),
            ack_timer: self.ack_timer.or(common.ack_timer),
            quick_acks: self.quick_acks.or(common.quick_acks),
            quick_acks_again: self.quick_acks_again.or(common.quick_acks_again),
            timer_slack: self.timer_slack.or(common.timer_slack),
            pacing: self.pacing.or(common.pacing),
            tso: self.tso.or(common.tso),
            gro: self.gro.or(common.gro),
            gro_interval: self.gro_interval.or(common.gro_interval),
            handshake: self.handshake.or(common.handshake),
            stale_after: self.stale_after.or(common.stale_after),
            scheduler: self.scheduler.or(common.scheduler),
            plb: self.plb.as_ref().or(common.plb.as_ref()).cloned(),
        }
    }
}
