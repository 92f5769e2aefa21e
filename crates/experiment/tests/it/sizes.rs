//! The largest message of every workload: what is one byte larger is refused where it stands.

use std::fs;

use tempfile::TempDir;
use tresse_experiment::{Profile, Source, find, load, resolve};

/// 2^32 - 1 segments of the 1460 bytes of `xmp/table1`.
const MOST: u64 = 4_294_967_295 * 1460;

/// `xmp/table1` with this workload and no other, in a folder with this file: what is wrong with it.
fn told(workload: &str, file: &str) -> Result<(), String> {
    let dir = TempDir::new().expect("a folder");
    fs::write(dir.path().join("f"), file).expect("a file");
    let text = find("xmp/table1").expect("built in").text;
    let start = text.find("[workloads.").expect("it has workloads");
    let text = format!("{}[workloads.w]\n{workload}\n", &text[..start]);
    let name = dir.path().join("s.toml").display().to_string();
    let error = |e: tresse_experiment::Diagnostic| {
        e.to_string().replace(&dir.path().display().to_string(), "").replacen(['/', '\\'], "", 1)
    };
    let loaded = load(Source { name, text }, Profile::Full, &[]).map_err(error)?;
    resolve(&loaded, &["scheme=dctcp".to_owned()]).map(drop).map_err(error)
}

#[test]
fn a_message_has_fewer_than_2_to_the_32_segments_in_every_workload() {
    let sized = [
        ("pattern = \"permutation\"\nsize = \"{}B\"", 1),
        ("pattern = \"rack-to-rack\"\nsize = \"{}B\"", 1),
        ("pattern = \"random\"\nduration = \"1s\"\nsize = \"{}B\"", 1),
        ("pattern = \"random\"\nduration = \"1s\"\nsize = [\"1B\", \"{}B\"]", 1),
        ("pattern = \"incast\"\nsize = \"{}B\"", 1),
        ("pattern = \"spread\"\nflows = 3\nsize = \"{}B\"", 1),
        ("pattern = \"poisson\"\nload = 0.1\nflows = 3\nsize = \"{}B\"", 1),
        (
            "pattern = \"poisson\"\nload = 0.1\nflows = 3\n\
             size = { pareto = 1.5, mean = \"1MB\", bound = \"{}B\" }",
            1,
        ),
        ("pattern = \"jobs\"\ntotal = 1\nservers = 3\nrequest = \"{}B\"\nresponse = \"1B\"", 1),
        ("pattern = \"jobs\"\ntotal = 1\nservers = 3\nrequest = \"1B\"\nresponse = \"{}B\"", 1),
        ("pattern = \"flows\"\n[[workloads.w.flow]]\nfrom = 0\nto = 1\nsize = \"{}B\"", 1),
        ("pattern = \"collective\"\ncollective = \"broadcast\"\nsize = \"{}B\"", 1),
        ("pattern = \"collective\"\ncollective = \"tree-all-reduce\"\nchunks = 2\nsize = \"{}B\"", 2),
        ("pattern = \"collective\"\ncollective = \"ring-all-reduce\"\nsize = \"{}B\"", 128),
        ("pattern = \"collective\"\ncollective = \"all-to-all\"\nsize = \"{}B\"", 128),
    ];
    for (workload, parts) in sized {
        let of = |bytes: u64| workload.replace("{}", &bytes.to_string());
        told(&of(MOST * parts), "").unwrap_or_else(|e| panic!("{workload}: {e}"));
        for bytes in [MOST * parts + 1, u64::MAX] {
            let told = told(&of(bytes), "").expect_err(workload);
            let expected =
                format!("is too large: at most {MOST}B, because a flow has fewer than 2^32 segments");
            assert!(told.starts_with("s.toml:") && told.contains(&expected), "{told}");
            assert!(told.contains(&bytes.to_string()), "{told}");
        }
    }
}

#[test]
fn so_it_has_in_every_file() {
    let files = [
        ("pattern = \"flows\"", "from,to,size,start\n0,1,{}B,0s\n", "f:2:5"),
        (
            "pattern = \"goal\"",
            "num_ranks 2\nrank 0 {\nsend {}b to 1\n}\nrank 1 {\nrecv {}b from 0\n}\n",
            "f:3:6",
        ),
        ("pattern = \"spread\"\nflows = 3\nsize = { file = \"f\" }", "0 0\n10 0.5\n{} 1\n", "f:3:1"),
    ];
    for (workload, file, place) in files {
        let workload = match workload.contains("size") {
            true => workload.to_owned(),
            false => format!("{workload}\nfile = \"f\""),
        };
        let of = |bytes: u64| file.replace("{}", &bytes.to_string());
        told(&workload, &of(MOST)).unwrap_or_else(|e| panic!("{workload}: {e}"));
        for bytes in [MOST + 1, u64::MAX] {
            let told = told(&workload, &of(bytes)).expect_err(&workload);
            assert!(
                told.contains(&format!("{place}: "))
                    && (told.contains("2^32 segments") || told.contains("2^53")),
                "{told}"
            );
        }
    }
    let told =
        told("pattern = \"flows\"\nfile = \"f\"", "from,to,size,start\n0,1,7TB,0s\n").expect_err("7TB");
    assert!(told.contains("2 | 0,1,7TB,0s"), "{told}");
}
