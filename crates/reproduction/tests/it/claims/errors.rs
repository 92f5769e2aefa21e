//! Errors in claims and published numbers, with their positions.

use tresse_experiment::{Profile, Source};

use super::EXPERIMENT;
use crate::OWNERS;

/// The result for a file with `more` at its end, after these settings.
fn said(more: &str, settings: &[&str]) -> Result<(), String> {
    let windows = "[measure]\nsamples = \"10ms\"\n[measure.windows]\nlate = [\"1s\", \"2s\"]\n";
    let source = Source { name: "t.toml".to_owned(), text: format!("{EXPERIMENT}{windows}{more}") };
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let loaded = OWNERS.load(source, Profile::Full, &settings).map_err(|e| e.to_string())?;
    OWNERS.resolve(&loaded, &[]).map(drop).map_err(|e| e.to_string())
}

/// The error of a claim of these keys; the line that it shows must have `place`.
fn refused(keys: &str, place: &str, message: &str) {
    let more = format!(
        "[[claims]]\nid = \"first\"\ntext = \"t\"\nmetric = \"flows\"\nof = {{ scheme = \"xmp\" }}\n\
                        above = 0\n[[claims]]\nid = \"mine\"\ntext = \"t\"\n{keys}\n"
    );
    let error = said(&more, &[]).expect_err(keys);
    assert!(error.contains(message), "{keys}\n{error}");
    let [line, column] = error
        .strip_prefix("t.toml:")
        .map(|rest| {
            let mut numbers = rest.splitn(3, ':').map(|n| n.parse::<usize>().unwrap_or(0));
            [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)]
        })
        .unwrap_or_else(|| panic!("no place: {error}"));
    let all = format!(
        "{EXPERIMENT}[measure]\nsamples = \"10ms\"\n[measure.windows]\nlate = [\"1s\", \"2s\"]\n{more}"
    );
    let found = &all.lines().nth(line - 1).expect("a line of the file")[column - 1..];
    assert!(found.starts_with(place), "{found} instead of {place}\n{error}");
}

#[test]
fn a_claim_has_one_form() {
    let metric = "metric = \"flows\"\n";
    let sides = "left = { scheme = \"xmp\" }\nright = { scheme = \"lia\" }\n";
    let of = "of = { scheme = \"xmp\" }\n";
    let list = "of = [{ scheme = \"xmp\" }, { scheme = \"lia\" }]\n";
    for (keys, place, message) in [
        (sides.to_owned(), "[[claims]]", "mine: the claim does not say when it holds: a claim has one form"),
        (
            format!("{sides}ratio_above = 1\ndifference_above = 1"),
            "1",
            "`ratio_above` and `difference_above`",
        ),
        (format!("{list}above = 1\norder = \"rising\""), "\"rising\"", "`above` and `order`"),
        (format!("{of}ratio_above = 1"), "{ scheme", "`ratio_above` cannot be combined with `of`"),
        (format!("{of}excess = 0.1"), "{ scheme", "`excess` cannot be combined with `of`"),
        (format!("{sides}excess = 0.1\nratio_above = 1"), "0.1", "`ratio_above` and `excess`"),
        (format!("{sides}excess = 0"), "0", "a share more, or less, that is not 0"),
        (format!("{sides}excess = 0.1\nwithin = 1.0"), "1.0", "a share above 0 and below 1"),
        (format!("{sides}ratio_above = 1\nwithin = 0.1"), "0.1", "only for claims with `excess`"),
        (format!("{sides}below = 1"), "{ scheme", "`below` cannot be combined with `left`"),
        (
            "left = { scheme = \"xmp\" }\nratio_above = 1".to_owned(),
            "[[claims]]",
            "`ratio_above` needs `right`",
        ),
        ("above = 1".to_owned(), "[[claims]]", "`above` needs `of`"),
        (format!("{of}order = \"rising\""), "{ scheme", "an order needs a list of at least two"),
        ("of = []\nabove = 1".to_owned(), "[]", "the list is empty"),
        (format!("{of}above = 1\nslack = 0.1"), "0.1", "only for claims with `order`"),
        (format!("{list}order = \"rising\"\nslack = 0.5"), "0.5", "a share from 0 to less than 0.5"),
        (format!("{of}above = 2\nbelow = 1"), "2", "no value is above 2 and below 1"),
        (format!("{of}above = nan"), "nan", "NaN is not a bound"),
    ] {
        refused(&format!("{metric}{keys}"), place, message);
    }
}

