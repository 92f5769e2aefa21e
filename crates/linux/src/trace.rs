//! A script played through a controller's eBPF build, hook by hook (`BPF_PROG_TEST_RUN`).

use std::ffi::OsStr;

use libbpf_rs::{AsRawLibbpf, MapCore, Object, ProgramInput};
use tresse_controllers::trace::{Script, Step, play_on};
use tresse_controllers::{
    Ack, Cause, ConfiguredController, Controller, Hooks, Hop, MAX_SUBFLOWS, PRIVATE_WORDS, Report, Subflow,
};

use crate::Error;
use crate::object::{self, Wrapper};

/// `struct call` of `bpf/trace.bpf.c`.
#[repr(C)]
struct Call {
    hook: u32,
    cause: u32,
    window: u32,
    cwnd: u32,
    ssthresh: u32,
    srtt: u32,
    min_rtt: u32,
    in_flight: u32,
    mss: u32,
    state: u32,
    cwnd_limited: u32,
    next_hop: u32,
    alone: u32,
    index: u32,
    ack: Ack,
    word: u64,
    private: [u64; PRIVATE_WORDS],
    siblings: Siblings,
}

/// `struct siblings` of `controller.h`; the first is the subflow itself.
#[repr(C)]
struct Siblings {
    busy: u32,
    count: u32,
    peers: [Peer; MAX_SUBFLOWS + 1],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Peer {
    cwnd: u32,
    srtt: u32,
    word: u64,
}

const INIT: u32 = 0;
const ACK: u32 = 1;
const GROW: u32 = 2;
const CONGESTION: u32 = 3;
const TIMEOUT: u32 = 4;

/// A controller's eBPF build, loaded and ready to play.
#[derive(Debug)]
pub struct Player {
    controller: Controller,
    object: Object,
}

impl Player {
    /// Loads the eBPF build of `scheme`'s controller.
    ///
    /// # Errors
    /// As [`crate::check`].
    pub fn new(scheme: &ConfiguredController) -> Result<Self, Error> {
        let controller = scheme.controller();
        let file = controller.file();
        let mut open = object::open(&object::bytes(controller, Wrapper::Trace)?, file)?;
        object::set_parameters(&mut open, scheme);
        Ok(Self { controller, object: object::load(open, file)? })
    }

    /// Plays `script`, each subflow starting with `initial_window` packets; as
    /// [`tresse_controllers::trace::play`] does with the native build.
    pub fn play(&mut self, script: &Script, initial_window: u32) -> Vec<Step> {
        let new = || (Subflow::outside(initial_window), [0; PRIVATE_WORDS]);
        let subflows = (0..script.subflows).map(|_| new()).collect();
        let mut group = Group { player: self, subflows };
        for i in 0..script.subflows {
            group.call(i, INIT, &Ack::default(), Cause::Mark);
        }
        play_on(&mut group, script, initial_window)
    }
}

/// The subflows of one connection whose controller runs in the kernel.
struct Group<'a> {
    player: &'a mut Player,
    subflows: Vec<(Subflow, [u64; PRIVATE_WORDS])>,
}

impl Group<'_> {
    /// Calls a hook of subflow `i`; returns what `congestion` returned.
    fn call(&mut self, i: usize, hook: u32, ack: &Ack, cause: Cause) -> u32 {
        let map =
            self.player.object.maps().find(|m| m.name() == OsStr::new(".data.call")).expect("it is there");
        let mut size = 0;
        // SAFETY: the map is alive; libbpf keeps its memory mapped as long as the object.
        let memory = unsafe {
            libbpf_sys::bpf_map__initial_value(map.as_libbpf_object().as_ptr(), &mut size).cast::<Call>()
        };
        assert_eq!(size as usize, size_of::<Call>(), "as bpf/trace.bpf.c lays it out");
        let mut siblings =
            Siblings { busy: 0, count: 1, peers: [Peer { cwnd: 0, srtt: 0, word: 0 }; MAX_SUBFLOWS + 1] };
        for (s, _) in self.subflows.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, s)| s) {
            siblings.peers[siblings.count as usize] = Peer { cwnd: s.cwnd, srtt: s.srtt, word: s.word };
            siblings.count += 1;
        }
        let (s, private) = &mut self.subflows[i];
        let call = Call {
            hook,
            cause: cause as u32,
            window: 0,
            cwnd: s.cwnd,
            ssthresh: s.ssthresh,
            srtt: s.srtt,
            min_rtt: s.min_rtt,
            in_flight: s.in_flight,
            mss: s.mss,
            state: s.state as u32,
            cwnd_limited: s.cwnd_limited.into(),
            next_hop: s.next_hop.into(),
            alone: s.alone.into(),
            index: i as u32,
            ack: *ack,
            word: s.word,
            private: *private,
            siblings,
        };
        // SAFETY: the map's page is as large as `Call`, and nobody else uses it.
        unsafe { memory.write_volatile(call) };
        let program = self.player.object.progs_mut().next().expect("the object has one program");
        program.test_run(ProgramInput::default()).expect("a loaded program can be run");
        // SAFETY: as above; the kernel has finished using it.
        let call = unsafe { memory.read_volatile() };
        s.cwnd = call.cwnd;
        s.word = call.word;
        s.alone = call.alone as u8;
        *private = call.private;
        call.window
    }
}

impl Hooks for Group<'_> {
    type Saved = (Subflow, [u64; PRIVATE_WORDS]);

    fn subflow(&mut self, i: usize) -> &mut Subflow {
        &mut self.subflows[i].0
    }

    fn ack(&mut self, i: usize, ack: &Ack) {
        self.call(i, ACK, ack, Cause::Mark);
    }

    fn grow(&mut self, i: usize, ack: &Ack) {
        self.call(i, GROW, ack, Cause::Mark);
        let cwnd = &mut self.subflow(i).cwnd;
        *cwnd = (*cwnd).max(1);
    }

    fn congestion(&mut self, i: usize, cause: Cause) -> Option<u32> {
        let before = self.subflows[i].0.cwnd;
        let answer = self.call(i, CONGESTION, &Ack::default(), cause);
        self.player.controller.bound_cut(cause, before, answer)
    }

    fn timeout(&mut self, i: usize) {
        self.call(i, TIMEOUT, &Ack::default(), Cause::Loss);
    }

    /// No kernel calls this hook, so no controller here has it.
    fn report(&mut self, _: usize, _: &Report, _: &[Hop]) -> u32 {
        0
    }

    fn save(&mut self, i: usize) -> Self::Saved {
        self.subflows[i].clone()
    }

    fn restore(&mut self, i: usize, saved: Self::Saved) {
        self.subflows[i] = saved;
    }
}
