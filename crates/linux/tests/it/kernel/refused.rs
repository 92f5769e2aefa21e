//! Controllers that no kernel can run are rejected, with file, line and cause.

use std::path::PathBuf;

use tempfile::TempDir;
use tresse_controllers::{ConfiguredController, load};
use tresse_linux::Error;
use tresse_linux::attach::{Default, attach};

use super::kernel_is_here;

/// A controller whose `grow` is `body`, in a separate file.
fn controller(folder: &TempDir, name: &str, signals: &str, body: &str) -> (PathBuf, ConfiguredController) {
    let file = folder.path().join(format!("{name}.c"));
    let text = format!(
        "#include \"controller.h\"
extern u32 elsewhere(u32 a) __attribute__((weak));
static void grow(struct subflow *s, const struct ack *a)
{{
	{body}
}}
CONTROLLER({name}, .title = \"a test\", .source = \"none\", .signals = {signals}, .min_cwnd = 2, .grow = grow);
"
    );
    std::fs::write(&file, text).expect("a temporary file");
    let controllers = load(&file).expect("it compiles natively");
    (file, ConfiguredController::new(controllers[0], []).expect("it has no parameters"))
}

fn refusal(name: &str, body: &str) -> String {
    let folder = TempDir::new().expect("a temporary folder");
    let (file, scheme) = controller(&folder, name, "SIGNAL_LOSS", body);
    match tresse_linux::check(&scheme) {
        Err(Error::Input(text)) => text.replace(&*file.to_string_lossy(), "FILE"),
        other => panic!("{name}: {other:?}"),
    }
}

/// The compiler rejects these; no kernel is needed.
#[test]
fn what_bpf_cannot_compute_does_not_compile() {
    for (name, body, place, cause) in [
        (
            "a_wide_product",
            "s->cwnd += (u32)(((unsigned __int128)s->word * a->delivered) >> 64);",
            "FILE:5:",
            "no 128-bit product",
        ),
        (
            "a_signed_division",
            "s->cwnd += ((int)s->cwnd - 100) / (int)(a->delivered + 1);",
            "FILE:5:",
            "no signed division",
        ),
    ] {
        let text = refusal(name, body);
        assert!(text.contains(place) && text.contains(cause), "{text}");
    }
}

#[test]
fn what_the_verifier_refuses_has_file_line_and_cause() {
    if !kernel_is_here() {
        return;
    }
    let refused = [
        ("a_loop_without_end", "volatile u32 n = s->cwnd; while (n != 0x12345) ;", "infinite loop detected"),
        ("a_wild_write", "s->private_words[s->cwnd & 0xff] = 1;", "outside the private state"),
        // The verifier takes 20 s for its million instructions and what it says about them: in `make test-all`.
        (
            "a_loop_too_long",
            "while (s->private_words[0] != a->delivered) s->private_words[0] = s->private_words[0] * 3 + s->private_words[1]++;",
            "a million instructions",
        ),
    ];
    let all = std::env::var_os("TRESSE_TEST_ALL").is_some();
    for (name, body, cause) in &refused[..if all { 3 } else { 2 }] {
        let text = refusal(name, body);
        assert!(text.starts_with("FILE:5: `") && text.contains(cause), "{text}");
    }
}

#[test]
fn a_call_to_what_is_not_there_is_refused() {
    if !kernel_is_here() {
        return;
    }
    let text = refusal("a_call", "if (elsewhere) s->cwnd += elsewhere(a->delivered);");
    assert!(text.starts_with("FILE: ") && text.contains("elsewhere"), "{text}");
}

#[test]
fn a_signal_that_no_kernel_gives_is_refused_by_name() {
    let folder = TempDir::new().expect("a temporary folder");
    let (_, scheme) = controller(&folder, "hops", "SIGNAL_LOSS | SIGNAL_NEXT_HOP", "s->cwnd++;");
    match attach(&scheme, None, &Default::No) {
        Err(Error::Input(text)) => {
            assert!(text.contains("hops") && text.contains("the next hop"), "{text}")
        }
        other => panic!("{other:?}"),
    }
}