#[test]
fn a_verdict_that_cannot_fail_is_refused() {
    let sides = "left = { scheme = \"xmp\" }\nright = { scheme = \"lia\" }\n";
    let of = "of = { scheme = \"xmp\" }\n";
    let same = "[{ scheme = \"lia\" }, { scheme = \"xmp\", subflows = 2 }]\n";
    let rates = "metric = \"goodput_mean_bps\"\n";
    let shares = "metric = \"deadline_miss_ratio\"\n";
    for (keys, place, message) in [
        // What 20 % about a total of 1.06 judges is not the 6 %.
        (
            format!("{rates}{sides}ratio_above = 0.85\nratio_below = 1.27"),
            "0.85",
            "a ratio of 1, which is no effect",
        ),
        (
            format!("{rates}{sides}ratio_above = 2\nratio_below = 9"),
            "9",
            "mine: everything from half to twice the middle of 2 and 9 is in between: give what the paper says",
        ),
        (
            format!("{rates}{sides}ratio_above = 0"),
            "0",
            "a ratio of goodput_mean_bps is always above 0, whatever is measured",
        ),
        (
            format!("{shares}{sides}difference_above = -0.1\ndifference_below = 0.5"),
            "-0.1",
            "a difference of 0, which is no effect",
        ),
        (
            format!("{shares}{sides}difference_below = 1.1"),
            "1.1",
            "a difference of deadline_miss_ratio is always below 1.1",
        ),
        (format!("{rates}{of}above = 0"), "0", "goodput_mean_bps is always above 0"),
        (format!("{rates}{of}above = 1e6\nbelow = 9e6"), "9e6", "everything from half to twice the middle"),
        (format!("{shares}{of}below = 1.1"), "1.1", "deadline_miss_ratio is always below 1.1"),
        (format!("{shares}{of}above = 1"), "1", "deadline_miss_ratio is never above 1"),
        (
            format!("metric = \"slowdown_p99_ratio\"\n{of}above = 0.9"),
            "0.9",
            "slowdown_p99_ratio is always above 0.9",
        ),
        (format!("metric = \"timeouts\"\n{of}below = 0"), "0", "timeouts is never below 0"),
        (format!("metric = \"timeouts\"\n{of}below = inf"), "inf", "inf is not a bound"),
        (
            format!("{rates}left = {{ scheme = \"lia\" }}\nright = {same}ratio_above = 1"),
            "[{ scheme",
            "it is compared with itself",
        ),
        (
            format!("{rates}of = [{{ scheme = \"lia\" }}, {{ scheme = \"lia\" }}]\norder = \"rising\""),
            "[{ scheme",
            "two that follow each other are the same",
        ),
    ] {
        refused(&keys, place, message);
    }
    let fine = |keys: &str| said(&format!("[[claims]]\nid = \"c\"\ntext = \"t\"\n{keys}\n"), &[]);
    for keys in [
        // There may be none of what is counted, all or nothing may be missed, a flow may have the network for itself or
        // nothing of it, and two may be equal.
        format!("{shares}{of}above = 0"),
        format!("{shares}{of}below = 1"),
        format!("metric = \"slowdown_p99_ratio\"\n{of}above = 1"),
        format!("metric = \"goodput_min_bps\"\n{of}above = 0"),
        format!("metric = \"timeouts\"\n{of}above = 0"),
        format!("metric = \"timeouts\"\n{of}above = 0\nbelow = 9"),
        format!("{shares}{of}above = 0.98"),
        format!("{shares}{sides}difference_above = -0.1\ndifference_below = 0.1"),
        format!("{rates}{sides}ratio_above = 0.85\nratio_below = 1.15"),
        format!("{rates}{sides}excess = -0.9\nwithin = 0.5"),
        format!("{rates}{sides}excess = 9\nwithin = 0.9"),
    ] {
        assert_eq!(fine(&keys), Ok(()), "{keys}");
    }
}

