//! Compiles the eBPF build of every controller and the other programs in bpf/, for embedding.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use flate2::Compression;
use flate2::write::DeflateEncoder;

include!("../controllers/src/declared.rs");

mod compile {
    include!("src/compile.rs");
}

#[expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts through the environment")]
fn variable(name: &str) -> PathBuf {
    PathBuf::from(env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}")))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

/// The file compressed, beside it: most of an object is debugging information, from which clang makes its types.
fn deflated(object: &Path) -> PathBuf {
    let compressed = object.with_extension("z");
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&fs::read(object).expect("clang has written it")).expect("writing to memory");
    fs::write(&compressed, encoder.finish().expect("writing to memory")).expect("OUT_DIR can be written");
    compressed
}

struct Build {
    clang: &'static str,
    bpf: PathBuf,
    controllers: PathBuf,
    libbpf: PathBuf,
    out: PathBuf,
}

impl Build {
    /// The object of `program`, wrapping `controller` if there is one.
    fn object(&self, program: &str, controller: Option<(&Path, &str)>) -> PathBuf {
        let name = controller.map_or("", |(_, name)| name);
        let object = self.out.join(format!("{program}-{name}.o"));
        let source = self.bpf.join(format!("{program}.bpf.c"));
        let include = [&*self.controllers, &*self.bpf, &*self.libbpf];
        let output = compile::compile(self.clang, &source, controller, &include, &object)
            .unwrap_or_else(|error| panic!("{}: {error}", self.clang));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {name}\n{message}");
        object
    }

    /// The name of every controller for which a kernel has hooks, with the compressed objects of its hooks and of
    /// its traces; compiled on all cores.
    fn controllers(&self) -> Vec<(String, PathBuf, PathBuf)> {
        let of_file = |source: PathBuf| {
            let text = fs::read_to_string(&source).expect("a controller is UTF-8");
            // `report` is not a kernel hook.
            let declared =
                if text.contains("SIGNAL_PACKETS") { vec![] } else { declared("CONTROLLER", &text) };
            declared.into_iter().map(move |name| (source.clone(), name))
        };
        let all: Vec<_> = files(&self.controllers, "c").into_iter().flat_map(of_file).collect();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let objects = |(source, name): &(PathBuf, String)| {
            let of = |program| deflated(&self.object(program, Some((source, name))));
            (name.clone(), of("controller"), of("trace"))
        };
        thread::scope(|scope| {
            let parts = all.chunks(all.len().div_ceil(cores));
            let parts: Vec<_> =
                parts.map(|part| scope.spawn(|| part.iter().map(objects).collect::<Vec<_>>())).collect();
            parts.into_iter().flat_map(|part| part.join().expect("it compiles")).collect()
        })
    }
}

fn main() {
    let folder = |name: &str| Path::new("../..").join(name).canonicalize().expect("it lies beside crates/");
    let build = Build {
        clang: compile::clang().expect(
            "clang 16 or newer is needed to compile the controllers for the kernel \
             (`scripts/setup build`, or `apt-get install clang-16`)",
        ),
        bpf: folder("bpf"),
        controllers: folder("controllers"),
        libbpf: variable("DEP_BPF_INCLUDE"),
        out: variable("OUT_DIR"),
    };
    println!("cargo::rerun-if-changed={}", build.bpf.display());
    println!("cargo::rerun-if-changed={}", build.controllers.display());

    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("writing to a string");
    line("pub(crate) static BUILT_IN: &[BuiltIn] = &[".to_owned());
    for (name, hooks, trace) in build.controllers() {
        line(format!(
            "    BuiltIn {{ name: {name:?}, hooks: include_bytes!({hooks:?}), trace: include_bytes!({trace:?}) }},"
        ));
    }
    line("];".to_owned());
    for name in ["status", "mark", "silence"] {
        let object = build.object(name, None);
        line(format!("pub(crate) static {}: &[u8] = include_bytes!({object:?});", name.to_uppercase()));
    }
    line("pub(crate) static SOURCES: &[(&str, &str)] = &[".to_owned());
    let headers = [files(&build.bpf, "h"), files(&build.controllers, "h"), files(&build.bpf, "c")].concat();
    for path in headers {
        let name = path.file_name().expect("a file has a name");
        line(format!("    ({name:?}, include_str!({path:?})),"));
    }
    line("];".to_owned());
    fs::write(build.out.join("embedded.rs"), text).expect("OUT_DIR can be written");

    cc::Build::new()
        .file("src/mark/virtual_queue.c")
        .include(&build.bpf)
        .std("c11")
        .warnings_into_errors(true)
        .opt_level(2)
        .compile("tresse_virtual_queue");
    println!("cargo::rerun-if-changed=src/mark/virtual_queue.c");
}
