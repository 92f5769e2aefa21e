//! What needs a machine on which nothing else happens: rates and shares, which packets that are late would change, and
//! comparisons of what the whole host has, before and after. `scripts/test` runs these alone, the others beside
//! simulations.

mod calibrate;
mod challenge;
mod fill;
mod killed;
mod life;
mod lossy;
mod marked;
mod real;
mod share;
mod virtual_switch;
