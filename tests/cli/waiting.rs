//! Tests waiting for datasets, watching them, reindexing and saved jobs, against a service that
//! follows a script, and against a real one.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Serving, home, outcome, picture, serve, tessera};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";

/// Returns a record of the dataset.
fn record(status: &str, progress: u8) -> Reply {
    let record = json!({ "id": ID, "display_name": "$(touch pwned)", "status": "UPDATING",
        "status_new": status, "progress": progress, "n_images": 9 });
    Reply::json(record.to_string())
}

/// Starts a service with these responses for its dataset.
async fn answers(answer: impl Fn(usize) -> Reply + Send + Sync + 'static) -> ScriptedServer {
    let looks = AtomicUsize::new(0);
    ScriptedServer::start(move |_: &ReceivedRequest| answer(looks.fetch_add(1, Ordering::SeqCst)))
        .await
}

/// Starts a service whose dataset goes through these statuses. The last status stays.
async fn course(way: &'static [(&'static str, u8)]) -> ScriptedServer {
    answers(move |look| {
        let (status, progress) = way[look.min(way.len() - 1)];
        record(status, progress)
    })
    .await
}

/// Runs a command about the dataset in a new home. Returns its exit code, standard output and standard error.
async fn ask(service: &ScriptedServer, arguments: &[&str]) -> (i32, String, String) {
    let home = tempfile::tempdir().unwrap();
    ask_in(home.path(), service, arguments).await
}

async fn ask_in(
    home: &Path,
    service: &ScriptedServer,
    arguments: &[&str],
) -> (i32, String, String) {
    let mut command = tessera(home, arguments);
    command.args(["--base-url", &service.url(), "--kind", "onprem", "-d", ID]);
    command.env("TESSERA_API_SECRET", "canary");
    tokio::task::spawn_blocking(move || outcome(&mut command)).await.unwrap()
}

/// Returns these fields of each reported event.
fn events(out: &str, fields: &[&str]) -> Value {
    let reported = out.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["schema"], "tessera.event/1", "{line}");
        assert!(event["at"].as_str().unwrap().ends_with('Z'), "{line}");
        fields.iter().map(|field| event[field].clone()).collect::<Value>()
    });
    reported.collect()
}

#[tokio::test]
async fn a_record_has_the_legacy_status_beside_the_one_that_counts() {
    let service = course(&[("READ ONLY", 40)]).await;
    let (code, out, err) = ask(&service, &["dataset", "show", "--json"]).await;
    assert_eq!(code, 0, "{err}");
    let record: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&record["status_new"], &record["status"]),
        (&json!("READ ONLY"), &json!("UPDATING"))
    );
    assert_eq!(record["_allowed"]["export"], false);
}

#[tokio::test]
async fn waiting_ends_with_the_code_of_what_came() {
    type Way = &'static [(&'static str, u8)];
    let ways: [(&[&str], Way, i32, &str); 7] = [
        (&["--until", "READY"], &[("READY", 100)], 0, "status\tREADY\n"),
        (
            &["--until", "ready"],
            &[("READ ONLY", 0), ("INDEXING", 9), ("READY", 100)],
            0,
            "status\tREADY\n",
        ),
        (
            &["--until", "READY,PARTIAL_INDEX"],
            &[("PARTIAL INDEX", 9)],
            0,
            "status\tPARTIAL INDEX\n",
        ),
        (&[], &[("INDEXING", 0), ("PARTIAL INDEX", 0)], 0, "status\tPARTIAL INDEX\n"),
        (&["--until", "READY"], &[("INDEXING", 0), ("ERROR", 0)], 7, ""),
        (&["--until", "ERROR"], &[("INDEXING", 0), ("ERROR", 0)], 0, "status\tERROR\n"),
        (&["--timeout", "300ms"], &[("UPLOADING", 0)], 124, ""),
    ];
    for (options, way, code, out) in ways {
        let service = course(way).await;
        let line = [&["dataset", "wait", "--interval", "100ms"], options].concat();
        let (got, reported, err) = ask(&service, &line).await;
        assert_eq!((got, reported.as_str()), (code, out), "{options:?}: {err}");
        assert!(code == 124 || service.count() == way.len(), "{options:?} ends at once: {err}");
    }
}

