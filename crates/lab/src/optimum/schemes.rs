//! Who carries the flows of a round, and whether their utilities can be added.

use tresse_experiment::plan::Case;
use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_experiment::plan::network::Routing;
use tresse_fabric::Balancing;
use tresse_optimum::claims::{Claim, Price, Standing, price};

use crate::setup;
use tresse_results::record::flow::Begun;

/// A scheme that carries flows of a round.
#[derive(Debug, Clone, Copy)]
pub struct Share<'a> {
    /// The scheme, with the subflows of its first flow.
    pub bound_scheme: &'a BoundScheme,
    /// How many flows it carries.
    pub flows: usize,
    /// What its controller claims for the first of them; none if it declares nothing.
    pub claim: Option<&'a Claim>,
}

impl Share<'_> {
    /// The controller's name.
    pub fn controller(&self) -> &'static str {
        self.bound_scheme.controllers.controller().name()
    }

    fn price(&self) -> Price {
        price(&self.bound_scheme.controllers, self.bound_scheme.transport.ecn)
    }

    /// Why its controller's own paper gives no optimum to compare with.
    fn why_none(&self) -> Option<String> {
        let name = self.controller();
        match self.claim {
            None => Some(format!("{name} does not declare what it maximises")),
            Some(claim) if claim.standing == Standing::None => {
                Some(format!("{name} claims no utility ({})", claim.source))
            }
            Some(_) => None,
        }
    }

    /// The lines that its controller's declaration lacks for an optimum and a fluid model, as a coupled or a single
    /// Reno would have them.
    pub fn missing_declarations(&self) -> Vec<&'static str> {
        let controller = self.bound_scheme.controllers.controller();
        let utility = match controller.coupled() {
            true => "MAXIMISES({ .utility = UTILITY_TCP, .pooling = POOLED, .standing = STANDING_CLAIMED }),",
            false => {
                "MAXIMISES({ .utility = UTILITY_TCP, .pooling = SEPARATE, .standing = STANDING_CLAIMED }),"
            }
        };
        let law = match controller.coupled() {
            true => "FOLLOWS({ .growth = GROWTH_SHARED }),",
            false => "FOLLOWS({ .growth = GROWTH_SEPARATE }),",
        };
        let lacks = [(utility, controller.declares_utility()), (law, controller.declares_law())];
        lacks.into_iter().filter(|(_, declared)| !declared).map(|(line, _)| line).collect()
    }

    /// Its name and how many flows it carries.
    fn named(&self) -> String {
        let plural = if self.flows == 1 { "" } else { "s" };
        format!("`{}` ({} flow{plural})", self.bound_scheme.scheme, self.flows)
    }
}

/// Why flows have no paths among which an optimum could divide the links.
pub(super) fn no_paths(case: &Case, begun: &[Begun]) -> Option<String> {
    let of_flow = |b: &Begun| {
        if setup::datagrams(&case.parts[b.part], &b.start).is_some() {
            return Some("datagrams answer no price".to_owned());
        }
        let own = &case.bound_schemes[b.member.bound_scheme];
        let spread = own.sprayed.is_some() || spreads(own);
        let address = |host| case.setting.fabric.addresses(host).len() == 1;
        if spread && !(address(b.start.from) && address(b.start.to)) {
            return Some(
                "packets are spread over several addresses of a host, which the optimum does not cover"
                    .to_owned(),
            );
        }
        no_known_paths(own)
    };
    begun.iter().find_map(of_flow)
}

/// Whether switches divide each subflow among all shortest paths.
pub(super) fn spreads(own: &BoundScheme) -> bool {
    matches!(&*own.routing, Routing::Nodes { balancing, .. } if *balancing != Balancing::Ecmp)
}

/// Why `schemes` have no common price, so that the sum of their utilities is no controller's goal.
pub(super) fn no_common_price(schemes: &[Share]) -> Option<String> {
    let first = schemes.first()?.price();
    if schemes.iter().all(|s| s.price() == first) {
        return None;
    }
    let answers = schemes.iter().map(|s| format!("{} responds to {}", s.named(), s.price().name()));
    let answers: Vec<String> = answers.collect();
    Some(format!("the flows have no common price: {}", answers.join(", ")))
}

/// Why the controllers' own papers give no optimum to compare with.
pub(super) fn no_claim(schemes: &[Share]) -> Option<String> {
    let why = |s: &Share| s.why_none().map(|why| (s.named(), why));
    let whys: Vec<(String, String)> = schemes.iter().filter_map(why).collect();
    match (&whys[..], schemes) {
        ([], _) => None,
        ([(_, why)], [_]) => Some(why.clone()),
        _ => Some(whys.iter().map(|(who, why)| format!("{who}: {why}")).collect::<Vec<_>>().join("; ")),
    }
}

/// Why the flows that these schemes carry have no fluid model.
pub(super) fn no_model(schemes: &[Share]) -> String {
    let declares = |s: &&Share| s.bound_scheme.controllers.controller().declares_law();
    if let Some(share) = schemes.iter().find(|s| !declares(s)) {
        return format!("{} does not declare its law", share.controller());
    }
    let names: Vec<&str> = schemes.iter().map(Share::controller).collect();
    match &names[..] {
        [one] => format!("{one} has no fluid model for these subflows"),
        _ => format!("not each of {} has a fluid model for these subflows", names.join(", ")),
    }
}

/// Why it is not known which paths packets may take.
fn no_known_paths(bound_scheme: &BoundScheme) -> Option<String> {
    if let Some(manager) = bound_scheme.decides {
        return Some(format!(
            "{manager} opens and closes subflows while flows run, but an optimum needs paths that stay"
        ));
    }
    match &*bound_scheme.routing {
        // A host that sprays changes what switches hash from packet to packet.
        Routing::Nodes { balancing: Balancing::Ecmp, .. } if bound_scheme.sprayed.is_none() => {
            Some("the switches' hashes decide which paths the subflows take".to_owned())
        }
        Routing::Nodes { .. } | Routing::Fixed(_) => None,
    }
}
