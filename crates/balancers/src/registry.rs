//! The existing balancers, and their declarations.

use std::ffi::c_char;
use std::path::Path;
use std::sync::RwLock;

use tresse_controllers::{Build, Code, UserFile, check_defaults, declared_parameters, declared_text, header};
use tresse_units::{Parameter, Whole};

use crate::raw::{FLOW_LEVEL, MAX_PATH_BYTES, MAX_STATE_BYTES, RECYCLES, RawBalancer};

pub(crate) struct BuiltIn {
    raw: &'static RawBalancer,
    source_file: &'static str,
    text: &'static str,
}

pub(crate) mod generated {
    use super::{BuiltIn, RawBalancer};
    include!(concat!(env!("OUT_DIR"), "/registry.rs"));
}

/// A balancer: its declaration and its hooks.
#[derive(Clone, Copy)]
pub struct Balancer {
    pub(crate) raw: &'static RawBalancer,
    text: &'static str,
    source_file: &'static str,
    file: Option<&'static UserFile>,
}

impl Balancer {
    pub(crate) fn loaded(raw: &'static RawBalancer, text: &'static str, file: &'static UserFile) -> Self {
        Self { raw, text, source_file: "", file: Some(file) }
    }

    /// The name, as in `BALANCER(name, …)`.
    pub fn name(&self) -> &'static str {
        string(self.raw.name)
    }

    /// One line on what it does.
    pub fn title(&self) -> &'static str {
        string(self.raw.title)
    }

    /// Paper and section.
    pub fn source(&self) -> &'static str {
        string(self.raw.source)
    }

    /// Whether it uses one path at a time: without feedback the next packet takes the last one's.
    pub fn is_flow_level(&self) -> bool {
        self.raw.flags & FLOW_LEVEL != 0
    }

    /// Whether it takes paths that were good again before it tries others.
    pub fn recycles(&self) -> bool {
        self.raw.flags & RECYCLES != 0
    }

    /// The memory that a connection with this many paths needs, bytes.
    pub fn memory_bytes(&self, paths: u32) -> usize {
        self.raw.state_bytes as usize + paths as usize * self.raw.path_bytes as usize
    }

    /// Its parameters, in the order of their declaration.
    pub fn parameters(&self) -> Vec<Parameter<Whole>> {
        // SAFETY: `WITH_PARAMETERS` sets the pointer and the count from one static table.
        unsafe { declared_parameters(self.raw.parameters, self.raw.parameter_count) }
    }

    /// Checks the declaration for errors that a C compiler cannot see.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (name, raw) = (self.name(), self.raw);
        if raw.pick.is_none() {
            return Err(format!("{name}: .pick is missing: the hook that says which path a packet takes"));
        }
        if raw.state_bytes > MAX_STATE_BYTES || raw.path_bytes > MAX_PATH_BYTES {
            return Err(format!(
                "{name}: .state_bytes must be at most {MAX_STATE_BYTES}, .path_bytes at most {MAX_PATH_BYTES}"
            ));
        }
        if !raw.state_bytes.is_multiple_of(8) {
            return Err(format!("{name}: .state_bytes is not a multiple of 8; WITH_STATE sets it"));
        }
        if raw.flags & !(FLOW_LEVEL | RECYCLES) != 0 {
            return Err(format!("{name}: .flags has a flag that balancer.h does not define"));
        }
        check_defaults(name, &self.parameters())
    }

    /// Its source text, as it was read.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The comment at the head of its source: what it is, the rules, the deviations.
    pub fn header(&self) -> String {
        header(self.text)
    }

    /// The file that declares it: the user's, or its place in Tresse's source tree.
    pub fn source_file(&self) -> &'static Path {
        self.file().unwrap_or(Path::new(self.source_file))
    }

    /// The file that it was loaded from; `None` if it is built in.
    pub fn file(&self) -> Option<&'static Path> {
        self.file.map(|file| &*file.path)
    }

    /// How its file was compiled; `None` if it is built in.
    pub fn build(&self) -> Option<&'static Build> {
        self.file.map(|file| &file.build)
    }

    /// Its code, if it is a user's, to find where a hook ended its process.
    pub fn code(&self) -> Option<Code> {
        let file = self.file?;
        let &RawBalancer { init, feedback, pick, alive, .. } = self.raw;
        let hooks = [
            ("init", init.map(|f| f as usize)),
            ("feedback", feedback.map(|f| f as usize)),
            ("pick", pick.map(|f| f as usize)),
            ("alive", alive.map(|f| f as usize)),
        ];
        let hooks = hooks.into_iter().filter_map(|(name, address)| Some((name, address?))).collect();
        Some(Code { what: "balancer", name: self.name(), text: self.text, file, hooks })
    }
}

impl std::fmt::Debug for Balancer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Balancer").field(&self.name()).finish()
    }
}

/// The built-in balancers, by name.
pub fn built_in() -> Vec<Balancer> {
    let balancer =
        |b: &BuiltIn| Balancer { raw: b.raw, text: b.text, source_file: b.source_file, file: None };
    let mut all: Vec<_> = generated::BUILT_IN.iter().map(balancer).collect();
    all.sort_by_key(Balancer::name);
    all
}

/// The users' balancers that this process has loaded.
static LOADED: RwLock<Vec<Balancer>> = RwLock::new(Vec::new());

/// Adds `balancers` in place of those for which `replaced` holds.
pub(crate) fn register(balancers: &[Balancer], replaced: impl Fn(Balancer) -> bool) {
    let mut loaded = LOADED.write().expect("no holder of the lock panics");
    loaded.retain(|&other| !replaced(other));
    loaded.extend_from_slice(balancers);
}

/// The built-in and the loaded balancers, by name.
pub fn all() -> Vec<Balancer> {
    let mut all = built_in();
    all.extend_from_slice(&LOADED.read().expect("no holder of the lock panics"));
    all.sort_by_key(Balancer::name);
    all
}

/// The balancer with this name, built in or loaded.
pub fn find(name: &str) -> Option<Balancer> {
    all().into_iter().find(|b| b.name() == name)
}

/// A string of a declaration; an omitted one is empty.
fn string(p: *const c_char) -> &'static str {
    // SAFETY: declarations hold string literals, which are NUL-terminated and live forever.
    unsafe { declared_text(p) }
}
