//! Large α is close to max-min fairness, computed here by progressive filling.

use tresse_optimum::problem::{Flow, Problem};
use tresse_units::Stream;

use super::common::{alpha, optimum};

/// Raises the rates of all flows equally; a flow stops when one of its links is full. One path per flow.
fn progressive_filling(p: &Problem) -> Vec<f64> {
    let mut rates = vec![0.0; p.flows.len()];
    let mut rising = vec![true; p.flows.len()];
    while rising.contains(&true) {
        let users = |l: usize, who: &dyn Fn(usize) -> f64| -> f64 {
            (0..p.flows.len()).filter(|&f| p.flows[f].paths[0].links.contains(&l)).map(who).sum()
        };
        let rooms: Vec<f64> = (0..p.links.len())
            .map(|l| {
                let up = users(l, &|f| f64::from(u8::from(rising[f])));
                if up == 0.0 { f64::INFINITY } else { (p.links[l].capacity - users(l, &|f| rates[f])) / up }
            })
            .collect();
        let step = rooms.iter().copied().fold(f64::INFINITY, f64::min);
        for (f, flow) in p.flows.iter().enumerate().filter(|(f, _)| rising[*f]).collect::<Vec<_>>() {
            rates[f] += step;
            rising[f] = !flow.paths[0].links.iter().any(|&l| rooms[l] <= step * (1.0 + 1e-12));
        }
    }
    rates
}

#[test]
fn the_limit_of_large_alpha() {
    for seed in 0..20 {
        let mut draw = Stream::new(seed, "max-min", 0);
        let mut p = Problem::default();
        for l in 0..8 {
            p.link(format!("{l}"), (10 + draw.below(90)) as f64);
        }
        for f in 0..20 {
            let mut links: Vec<usize> = (0..8).collect();
            draw.shuffle(&mut links);
            links.truncate(1 + draw.below(3) as usize);
            p.flows.push(Flow::new(format!("{f}"), alpha(1.0), [links]));
        }
        let fair = progressive_filling(&p);
        let distance = |a: f64| {
            let mut p = p.clone();
            p.flows.iter_mut().for_each(|f| f.utility = alpha(a));
            let off = |(x, y): (&f64, &f64)| (x / y - 1.0).abs();
            optimum(&p).totals.iter().zip(&fair).map(off).fold(0.0, f64::max)
        };
        let [far, middle, close] = [2.0, 8.0, 32.0].map(distance);
        println!("{seed}: {far:.3} {middle:.3} {close:.3}");
        // At most as 1/α, because the ratio of two rates is the α-th root of a ratio of prices; and much
        // faster if one link's price is nearly all that a path pays.
        assert!(close < 0.4 * middle && middle < 0.5 * far, "{far} {middle} {close}");
        assert!(close < 0.02, "{close}");
    }
}
