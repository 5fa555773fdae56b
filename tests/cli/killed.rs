//! Tests commands that are killed at any moment: a download, and the import of a secret that is shown only once.

use std::{
    fs,
    io::{Cursor, Write as _},
    path::Path,
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{outcome, tessera};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer, head};

const DATASET: &str = "ad48d250-0000-11f1-bfca-000000000001";
const TASK: &str = "cf8b3e78-0000-4954-a782-000000000001";
const SECRET: &str = "canary-of-the-secret-that-is-shown-once";

/// Creates the archive of an export, about 2 MB.
fn archive() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("metadata.json", SimpleFileOptions::default()).unwrap();
    zip.write_all(br#"{"media_items":[{"image_filename":"a.jpg"}]}"#).unwrap();
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file("images/a.jpg", stored).unwrap();
    let noise = (0..2_000_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[1]);
    zip.write_all(&noise.collect::<Vec<_>>()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// The number of bytes that the next download gets before it stalls, or `None` for all of them.
type Held = Arc<Mutex<Option<usize>>>;

/// Starts a service with this finished export. The channel reports each download that stalls.
async fn service(bytes: Vec<u8>, next: Held) -> (ScriptedServer, mpsc::UnboundedReceiver<()>) {
    let (holding, holds) = mpsc::unbounded_channel();
    let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
        let length = bytes.len();
        if seen.path().ends_with("export_status") {
            return Reply::json(
                r#"{"status":"COMPLETED","download_uri":"/cdn/x.zip?signature=1"}"#,
            );
        }
        if seen.path() != "/cdn/x.zip" {
            let record = format!(r#"{{"id":"{DATASET}","display_name":"x","status_new":"READY"}}"#);
            return Reply::json(record);
        }
        let whole = head(200, &[("etag", "\"v1\""), ("content-length", &length.to_string())]);
        if let Some(sent) = next.lock().unwrap().take() {
            holding.send(()).unwrap();
            return Reply::hold([&whole, &bytes[..sent]].concat());
        }
        let range = seen.header("range").and_then(|range| range.strip_prefix("bytes="));
        match range.and_then(|range| range.strip_suffix('-')?.parse::<usize>().ok()) {
            None => Reply::raw([&whole[..], &bytes].concat()),
            Some(start) if start >= length => {
                Reply::new(416, &[("content-range", &format!("bytes */{length}"))], "")
            }
            Some(start) => {
                let range = format!("bytes {start}-{}/{length}", length - 1);
                let headers = [("etag", "\"v1\""), ("content-range", &range)];
                Reply::new(206, &headers, &bytes[start..])
            }
        }
    })
    .await;
    (server, holds)
}

fn ask(home: &Path, url: &str, arguments: &[&str]) -> Command {
    let mut command = tessera(home, arguments);
    command.current_dir(home).env("TESSERA_BASE_URL", url).env("TESSERA_KIND", "onprem");
    command
}

/// Kills a command at `moment` after `begun` has reported and `ready` is true. Returns what the
/// command had written by then.
async fn killed(
    mut command: Command,
    begun: &mut mpsc::UnboundedReceiver<()>,
    ready: impl Fn() -> bool + Send + 'static,
    moment: Duration,
) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    begun.recv().await.unwrap();
    let id = Pid::from_child(&child);
    let (over, ended) = std::sync::mpsc::channel::<()>();
    let killer = thread::spawn(move || {
        while !ready() {
            thread::yield_now();
        }
        if ended.recv_timeout(moment).is_err() {
            // The command may have just ended.
            let _ = kill_process(id, Signal::KILL);
        }
    });
    let output = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap()).await.unwrap();
    // The killing thread may have finished already.
    let _ = over.send(());
    killer.join().unwrap();
    tessera_testing::canaries::assert_clean(&[&output.stdout, &output.stderr], None);
    output
}

#[tokio::test]
async fn a_download_that_is_killed_is_continued_and_never_wrong() {
    const ROUNDS: usize = 40;
    let bytes = archive();
    let held = Held::default();
    let (server, mut holds) = service(bytes.clone(), Arc::clone(&held)).await;
    let url = server.url();
    for round in 0..ROUNDS {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("x.zip");
        let download = ["export", "download", DATASET, TASK, "-o", "x.zip"];
        let part = home.path().join("x.zip.cf8b3e78.part");
        // Every second download gets all bytes, and is killed while it verifies, names and reports the archive. The
        // other downloads get half of the bytes or more, and are killed while they write or wait.
        let is_whole = round % 2 == 0;
        let sent = if is_whole { bytes.len() } else { bytes.len() * (ROUNDS + round) / ROUNDS / 2 };
        *held.lock().unwrap() = Some(sent);
        let moment = Duration::from_millis(round as u64);
        let ready = {
            let part = part.clone();
            move || is_whole || fs::metadata(&part).is_ok_and(|part| part.len() > 0)
        };
        killed(ask(home.path(), &url, &download), &mut holds, ready, moment).await;
        // Only a complete and verified archive has the final name.
        if target.exists() {
            assert!(fs::read(&target).unwrap() == bytes, "round {round}");
            continue;
        }
        let mut again = ask(home.path(), &url, &download);
        let reported = tokio::task::spawn_blocking(move || outcome(&mut again)).await.unwrap();
        assert_eq!(reported.0, 0, "round {round}: {}", reported.2);
        assert!(fs::read(&target).unwrap() == bytes, "round {round}");
        assert!(!part.exists(), "round {round}");
    }
    let resumed = server.requests().iter().filter(|seen| seen.header("range").is_some()).count();
    assert!(resumed >= ROUNDS / 2, "only {resumed} were continued");
}

#[tokio::test]
async fn a_kill_loses_no_reported_secret() {
    tessera_testing::canaries::register_secret(SECRET, true);
    let (asking, mut asked) = mpsc::unbounded_channel();
    let server = ScriptedServer::start(move |_: &ReceivedRequest| {
        asking.send(()).unwrap();
        Reply::json(format!(r#"{{"api_key":"ak_1","api_secret":"{SECRET}"}}"#))
    })
    .await;
    for moment in (0..40_u64).map(Duration::from_millis).chain([Duration::from_mins(1)]) {
        let home = tempfile::tempdir().unwrap();
        let settings = home.path().join("tessera");
        fs::create_dir(&settings).unwrap();
        let profile = format!("[profiles.prod]\nkind = 'hosted'\nbase_url = '{}'\n", server.url());
        fs::write(settings.join("config.toml"), profile).unwrap();
        fs::write(home.path().join("cookie"), "SESSION=of-the-browser").unwrap();
        let import = ["auth", "import", "-p", "prod", "--cookie-stdin", "--insecure-storage"];
        let mut command = tessera(home.path(), &import);
        command.stdin(fs::File::open(home.path().join("cookie")).unwrap());
        let Output { stdout, stderr, status } = killed(command, &mut asked, || true, moment).await;
        let kept = fs::read_to_string(settings.join("secrets.toml")).unwrap_or_default();
        // The secret is stored either completely or not at all, and is reported only when it is
        // complete.
        assert!(kept.is_empty() || kept.contains(SECRET), "{moment:?}: {kept}");
        assert!(stdout.is_empty() || kept.contains(SECRET), "{moment:?}");
        let is_whole = moment == Duration::from_mins(1);
        assert!(!is_whole || (status.success() && !stdout.is_empty()), "{stderr:?}");
    }
}