#[tokio::test]
async fn waiting_for_an_unreachable_status_prints_one_hint() {
    let service = course(&[("PARTIAL INDEX", 100)]).await;
    let line = ["dataset", "wait", "--until", "READY", "--interval", "100ms", "--timeout", "500ms"];
    let (code, _, err) = ask(&service, &line).await;
    assert_eq!(code, 124, "{err}");
    assert_eq!(err.matches(&format!("tessera reindex {ID}")).count(), 1, "{err}");
    assert!(err.contains("--yes"), "nobody can confirm the suggested command: {err}");
    assert!(service.count() > 2, "it went on looking");
}

#[tokio::test]
async fn each_change_is_reported_once_and_triggers_the_command_without_secrets() {
    let home = tempfile::tempdir().unwrap();
    let way =
        &[("READ ONLY", 0), ("INDEXING", 0), ("INDEXING", 0), ("INDEXING", 41), ("READY", 100)];
    let service = course(way).await;
    let seen = home.path().join("seen");
    let command = format!("env >> '{}'; echo not ours", seen.display());
    let line = ["dataset", "watch", "--until", "READY", "--interval", "100ms", "--jsonl"];
    let line = [&line[..], &["--on-change", &command]].concat();
    let (code, out, err) = ask_in(home.path(), &service, &line).await;
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        events(&out, &["event", "from", "to", "progress", "reason", "exit_code"]),
        json!([
            ["status", null, "READ ONLY", 0, null, null],
            ["status", "READ ONLY", "INDEXING", 0, null, null],
            ["progress", null, null, 41, null, null],
            ["status", "INDEXING", "READY", 100, null, null],
            ["end", null, null, null, "until", 0],
        ])
    );
    let seen = fs::read_to_string(seen).unwrap();
    let reported: Vec<&str> = seen.lines().filter(|line| line.starts_with("TESSERA_TO=")).collect();
    assert_eq!(
        reported,
        ["TESSERA_TO=INDEXING", "TESSERA_TO=READY"],
        "the first look is no change"
    );
    assert!(seen.contains("TESSERA_DATASET_NAME=$(touch pwned)") && !seen.contains("canary"));
    assert!(err.contains("not ours"), "{err}");
}

#[tokio::test]
async fn a_rejected_login_ends_waiting_with_a_failure() {
    let service = answers(|look| match look {
        0 => record("INDEXING", 5),
        _ => Reply::new(401, &[], "{}"),
    })
    .await;
    let line = ["dataset", "wait", "--interval", "100ms", "--jsonl"];
    let (code, out, err) = ask(&service, &line).await;
    assert_eq!(code, 4, "{err}");
    let reported = events(&out, &["event", "reason", "exit_code"]);
    assert_eq!(reported[1], json!(["end", "login", 4]), "{out}");
}

#[tokio::test]
async fn a_connection_loss_is_reported_and_survived() {
    let service = answers(|look| match look {
        0 => record("INDEXING", 5),
        1..4 => Reply::new(503, &[], "{}"),
        _ => record("READY", 100),
    })
    .await;
    let line = ["dataset", "watch", "--until", "READY", "--interval", "100ms", "--json"];
    let (code, out, err) = ask(&service, &line).await;
    assert_eq!(code, 0, "{err}");
    let reported = events(&out, &["event", "to"]);
    assert_eq!(
        reported,
        json!([
            ["status", "INDEXING"],
            ["lost", null],
            ["back", null],
            ["status", "READY"],
            ["end", null]
        ])
    );
}

