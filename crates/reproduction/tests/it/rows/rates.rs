//! Rates of subflows in rows that run a hundred times as fast: each is on the path and begins at the time
//! given in the row, and the papers' statements about their figures hold.

use std::collections::BTreeMap;

use tresse_units::MILLISECOND;

use crate::reading::{Table, measure, plan};
use crate::rows::common;

/// By scheme, sending host and subflow: the rates in intervals of 50 ms, the paper's 5 s, Mbit/s.
struct Rates {
    hosts: BTreeMap<String, u32>,
    rates: BTreeMap<(String, u32, u32), Vec<f64>>,
}

const INTERVAL: u64 = 50 * MILLISECOND;

impl Rates {
    /// The rates of a row, in this many intervals from the start of the run.
    fn of(row: &str, intervals: usize) -> Self {
        let experiment = plan(common::fast(row), &["measure.samples=1ms", "measure.links=false"]);
        let out = tempfile::tempdir().expect("a temporary folder");
        measure(&experiment, out.path(), 1, 1);
        let samples = Table::read(&out.path().join("samples.parquet"));
        let [from, subflow, start, bytes] =
            ["from", "subflow", "start_ps", "arrived_bytes"].map(|name| samples.numbers(name));
        let mut rates: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for (i, scheme) in samples.texts("scheme").into_iter().enumerate() {
            let of = rates.entry((scheme, from[i] as u32, subflow[i] as u32));
            let of = of.or_insert_with(|| vec![0.0; intervals]);
            if let Some(rate) = of.get_mut((start[i] / INTERVAL) as usize) {
                *rate += bytes[i] as f64 * 8e6 / INTERVAL as f64;
            }
        }
        let fabric = experiment.1.fabric();
        let host = |host: u32| (fabric.node_names[host as usize].clone(), host);
        Self { hosts: (0..fabric.hosts()).map(host).collect(), rates }
    }

    /// The rates of a subflow, counted from 1 as in the papers.
    fn get(&self, scheme: &str, host: &str, subflow: u32) -> &[f64] {
        &self.rates[&(scheme.to_owned(), self.hosts[host], subflow - 1)]
    }
}

/// "Two background flows come up on DN1 at 10 s and on DN2 at 20 s": flow 2 has less there. In a hundredth of the time
/// the way back to DN1 is not complete, so each subflow is compared with itself (the claims of the row compare both).
#[test]
fn fig_4_of_xmp_shifts_traffic() {
    let rates = Rates::of("xmp/fig4", 8);
    let [first, second] = [1, 2].map(|subflow| rates.get("beta-4", "S2", subflow));
    assert!(first[3] < 0.8 * second[3], "{first:?} and {second:?} at 15 to 20 s");
    assert!(first[3] < 0.8 * first[1], "{first:?} at 15 to 20 and at 5 to 10 s");
    assert!(second[5] < 0.8 * second[3], "{second:?} at 25 to 30 and at 15 to 20 s");
}

/// Subflows begin when the text says.
#[test]
fn fig_6_of_xmp_opens_subflows_at_0_5_15_and_20_s() {
    let rates = Rates::of("xmp/fig6", 6);
    for scheme in ["beta-4", "beta-6"] {
        let begins =
            |host: &str, subflow| rates.get(scheme, host, subflow).iter().position(|rate| *rate > 0.0);
        assert_eq!([1, 2, 3].map(|subflow| begins("S1", subflow)), [0, 1, 3].map(Some), "{scheme}");
        assert_eq!([1, 2].map(|subflow| begins("S2", subflow)), [Some(4), Some(4)], "{scheme}");
        assert!(["S3", "S4"].iter().all(|host| rates.get(scheme, host, 1)[5] == 0.0), "they stop at 25 s");
    }
}

/// "With L3 becoming increasingly congested from 25s to 45s, Flow 2-2 and Flow 3-1 both continuously decrease their rate.
/// Meanwhile, Flow 2-1 ..." increases; "when L3 is closed at 60s, the rate of Flow 2-2 and Flow 3-1 sharply declines to
/// zero". In a hundredth of the time Flow 3-2, whose link has more room, does not show it, nor do the larger betas.
#[test]
fn fig_7_of_xmp_compensates() {
    let rates = Rates::of("xmp/fig7", 13);
    let of = |host, subflow| rates.get("beta-4", host, subflow);
    for on_l3 in [of("S2", 2), of("S3", 1)] {
        assert!(on_l3[8] < 0.8 * on_l3[4] && on_l3[11] > 50.0, "{on_l3:?}");
        // No more than the data that was in flight.
        assert!(on_l3[12] < 2.0, "{on_l3:?}");
    }
    let sibling = of("S2", 1);
    assert!(sibling[8] > 1.1 * sibling[4], "{sibling:?}");
}

/// x11 has the private link, whose 8 Mbps it fills from 6 s to 12 s.
#[test]
fn fig_3_4_of_the_thesis_cuts_x11() {
    let rates = Rates::of("holnet/fig3.4", 4);
    for scheme in ["lia", "balia", "eutcp-1-05"] {
        let x11 = rates.get(scheme, "S1", 1);
        assert!(x11[0] > 400.0 && x11[3] > 400.0, "{scheme}: {x11:?}");
        // Data that waited when the link was cut arrives in the first of the two.
        assert!((1.0..16.0).contains(&x11[1]), "{scheme}: {x11:?}");
        assert!(rates.get(scheme, "S1", 2)[1] > 8.0, "{scheme}: x12 goes on");
    }
}
