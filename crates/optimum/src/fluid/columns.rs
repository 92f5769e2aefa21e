//! Which unknowns of a system move when one of them is nudged, and which can be nudged at once.

use super::system::System;

/// The columns of a system's Jacobian.
pub(super) struct Columns {
    /// By unknown: those whose motion it can change, ascending.
    pub rows: Vec<Vec<usize>>,
    /// All unknowns, in groups of which no two change the same motion: one difference quotient gives all columns of a
    /// group, with the same bits as one for each (A. R. Curtis, M. J. D. Powell, J. K. Reid, J. Inst. Math. Appl. 13,
    /// 1974).
    pub together: Vec<Vec<usize>>,
}

impl Columns {
    pub fn new(system: &System) -> Self {
        let rows = rows(system);
        let mut groups: Vec<(Vec<bool>, Vec<usize>)> = Vec::new();
        for (j, own) in rows.iter().enumerate() {
            let apart = |(taken, _): &&mut (Vec<bool>, Vec<usize>)| own.iter().all(|&i| !taken[i]);
            let group = match groups.iter_mut().find(apart) {
                Some(group) => group,
                None => {
                    groups.push((vec![false; rows.len()], Vec::new()));
                    groups.last_mut().expect("just pushed")
                }
            };
            own.iter().for_each(|&i| group.0[i] = true);
            group.1.push(j);
        }
        Self { rows, together: groups.into_iter().map(|(_, members)| members).collect() }
    }
}

/// A link's price changes whoever takes the link; a window does so too, by the link's load, and changes the price.
fn rows(system: &System) -> Vec<Vec<usize>> {
    let connections = &system.network.connections;
    let mut of_link = vec![Vec::new(); system.network.links.len()];
    for (c, connection) in connections.iter().enumerate() {
        for &l in connection.paths.iter().flat_map(|p| &p.links) {
            of_link[l].extend(system.unknowns_of(c));
        }
    }
    for (l, own) in of_link.iter_mut().enumerate() {
        own.push(system.place_of_price(l));
        own.sort_unstable();
        own.dedup();
    }
    let mut rows = Vec::new();
    for (c, connection) in connections.iter().enumerate() {
        for i in 0..system.unknowns_of(c).len() {
            // What a balancer divides is on all paths. Alphas come after the windows, one for each path.
            let paths = match connection.balancer {
                Some(_) => &connection.paths[..],
                None => std::slice::from_ref(&connection.paths[i % connection.paths.len()]),
            };
            let links = paths.iter().flat_map(|p| &p.links).flat_map(|&l| of_link[l].iter().copied());
            let mut own: Vec<usize> = system.unknowns_of(c).chain(links).collect();
            own.sort_unstable();
            own.dedup();
            rows.push(own);
        }
    }
    rows.extend(of_link);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{Answer, Connection, Cut, Growth, Law, Link, Network, Path, Signal};

    /// DCTCP, XMP and Reno over four links; the last two paths have no link in common with the first.
    fn system() -> System {
        let law = |growth, cut| Law::Window { growth, cut, answer: Answer::Rounds };
        let half = Cut::Part { factor: 1.0, divisor: 2.0 };
        let laws = [
            (law(Growth::Separate { weight: 1.0 }, Cut::Marked { g: 0.0625 }), vec![vec![0]]),
            (law(Growth::ByShortest, half), vec![vec![0, 1], vec![2]]),
            (law(Growth::Separate { weight: 1.0 }, half), vec![vec![2, 3]]),
            (law(Growth::Separate { weight: 1.0 }, half), vec![vec![3]]),
        ];
        let path = |links| Path { links, rtt_ps: 1_000_000_000, loss: 0.0 };
        let connection = |(scheme, paths): (Law, Vec<Vec<usize>>)| Connection {
            scheme,
            paths: paths.into_iter().map(path).collect(),
            min_window_pkts: 0.0,
            balancer: None,
        };
        let links = vec![Link::Capacity(100_000_000); 4];
        let connections = laws.into_iter().map(connection).collect();
        System::new(Network { packet_bytes: 1500, signal: Signal::PerRound, links, connections }).unwrap()
    }

    #[test]
    fn a_group_gives_the_columns_that_each_unknown_gives() {
        let system = system();
        let columns = Columns::new(&system);
        let mut y = system.start();
        y.iter_mut().enumerate().for_each(|(i, y)| *y += 0.01 * i as f64);
        let moved = |nudged: &[usize]| {
            let mut y = y.clone();
            nudged.iter().for_each(|&j| y[j] += 0.01);
            let mut dy = vec![0.0; y.len()];
            system.derivative(&y, &mut dy);
            dy
        };
        let rest = moved(&[]);
        let mut all: Vec<usize> = columns.together.concat();
        all.sort_unstable();
        assert_eq!(all, (0..y.len()).collect::<Vec<_>>());
        assert!(columns.together.len() < y.len(), "nothing is nudged together");
        for group in &columns.together {
            let together = moved(group);
            for &j in group {
                let alone = moved(&[j]);
                let changed = (0..y.len()).filter(|&i| alone[i] != rest[i]);
                assert!(changed.clone().all(|i| columns.rows[j].contains(&i)), "unknown {j}");
                assert!(changed.clone().count() > 0);
                assert!(columns.rows[j].iter().all(|&i| together[i] == alone[i]), "unknown {j} in {group:?}");
            }
        }
    }
}
