/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/*
 * Reno: the increase and the cut of standard TCP.
 *
 * Source: RFC 5681 §3.1; catalogue S1.
 *
 *   congestion avoidance   w += 1/w for each packet delivered
 *   loss or mark           w  = w/2
 *
 * The window is halved from cwnd, as Linux does, where RFC 5681 eq. (4) halves the data in flight.
 * Which losses are seen, and how they are repaired, is the host's affair: NewReno and SACK are
 * variants of its recovery, not of this file.
 *
 * With several subflows each is a TCP of its own: the uncoupled reference (catalogue S25), which has
 * the name `uncoupled` too. `newreno` is what the papers call the same controller beside a recovery by
 * RFC 6582.
 */
#include "window.h"

static u64 increase(const struct subflow *s)
{
	return reno_increase(s);
}

CONTROLLER(reno,
	.title = "Reno: one packet more per round, half the window on congestion",
	.source = "RFC 5681 §3.1",
	WINDOW);

ALIAS(newreno, reno,
	.title = "Reno under the name that papers give it beside NewReno's recovery",
	.source = "RFC 5681 §3.1, RFC 6582");

ALIAS(uncoupled, reno,
	.title = "Reno under the name of the uncoupled reference: a TCP of its own on each subflow",
	.source = "RFC 5681 §3.1; THESIS (3.11) with omega = 1");