#[tokio::test]
async fn the_pause_that_the_service_requests_is_waited_for() {
    let service = answers(|look| match look {
        0 => record("INDEXING", 5),
        _ => Reply::new(429, &[("retry-after", "600")], "{}"),
    })
    .await;
    let line = ["dataset", "wait", "--interval", "100ms", "--timeout", "3s"];
    let (code, _, err) = ask(&service, &line).await;
    // The last request is sent when the time is over.
    assert_eq!((code, service.count()), (124, 3), "{err}");
}

#[tokio::test]
async fn the_timeout_applies_during_an_outage() {
    let service = answers(|look| match look {
        0 => record("INDEXING", 5),
        _ => Reply::hold(Vec::new()),
    })
    .await;
    let line = ["dataset", "wait", "--interval", "100ms", "--timeout", "300ms"];
    let (code, out, err) = ask(&service, &line).await;
    assert_eq!((code, out.as_str()), (124, ""), "{err}");
    assert!(err.contains("timed out after 300ms"), "{err}");
}

#[tokio::test]
async fn a_watch_ends_when_nobody_reads_it() {
    let home = tempfile::tempdir().unwrap();
    let service = course(&[("READY", 100)]).await;
    let mut command = tessera(home.path(), &["dataset", "watch"]);
    command.args(["--base-url", &service.url(), "--kind", "onprem", "-d", ID]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let ended = tokio::task::spawn_blocking(move || {
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let closed = Instant::now();
        (child.wait().unwrap().code(), closed.elapsed())
    });
    let (code, elapsed) = ended.await.unwrap();
    assert_eq!(code, Some(0));
    assert!(elapsed < Duration::from_secs(20), "it waited {elapsed:?} for the next event");
}

#[tokio::test]
async fn an_interrupted_watch_emits_an_end_event() {
    let home = tempfile::tempdir().unwrap();
    let service = course(&[("INDEXING", 5)]).await;
    let mut command = tessera(home.path(), &["dataset", "watch", "--jsonl"]);
    command.args(["--base-url", &service.url(), "--kind", "onprem", "-d", ID]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ended = tokio::task::spawn_blocking(move || {
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        // The second response arrives a second later, and by then the command waits for signals.
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), first + &rest, String::from_utf8(output.stderr).unwrap())
    });
    let (code, out, err) = ended.await.unwrap();
    assert_eq!(code, Some(130), "{err}");
    let reported = events(&out, &["event", "reason", "exit_code"]);
    assert_eq!(reported, json!([["status", null, null], ["end", "interrupted", 130]]));
    assert!(err.contains("continue there"), "{err}");
}

/// Starts a service in PARTIAL INDEX with this response to a reindex. `then` is the status of the
/// dataset afterwards.
async fn reindexed(answer: fn() -> Reply, then: &'static str) -> ScriptedServer {
    let asked = AtomicUsize::new(0);
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.method == "POST" {
            asked.store(1, Ordering::SeqCst);
            return answer();
        }
        record(if asked.load(Ordering::SeqCst) == 0 { "PARTIAL INDEX" } else { then }, 100)
    })
    .await
}

fn posts(service: &ScriptedServer) -> usize {
    service.requests().iter().filter(|seen| seen.method == "POST").count()
}

