//! MP-RDMA, case by case.

use tresse_controllers::Report;

use super::{PATH, ack, lost, new, told, trimmed};

#[test]
fn each_packet_moves_the_window() {
    let mut group = new("mprdma", &[]);
    assert_eq!(group[0].cwnd, 36, "the BDP, 36.62 packets");
    assert_eq!(told(&mut group, 12, ack(14, 12)).0, 37, "36.62 + 14/36.62 = 37.004");
    let marked = Report { marked: 3, ..ack(3, 12) };
    assert_eq!(told(&mut group, 13, marked).0, 35, "1.5 less");
    let both = Report { marked: 1, ..ack(36, 12) };
    assert_eq!(told(&mut group, 14, both).0, 35, "35.50 + 35/35.50 - 1/2 = 35.99");
}

#[test]
fn a_loss_halves_it_once_an_rtt() {
    let mut group = new("mprdma", &[]);
    told(&mut group, 30, Report { rtt: 30_000, ..PATH });
    assert_eq!(told(&mut group, 31, lost(3)).0, 18);
    assert_eq!(told(&mut group, 60, trimmed(1)).0, 18);
    assert_eq!(told(&mut group, 61, trimmed(1)).0, 9);
    for k in 2..10 {
        told(&mut group, 31 + 30 * k, lost(1));
    }
    assert_eq!(group[0].cwnd, 1);
}

#[test]
fn it_rests_while_the_application_is_the_limit() {
    let mut group = new("mprdma", &[]);
    let idle = Report { app_limited: 1, ..ack(1000, 12) };
    assert_eq!(told(&mut group, 12, idle).0, 36);
    assert_eq!(told(&mut group, 13, Report { marked: 2, ..idle }).0, 35, "marks count");
}
