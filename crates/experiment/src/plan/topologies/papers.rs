//! The papers' small networks of fixed size.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::Graph;

use crate::plan::topologies::kind::{Build, Kind, drawn};
use crate::plan::topologies::layers::links;

pub(super) const XMP_TESTBED_A: Kind =
    paper("xmp-testbed-a", "XMP Fig. 3(a): two bottlenecks, and a flow that may use both.", |f, _| {
        drawn(&Graph::xmp_testbed_a(&links(f, Graph::BOTTLENECK_LAYERS)?))
    });

pub(super) const XMP_TESTBED_B: Kind =
    paper("xmp-testbed-b", "XMP Fig. 3(b): one bottleneck, four pairs of hosts.", |f, _| {
        drawn(&Graph::xmp_testbed_b(&links(f, Graph::BOTTLENECK_LAYERS)?))
    });

pub(super) const XMP_TORUS: Kind = paper(
    "xmp-torus",
    "XMP Fig. 5: a ring of five bottlenecks, each shared by two neighbouring flows.",
    |f, _| drawn(&Graph::xmp_torus(&links(f, Graph::TORUS_LAYERS)?)),
);

pub(super) const THESIS_2_2A: Kind =
    paper("thesis-2.2a", "THESIS §2.4.1: two pairs of hosts over one link.", |f, _| {
        drawn(&Graph::thesis_2_2a(&links(f, Graph::BOTTLENECK_LAYERS)?))
    });

pub(super) const THESIS_2_2B: Kind =
    paper("thesis-2.2b", "THESIS §2.4.2: a flow with a private link and one that it shares.", |f, _| {
        drawn(&Graph::thesis_2_2b(&links(f, Graph::PRIVATE_LAYERS)?))
    });

const fn paper(name: &'static str, meaning: &'static str, build: Build) -> Kind {
    let has = "this network is as large as the paper's";
    Kind { name, meaning, whose: "", has, routing: "shortest", keys: Kind::keys_of::<Keys>(), build }
}

/// No keys: only the links of these networks can be chosen.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {}