#[tokio::test]
async fn a_reindex_is_checked_confirmed_and_sent_once() {
    let home = tempfile::tempdir().unwrap();
    let ready = course(&[("READY", 100)]).await;
    let (code, _, err) = ask_in(home.path(), &ready, &["reindex", "--yes"]).await;
    assert_eq!((code, posts(&ready)), (6, 0), "{err}");
    assert!(err.contains("add media first"), "{err}");

    let partial = reindexed(|| Reply::new(202, &[], ""), "READY").await;
    let (code, _, err) = ask_in(home.path(), &partial, &["reindex"]).await;
    assert_eq!((code, posts(&partial)), (2, 0), "nobody can be asked: {err}");
    assert!(
        err.contains("adding media and exporting wait until READY") && err.contains("--yes"),
        "{err}"
    );
    let (code, out, _) = ask_in(home.path(), &partial, &["reindex", "--print-script"]).await;
    assert_eq!((code, out), (0, format!("run_profiler.sh -o reindex -d {ID}\n")));
    let (code, out, err) = ask_in(home.path(), &partial, &["reindex", "--print", "curl"]).await;
    assert_eq!((code, posts(&partial)), (0, 0), "{err}");
    assert!(out.starts_with("curl") && out.contains(&format!("{ID}/reindex")), "{out}");
    let (code, out, err) = ask_in(home.path(), &partial, &["reindex", "--yes", "--wait"]).await;
    assert_eq!((code, posts(&partial)), (0, 1), "{err}");
    assert_eq!(out, format!("dataset\t{ID}\nstatus\tREADY\n"));
}

#[tokio::test]
async fn a_conflict_is_explained_by_the_current_status() {
    let taken = || Reply::new(409, &[], r#"{"detail":"a task is running"}"#);
    let service = reindexed(taken, "INDEXING").await;
    let (code, _, err) = ask(&service, &["reindex", "--yes", "--json"]).await;
    assert_eq!((code, posts(&service)), (6, 1), "{err}");
    let error: Value = serde_json::from_str(err.lines().last().unwrap()).unwrap();
    assert_eq!(error["http_status"], 409);
    assert_eq!(error["detail"], "a task is running");
    assert!(error["message"].as_str().unwrap().contains("INDEXING now"), "{error}");
    let remedy = error["remedy"].as_str().unwrap();
    assert!(remedy.starts_with(&format!("tessera dataset wait {ID}")), "{remedy}");
}

#[tokio::test]
async fn a_reindex_that_falls_back_ends_with_what_happened() {
    let home = tempfile::tempdir().unwrap();
    let asked = AtomicUsize::new(0);
    let accepted = AtomicBool::new(false);
    let service = ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.method == "POST" {
            accepted.store(true, Ordering::SeqCst);
            return Reply::new(202, &[], "");
        }
        let busy = accepted.load(Ordering::SeqCst) && asked.fetch_add(1, Ordering::SeqCst) == 0;
        record(if busy { "INDEXING" } else { "PARTIAL INDEX" }, 100)
    })
    .await;
    let line = ["reindex", "--yes", "--wait", "--timeout", "60s"];
    let (code, out, err) = ask_in(home.path(), &service, &line).await;
    assert_eq!((code, out.as_str()), (7, ""), "{err}");
    assert!(err.contains("the reindex ended in PARTIAL INDEX"), "{err}");
    let (_, jobs, _) = ask_in(home.path(), &service, &["jobs", "list", "--json"]).await;
    let jobs: Value = serde_json::from_str(&jobs).unwrap();
    assert_eq!(jobs["jobs"][0]["state"], "failed");
}

