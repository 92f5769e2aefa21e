//! Whole simulations of small networks.

mod balancers;
mod closed_forms;
mod common;
mod conservation;
mod dctcp_queue;
mod determinism;
mod ends;
mod fair_queue;
mod fairness;
mod handshake;
mod holnet;
mod managers;
mod messages;
mod parts;
mod permuted_hosts;
mod plb;
mod processor_sharing;
mod receive_buffer;
mod reno_sawtooth;
mod rtts;
mod scenarios;
mod shift;
mod square_root_law;
mod timers;
mod utilisation;
