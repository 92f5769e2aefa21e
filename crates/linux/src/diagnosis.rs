//! The messages of the compiler and the verifier, as file, line and cause.

use std::path::Path;

use crate::Error;

/// A pattern in a message, and its meaning for the author of a controller.
type Hints = [(&'static str, &'static str)];

const COMPILER: &Hints = &[
    ("multi3", "BPF has no 128-bit product; fix.h has fix_mul_shr"),
    ("divti3", "BPF has no 128-bit division"),
    (
        "signed division",
        "BPF has no signed division here; divide unsigned numbers and keep the sign separately",
    ),
    ("df", "BPF has no floating point; fix.h has fixed-point arithmetic"),
    ("sf", "BPF has no floating point; fix.h has fixed-point arithmetic"),
];

const VERIFIER: &Hints = &[
    (
        "infinite loop",
        "the verifier cannot see the end of this loop: give it a constant bound, or use FOR_EACH_SUBFLOW",
    ),
    (
        "too large",
        "the verifier gave up after a million instructions: a loop has too many iterations or too many branches; use \
         FOR_EACH_SUBFLOW, or a smaller constant bound",
    ),
    ("too complex", "too many branches inside a loop: compute without them, or with a smaller bound"),
    ("no write support", "a write outside the private state: an index must be a constant, or be checked"),
    (
        "invalid variable offset",
        "a write outside the private state: an index must be a constant, or be checked",
    ),
    ("access beyond", "a read outside a struct: an index must be a constant, or be checked"),
    ("invalid access", "a read outside a struct: an index must be a constant, or be checked"),
    ("unbounded", "an index must be a constant, or be checked"),
    ("math between", "an index must be a constant, or be checked"),
    ("stack", "too much on the stack: the limit is 512 bytes"),
];

fn hint(hints: &Hints, text: &str) -> String {
    let found = hints.iter().find(|(sign, _)| text.contains(sign));
    found.map_or_else(String::new, |(_, hint)| format!("\n\nhint: {hint}"))
}

/// The compiler's message about a user's `file`.
pub(crate) fn of_compiler(file: &Path, message: &str) -> String {
    let shown = file.display();
    // The back end's message has a line number, but no file and no readable rest.
    let mut lines = message.lines();
    let backend = lines.find_map(|l| l.strip_prefix("Error at line ")?.split_once(": "));
    if let Some((line, what)) = backend {
        let what = if what.contains("signed division") { "a signed division or remainder" } else { what };
        return format!("{shown}:{line}: it does not compile for the kernel: {what}{}", hint(COMPILER, what));
    }
    // The lines about the wrapper around it do not help its author.
    let own: Vec<&str> = message.lines().filter(|l| !l.starts_with("In file included")).collect();
    let runtime = message.split("built-in function '__").nth(1).and_then(|rest| rest.split('\'').next());
    let hint = runtime.map_or_else(String::new, |function| hint(COMPILER, function));
    format!("{shown}: it does not compile for the kernel\n{}{hint}", own.join("\n").trim_end())
}

/// Why an object could not be opened: a user's file calls a function that does not exist.
pub(crate) fn of_open(error: &libbpf_rs::Error, log: &str, file: Option<&Path>) -> Error {
    let said: Vec<&str> = log.lines().filter_map(|l| l.strip_prefix("libbpf: ")).collect();
    let said = if said.is_empty() { error.to_string() } else { said.join("\n") };
    match file {
        Some(file) => Error::Input(format!(
            "{}: its eBPF build is incomplete: {said}\n\nhint: a controller may only call what is in it, \
             in controller.h or in fix.h",
            file.display()
        )),
        None => Error::Machine(format!("an eBPF object cannot be opened: {said}")),
    }
}