#[test]
fn a_claim_speaks_of_what_there_is() {
    let of = |selector: &str, metric: &str| format!("metric = \"{metric}\"\nof = {selector}\nabove = 0");
    let all = "late\", group = \"near\"";
    for (keys, place, message) in [
        (of("{ scheme = \"xpm\" }", "flows"), "{ scheme", "no scheme `xpm`; did you mean `xmp`?"),
        (
            of("[{ scheme = \"xmp\" }, { scheme = \"lai\" }]", "flows"),
            "{ scheme = \"lai\"",
            "did you mean `lia`?",
        ),
        (of("{ subflows = 2 }", "flows"), "{ subflows", "it needs a `scheme` (available: dctcp, lia, xmp)"),
        (
            of("{ scheme = \"xmp\", pattern = \"job\" }", "flows"),
            "{ scheme",
            "no pattern `job`; did you mean `jobs`?",
        ),
        (
            of("{ scheme = \"xmp\", subflows = 3 }", "flows"),
            "{ scheme",
            "no such case (available: xmp-2 permutation, xmp-4 permutation, xmp-2 jobs, xmp-4 jobs)",
        ),
        (of("{ scheme = \"xmp\", variant = \"deep\" }", "flows"), "{ scheme", "the experiment has none"),
        (
            of("{ scheme = \"xmp\" }", "flow"),
            "\"flow\"",
            "no metric `flow`; did you mean `flows` or `flow_recovery_time_max_s`?",
        ),
        (of("{ scheme = \"xmp\" }", "optimum.rate"), "\"optimum", "no key of the optimum `rate`"),
        (
            of("{ scheme = \"xmp\", size = \"above 1MB\" }", "optimum.rounds"),
            "{ scheme",
            "is a metric of whole cases",
        ),
        (
            of("{ scheme = \"xmp\" }", "srtt_mean_s"),
            "{ scheme",
            "`srtt_mean_s` is a metric of windows of time",
        ),
        (
            of("{ scheme = \"xmp\", window = \"lat\" }", "jain_ratio"),
            "{ scheme",
            "no window `lat`; did you mean `late`?",
        ),
        (of("{ scheme = \"xmp\", window = \"late\" }", "flows"), "{ scheme", "no metric of windows `flows`"),
        (
            of("{ scheme = \"xmp\", subflow = 1 }", "jain_ratio"),
            "{ scheme",
            "only in windows of time: set `window = ",
        ),
        (
            of("{ scheme = \"xmp\", window = \"late\", subflow = 1 }", "jain_ratio"),
            "{ scheme",
            "needs the `group` of a single flow",
        ),
        (
            of(&format!("{{ scheme = \"xmp\", window = \"{all} }}"), "jain_ratio"),
            "{ scheme",
            "the flows of xmp are in one group",
        ),
        (
            of("{ scheme = \"xmp\", window = \"late\", layer = \"core\" }", "jain_ratio"),
            "{ scheme",
            "windows have no metrics for a layer",
        ),
        (of("{ scheme = \"xmp\", pattern = \"jobs\" }", "jct_s"), "\"jct_s\"", "did you mean `jct_mean_s`?"),
    ] {
        refused(&keys, place, message);
    }
    refused(
        "metric = \"flows\"\nof = { scheme = \"xmp\", flow = 1 }\nabove = 0",
        "flow",
        "unknown key `flow`",
    );
    refused("metric = \"flows\"\nof = 3\nabove = 0", "3", "expected cases such as { scheme");
    refused("id = \"again\"", "id", "duplicate key");
}

#[test]
fn jumps_are_of_jobs() {
    let keys =
        |metric: &str, of: &str, jumps: &str| format!("metric = \"{metric}\"\nof = {of}\njumps = {jumps}");
    let (jobs, wide) =
        ("{ scheme = \"xmp\", pattern = \"jobs\" }", "{ apart = \"200ms\", within = \"20ms\" }");
    refused(&keys("jct_mean_s", jobs, wide), "\"jct_mean_s\"", "jumps are for `jct_s`");
    let none = "{ scheme = \"xmp\", pattern = \"permutation\" }";
    refused(&keys("jct_s", none, wide), "{ scheme", "none of its cases has jobs");
    let part = "{ scheme = \"xmp\", pattern = \"jobs\", size = \"above 1MB\" }";
    refused(&keys("jct_s", part, wide), "{ scheme", "not those of a size");
    let narrow = "{ apart = \"20ms\", within = \"20ms\" }";
    refused(&keys("jct_s", jobs, narrow), "{ apart", "at most half of `apart`");
    refused(&keys("jct_s", jobs, "{ apart = 200, within = \"20ms\" }"), "200", "200 has no unit");
}

