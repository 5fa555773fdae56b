//! Tests that secrets do not leak. A marked value of each kind goes through the commands and the interface while they
//! log as much as possible and every failure is forced. The values may be found only in the file that is meant to store
//! them.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::Path,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::{piped, run};
use tessera_testing::canaries::{assert_clean, encodings, register_secret};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

/// The secret contains special characters, so that its percent-encoded form differs from the value
/// itself.
const SECRET: &str = "canary+secret/0123456789-abcdefghijkl";
const SESSION: &str = "canary+session/0123456789-mnopqrst";
const SIGNATURE: &str = "canary+signature/0123456789-uvwxyz";

const DATASET: &str = "ad48d250-0000-11f1-bfca-000000000001";
const TASK: &str = "cf8b3e78-0000-4954-a782-000000000001";

/// Starts a service that sends the canaries and fails in every way in turn.
async fn service() -> ScriptedServer {
    let explored = AtomicUsize::new(0);
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        let record = format!(r#"{{"id":"{DATASET}","display_name":"birds","status_new":"READY"}}"#);
        let link = format!("/blob/a.zip?X-Amz-Signature={SIGNATURE}&X-Amz-Expires=60");
        match seen.path().trim_start_matches("/api/v1/") {
            "api_credentials" => Reply::json(format!(
                r#"{{"api_key":"ak_1","api_secret":"{SECRET}","message":"Keep it"}}"#
            )),
            "datasets" => Reply::json(format!("[{record}]")),
            path if path.ends_with("export_status") => Reply::json(format!(
                r#"{{"id":"{TASK}","status":"COMPLETED","download_uri":"{link}"}}"#
            )),
            path if path.starts_with("explore") => {
                match explored.fetch_add(1, Ordering::Relaxed) % 6 {
                    0 | 1 => Reply::new(401, &[], r#"{"detail":"who are you?"}"#),
                    2 => Reply::new(500, &[], format!("<a href='{link}'>trace</a>")),
                    3 => Reply::new(302, &[("location", &link)], ""),
                    4 => Reply::disconnect(),
                    _ => Reply::json("{"),
                }
            }
            path if path.starts_with("dataset/") => Reply::json(record),
            _ => Reply::new(403, &[("content-type", "application/xml")], "<Error>expired</Error>"),
        }
    })
    .await
}

