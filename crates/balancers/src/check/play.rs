//! Plays a script, and checks every call of a hook.

use std::sync::Arc;

use super::script::{Event, ReportedPacket, Script};
use super::{Found, Invariant};
use crate::{ConfiguredBalancer, Feedback, Spread};

/// Words on each side of the balancer's memory that must not be written.
const GUARD: usize = 64;

/// A script that was played without breaking the contract.
pub(super) struct Played {
    spread: Spread,
    now: u64,
    window: u32,
    /// The window that the balancer knows: the last packet's.
    told: u32,
    pub picks: Vec<u32>,
}

/// Plays `script` from the time `now`.
pub(super) fn play(scheme: &Arc<ConfiguredBalancer>, script: &Script, now: u64) -> Result<Played, Found> {
    let spread = Spread::guarded(Arc::clone(scheme), script.paths, script.stream, now, GUARD);
    let mut played = Played { spread, now, window: 1, told: 1, picks: Vec::new() };
    let found = |played: &Played, events, (invariant, message)| Found {
        invariant,
        message,
        events,
        picks: played.picks.clone(),
    };
    let told = played.look("init").and_then(|()| played.look_at_alive());
    told.map_err(|breach| found(&played, 0, breach))?;
    // Whether the next packet of a flow-level balancer must take the last one's path.
    let mut stays = false;
    for (k, event) in script.events.iter().enumerate() {
        let told = match *event {
            Event::Pick => {
                let told = played.pick(stays);
                stays = scheme.balancer().is_flow_level();
                told
            }
            Event::Feedback { of, what } => {
                stays = false;
                played.path_of(of, script.paths).map_or(Ok(()), |path| played.feedback(path, what))
            }
            Event::Wait { ns } => {
                played.now += ns;
                Ok(())
            }
            Event::Window { packets } => {
                played.window = packets;
                Ok(())
            }
        };
        told.map_err(|breach| found(&played, k + 1, breach))?;
    }
    let told = played.look_at_alive();
    told.map_err(|breach| found(&played, script.events.len(), breach))?;
    Ok(played)
}

type PlayResult = Result<(), (Invariant, String)>;

impl Played {
    fn path_of(&self, of: ReportedPacket, paths: u32) -> Option<u32> {
        match of {
            ReportedPacket::Path(path) => Some(path.min(paths - 1)),
            ReportedPacket::Ago(ago) => self.picks.iter().rev().nth(ago as usize).copied(),
        }
    }

    fn feedback(&mut self, path: u32, what: Feedback) -> PlayResult {
        self.spread.feedback(self.now, path, what);
        self.look("feedback")
    }

    /// A packet. If it `stays`, it must take the last one's path.
    fn pick(&mut self, stays: bool) -> PlayResult {
        // What was alive before is asked of few paths, and only afterwards.
        let before = self.spread.scheme().balancer().raw.alive.is_some().then(|| self.spread.clone());
        let number = self.picks.len() as u32;
        self.told = self.window;
        let path = self.spread.pick_unbounded(self.now, self.window, number);
        let last = self.picks.last().copied();
        self.picks.push(path);
        if path >= self.spread.paths() {
            let message = format!("packet {} takes path {path} of {}", number + 1, self.spread.paths());
            return Err((Invariant::BelowPaths, message));
        }
        self.look("pick")?;
        if let Some(before) = before
            && !before.alive_at(self.now, path)
            && let Some(other) = (0..before.paths()).find(|&other| before.alive_at(self.now, other))
        {
            let message =
                format!("packet {} takes path {path}, which is not alive; path {other} is", number + 1);
            return Err((Invariant::OnlyAlive, message));
        }
        match last {
            Some(last) if stays && last != path => {
                let message = format!(
                    "packet {} takes path {path}, the previous one took {last}, without feedback",
                    number + 1
                );
                Err((Invariant::FlowLevel, message))
            }
            _ => Ok(()),
        }
    }

    /// Whether a hook has written only what it may write.
    fn look(&self, hook: &str) -> PlayResult {
        let whole = self.spread.guards_are_whole();
        if whole && self.spread.is_as_host_set(self.now, self.told) {
            return Ok(());
        }
        let what = if whole { "a field of the host" } else { "outside of its memory" };
        Err((Invariant::OwnMemory, format!("`{hook}` writes {what}")))
    }

    /// Whether `alive` writes nothing.
    fn look_at_alive(&self) -> PlayResult {
        let before = self.spread.memory().to_vec();
        for path in 0..self.spread.paths() {
            self.spread.alive_at(self.now, path);
        }
        match self.spread.memory() == before {
            true => Ok(()),
            false => Err((Invariant::OwnMemory, "`alive` writes memory that it may only read".to_owned())),
        }
    }
}

/// Longer than any timer of a balancer, ns: a third of an hour.
const LONG: u64 = 1 << 40;

/// The time between two packets then, ns.
const GAP: u64 = 1000;

/// Packets per path. A penalty of 15 that loses 1 in a lap, now and then, is gone after this many.
const ROUNDS: u64 = 256;

/// After `played`, a long time later: how many packets it takes until each path has been taken. A path that
/// is not alive at the beginning, or now and then, does not count.
pub(super) fn reaches(played: &Played, script: &Script) -> Result<u64, Found> {
    let mut spread = played.spread.clone();
    let recycles = spread.scheme().balancer().recycles();
    let paths = script.paths;
    let mut now = played.now + LONG;
    let mut missing: Vec<bool> = vec![true; paths as usize];
    let mut left = paths;
    let mut picks = 0;
    let found = |invariant, message| Found {
        invariant,
        message,
        events: script.events.len(),
        picks: played.picks.clone(),
    };
    for _ in 0..ROUNDS {
        for (path, missing) in missing.iter_mut().enumerate() {
            if *missing && !spread.alive_at(now, path as u32) {
                *missing = false;
                left -= 1;
            }
        }
        for _ in 0..paths {
            if left == 0 {
                return Ok(picks);
            }
            let number = played.picks.len() as u64 + picks;
            let path = spread.pick_unbounded(now, played.window, number as u32);
            if path >= paths {
                let message = format!("afterwards packet {} takes path {path} of {paths}", number + 1);
                return Err(found(Invariant::BelowPaths, message));
            }
            picks += 1;
            left -= u32::from(std::mem::take(&mut missing[path as usize]));
            if !recycles {
                spread.feedback(now, path, Feedback::Good);
            }
            now += GAP;
        }
    }
    let Some(path) = missing.iter().position(|&missing| missing) else { return Ok(picks) };
    let how = if recycles { "with no feedback on them" } else { "all of which arrive" };
    let message = format!("path {path} is alive, but gets none of {picks} packets afterwards, {how}");
    Err(found(Invariant::Reaches, message))
}
