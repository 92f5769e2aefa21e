//! How a hook ended the process that it ran in, in words, with the line.

use std::fmt;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::fault::{Fault, PROBE, kind};
use crate::user_file::Code;
use crate::{CWND_LIMIT, Controller};

/// How a hook ended its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    kind: usize,
    /// A signal's number, or a window.
    detail: u64,
    first: usize,
    hook: usize,
    status: i32,
}

/// An [`End`] with the controller that caused it. As text: `mine.c:42: controller mine: divides by 0 (SIGFPE) in
/// hook grow`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashReport {
    /// The controller's file.
    pub file: &'static Path,
    /// The line in it, if it is known.
    pub line: Option<u32>,
    /// `controller`, or what else the file declares.
    pub kind: &'static str,
    /// The controller; several if they share a file, or if it is not known which one it was.
    pub controller: String,
    /// What happened.
    pub what: String,
}

impl fmt::Display for CrashReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, kind, controller, what } = self;
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        write!(f, "{}{line}: {kind} {controller}: {what}", file.display())
    }
}

impl End {
    /// The end of a child that left `fault` and `status`; `None` if no hook ended it.
    pub(super) fn new(fault: &Fault, status: i32) -> Option<Self> {
        let kind = fault.kind.load(Ordering::Relaxed);
        let end = Self {
            kind,
            detail: fault.detail.load(Ordering::Relaxed),
            first: fault.first.load(Ordering::Relaxed),
            hook: fault.hook.load(Ordering::Relaxed),
            status,
        };
        (kind != kind::DONE && kind != kind::PANIC).then_some(end)
    }

    /// Whether its time was up.
    fn is_endless(&self) -> bool {
        self.kind == kind::SIGNAL && [libc::SIGPROF, PROBE].contains(&(self.detail as i32))
    }

    /// Which of `controllers`, which ran in the process, caused it, and where; `None` if all of them are built in.
    pub fn told(&self, controllers: &[Controller]) -> Option<CrashReport> {
        self.told_of(controllers.iter().filter_map(Controller::code).collect())
    }

    /// What happened, and where if that is known; `code` is all of the users' that ran in the process.
    pub fn message(&self, code: Option<Code>) -> String {
        match self.told_of(code.into_iter().collect()) {
            Some(CrashReport { file, line: Some(line), what, .. }) => {
                format!("{what}, {}:{line}", file.display())
            }
            Some(CrashReport { what, .. }) => what,
            None => self.to_string(),
        }
    }

    /// Like [`End::told`], for any kind of users' parts that ran in the process; `None` if there were none.
    pub fn told_of(&self, mut users: Vec<Code>) -> Option<CrashReport> {
        if users.iter().any(|code| code.file.code.contains(&self.first)) {
            users.retain(|code| code.file.code.contains(&self.first));
        }
        let Code { file, text, what: kind, .. } = *users.first()?;
        let (place, function) = match self.first {
            0 => (None, None),
            _ => (file.line(self.first), file.function(self.hook)),
        };
        // A window, or a path, is the fault of the whole hook: its first instruction may be of any line in it.
        let head = function.as_deref().filter(|_| [kind::WINDOW, kind::PATH].contains(&self.kind));
        let place = head.and_then(|name| head_of(name, text)).or(place);
        let of = |code: &Code| {
            let mut hooks = code.hooks.iter().copied();
            hooks.find(|(_, address)| function.is_some() && file.function(*address) == function)
        };
        if users.iter().any(|code| of(code).is_some()) {
            users.retain(|code| of(code).is_some());
        }
        let hook = users.iter().find_map(of);
        let leaves = if self.is_endless() { "from" } else { "in" };
        let place_in_code = match (hook, &function) {
            (Some((hook, _)), _) => format!(" {leaves} hook {hook}"),
            (None, Some(function)) => format!(" {leaves} {function}"),
            (None, None) => String::new(),
        };
        let mut names: Vec<&str> = users.iter().map(|code| code.name).collect();
        names.dedup();
        Some(CrashReport {
            file: &file.path,
            line: place,
            kind,
            controller: names.join(" or "),
            what: format!("{self}{place_in_code}"),
        })
    }
}

/// The line where the definition of a function begins in a source text.
fn head_of(function: &str, text: &str) -> Option<u32> {
    let is_head = |line: &str| {
        let name = line.split('(').next().and_then(|head| head.rsplit([' ', '*']).next());
        name == Some(function)
            && line.contains('(')
            && !line.starts_with(char::is_whitespace)
            && !line.ends_with(';')
    };
    (1..).zip(text.lines()).find_map(|(number, line)| is_head(line).then_some(number))
}

impl fmt::Display for End {
    /// What happened, without the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signal = self.detail as i32;
        let name = match signal {
            libc::SIGBUS => "SIGBUS",
            libc::SIGTRAP => "SIGTRAP",
            libc::SIGILL => "SIGILL",
            _ => "SIGSEGV",
        };
        match self.kind {
            kind::STACK => write!(f, "overflows the stack ({name})"),
            kind::NULL => write!(f, "uses a null pointer ({name})"),
            kind::EXIT => f.write_str("calls exit()"),
            kind::PATH => write!(f, "picks path {}, which does not exist,", self.detail),
            kind::WINDOW if self.detail == 0 => f.write_str("makes a window of 0 packets"),
            kind::WINDOW => {
                write!(f, "makes a window of {} packets, above {},", self.detail, CWND_LIMIT - 1)
            }
            kind::SIGNAL => match signal {
                libc::SIGFPE => f.write_str("divides by 0 (SIGFPE)"),
                libc::SIGABRT => f.write_str("aborts (SIGABRT)"),
                libc::SIGILL | libc::SIGTRAP => write!(f, "traps ({name})"),
                _ if self.is_endless() => f.write_str("does not return"),
                _ => write!(f, "accesses memory that is not its own ({name})"),
            },
            _ if libc::WIFSIGNALED(self.status) => {
                write!(f, "its process was killed (signal {})", libc::WTERMSIG(self.status))
            }
            _ => {
                let code = libc::WEXITSTATUS(self.status);
                write!(f, "ends its process without a message (exit code {code}), as _exit() does")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::head_of;

    #[test]
    fn a_definition_is_no_call_and_no_prototype() {
        let text = "static u32 cut(struct subflow *s);\n\nstatic void grow(void)\n{\n\tcut(s);\n}\n\n\
                    static u32 cut(struct subflow *s)\n{\n}\n";
        assert_eq!(
            [head_of("grow", text), head_of("cut", text), head_of("row", text)],
            [Some(3), Some(8), None]
        );
    }
}