#[tokio::test]
async fn an_unclear_response_to_a_reindex_is_resolved_by_the_status() {
    type Case = (fn() -> Reply, &'static str, i32, &'static str);
    let cases: [Case; 4] = [
        (Reply::disconnect, "READ ONLY", 0, "it was"),
        (|| Reply::new(500, &[], "{}"), "PARTIAL INDEX", 3, "probably not accepted"),
        (|| Reply::json("{}"), "READ ONLY", 0, "is not the 202 of acceptance"),
        (|| Reply::new(202, &[], r#"{"error":"no worker"}"#), "READ ONLY", 7, "no worker"),
    ];
    for (answer, then, exit, words) in cases {
        let service = reindexed(answer, then).await;
        let (code, out, err) = ask(&service, &["reindex", "--yes"]).await;
        assert_eq!((code, posts(&service)), (exit, 1), "{err}");
        assert!(err.contains(words), "{err}");
        assert_eq!(out.is_empty(), exit != 0, "{out}");
        assert!(if exit == 7 { !err.contains("accepted") } else { exit != 0 || out.contains(ID) });
    }
}

#[tokio::test]
async fn the_list_of_jobs_asks_for_the_state_of_unfinished_jobs() {
    let home = tempfile::tempdir().unwrap();
    let is_done = Arc::new(AtomicBool::new(false));
    let (accepted, done) = (AtomicBool::new(false), Arc::clone(&is_done));
    let service = ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.method == "POST" {
            accepted.store(true, Ordering::SeqCst);
            return Reply::new(202, &[], "");
        }
        let status = match (accepted.load(Ordering::SeqCst), done.load(Ordering::SeqCst)) {
            (false, _) => "PARTIAL INDEX",
            (true, false) => "INDEXING",
            (true, true) => "READY",
        };
        record(status, 100)
    })
    .await;
    let list = async |more: &[&str]| {
        let arguments = [&["jobs", "list", "--json"], more].concat();
        let (code, out, err) = ask_in(home.path(), &service, &arguments).await;
        assert_eq!(code, 0, "{err}");
        (serde_json::from_str::<Value>(&out).unwrap()["jobs"].clone(), err)
    };
    assert_eq!(ask_in(home.path(), &service, &["reindex", "--yes"]).await.0, 0);
    assert_eq!(list(&[]).await.0[0]["state"], "accepted");
    is_done.store(true, Ordering::SeqCst);
    let (jobs, _) = list(&[]).await;
    assert_eq!((&jobs[0]["state"], &jobs[0]["status_new"]), (&json!("done"), &json!("READY")));
    assert_eq!(list(&["--running"]).await.0, json!([]), "the end was recorded");

    is_done.store(false, Ordering::SeqCst);
    assert_eq!(ask_in(home.path(), &service, &["reindex", "--yes", "--force"]).await.0, 0);
    let before = service.requests().len();
    let mut offline = tessera(home.path(), &["jobs", "list", "--json", "--profile", "none"]);
    assert_eq!(outcome(&mut offline).0, 2, "an unknown profile is not a deployment");
    let (code, out, err) = outcome(&mut tessera(home.path(), &["jobs", "list", "--json"]));
    assert!(code == 0 && out.contains("\"accepted\""), "{err}{out}");
    assert!(err.contains("have their last known state") && err.contains("--base-url"), "{err}");
    assert_eq!(service.requests().len(), before);
}

#[test]
fn a_running_export_is_cancelled() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let run = |serving: &Serving, arguments: &[&str], expected: i32| {
        let (code, out, err) = outcome(&mut serving.asked(home.path(), arguments));
        assert_eq!(code, expected, "{arguments:?}: {err}");
        (serde_json::from_str::<Value>(&out).unwrap_or_default(), err)
    };
    let serving = serve(home.path(), &[folder, "--no-auth"]);
    run(&serving, &["dataset", "wait", "--timeout", "60s"], 0);
    drop(serving);
    let serving = serve(home.path(), &[folder, "--no-auth", "--slow-progress", "600"]);
    let (export, _) = run(&serving, &["export", "start", "pictures", "--json"], 0);
    let id = export["id"].as_str().unwrap();
    let (cancelled, _) = run(&serving, &["jobs", "cancel", id, "--json"], 0);
    assert_eq!(cancelled["state"], "FAILED");
    let (shown, _) = run(&serving, &["jobs", "show", id, "--json"], 0);
    assert_eq!(shown["state"], "failed");
    assert!(shown["reason"].as_str().unwrap().contains("the export was cancelled"), "{shown}");
    let (_, refused) = run(&serving, &["jobs", "cancel", id], 6);
    assert!(refused.contains("is not a running export"), "{refused}");
}

