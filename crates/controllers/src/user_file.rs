//! A user's compiled file: how it was compiled, where its code is in this process, and the source line of an
//! instruction.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use addr2line::Loader;

/// How a user's file was compiled.
#[derive(Debug, PartialEq, Eq)]
pub struct Build {
    /// The compiler and its version: the first line of `cc --version`.
    pub compiler: String,
    /// Its flags, without the folders and files that it was given.
    pub flags: &'static [&'static str],
}

/// A part that a user's file declares, such as a controller, with the data for locating its faults.
#[derive(Debug, Clone)]
pub struct Code {
    /// Its kind in messages: `controller`.
    pub what: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
    /// Its file.
    pub file: &'static UserFile,
    /// Its hooks, with the addresses of their code.
    pub hooks: Vec<(&'static str, usize)>,
}

/// The data of a user's file.
#[derive(Debug)]
pub struct UserFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it was compiled.
    pub build: Build,
    /// The addresses of its code.
    pub(crate) code: Range<usize>,
    /// The compiled library; its path no longer exists.
    library: File,
    /// The base address of the library.
    base: usize,
}

/// All files that this process has loaded.
static LOADED: RwLock<Vec<&UserFile>> = RwLock::new(Vec::new());

/// The addresses of the code of all users' files.
pub(crate) fn loaded_code() -> Vec<Range<usize>> {
    LOADED.read().expect("no holder of the lock panics").iter().map(|file| file.code.clone()).collect()
}

impl UserFile {
    /// For the file `path`, whose compiled `library` has `symbol` at that address; kept until the process ends.
    ///
    /// # Errors
    /// If the library cannot be read any more.
    pub(crate) fn keep(
        path: &Path,
        build: Build,
        library: &Path,
        symbol: usize,
    ) -> io::Result<&'static Self> {
        let (base, code) = code_with(symbol);
        let file = Self { path: path.to_owned(), build, code, library: File::open(library)?, base };
        let file: &'static Self = Box::leak(Box::new(file));
        LOADED.write().expect("no holder of the lock panics").push(file);
        Ok(file)
    }

    /// The line of this file for the instruction at `address`; for an inlined function of a header, the line that
    /// calls it. `None` if the file does not say.
    pub(crate) fn line(&self, address: usize) -> Option<u32> {
        let loader = self.loader()?;
        let mut frames = loader.find_frames(self.probe(address)).ok()?;
        while let Ok(Some(frame)) = frames.next() {
            let own = |file: &str| Path::new(file).file_name() == self.path.file_name();
            if let Some(location) = frame.location.filter(|l| l.file.is_some_and(own)) {
                return location.line;
            }
        }
        None
    }

    /// The name of the function that contains the instruction at `address`, not of an inlined one.
    pub(crate) fn function(&self, address: usize) -> Option<String> {
        let loader = self.loader()?;
        let mut frames = loader.find_frames(self.probe(address)).ok()?;
        let mut name = None;
        while let Ok(Some(frame)) = frames.next() {
            name = frame.function.and_then(|f| f.raw_name().map(|name| name.into_owned()).ok());
        }
        name
    }

    fn loader(&self) -> Option<Loader> {
        Loader::new(format!("/proc/self/fd/{}", self.library.as_raw_fd())).ok()
    }

    fn probe(&self, address: usize) -> u64 {
        address.wrapping_sub(self.base) as u64
    }
}

/// The base address of the library that has `symbol`, and the addresses of its code.
fn code_with(symbol: usize) -> (usize, Range<usize>) {
    let mut search = (symbol, (0, 0..0));
    // SAFETY: `look` gets what is searched for, and does not outlive the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.1
}

/// One library: is it the one?
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the system gives a library, and `code_with` what is searched for.
    let (info, (symbol, found)) = unsafe { (&*info, &mut *search.cast::<(usize, (usize, Range<usize>))>()) };
    let base = info.dlpi_addr as usize;
    // SAFETY: the library has this many headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let part = |header: &libc::Elf64_Phdr| {
        let start = base + header.p_vaddr as usize;
        start..start + header.p_memsz as usize
    };
    let loaded = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
    if !loaded().any(|h| part(h).contains(symbol)) {
        return 0;
    }
    let code = loaded().find(|h| h.p_flags & libc::PF_X != 0).map_or(0..0, part);
    *found = (base, code);
    1
}
