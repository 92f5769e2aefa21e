//! The data file of Flent: read by hand, and by Flent itself if it can be installed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;
use tresse_exchange::export::Format;

use super::{Row, exported, rows};

/// The version of Flent that opens the file.
const FLENT: &str = "flent==2.3.0";

/// The interval of samples, ps and s.
const STEP: u64 = 1_000_000_000;
const STEP_S: f64 = 0.001;

fn file() -> Vec<u8> {
    let scheme = rows("flows", "xmp")[0].text("scheme").to_owned();
    exported(Format::Flent, None, &[&format!("scheme={scheme}")]).expect("a Flent file")
}

fn read(bytes: &[u8]) -> Value {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).expect("gzip");
    serde_json::from_str(&text).expect("JSON")
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn series_are_the_samples() {
    let bytes = file();
    assert_eq!(bytes, file(), "the same run gives the same bytes");
    let file = read(&bytes);
    assert_eq!((&file["version"], &file["metadata"]["NAME"]), (&4.into(), &"tcp_nup".into()));
    let x: Vec<f64> =
        file["x_values"].as_array().expect("x").iter().map(|v| v.as_f64().expect("s")).collect();
    let of =
        |name: &str, series: &str| file["results"][format!("{name}{series}")].as_array().expect("a series");

    let mut samples = BTreeMap::<String, Vec<Row>>::new();
    for row in rows("samples", "xmp") {
        samples.entry(row.flow()).or_default().push(row);
    }
    let about = file["metadata"]["SERIES_META"].as_object().expect("series");
    let names: BTreeMap<&str, &str> =
        about.iter().filter_map(|(name, about)| Some((about["FLOW"].as_str()?, &**name))).collect();
    assert_eq!(names.keys().copied().collect::<Vec<_>>(), samples.keys().collect::<Vec<_>>());
    assert_eq!(file["metadata"]["TEST_PARAMETERS"]["upload_streams"], names.len().to_string());

    let mut compared = 0;
    for (flow, own) in &samples {
        let name = names[&**flow];
        let (rate, rtt, cwnd) = (of(name, ""), of(name, "::tcp_rtt"), of(name, "::tcp_cwnd"));
        assert!([rate, rtt, cwnd].iter().all(|series| series.len() == x.len()));
        // Nothing is lost: the data that arrived in all steps, Mbit/s times s.
        let megabits: f64 = rate.iter().filter_map(Value::as_f64).map(|r| r * STEP_S).sum();
        let bytes: u64 = own.iter().map(|r| r.number("arrived_bytes")).sum();
        assert!(is_near(megabits * 1e6 / 8.0, bytes as f64), "{flow}: {megabits} Mbit, {bytes} bytes");

        // In a run with one round, intervals are steps; a flow that begins or ends has a part of one.
        for (step, &begin) in x.iter().enumerate() {
            let first = (begin * 1e12).round() as u64;
            let here: Vec<&Row> =
                own.iter().filter(|r| (first..first + STEP).contains(&r.number("start_ps"))).collect();
            assert_eq!(rate[step].is_null(), here.is_empty(), "{flow} at {begin} s");
            if here.is_empty() {
                continue;
            }
            let bytes: u64 = here.iter().map(|r| r.number("arrived_bytes")).sum();
            let expected = bytes as f64 * 8.0 / STEP_S / 1e6;
            let said = rate[step].as_f64().expect("a rate");
            assert!(is_near(said, expected), "{flow} at {begin} s: {said}, not {expected}");
            let windows: u64 = here.iter().map(|r| r.number("cwnd_pkts")).sum();
            assert_eq!(cwnd[step], windows, "{flow} at {begin} s");
            let rtts: Vec<u64> = here.iter().filter_map(|r| r.maybe("srtt_ps")).collect();
            match rtt[step].as_f64() {
                Some(said) => {
                    let mean = rtts.iter().sum::<u64>() as f64 / rtts.len() as f64 / 1e9;
                    assert!(is_near(said, mean), "{flow} at {begin} s: {said}, not {mean}");
                }
                None => assert!(rtts.is_empty(), "{flow} at {begin} s"),
            }
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} steps");
}

/// Flent's reading, as JSON: title, x values, every series by name, and the RTTs that it plots.
const READ: &str = r#"
import json, sys
from flent import resultset
r = resultset.load(sys.argv[1])
rtts = list(r.raw_series("TCP upload::1", raw_key="tcp_rtt"))
json.dump({"title": r.title, "x": r.x_values, "series": {n: r.series(n) for n in r.series_names}, "rtts": rtts}, sys.stdout)
"#;

#[test]
fn flent_opens_it() {
    let dir = TempDir::new().expect("a temporary folder");
    if let Err(missing) = install(dir.path()) {
        // Past the test harness, which hides the output of passing tests.
        drop(writeln!(io::stderr(), "skipped: Flent reads its data file: {missing}"));
        return;
    }
    let bytes = file();
    let path = dir.path().join("xmp.flent.gz");
    fs::write(&path, &bytes).expect("it can be written");
    let output = Command::new(dir.path().join("venv/bin/python"))
        .args(["-c", READ])
        .arg(&path)
        .output()
        .expect("python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let own = read(&bytes);
    assert!(
        said["title"].as_str().is_some_and(|t| t.starts_with("tcp_nup - scheme=xmp")),
        "{}",
        said["title"]
    );
    assert_eq!((&said["x"], &said["series"]), (&own["x_values"], &own["results"]));
    let rtts = own["results"]["TCP upload::1::tcp_rtt"].as_array().expect("RTTs");
    let steps = own["x_values"].as_array().expect("steps").iter().zip(rtts);
    let rtts: Vec<Value> =
        steps.filter(|(_, rtt)| !rtt.is_null()).map(|(x, rtt)| vec![x.clone(), rtt.clone()].into()).collect();
    assert_eq!(said["rtts"], Value::from(rtts));

    // And its command, which identifies the series by the test's name.
    let output = Command::new(dir.path().join("venv/bin/flent"))
        .args(["--format", "summary", "--input"])
        .arg(&path)
        .current_dir(dir.path())
        .output()
        .expect("flent starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("Summary of tcp_nup") && text.contains("TCP upload sum"), "{text}");
}

/// Flent in `dir/venv`.
///
/// # Errors
/// What is missing.
fn install(dir: &Path) -> Result<(), String> {
    let venv = Command::new("python3").args(["-m", "venv", "venv"]).current_dir(dir).output();
    let venv = venv.map_err(|_| "python3 is missing (apt-get install python3-venv)".to_owned())?;
    if !venv.status.success() {
        return Err("Python's venv is missing (apt-get install python3-venv)".to_owned());
    }
    let pip = Command::new(dir.join("venv/bin/pip"))
        .args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--retries",
            "1",
            "--timeout",
            "20",
            FLENT,
        ])
        .output();
    match pip {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(format!("pip cannot install {FLENT}")),
    }
}