#[test]
fn a_reindex_is_followed_and_recorded() {
    let home = tempfile::tempdir().unwrap();
    let [folder, more] = ["pictures", "more"].map(|name| home.path().join(name));
    for folder in [&folder, &more] {
        fs::create_dir(folder).unwrap();
        picture(&folder.join("a.png"));
    }
    let [folder, more] = [&folder, &more].map(|folder| folder.to_str().unwrap());
    let serving = serve(home.path(), &[folder, "--no-auth"]);
    let run = |arguments: &[&str]| {
        let (code, out, err) = outcome(&mut serving.asked(home.path(), arguments));
        assert_eq!(code, 0, "{arguments:?}: {err}");
        serde_json::from_str::<Value>(&out).unwrap_or_else(|_| out.into())
    };
    assert_eq!(run(&["dataset", "wait", "--timeout", "60s"]), "status\tREADY\n");
    run(&["media", "add", "pictures", "--dir", more, "--wait"]);
    let answer = run(&["reindex", "pictures", "--wait", "--yes", "--json"]);
    assert_eq!((&answer["status_new"], &answer["accepted"]), (&json!("READY"), &json!(true)));

    let jobs = run(&["jobs", "list", "--json"]);
    let reported: Vec<&Value> = jobs["jobs"].as_array().unwrap().iter().collect();
    let [reindex, addition] = reported[..] else { panic!("two jobs: {jobs}") };
    assert_eq!((&reindex["kind"], &addition["kind"]), (&json!("reindex"), &json!("add_media")));
    assert_eq!((&reindex["state"], &reindex["status_new"]), (&json!("done"), &json!("READY")));
    assert_eq!(run(&["jobs", "list", "--running"]), "");
    let id = reindex["id"].as_str().unwrap();
    let shown = run(&["jobs", "show", id, "--json"]);
    let dataset = reindex["dataset_id"].as_str().unwrap();
    let command = shown["command"].as_str().unwrap();
    assert!(command.starts_with("tessera --base-url http://127.0.0.1:"), "{command}");
    assert!(command.ends_with(&format!(" --kind onprem reindex {dataset} --wait")), "{command}");
    assert_eq!(run(&["jobs", "forget", id, "--json"])["forgotten"], 1);
    let (code, _, err) = outcome(&mut serving.asked(home.path(), &["jobs", "show", id]));
    assert_eq!(code, 5, "{err}");
    assert_eq!(run(&["jobs", "forget", "--ended", "--json"])["forgotten"], 1);

    let models = run(&["enrichment", "show", "pictures", "--json"]);
    let applied = models["models"].as_array().unwrap();
    assert_eq!(applied.len(), 4, "{models}");
    assert!(applied.iter().all(|model| model["applied"] != true), "nothing is applied: {models}");
}

#[tokio::test]
async fn a_pinned_dataset_is_listed_until_it_is_unpinned() {
    let home = tempfile::tempdir().unwrap();
    let service = ScriptedServer::start(|seen: &ReceivedRequest| match seen.path() {
        "/api/v1/datasets" => Reply::json("[]"),
        _ => record("READY", 100),
    })
    .await;
    let file = home.path().join("own.toml");
    let profile =
        format!("# mine\n[profiles.lab]\nkind = 'onprem'\nbase_url = '{}'\n", service.url());
    fs::write(&file, profile).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = tessera(home.path(), arguments);
        command.args(["--profile", "lab", "--config"]).arg(&file);
        tokio::task::spawn_blocking(move || outcome(&mut command))
    };
    let (code, _, err) = run(&["dataset", "pin", ID]).await.unwrap();
    assert_eq!(code, 0, "{err}");
    assert!(fs::read_to_string(&file).unwrap().starts_with("# mine\n"));
    let (_, out, err) = run(&["dataset", "list"]).await.unwrap();
    assert!(out.starts_with(ID), "{out}{err}");
    let (code, _, err) = run(&["dataset", "unpin", ID]).await.unwrap();
    assert_eq!(code, 0, "{err}");
    let (_, out, _) = run(&["dataset", "list"]).await.unwrap();
    assert_eq!(out, "");
    let (code, _, err) = run(&["dataset", "unpin", ID]).await.unwrap();
    assert_eq!(code, 5, "{err}");
    let (code, _, err) = run(&["dataset", "open", ID]).await.unwrap();
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("needs a terminal"), "{err}");
}