/// Why an object could not be loaded: the verifier's message about a user's `file`, or what the machine
/// lacks.
pub(crate) fn of_load(error: &libbpf_rs::Error, log: &str, file: Option<&Path>) -> Error {
    let Some(verdict) = Verdict::read(log) else {
        let said: Vec<&str> = log.lines().filter_map(|l| l.strip_prefix("libbpf: ")).collect();
        return Error::Machine(format!(
            "the kernel does not load eBPF programs for this process: {error}\n{}\n\nhint: `tresse doctor` says what \
             is missing",
            said.join("\n")
        ));
    };
    let place = match (file, verdict.place(file)) {
        (Some(file), Some((line, text))) => format!("{}:{line}: ", file.display()) + &format!("`{text}`: "),
        (Some(file), None) => format!("{}: ", file.display()),
        (None, _) => String::new(),
    };
    let text = format!(
        "{place}the kernel's verifier refuses {}: {}{}",
        verdict.program,
        verdict.cause,
        hint(VERIFIER, &verdict.cause)
    );
    if file.is_some() { Error::Input(text) } else { Error::Machine(text) }
}

/// The verifier's verdict on one program.
struct Verdict<'a> {
    program: &'a str,
    cause: String,
    log: Vec<&'a str>,
}

impl<'a> Verdict<'a> {
    fn read(log: &'a str) -> Option<Self> {
        let (before, rest) = log.split_once("-- BEGIN PROG LOAD LOG --")?;
        let program = before.rsplit("prog '").next()?.split('\'').next()?;
        let log: Vec<&str> = rest.split("-- END PROG LOAD LOG --").next()?.lines().collect();
        let cause = log.iter().rev().find(|line| is_cause(line))?;
        Some(Self { program, cause: (*cause).to_owned(), log })
    }

    /// The last line of `file` that the verifier named: its number and its text.
    fn place(&self, file: Option<&Path>) -> Option<(&'a str, &'a str)> {
        let name = file?.file_name()?.to_str()?;
        self.log.iter().rev().find_map(|line| {
            let (text, place) = line.strip_prefix("; ")?.rsplit_once(" @ ")?;
            let (in_file, number) = place.rsplit_once(':')?;
            (in_file == name).then_some((number, text.trim()))
        })
    }
}

/// Whether a line of the log is a sentence, not an instruction, a source line or a state.
fn is_cause(line: &str) -> bool {
    let machine = [
        "; ",
        "processed ",
        "cur state",
        "old state",
        "from ",
        "libbpf: ",
        "verification time",
        "stack depth",
    ];
    !line.trim().is_empty()
        && !machine.iter().any(|start| line.starts_with(start))
        && !line.split_once(": ").is_some_and(|(n, _)| n.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "libbpf: prog 'tresse_grow': BPF program load failed: -EINVAL
libbpf: prog 'tresse_grow': -- BEGIN PROG LOAD LOG --
0: R1=ctx() R10=fp0
; HOOK void tresse_grow(ARGUMENTS) @ controller.bpf.c:172
0: (b7) r2 = 1296                     ; R2=1296
; if (n == 0x12345) @ inf.c:6
96: (61) r2 = *(u32 *)(r10 -4)
infinite loop detected at insn 97
cur state: R1=trusted_ptr_tcp_sock(off=1296)
old state: R1=trusted_ptr_tcp_sock(off=1296)
processed 128 insns (limit 1000000) max_states_per_insn 1
-- END PROG LOAD LOG --
libbpf: prog 'tresse_grow': failed to load: -EINVAL
";

    #[test]
    fn a_verdict_names_file_line_and_cause() {
        let error = libbpf_rs::Error::from_raw_os_error(22);
        let Error::Input(text) = of_load(&error, LOG, Some(Path::new("dir/inf.c"))) else {
            panic!("the user's file is at fault");
        };
        assert!(text.starts_with("dir/inf.c:6: `if (n == 0x12345)`: "), "{text}");
        assert!(text.contains("tresse_grow: infinite loop detected at insn 97"), "{text}");
        assert!(text.contains("hint: "), "{text}");
    }

    #[test]
    fn without_a_verdict_the_machine_is_at_fault() {
        let error = libbpf_rs::Error::from_raw_os_error(1);
        let log = "libbpf: Error in bpf_object__probe_loading(): -EPERM\n";
        assert!(matches!(of_load(&error, log, Some(Path::new("a.c"))), Error::Machine(_)));
    }
}
