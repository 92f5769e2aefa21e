//! What a challenge looks for: each goal is a number from 0, nothing is wrong, to 1, the worst possible.

use tresse_controllers::Controller;

use super::condition::{Condition, GENES, Network, Of, Space};

/// A goal.
#[derive(Debug, PartialEq)]
pub struct Goal {
    /// Its name in `--goal`.
    pub name: &'static str,
    pub kind: Kind,
    /// From this value on it is a failure.
    pub bad_from: f64,
    /// What its number is.
    pub meaning: &'static str,
}

/// How a goal is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Starvation,
    /// To flows of this scheme.
    Harm(&'static str),
    Unfairness,
    Oscillation,
    Queue,
    Waste,
    Recovery,
    Incast,
    Flapping,
    Distance,
}

macro_rules! goals {
    ($($name:literal $kind:expr, $bad_from:literal, $meaning:literal;)*) => {
        /// All goals.
        pub const GOALS: &[Goal] =
            &[$(Goal { name: $name, kind: $kind, bad_from: $bad_from, meaning: $meaning }),*];
    };
}

goals! {
    "starvation" Kind::Starvation, 0.5, "what the worst flow of the controller lacks of its proportionally fair rate, as a share of it";
    "harm-reno" Kind::Harm("reno"), 0.3, "what flows of Reno lose beside the controller, as a share of what they get beside as many of their own (Ware et al., HotNets 2019)";
    "harm-cubic" Kind::Harm("cubic"), 0.3, "the same of CUBIC";
    "harm-dctcp" Kind::Harm("dctcp"), 0.3, "the same of DCTCP";
    "unfairness" Kind::Unfairness, 0.3, "1 minus Jain's index of its flows' shares of their proportionally fair rates, over the largest possible value";
    "oscillation" Kind::Oscillation, 0.5, "the standard deviation of a flow's rate over its mean, in intervals of a fiftieth of the run, the mean over flows, at most 1";
    "queue" Kind::Queue, 0.3, "how far the longest queue of a switch stands above K for nine tenths of the time, as a share of the room above K";
    "waste" Kind::Waste, 0.2, "the share of the bottlenecks' capacity that is not used";
    "recovery" Kind::Recovery, 0.5, "what a link that was down or slow carries less than before, from its return to the end of the run, as a share of it";
    "incast" Kind::Incast, 0.9, "1 minus the time that the receiver's link needs for an incast over the time that it took";
    "flapping" Kind::Flapping, 0.2, "the share of a connection's traffic that changes its path from one interval, a fiftieth of the run, to the next, the mean over time and flows";
    "distance" Kind::Distance, 0.5, "the distance of a flow's goodput from the optimum that the controller claims, |x - x*| over the larger one, the mean over flows";
}

/// The goal with this name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Goal, String> {
    GOALS.iter().find(|goal| goal.name == name).ok_or_else(|| {
        let names = GOALS.iter().map(|goal| goal.name);
        let guess = tresse_experiment::did_you_mean(name, names.clone());
        format!(
            "there is no goal `{name}`{guess}\n\nhint: there are {}",
            names.collect::<Vec<_>>().join(", ")
        )
    })
}

impl Goal {
    /// Whether it can be asked of a controller within these bounds.
    ///
    /// # Errors
    /// Why not.
    pub fn suits(&self, controller: &Controller, space: &Space) -> Result<(), String> {
        let name = controller.name();
        match self.kind {
            Kind::Queue if !controller.needs_ecn() => {
                return Err(format!("{name} hears no marks, so no K says how long its queue may be"));
            }
            Kind::Flapping if !space.several() => {
                return Err(format!(
                    "a connection of {name} has one subflow, and so one path (`--bound subflows=2..4`)"
                ));
            }
            Kind::Distance if !controller.declares_utility() => {
                return Err(format!("{name} claims no utility, so it has no optimum"));
            }
            _ => {}
        }
        if self.networks(space).is_empty() {
            return Err("the bounds leave no network in which it can be measured".to_owned());
        }
        let lacks = |of: Of| Err(format!("the bound of {} leaves no case of it", GENES[of as usize].name));
        match self.kind {
            Kind::Harm(scheme) if !space.names(Of::Cross).contains(&scheme) => lacks(Of::Cross),
            Kind::Recovery if space.levels(Of::Event) == [0] => lacks(Of::Event),
            Kind::Unfairness if space.levels(Of::Flows) == [0] => lacks(Of::Flows),
            _ => Ok(()),
        }
    }

