//! Communications on a CPU, and what is not read.

use super::{
    COLL, INT32, INT64, Message, SEND, collective, file, node, options, receive, refused, starts, trace,
};

/// The form of PyTorch's traces: the call on the CPU, then the kernel.
#[test]
fn a_call_on_a_cpu_takes_its_duration_and_the_kernel_communicates() {
    let call = node(3, "c10d::allreduce_", COLL).number(7, 85).attr("is_cpu_op", 27, 1);
    let kernel = node(4, "nccl", COLL).after(&[3]).number(7, 28).attr("is_cpu_op", 27, 0);
    let kernel =
        kernel.attr("comm_type", INT32, 0).attr("comm_size", INT64, 2000).attr("comm_priority", INT32, 1);
    let rank = file(&[call, kernel]);
    let (tasks, times) = trace(&[&rank, &rank], options()).unwrap();
    assert_eq!((times.calls, times.timeless), (2, 0));
    assert_eq!(times.ignored.into_iter().collect::<Vec<_>>(), ["comm_priority"]);
    // A ring of two: each sends a half twice.
    assert_eq!(starts(tasks), [(85, 0, 1, 1000), (85, 1, 0, 1000), (85, 0, 1, 1000), (85, 1, 0, 1000)]);
}

#[test]
fn what_would_send_twice_or_elsewhere_is_refused() {
    let cpu = |node: Message| node.attr("is_cpu_op", 27, 1);
    refused(
        &[cpu(collective(4, 0))],
        "a communication with `comm_type`, but its `is_cpu_op` is true, which ASTRA-sim",
    );
    refused(&[cpu(node(4, "x", SEND)).attr("comm_dst", INT64, 1)], "a communication with `comm_dst`, but");
    refused(&[cpu(receive(4, 1))], "a communication with `comm_src`, but its `is_cpu_op` is true");
    // A BoolList of true and false.
    let dims =
        Message::default().bytes(1, b"involved_dim").bytes(28, &Message::default().bytes(1, &[1, 0]).0);
    refused(&[collective(4, 0).bytes(10, &dims.0)], "its `involved_dim` leaves out dimensions");
}