const EXPORT: &str = "ad48d250-0000-11f1-bfca-0000000000e1";

/// Starts a service that responds with these bodies about its export. An empty body is a server failure.
async fn export_states(bodies: &'static [&'static str]) -> ScriptedServer {
    let polls = AtomicUsize::new(0);
    ScriptedServer::start(move |request: &ReceivedRequest| {
        if !request.target.contains(EXPORT) {
            return record("READY", 100);
        }
        match bodies[polls.fetch_add(1, Ordering::SeqCst).min(bodies.len() - 1)] {
            "" => Reply::new(503, &[], ""),
            body => Reply::json(body),
        }
    })
    .await
}

#[tokio::test]
async fn an_export_is_followed_to_its_end_over_lost_connections() {
    let service = export_states(&[
        r#"{"status": "INIT"}"#,
        "",
        r#"{"status": "INIT"}"#,
        "<p>The proxy is busy</p>",
        r#"{"status": "IN_PROGRESS", "progress": 0.5}"#,
        r#"{"status": "COMPLETED"}"#,
        r#"{"status": "COMPLETED", "download_uri": 5}"#,
        r#"{"status": "COMPLETED", "download_uri": "/a.zip"}"#,
    ])
    .await;
    let watch = ["export", "watch", EXPORT, "--jsonl", "--retries", "0", "--interval", "100ms"];
    let (code, out, err) = ask(&service, &watch).await;
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        events(&out, &["event", "to"]),
        json!([
            ["export", "INIT"],
            ["lost", null],
            ["back", null],
            ["lost", null],
            ["back", null],
            ["export", "IN_PROGRESS"],
            ["export", "COMPLETED"],
            ["end", null],
        ])
    );
    assert_eq!(err.matches("waiting for the download link").count(), 1, "{err}");
}

#[tokio::test]
async fn an_export_that_the_service_does_not_know_is_recorded_as_failed() {
    for (status, exit, requests, state) in [(403, 4, 1, "running"), (404, 5, 6, "failed")] {
        let home = tempfile::tempdir().unwrap();
        let service =
            ScriptedServer::start(move |request: &ReceivedRequest| match request.path() {
                path if path.ends_with("export_context_async") => {
                    Reply::json(json!({ "id": EXPORT, "status": "IN_PROGRESS" }).to_string())
                }
                path if path.ends_with("export_status") => Reply::new(status, &[], "{}"),
                _ => record("READY", 100),
            })
            .await;
        let start = ["export", "start", "--format", "json", "--wait", "--interval", "100ms"];
        let (code, _, err) = ask_in(home.path(), &service, &start).await;
        let asked = service.requests().iter().filter(|it| it.path().ends_with("status")).count();
        assert_eq!((code, asked), (exit, requests), "{err}");
        let (_, out, err) = ask_in(home.path(), &service, &["jobs", "list", "--json"]).await;
        let listed: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(listed["jobs"][0]["state"], state, "{err}");
    }
}

#[tokio::test]
async fn a_rejected_status_or_the_time_limit_ends_following() {
    let home = tempfile::tempdir().unwrap();
    let gone = ScriptedServer::start(|request: &ReceivedRequest| {
        if request.target.contains(EXPORT) {
            Reply::new(404, &[], "{}")
        } else {
            record("READY", 100)
        }
    })
    .await;
    let watch = ["export", "watch", EXPORT, "--interval", "100ms"];
    let (code, _, err) = ask_in(home.path(), &gone, &watch).await;
    assert_eq!(code, 5, "{err}");
    let running = export_states(&[r#"{"status": "INIT"}"#]).await;
    let watch = ["export", "watch", EXPORT, "--timeout", "1s"];
    let (code, _, err) = ask_in(home.path(), &running, &watch).await;
    assert_eq!(code, 124, "{err}");
}
