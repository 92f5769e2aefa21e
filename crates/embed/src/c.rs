//! The C interface: `include/tresse.h` describes each function.

#![expect(unsafe_code, reason = "C calls it")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::{Event, Options, Simulation};

/// `tresse_callback`, with its argument.
#[derive(Clone, Copy)]
struct Callback {
    function: extern "C" fn(*mut Handle, *mut c_void),
    argument: *mut c_void,
}

/// `tresse_simulation`.
pub(crate) struct Handle {
    simulation: Simulation,
    arrivals: BTreeMap<u64, Callback>,
    timers: BTreeMap<u64, Callback>,
    is_running: bool,
    error: CString,
}

impl Handle {
    fn fail(&mut self, message: &str) -> c_int {
        self.error = text(message);
        -1
    }
}

/// A text for C, which ends at the first zero.
fn text(message: &str) -> CString {
    CString::new(message.replace('\0', "")).expect("no zero is left")
}

/// The result of `work`, or the message of its panic: no panic may reach C.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(format!("this is a bug in Tresse: {message}"))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tresse_open(
    experiment: *const c_char,
    options: *const *const c_char,
    error: *mut c_char,
    size: usize,
) -> *mut Handle {
    let opened = guarded(|| {
        let utf8 = |given: *const c_char| {
            // SAFETY: the caller gives texts that end with a zero and stay valid during the call.
            unsafe { CStr::from_ptr(given) }.to_str().map_err(|_| "an argument is not UTF-8".to_owned())
        };
        let mut arguments = Vec::new();
        if !options.is_null() {
            // SAFETY: the list ends with a null, and nothing after it is read.
            let nth = |n| unsafe { *options.add(n) };
            let given = (0..).map(nth).take_while(|argument| !argument.is_null());
            arguments = given.map(utf8).collect::<Result<_, _>>()?;
        }
        if experiment.is_null() {
            return Err("no experiment is given".to_owned());
        }
        let options = Options::parse(arguments).map_err(|e| e.to_string())?;
        Simulation::open(utf8(experiment)?, &options).map_err(|e| e.to_string())
    });
    match opened {
        Ok(simulation) => Box::into_raw(Box::new(Handle {
            simulation,
            arrivals: BTreeMap::new(),
            timers: BTreeMap::new(),
            is_running: false,
            error: CString::default(),
        })),
        Err(message) => {
            if !error.is_null() && size > 0 {
                let message = text(&message);
                let length = message.as_bytes().len().min(size - 1);
                // SAFETY: there is room for `size` bytes, of which `length` and a zero are written.
                unsafe {
                    ptr::copy_nonoverlapping(message.as_ptr(), error, length);
                    *error.add(length) = 0;
                }
            }
            ptr::null_mut()
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tresse_hosts(handle: *const Handle) -> u32 {
    // SAFETY: the caller gives a handle that `tresse_open` returned and that is not closed.
    unsafe { &*handle }.simulation.hosts()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tresse_send(
    handle: *mut Handle,
    from: u32,
    to: u32,
    bytes: u64,
    function: extern "C" fn(*mut Handle, *mut c_void),
    argument: *mut c_void,
) -> c_int {
    // SAFETY: as in `tresse_hosts`; one thread at a time, and `tresse_run` holds no reference while it calls back.
    let handle = unsafe { &mut *handle };
    match guarded(|| handle.simulation.send(from, to, bytes).map_err(|e| e.to_string())) {
        Ok(message) => {
            handle.arrivals.insert(message, Callback { function, argument });
            0
        }
        Err(message) => handle.fail(&message),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tresse_at(
    handle: *mut Handle,
    time: u64,
    function: extern "C" fn(*mut Handle, *mut c_void),
    argument: *mut c_void,
) {
    // SAFETY: as in `tresse_send`.
    let handle = unsafe { &mut *handle };
    let timer = handle.simulation.at(time);
    handle.timers.insert(timer, Callback { function, argument });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tresse_now(handle: *const Handle) -> u64 {
    // SAFETY: as in `tresse_hosts`.
    unsafe { &*handle }.simulation.now()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tresse_run(handle: *mut Handle, until: u64) -> c_int {
    {
        // SAFETY: as in `tresse_send`.
        let handle = unsafe { &mut *handle };
        if handle.is_running {
            return handle.fail("tresse_run was called from a callback, while time is already advancing");
        }
        handle.is_running = true;
    }
    let ended = loop {
        // SAFETY: as in `tresse_send`; the reference ends before the callback is called, which makes another
        // one.
        let handle_now = unsafe { &mut *handle };
        let callback = match guarded(|| handle_now.simulation.next(until).map_err(|e| e.to_string())) {
            Ok(Some(Event::Arrived(record))) => handle_now.arrivals.remove(&record.id),
            Ok(Some(Event::Timer(number))) => handle_now.timers.remove(&number),
            Ok(None) => break 0,
            Err(message) => break handle_now.fail(&message),
        };
        let Callback { function, argument } = callback.expect("each has one");
        function(handle, argument);
    };
    // SAFETY: as above.
    unsafe { &mut *handle }.is_running = false;
    ended
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tresse_error(handle: *const Handle) -> *const c_char {
    // SAFETY: as in `tresse_hosts`.
    unsafe { &*handle }.error.as_ptr()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tresse_close(handle: *mut Handle) {
    if !handle.is_null() {
        // SAFETY: it came from `Box::into_raw`, and the caller does not use it again.
        drop(unsafe { Box::from_raw(handle) });
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{CStr, CString, c_void};
    use std::ptr;

    use super::{
        Handle, tresse_at, tresse_close, tresse_error, tresse_hosts, tresse_now, tresse_open, tresse_run,
        tresse_send,
    };

    /// The result of `tresse_open` for one scheme of a built-in experiment, or its message.
    fn opened(experiment: &str, options: &[&str], size: usize) -> Result<*mut Handle, String> {
        let owned: Vec<CString> = options.iter().map(|own| CString::new(*own).expect("no zero")).collect();
        let mut list: Vec<_> = owned.iter().map(|own| own.as_ptr()).collect();
        list.push(ptr::null());
        let experiment = CString::new(experiment).expect("no zero");
        let mut error = vec![0; size];
        // SAFETY: texts and a list as the header says.
        let handle = unsafe { tresse_open(experiment.as_ptr(), list.as_ptr(), error.as_mut_ptr(), size) };
        if handle.is_null() {
            // SAFETY: the text ends with a zero within `size` bytes.
            return Err(unsafe { CStr::from_ptr(error.as_ptr()) }.to_str().expect("ASCII").to_owned());
        }
        Ok(handle)
    }

    fn error(handle: *mut Handle) -> String {
        // SAFETY: the handle is open; the text is copied.
        unsafe { CStr::from_ptr(tresse_error(handle)) }.to_str().expect("UTF-8").to_owned()
    }

    const ONE: [&str; 2] = ["--only", "scheme=xmp"];

    extern "C" fn count(_: *mut Handle, argument: *mut c_void) {
        // SAFETY: each test gives a counter that outlives the run.
        unsafe { *argument.cast::<u32>() += 1 };
    }

    extern "C" fn again(handle: *mut Handle, argument: *mut c_void) {
        // SAFETY: as in `count`; a callback may send, and must not run.
        unsafe {
            assert_eq!(tresse_run(handle, u64::MAX), -1);
            assert_eq!(tresse_send(handle, 1, 0, 1000, count, argument), 0);
        }
        count(handle, argument);
    }

    #[test]
    fn callbacks_send_and_may_not_run() {
        let handle = opened(
            "xmp/table1",
            &[&ONE[..], &["--set", "fabric.k=4", "--only", "subflows=2"]].concat(),
            4096,
        )
        .expect("it opens");
        let mut calls = 0_u32;
        let argument = (&raw mut calls).cast();
        // SAFETY: an open handle, and a counter that outlives the run.
        unsafe {
            assert_eq!(tresse_hosts(handle), 16);
            assert_eq!(tresse_send(handle, 0, 1, 1000, again, argument), 0);
            tresse_at(handle, 5_000_000_000, count, argument);
            assert_eq!(tresse_run(handle, 4_000_000_000), 0);
            assert_eq!((calls, tresse_now(handle)), (2, 4_000_000_000));
            assert!(error(handle).contains("from a callback"), "{}", error(handle));
            assert_eq!(tresse_run(handle, u64::MAX), 0);
            assert_eq!((calls, tresse_now(handle)), (3, 5_000_000_000));
            assert_eq!(tresse_send(handle, 0, 16, 1000, count, argument), -1);
            assert!(error(handle).contains("there is no host 16: hosts are 0 to 15"), "{}", error(handle));
            tresse_close(handle);
            tresse_close(ptr::null_mut());
        }
    }

    #[test]
    fn what_cannot_be_opened_is_told() {
        let told =
            |experiment, options: &[&str], size| opened(experiment, options, size).expect_err("an error");
        assert!(told("xmp/tabel1", &[], 4096).contains("did you mean `xmp/table1`"));
        assert!(told("xmp/table1", &["--sed", "1"], 4096).contains("did you mean `--seed`"));
        assert!(told("xmp/table1", &[], 4096).contains("but a simulation has one"));
        assert_eq!(told("xmp/tabel1", &[], 6), "there", "cut to the caller's room");
    }
}
