//! The header in a C and a C++ compiler, and the example in C++ against the one in Rust.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tresse_embed::units::NEVER;
use tresse_embed::{Event, Options, Simulation};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A compiler's output for arguments; `None`, and a printed line, if there is no such compiler.
fn compiled(compiler: &str, arguments: &[&str]) -> Option<Output> {
    let include = root().join("include");
    match Command::new(compiler)
        .arg("-I")
        .arg(include)
        .args(["-Wall", "-Wextra", "-pedantic", "-Werror"])
        .args(arguments)
        .output()
    {
        Ok(output) => Some(output),
        Err(_) => {
            // Not captured by the test runner.
            drop(writeln!(io::stderr(), "skipped: {compiler} is not installed"));
            None
        }
    }
}

fn checked(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_header_is_c_and_cpp() {
    let header = root().join("include/tresse.h");
    let header = header.to_str().expect("UTF-8");
    for (compiler, language, standard) in [("cc", "c", "-std=c11"), ("c++", "c++", "-std=c++17")] {
        if let Some(output) = compiled(compiler, &["-x", language, standard, "-fsyntax-only", header]) {
            checked(&output);
        }
    }
}

/// The ring of `examples/ring.cpp` takes as long as the same ring from Rust.
#[test]
fn the_example_in_cpp_runs() {
    // Next to this test, where cargo has put the shared library.
    let exe = env::current_exe().expect("this test");
    let libraries = exe.parent().expect("its folder");
    assert!(libraries.join("libtresse_embed.so").exists(), "no library in {}", libraries.display());
    let folder = tempfile::tempdir().expect("a folder");
    let ring = folder.path().join("ring");
    let source = root().join("examples/ring.cpp");
    let [source, library, to] = [&source, libraries, &ring].map(|path: &Path| path.to_str().expect("UTF-8"));
    let built = ["-std=c++17", source, "-L", library, "-ltresse_embed", "-o", to];
    let Some(output) = compiled("c++", &built) else { return };
    checked(&output);

    // On persistent connections, messages arrive in order, so the example's tags change nothing.
    let arguments = ["--only", "scheme=xmp", "--only", "subflows=2", "--set", "fabric.k=4", "--persistent"];
    let run = |first: [&str; 3], options: &[&str]| {
        Command::new(&ring)
            .args(first)
            .args(options)
            .env("LD_LIBRARY_PATH", libraries)
            .output()
            .expect("it starts")
    };
    let output = run(["xmp/table1", "8", "800000"], &arguments);
    checked(&output);
    let took = from_rust(&arguments, 8, 100_000);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("8 of 8 ranks have finished after {took:.3} us\n")
    );

    let output = run(["xmp/nothing", "8", "800000"], &[]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("there is no experiment `xmp/nothing`"), "{told}");
}

/// How long a ring takes that sends like the example, us.
fn from_rust(arguments: &[&str], ranks: u32, chunk: u64) -> f64 {
    let options = Options::parse(arguments.iter().copied()).expect("options");
    let mut network = Simulation::open("xmp/table1", &options).unwrap_or_else(|e| panic!("{e}"));
    let mut to: Vec<u32> = (0..ranks).map(|rank| (rank + 1) % ranks).collect();
    let mut received = vec![0; ranks as usize];
    for rank in 0..ranks {
        network.send(rank, to[rank as usize], chunk).expect("a message");
    }
    while let Some(event) = network.next(NEVER).expect("it goes on") {
        let Event::Arrived(record) = event else { continue };
        let rank = to[record.id as usize];
        received[rank as usize] += 1;
        if received[rank as usize] < 2 * (ranks - 1) {
            to.push((rank + 1) % ranks);
            network.send(rank, (rank + 1) % ranks, chunk).expect("a message");
        }
    }
    network.now() as f64 / 1e6
}
