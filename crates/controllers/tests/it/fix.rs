//! `fix.h`'s logarithms and powers against `f64`, over their whole domain.

#![expect(unsafe_code, reason = "`fix.c` is C")]

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use libloading::Library;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

type Unary = unsafe extern "C" fn(u64) -> u64;
type Binary = unsafe extern "C" fn(u64, u64) -> u64;

/// `fix.c`, compiled.
struct Fix {
    log2: Unary,
    log2_1p: Unary,
    exp2_neg: Unary,
    power_1p_neg: Binary,
    log2_e: unsafe extern "C" fn() -> u64,
}

static FIX: LazyLock<Fix> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("fix.so");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"])
        .arg(here.join("../../controllers"))
        .arg(here.join("tests/fix.c"))
        .arg("-o")
        .arg(&path)
        .status();
    assert!(compiled.expect("cc runs").success());
    // SAFETY: the library has no constructors, and the types are those of `fix.c`. It is never unloaded.
    unsafe {
        let library: &'static Library = Box::leak(Box::new(Library::new(&path).expect("it was built")));
        Fix {
            log2: *library.get(b"shim_log2\0").expect("it is in fix.c"),
            log2_1p: *library.get(b"shim_log2_1p\0").expect("it is in fix.c"),
            exp2_neg: *library.get(b"shim_exp2_neg\0").expect("it is in fix.c"),
            power_1p_neg: *library.get(b"shim_power_1p_neg\0").expect("it is in fix.c"),
            log2_e: *library.get(b"shim_log2_e\0").expect("it is in fix.c"),
        }
    }
});

fn log2(v: u64) -> u64 {
    // SAFETY: the function is pure, and defined for what `fix.h` says.
    unsafe { (FIX.log2)(v) }
}

fn log2_1p(e: u64) -> u64 {
    // SAFETY: as above.
    unsafe { (FIX.log2_1p)(e) }
}

fn exp2_neg(t: u64) -> u64 {
    // SAFETY: as above.
    unsafe { (FIX.exp2_neg)(t) }
}

fn power_1p_neg(e: u64, n: u64) -> u64 {
    // SAFETY: as above.
    unsafe { (FIX.power_1p_neg)(e, n) }
}

const LOG_ONE: u64 = 1 << 56;
const POWER_ONE: u64 = 1 << 62;

/// 127 in Q56, which arguments stay below.
const LOG_LIMIT: u64 = 127 << 56;

fn log(q: u64) -> f64 {
    q as f64 / LOG_ONE as f64
}

fn power(q: u64) -> f64 {
    q as f64 / POWER_ONE as f64
}

/// 2^-n.
fn bits(n: i32) -> f64 {
    2f64.powi(-n)
}

/// A whole number from 1 to below `limit`, each order of magnitude as likely as the others.
fn logarithmic(limit: u64) -> impl Strategy<Value = u64> {
    (0..64u32, any::<u64>()).prop_map(move |(shift, v)| (v >> shift).clamp(1, limit - 1))
}

fn config() -> ProptestConfig {
    let from_environment = ProptestConfig::default();
    let rng_seed = match from_environment.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed => fixed,
    };
    let cases = if std::env::var_os("TRESSE_TEST_ALL").is_some() { 100_000 } else { 20_000 };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..from_environment }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_logarithm_is_within_its_bound(v in logarithmic(u64::MAX)) {
        let (got, exact) = (log(log2(v)), (v as f64).log2());
        prop_assert!((got - exact).abs() < bits(28), "log2 {v}: {got}, not {exact}");
    }

    #[test]
    fn a_logarithm_of_1_and_little_keeps_its_digits(e in logarithmic(LOG_LIMIT)) {
        let (got, exact) = (log(log2_1p(e)), log(e).ln_1p() / std::f64::consts::LN_2);
        let within = exact * bits(28) + bits(56);
        prop_assert!((got - exact).abs() < within, "log2 (1 + {}): {got}, not {exact}", log(e));
    }

    #[test]
    fn a_power_is_within_its_bound(t in logarithmic(LOG_LIMIT)) {
        let (got, exact) = (power(exp2_neg(t)), (-log(t)).exp2());
        let within = exact * bits(29) + bits(62);
        prop_assert!((got - exact).abs() < within, "2^-{}: {got}, not {exact}", log(t));
    }

    #[test]
    fn what_a_power_lacks_to_1_keeps_its_digits(t in logarithmic(LOG_LIMIT)) {
        let got = power(POWER_ONE - exp2_neg(t));
        let exact = -(-log(t) * std::f64::consts::LN_2).exp_m1();
        let within = exact * bits(29) + bits(62);
        prop_assert!((got - exact).abs() < within, "1 - 2^-{}: {got}, not {exact}", log(t));
    }

    /// As the controllers use it: 1 - (bx/(m + bx))^n = 1 - (1 + e)^-n, e = m/(bx).
    #[test]
    fn a_power_of_1_and_little_keeps_its_digits(
        e in logarithmic(LOG_LIMIT),
        n in logarithmic(16 << 32),
    ) {
        let exponent = n as f64 * bits(32) * log(e).ln_1p(); // at most 16 ln 128, below 127 ln 2
        let lost = exponent * bits(28) + bits(29);
        let (got, exact) = (power(power_1p_neg(e, n)), (-exponent).exp());
        prop_assert!((got - exact).abs() < exact * lost + bits(62), "{got}, not {exact}");
        // The exponent loses its last digits, 2^-56, and so many of a product with n.
        let within = -(-exponent).exp_m1() * bits(27) + bits(55) + n as f64 * bits(32 + 56);
        let lacks = power(POWER_ONE - power_1p_neg(e, n));
        prop_assert!((lacks - -(-exponent).exp_m1()).abs() < within, "{lacks}, not {}", 1.0 - exact);
    }
}

/// What is exact stays exact: no rounding error accumulates where nothing happens.
#[test]
fn whole_numbers_are_exact() {
    for n in 0..64u64 {
        assert_eq!(log2(1 << n), n * LOG_ONE);
        assert_eq!(exp2_neg(n * LOG_ONE), if n < 63 { POWER_ONE >> n } else { 0 });
    }
    for n in 0..7 {
        assert_eq!(log2_1p(((1 << n) - 1) * LOG_ONE), n * LOG_ONE);
    }
    assert_eq!(power_1p_neg(0, 1 << 32), POWER_ONE);
    for t in [63 * LOG_ONE, 64 * LOG_ONE, LOG_LIMIT, u64::MAX] {
        assert_eq!(exp2_neg(t), 0, "2^-{}", log(t));
    }
}

/// (1 + rho/beta)^-w for Reno's rho = 1, beta = 1/2 is 3^-w.
#[test]
fn three_to_a_power() {
    for thousandths in [1u64, 250, 369, 500, 707, 1000, 2000, 16_000] {
        let got = power(power_1p_neg(2 * LOG_ONE, (thousandths << 32) / 1000));
        let exact = 3f64.powf(-(thousandths as f64) / 1000.0);
        assert!((got / exact - 1.0).abs() < bits(24), "3^-{thousandths}/1000: {got}, not {exact}");
    }
}

#[test]
fn log2_of_e() {
    // SAFETY: a constant.
    let got = unsafe { (FIX.log2_e)() };
    assert!((log(got) - std::f64::consts::LOG2_E).abs() < bits(52));
}