    /// The networks in which it can be measured.
    pub fn networks(&self, space: &Space) -> Vec<Network> {
        use Network::{Bottleneck, Incast, LeafSpine, ParkingLot, Paths};
        let all: &[Network] = match self.kind {
            Kind::Incast => &[Incast],
            Kind::Harm(_) => &[Bottleneck],
            // Where links share no flows, or flows cross several, the largest total is not the fair one.
            Kind::Waste => &[Bottleneck, Paths],
            Kind::Flapping => &[Paths, LeafSpine],
            _ => &[Bottleneck, Paths, ParkingLot, LeafSpine],
        };
        all.iter().copied().filter(|&network| space.has(network)).collect()
    }

    /// The condition that is most like `condition` and in which it can be measured, in this network.
    pub fn fit(&self, condition: Condition, network: Network, space: &Space, ecn: bool) -> Condition {
        let mut made = condition.with(Of::Network, network as u8);
        // The first level that the bounds leave, if the own one is not among those that will do.
        let among = |made: Condition, of: Of, least: u8, most: u8| {
            let will_do = |level: u8| (least..=most).contains(&level);
            if will_do(made.at(of)) {
                return made;
            }
            let first = space.levels(of).iter().copied().find(|&level| will_do(level));
            made.with(of, first.unwrap_or(least))
        };
        let scheme = |name: &str| GENES[Of::Cross as usize].levels.iter().position(|level| *level == name);
        match self.kind {
            Kind::Harm(name) => {
                let level = scheme(name).expect("each goal's scheme is a level") as u8;
                made = among(made.with(Of::Event, 0), Of::Cross, level, level);
            }
            Kind::Recovery => made = among(made.with(Of::Cross, 0), Of::Event, 1, u8::MAX),
            Kind::Starvation => made = made.with(Of::Event, 0),
            _ => made = made.with(Of::Event, 0).with(Of::Cross, 0),
        }
        if self.kind == Kind::Distance {
            // An optimum is of flows that are there from the start, and knows no losses.
            made = made.with(Of::Start, 0).with(Of::Loss, 0);
        }
        if self.kind == Kind::Unfairness && network != Network::ParkingLot && network != Network::LeafSpine {
            made = among(made, Of::Flows, 1, u8::MAX);
        }
        made.settled(space, ecn)
    }

    /// Whether it can be measured in a condition.
    pub fn is_in(&self, condition: &Condition, space: &Space, ecn: bool) -> bool {
        self.networks(space).contains(&condition.network())
            && self.fit(*condition, condition.network(), space, ecn) == *condition
    }

    /// A value in a sentence.
    pub fn sentence(&self, value: f64) -> String {
        let share = |value: f64| format!("{:.0} %", 100.0 * value);
        match self.kind {
            Kind::Starvation => format!("the worst flow gets {} of its fair rate", share(1.0 - value)),
            Kind::Harm(scheme) => {
                format!("{scheme} gets {} of what it has beside its own kind", share(1.0 - value))
            }
            Kind::Unfairness => format!("flows differ by {} of the most that they can", share(value)),
            Kind::Oscillation => format!("a flow's rate varies by {} of its mean", share(value)),
            Kind::Queue => format!("a queue stands at {} of the room above K", share(value)),
            Kind::Waste => format!("{} of the capacity is not used", share(value)),
            Kind::Recovery => {
                format!("a link carries {} less after its return than before", share(value))
            }
            Kind::Incast if value == 1.0 => "an incast does not end within two seconds".to_owned(),
            Kind::Incast => format!("an incast takes {:.0} times as long as it must", 1.0 / (1.0 - value)),
            Kind::Flapping => {
                format!("{} of the traffic changes its path from interval to interval", share(value))
            }
            Kind::Distance => format!("flows are {} away from the optimum that it claims", share(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use tresse_units::SplitMix;

    use super::*;

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        let reno = tresse_controllers::find("reno").expect("it is built in");
        let mut space = Space::whole(1);
        for (goal, told) in [("queue", "hears no marks"), ("flapping", "one subflow")] {
            let why = find(goal).and_then(|goal| goal.suits(&reno, &space)).expect_err(goal);
            assert!(why.contains(told), "{why}");
        }
        assert!(find("starvaton").expect_err("it is misspelt").contains("did you mean `starvation`?"));
        space.bound("cross=cubic").expect("it is right");
        assert!(find("harm-reno").and_then(|goal| goal.suits(&reno, &space)).is_err());
    }

    #[test]
    fn a_condition_that_was_made_to_fit_fits() {
        let (space, mut random) = (Space::whole(4), SplitMix::new(3));
        for goal in GOALS {
            for network in goal.networks(&space) {
                for _ in 0..200 {
                    let made = goal.fit(space.draw(&mut random), network, &space, true);
                    assert!(goal.is_in(&made, &space, true), "{}: {made}", goal.name);
                    assert_eq!(made.network(), network);
                }
            }
        }
    }
}