#[test]
fn what_is_not_expected_to_hold_says_why() {
    let claim = |expected: &str| {
        format!("metric = \"flows\"\nof = {{ scheme = \"xmp\" }}\nabove = 0\nexpected = {expected}")
    };
    refused(&claim("\"does not hold\""), "\"does not hold\"", "give the reason in `because = \"…\"`");
    let each = "{ quick = \"holds\", full = \"inconclusive\" }";
    refused(&claim(each), "{ quick", "mine: it is not expected to hold");
    refused(&claim("\"no\""), "\"no\"", "unknown value `no`, expected one of `holds`");
    refused(&claim("{ quick = \"holds\" }"), "{ quick", "the key `full` is missing");
    let fine = format!(
        "[[claims]]\nid = \"c\"\ntext = \"t\"\n{}\n",
        claim("{ quick = \"holds\", full = \"holds\" }")
    );
    assert_eq!(said(&fine, &[]), Ok(()));
}

#[test]
fn names_are_given_once() {
    let claim =
        "[[claims]]\nid = \"c\"\ntext = \"t\"\nmetric = \"flows\"\nof = { scheme = \"xmp\" }\nabove = 0\n";
    let error = said(&format!("{claim}{claim}"), &[]).expect_err("twice the same");
    assert!(error.contains("c: another claim has this name") && error.contains("id = \"c\""), "{error}");
    let reading = |of: &str| {
        let own = claim.replace("id = \"c\"", &format!("id = \"d\"\nreading_of = \"{of}\""));
        said(&format!("{own}{claim}"), &[])
    };
    assert_eq!((reading("c"), reading("another/file c")), (Ok(()), Ok(())));
    let error = reading("d").expect_err("it is itself");
    assert!(error.contains("d: there is no claim `d`"), "{error}");
}

#[test]
fn published_numbers_speak_of_what_there_is() {
    let value =
        |keys: &str| format!("[published]\nvalues = [{{ scheme = \"xmp\", pattern = \"jobs\", {keys} }}]");
    for (keys, message) in [
        ("subflows = 3", "there is no such case"),
        ("metrics = { flow = 1 }", "did you mean `flows` or `flow_recovery_time_max_s`?"),
        ("window = \"lat\", goodput_mean = \"1Mbps\"", "did you mean `late`?"),
        ("window = \"late\", metrics = { flows = 1 }", "no metric of windows `flows`"),
    ] {
        let error = said(&value(keys), &[]).expect_err(keys);
        assert!(
            error.starts_with("t.toml:") && error.contains("| values = [{ ") && error.contains(message),
            "{error}"
        );
    }
    // Changing the cases does not require changing the published numbers.
    assert_eq!(said(&value("subflows = 2"), &["schemes.xmp.subflows=[4]"]), Ok(()));
}

#[test]
fn windows_need_samples_and_a_length() {
    let said = |measure: &str| {
        let source = Source { name: "t.toml".to_owned(), text: format!("{EXPERIMENT}{measure}") };
        let loaded = OWNERS.load(source, Profile::Full, &[]).map_err(|e| e.to_string())?;
        OWNERS.resolve(&loaded, &[]).map(drop).map_err(|e| e.to_string())
    };
    for (measure, message) in [
        ("[measure.windows]\nw = [\"1s\", \"2s\"]", "`samples = \"10ms\"` in [measure]"),
        ("[measure]\nsamples = \"1ms\"\nwindows.w = [\"2s\", \"2s\"]", "the earlier one first"),
        ("[measure]\nsamples = \"1ms\"\nwindows.w = [1, 2]", "1 has no unit"),
    ] {
        let error = said(measure).expect_err(measure);
        assert!(error.starts_with("t.toml:") && error.contains(message), "{error}");
    }
}
