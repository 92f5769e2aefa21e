//! `attach`, `detach`, `status`, `doctor` and the eBPF side of `controller`: what they say and how
//! they end, also where the machine lacks something. What they do to traffic is in tests/kernel.

use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Command, Output};
use std::sync::{PoisonError, RwLock};

use tempfile::TempDir;

use crate::attached::{Detached, kernel_is_here};
use crate::common::{fails, tresse};

/// The command in a shell that has changed its surroundings first, in a mount namespace of its own.
fn surrounded(change: &str, arguments: &str) -> Output {
    let binary = assert_cmd::cargo::cargo_bin("tresse");
    let script = format!("{change}\nexec {} {arguments}", binary.display());
    Command::new("unshare").args(["--mount", "sh", "-ec", &script]).output().expect("unshare starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Held while a controller is attached, and alone while a test looks at what is there.
static ATTACHING: RwLock<()> = RwLock::new(());

/// The kernel's congestion controls but those of tests/kernel, which come and go beside these tests.
fn available() -> String {
    let all = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let all = all.unwrap_or_default();
    all.split_whitespace().filter(|name| !name.starts_with("trk")).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_traced_script_gives_the_same_lines_from_both_hosts() {
    if !kernel_is_here() {
        return;
    }
    let dir = TempDir::new().expect("a temporary folder");
    let script = "subflows 2\nack 10 rtt=200us\nack 20 subflow=1 rtt=100us\nack 30 marked=3\nloss subflow=1\n\
                  ack 40\nack 40\ntimeout\nack 5\nack 9 subflow=1\n";
    let list = tresse(dir.path()).args(["list", "controllers", "--json"]).output().expect("it starts");
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).expect("one JSON object");
    let list = list["controllers"].as_array().expect("a list").iter().filter(|c| c["attachable"] == true);
    for controller in list.map(|c| c["name"].as_str().expect("a name")) {
        let output = |host: &str| {
            let args = ["controller", "trace", controller, "--script", "-", "--host", host];
            let output = tresse(dir.path()).args(args).write_stdin(script).output().expect("it starts");
            assert!(output.status.success(), "{}", text(&output.stderr));
            text(&output.stdout)
        };
        let native = output("native");
        assert_eq!(native.lines().count(), 9);
        assert_eq!(native, output("bpf"), "{controller}");
    }
}

#[test]
fn check_reports_each_hook() {
    if !kernel_is_here() {
        return;
    }
    let dir = TempDir::new().expect("a temporary folder");
    let output =
        tresse(dir.path()).args(["controller", "check", "lia", "--json"]).output().expect("it starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(json["schema"], "tresse/controller-check/1");
    let programs = json["programs"].as_array().expect("a list");
    assert_eq!(programs.len(), 8);
    assert!(programs.iter().all(|p| p["verified_instructions"].as_u64() > Some(0)));
}

#[test]
fn a_bad_name_or_place_changes_nothing() {
    if !kernel_is_here() {
        return;
    }
    let dir = TempDir::new().expect("a temporary folder");
    let _alone = ATTACHING.write().unwrap_or_else(PoisonError::into_inner);
    let before = available();
    for (arguments, message) in [
        (&["lia", "--name", "tr_lia_of_mine_x"][..], "16 characters"),
        (&["lia", "--name", "a b"], "letters, digits"),
        (&["lia", "--name", "reno"], "not tresse's"),
        (&["lia", "--name", "tr_t_none", "--default", "--netns", "no-such-namespace"], "no-such-namespace"),
        (&["lia", "--name", "tr_t_none", "--default", "--netns", "../etc"], "no slash"),
        (&["lai"], "did you mean `lia`?"),
        (&["xmp", "--param", "beta=1"], "not from 2 to 64"),
        (&["no-such-file.c"], "no-such-file.c"),
    ] {
        let said = fails(tresse(dir.path()).arg("attach").args(arguments), 2);
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
    assert_eq!(available(), before);
    let said = fails(tresse(dir.path()).args(["detach", "tr_t_none"]), 2);
    assert!(said.contains("not attached"), "{said}");
    // A file is not a name, and nobody is told to remove it.
    let said = fails(tresse(dir.path()).args(["detach", "/etc/hostname"]), 2);
    assert!(said.contains("not a name"), "{said}");
}

/// A socket that uses it when it is detached keeps it: `detach` says so, since `status` no longer can.
#[test]
#[expect(unsafe_code, reason = "the standard library cannot choose a congestion control")]
fn sockets_that_keep_a_controller_are_counted() {
    if !kernel_is_here() {
        return;
    }
    let dir = TempDir::new().expect("a temporary folder");
    let name = format!("tr_k{:x}", std::process::id());
    let _attaching = ATTACHING.read().unwrap_or_else(PoisonError::into_inner);
    let _guard = Detached(&name);
    let run = |args: &[&str]| {
        let output = tresse(dir.path()).args(args).output().expect("it starts");
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    run(&["attach", "lia", "--name", &name]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let stream = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it connects");
    // SAFETY: the option's bytes are there, as many as it says.
    let set = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
    let status: serde_json::Value =
        serde_json::from_str(&run(&["status", "--json"])).expect("one JSON object");
    let ours = status["controllers"].as_array().expect("a list");
    let ours = ours.iter().find(|c| c["kernel_name"] == name.as_str()).expect("it is listed");
    assert_eq!(ours["connections"][0]["namespace"], "current", "{ours}");
    assert!(run(&["detach", &name]).contains("sockets that keep it until they close: 1"));
}

/// Attach, attach again, attach with another parameter, detach.
#[test]
fn what_is_attached_is_there_until_it_is_detached() {
    if !kernel_is_here() {
        return;
    }
    let dir = TempDir::new().expect("a temporary folder");
    let name = format!("tr_x{:x}", std::process::id());
    let _attaching = ATTACHING.read().unwrap_or_else(PoisonError::into_inner);
    let _guard = Detached(&name);
    let run = |args: &[&str]| {
        let output = tresse(dir.path()).args(args).output().expect("it starts");
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let attach = ["attach", "xmp", "--name", &name, "--param", "beta=6"];
    assert!(run(&attach).contains("is attached as"));
    assert!(available().contains(&name));
    assert!(run(&attach).contains("was already attached"));
    let other = fails(tresse(dir.path()).args(["attach", "xmp", "--name", &name]), 2);
    assert!(other.contains("with beta=6"), "{other}");
    let status: serde_json::Value =
        serde_json::from_str(&run(&["status", "--json"])).expect("one JSON object");
    let ours = status["controllers"].as_array().expect("a list");
    let ours = ours.iter().find(|c| c["kernel_name"] == name.as_str()).expect("it is listed");
    assert_eq!(ours["controller"], "xmp");
    assert_eq!(ours["parameters"]["beta"], 6);
    assert_eq!(ours["counters"]["repairs"], 0);
    assert!(run(&["detach", &name]).contains("is detached"));
    assert!(!available().contains(&name));
    assert!(!std::path::Path::new("/sys/fs/bpf/tresse").join(&name).exists());
}

/// A user's own file is compiled when it is attached; the same text is the same controller wherever it
/// lies. `detach` takes what `attach` took, and what it made of a name that is too long for the kernel.
#[test]
fn a_file_of_ones_own_is_attached() {
    if !kernel_is_here() {
        return;
    }
    let id = std::process::id();
    let (name, kernel_name) = (format!("owner_cc{id:06x}"), format!("tr_occ{id:06x}"));
    let _attaching = ATTACHING.read().unwrap_or_else(PoisonError::into_inner);
    let _guard = Detached(&kernel_name);
    let source = format!(
        "#include \"coupled.h\"\n\
         static void grow(struct subflow *s, const struct ack *a) {{ s->cwnd += a->delivered; }}\n\
         CONTROLLER({name}, .title = \"a test\", .source = \"none\", .signals = SIGNAL_LOSS, .min_cwnd = 2,\n\
         \t.grow = grow);\n"
    );
    let attach = |how: &str| {
        let dir = TempDir::new().expect("a temporary folder");
        std::fs::write(dir.path().join("own.c"), &source).expect("a temporary file");
        let output = tresse(dir.path()).args(["attach", "own.c"]).output().expect("it starts");
        let expected = format!("{name} {how} as {kernel_name}");
        assert!(text(&output.stdout).contains(&expected), "{}", text(&output.stderr));
        dir
    };
    for taken in [&*name, "own.c", &kernel_name] {
        attach("is attached");
        let dir = attach("was already attached");
        let output = tresse(dir.path()).args(["detach", taken]).output().expect("it starts");
        assert!(output.status.success(), "{taken}: {}", text(&output.stderr));
        assert!(!available().contains(&kernel_name));
    }
}

#[test]
fn doctor_names_what_is_masked() {
    if !kernel_is_here() {
        return;
    }
    for (change, name, remedy) in [
        ("mount --bind /dev/null /sys/kernel/btf/vmlinux", "type information", "CONFIG_DEBUG_INFO_BTF"),
        ("mount -t tmpfs none /sys/fs/bpf", "BPF file system", "--netns"),
        (
            "mkdir -p /sys/fs/bpf; mount -t bpf bpf /sys/fs/bpf; mount -o remount,ro /sys/fs/bpf",
            "BPF file system",
            "remount,rw",
        ),
    ] {
        let output = surrounded(change, "doctor --json");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{change}: {said}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(json["schema"], "tresse/doctor/1");
        assert_eq!(json["ok"], false);
        let checks = json["checks"].as_array().expect("a list");
        let check = checks.iter().find(|c| c["name"] == name).expect("it is looked at");
        assert_eq!(check["state"], "lacks", "{check}");
        assert!(check["remedy"].as_str().is_some_and(|r| r.contains(remedy)), "{check}");
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn doctor_without_root_or_mptcp_says_so() {
    if !kernel_is_here() {
        return;
    }
    let binary = assert_cmd::cargo::cargo_bin("tresse");
    // A copy where anybody may run it: the build folder may be root's alone.
    let dir = TempDir::new().expect("a temporary folder");
    let copy = dir.path().join("tresse");
    std::fs::copy(&binary, &copy).expect("room for a copy");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open).expect("it is ours");
    let nobody = Command::new("setpriv")
        .args(["--reuid", "65534", "--clear-groups"])
        .arg(&copy)
        .arg("doctor")
        .output()
        .expect("setpriv starts");
    assert_eq!(nobody.status.code(), Some(3));
    let said = text(&nobody.stdout);
    assert!(said.contains("permission") && said.contains("run it as root"), "{said}");

    let script = format!("sysctl -qw net.mptcp.enabled=0; exec {} doctor", binary.display());
    let apart =
        Command::new("unshare").args(["--net", "sh", "-ec", &script]).output().expect("unshare starts");
    assert_eq!(apart.status.code(), Some(3));
    let said = text(&apart.stdout);
    assert!(said.contains("switched off") && said.contains("net.mptcp.enabled=1"), "{said}");
}

/// Where pins would be lost, or cannot be made, `attach` ends with 3 and leaves nothing.
#[test]
fn attach_where_nothing_can_be_pinned() {
    if !kernel_is_here() {
        return;
    }
    let _alone = ATTACHING.write().unwrap_or_else(PoisonError::into_inner);
    let before = available();
    for change in [
        "mount -t tmpfs none /sys/fs/bpf",
        "mkdir -p /sys/fs/bpf; mount -t bpf bpf /sys/fs/bpf; mount -o remount,ro /sys/fs/bpf",
    ] {
        let output = surrounded(change, "attach lia --name tr_t_nowhere");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("hint: "), "{said}");
    }
    assert_eq!(available(), before);
    // These have no `--netns`.
    for arguments in ["status", "detach lia"] {
        let said = text(&surrounded("mount -t tmpfs none /sys/fs/bpf", arguments).stderr);
        assert!(said.contains("run it outside of `ip netns exec`"), "{said}");
    }
}

#[test]
fn a_daemon_that_was_asked_for_by_its_socket_must_be_there() {
    if !kernel_is_here() {
        return;
    }
    let dir = TempDir::new().expect("a temporary folder");
    let output = tresse(dir.path()).args(["status", "--daemon", "nobody.sock"]).output().expect("it starts");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no daemon listens at nobody.sock"), "{said}");
}