/// The condition of the screen, and the keys to press when it is met.
type Step = (fn(&str) -> bool, &'static str);

fn is_log(screen: &str) -> bool {
    screen.contains("Log, newest first")
}

/// Returns everything that the interface writes to a terminal until it ends. Tracing is on.
fn interface(home: &Path) -> Vec<u8> {
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(["-p", "prod", "--trace", home.join("trace.jsonl").to_str().unwrap()]);
    command.env("TERM", "xterm-256color");
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
        command.env(name, home);
    }
    let mut child = pair.slave.spawn_command(command).unwrap();
    let (mut patience, (over, ended)) = (child.clone_killer(), mpsc::channel::<()>());
    // The limit is longer than the test takes, so that only a bug reaches it.
    thread::spawn(move || {
        if ended.recv_timeout(Duration::from_mins(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
            // The program may have just ended.
            let _ = patience.kill();
        }
    });
    drop(pair.slave);
    let (mut reader, mut writer) =
        (pair.master.try_clone_reader().unwrap(), pair.master.take_writer().unwrap());
    let (mut written, mut piece, mut screen) = (
        Vec::new(),
        [0; 4096],
        vt100::Parser::new(40.try_into().unwrap(), 120.try_into().unwrap(), 0),
    );
    // The dataset is listed and its first page is refused. The steps open the request log and quit.
    let steps: [Step; 3] = [
        (|shown| shown.contains("401") && shown.contains("tries again"), "@"),
        (|shown| is_log(shown) && shown.contains("/explore/"), "\x1b"),
        // Esc and a letter would be one key if they were read together.
        (|shown| !is_log(shown) && shown.contains("tries again"), "q"),
    ];
    let mut steps = steps.iter().peekable();
    // On Linux, reading fails when the terminal is closed.
    while let Ok(read @ 1..) = reader.read(&mut piece) {
        written.extend_from_slice(&piece[..read]);
        screen.process(&piece[..read]);
        let shown = screen.screen().contents();
        if let Some((_, keys)) = steps.next_if(|(is_due, _)| is_due(&shown)) {
            writer.write_all(keys.as_bytes()).unwrap();
        }
    }
    let status = child.wait().unwrap();
    drop(over);
    assert!(status.success(), "{status}: {}", screen.screen().contents());
    written
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one walk through everything that is said and kept")]
async fn no_secret_is_found_anywhere_but_in_its_file() {
    register_secret(SECRET, true);
    register_secret(SESSION, false);
    register_secret(SIGNATURE, false);
    let server = service().await;
    let home = tempfile::tempdir().unwrap();
    let root = home.path().to_owned();
    fs::create_dir_all(root.join("tessera")).unwrap();
    let profile = format!("[profiles.prod]\nkind = 'hosted'\nbase_url = '{}'\n", server.url());
    fs::write(root.join("tessera/config.toml"), profile).unwrap();
    let outputs = tokio::task::spawn_blocking({
        let root = root.clone();
        move || {
            let import =
                ["auth", "import", "-p", "prod", "-v", "--cookie-stdin", "--insecure-storage"];
            let (code, out, err) = piped(&root, &import, &format!("SESSION={SESSION}"));
            assert_eq!(code, 0, "{err}");
            let mut outputs = vec![out, err];
            let search = ["search", "caption", "a bird", "-d", DATASET];
            let archive = root.join("a.zip");
            let download = ["export", "download", DATASET, TASK, "-o", archive.to_str().unwrap()];
            let api = ["api", "GET", "explore/x"];
            let commands: [&[&str]; 9] = [
                &["auth", "status"],
                &["dataset", "list"],
                &search,
                &search,
                &search,
                &search,
                &download,
                &api,
                &["config", "show"],
            ];
            for command in commands {
                for form in ["-v", "--json"] {
                    let (_, out, err) = run(&root, &[command, &["-p", "prod", form]].concat());
                    outputs.extend([out, err]);
                }
            }
            outputs.push(String::from_utf8_lossy(&interface(&root)).into_owned());
            outputs
        }
    })
    .await
    .unwrap();
    let tokens = server.requests();
    let tokens = tokens.iter().filter_map(|seen| seen.header("authorization"));
    let tokens: Vec<&str> = tokens.filter_map(|value| value.strip_prefix("Bearer ")).collect();
    assert!(tokens.len() > 5 && tokens.iter().all(|token| token.starts_with("ey")));
    // The head and the claims of a token are not secret, and many tokens have the same ones.
    for token in &tokens {
        register_secret(token.rsplit('.').next().unwrap(), false);
    }
    assert!(outputs.iter().any(|output| output.contains("401")), "failures were forced");
    assert!(root.join("trace.jsonl").exists());
    let traces = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let traces = traces.filter(|path| path.extension().is_some_and(|kind| kind == "trace"));
    let exchanges = traces.map(|path| fs::read_to_string(path).unwrap().lines().count());
    assert!(exchanges.sum::<usize>() > 20, "every exchange is traced");
    let outputs: Vec<&[u8]> = outputs.iter().map(String::as_bytes).collect();
    assert_clean(&outputs, Some(&root));
}

#[test]
fn a_secret_is_found_in_every_encoding() {
    register_secret(SECRET, true);
    let wrapped = BASE64_STANDARD.encode(format!("user:{SECRET}!"));
    for form in encodings(SECRET).into_iter().chain([wrapped]) {
        let found = std::panic::catch_unwind(|| assert_clean(&[form.as_bytes()], None));
        assert!(found.is_err(), "{form}");
    }
}
