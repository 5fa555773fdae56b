//! Tests `tessera export` in a pipe with its exit codes: exports are started, followed, downloaded
//! and inspected.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{Serving, add_local_profile, outcome, picture, picture_folder, run, serve, tessera};

/// Starts a service over two pictures, and creates a working folder.
fn serve_folder(options: &[&str]) -> (TempDir, Serving) {
    let home = tempfile::tempdir().unwrap();
    let folder = picture_folder(home.path(), "pictures", &["a.png", "b.png"]);
    let serving = serve(home.path(), &[&[folder.to_str().unwrap(), "--no-auth"], options].concat());
    assert_eq!(serving.indexed()["status_new"], "READY");
    (home, serving)
}

/// Runs a command with `--json`. Returns its exit code, its document, and its messages.
fn json(home: &Path, serving: &Serving, arguments: &[&str]) -> (i32, Value, String) {
    let arguments = [arguments, &["--json"]].concat();
    let (code, out, err) = outcome(serving.asked(home, &arguments).current_dir(home));
    (code, serde_json::from_str(&out).unwrap_or_default(), err)
}

#[test]
fn an_export_is_started_followed_fetched_and_inspected() {
    let (home, serving) = serve_folder(&[]);
    let home = home.path();
    let start = ["export", "start", "pictures", "--format", "json", "--images", "--download", "."];
    let (code, reported, err) = json(home, &serving, &start);
    assert_eq!(code, 0, "{err}");
    assert_eq!(reported["schema"], "tessera.export/1");
    for (field, value) in [("rows", 2), ("images", 2), ("progress", 1)] {
        assert_eq!(reported[field].as_f64(), Some(f64::from(value)), "{field}: {reported}");
    }
    assert_eq!(reported["rows_without_file"]["count"], 0, "{reported}");
    assert_eq!(
        (&reported["kind"], &reported["export_format"]),
        (&"dataset".into(), &"json".into())
    );
    assert_eq!((&reported["status"], &reported["terminal"]), (&"COMPLETED".into(), &true.into()));
    assert!(home.join("pictures.zip").is_file() && !err.contains('\u{1b}'), "{err}");

    let (code, _, err) = json(home, &serving, &start);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("not overwritten") && err.contains("--force"), "{err}");
    let (_, listed, _) = json(home, &serving, &["export", "list", "pictures"]);
    assert_eq!(listed["exports"].as_array().map(Vec::len), Some(1), "nothing was sent: {listed}");
    assert_eq!(listed["exports"][0]["status"], "COMPLETED");
    assert_eq!(listed["exports"][0]["state"], "downloaded");
    let status = ["export", "status", listed["exports"][0]["id"].as_str().unwrap()];
    let (_, known, _) = json(home, &serving, &status);
    assert_eq!((&known["status"], &known["file"]), (&"COMPLETED".into(), &reported["file"]));
    assert_eq!(listed["exports"][0]["file"], home.join("pictures.zip").to_str().unwrap());

    let again = [&start[..], &["--name", "b", "--extract", "out", "--join"]].concat();
    let (code, reported, err) = json(home, &serving, &again);
    assert_eq!(
        (code, &reported["extracted_to"], &reported["extracted_files"]),
        (0, &"out".into(), &3.into())
    );
    let files = walkdir::WalkDir::new(home).into_iter().map(|entry| entry.unwrap());
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_jobs = |name: &String| name.strip_prefix("jobs-").is_some_and(|rest| rest.len() > 4);
    let jobs = names.filter(is_jobs).filter(|name| !name.contains(".lock")).count();
    assert_eq!(jobs, 1, "a command takes over what the one before it has left");
    let rows = fs::read_to_string(home.join("out/rows.jsonl")).expect(&err);
    let paths =
        rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap()["_path"].clone());
    for path in paths {
        assert!(home.join("out").join(path.as_str().unwrap()).is_file(), "{path}");
    }

    let (code, inside, err) = json(home, &serving, &["export", "inspect", "pictures.zip"]);
    assert_eq!((code, &inside["rows"], &inside["images"]), (0, &2.into(), &2.into()), "{err}");
    assert_eq!(inside["uniqueness"].as_array().map(Vec::len), Some(10));
}

#[test]
fn a_download_that_cannot_be_extracted_is_recorded() {
    let (home, serving) = serve_folder(&[]);
    let home = home.path();
    fs::create_dir_all(home.join("out/images")).unwrap();
    fs::write(home.join("out/images/a.png"), "mine").unwrap();
    let start = ["export", "start", "pictures", "--images", "--download", ".", "--extract", "out"];
    let listed = || json(home, &serving, &["export", "list", "pictures"]).1["exports"][0].clone();
    let (code, _, err) = json(home, &serving, &start);
    assert!(code == 1 && err.contains("a.png: already exists"), "{err}");
    let export = listed();
    assert_eq!(
        (&export["state"], home.join("pictures.zip").exists()),
        (&"downloaded".into(), true)
    );
    let id = export["id"].as_str().unwrap();
    let again = ["export", "download", id, "--output", "again.zip", "--extract", "out"];
    let (code, _, err) = json(home, &serving, &again);
    assert!(code == 1 && err.contains("a.png: already exists"), "{err}");
    assert_eq!(listed()["file"], home.join("again.zip").to_str().unwrap());
}

#[test]
fn pictures_that_an_archive_lacks_are_named_and_the_export_is_partly_done() {
    let (home, serving) = serve_folder(&[]);
    let home = home.path();
    fs::remove_file(home.join("pictures/b.png")).unwrap();
    for format in ["json", "yolo", "hf-parquet"] {
        let start = ["export", "start", "pictures", "--format", format, "--images"];
        let download = ["--name", format, "--download", "."];
        for rest in [&download[..], &["--wait"]] {
            let (code, _, err) = json(home, &serving, &[&start[..], rest].concat());
            assert_eq!(code, 9, "{format}: {err}");
            let warning = "1 picture could not be read and was omitted: b.png";
            assert!(err.contains(warning), "{format}: {err}");
        }
    }
}

#[test]
fn quiet_prints_the_id_which_is_all_that_later_commands_need() {
    let (home, serving) = serve_folder(&[]);
    let home = home.path();
    let ask = |arguments: &[&str]| outcome(serving.asked(home, arguments).current_dir(home));
    let (code, id, err) = ask(&["export", "start", "--quiet"]);
    assert_eq!((code, err.as_str()), (0, ""), "{id}");
    let id = id.trim();
    assert_eq!(id.len(), 36, "{id}");
    let (code, events, err) = ask(&["export", "watch", id, "--interval", "100ms", "--jsonl"]);
    assert_eq!(code, 0, "{err}");
    let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["exit_code"]), (&"end".into(), &0.into()));
    assert!(events.contains(r#""to":"COMPLETED""#), "{events}");
    let (_, jobs, _) = ask(&["jobs", "list", "--json"]);
    assert!(jobs.contains(r#""state": "completed""#), "{jobs}");
    let (code, _, err) = ask(&["export", "download", id, "-o", "mine.zip"]);
    assert_eq!(code, 0, "{err}");
    assert!(home.join("mine.zip").is_file());

    fs::write(home.join("mine.zip"), "old").unwrap();
    let dataset = serving.1["datasets"][0]["id"].as_str().unwrap();
    let (code, _, err) = ask(&["export", "download", dataset, id, "-o", "mine.zip", "--force"]);
    assert_eq!(code, 0, "{err}");
    assert!(fs::metadata(home.join("mine.zip")).unwrap().len() > 100, "it was replaced");
}

#[test]
fn a_selection_is_put_together_on_the_command_line_or_comes_from_a_file() {
    let (home, serving) = serve_folder(&[]);
    let home = home.path();
    let (_, page) = serving.ask("GET", "/api/v1/explore/{id}?entity_type=IMAGES");
    let cluster = &page["clusters"][0];
    let media = cluster["previews"][0]["media_id"].as_str().unwrap();
    let started = |options: &[&str]| {
        let start = [&["export", "start", "--wait", "--name", "some", "--download", "."], options];
        json(home, &serving, &[&start.concat()[..], &["--force"]].concat())
    };
    let (code, reported, err) = started(&["--media", media]);
    assert_eq!((code, &reported["rows"]), (0, &1.into()), "{err}");
    assert_eq!(reported["kind"], "selection");
    let id = cluster["cluster_id"].as_str().unwrap();
    let (code, reported, err) = started(&["--cluster", &format!("{id}^{media}")]);
    assert_eq!(code, 0, "{err}");
    let members = cluster["n_images"].as_u64().unwrap();
    assert_eq!(reported["rows"], members - 1);

    let item = json!({"type": "media", "payload": {"media_ids": [media]}});
    let body = json!({ "media_selection": [item] }).to_string();
    fs::write(home.join("some.json"), body).unwrap();
    let (code, reported, err) = started(&["--selection-file", "some.json"]);
    assert_eq!((code, &reported["rows"]), (0, &1.into()), "{err}");
    let (code, _, err) = started(&["--selection", "none such"]);
    assert_eq!(code, 5, "{err}");
    let (code, _, err) = started(&["--cluster", "x"]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn an_export_that_fails_or_is_not_there_has_a_code_of_its_own() {
    let (home, serving) = serve_folder(&["--fail", "export"]);
    let home = home.path();
    let (code, _, err) = json(home, &serving, &["export", "start", "--wait"]);
    assert_eq!(code, 7, "{err}");
    let error: Value = serde_json::from_str(err.lines().last().unwrap()).unwrap();
    assert_eq!(error["schema"], "tessera.error/1");
    let (_, listed, _) = json(home, &serving, &["export", "list"]);
    assert_eq!(listed["exports"][0]["status"], "FAILED");
    let nobody = "cf8b3e78-0000-4954-a782-000000000001";
    let (code, _, err) = json(home, &serving, &["export", "status", "pictures", nobody]);
    assert_eq!(code, 5, "{err}");
    let (code, out, err) =
        outcome(&mut serving.asked(home, &["export", "start", "--print", "curl"]));
    assert!(code == 0 && out.starts_with("curl ") && out.contains("export_context_async"), "{err}");
    let (_, listed, _) = json(home, &serving, &["export", "list"]);
    assert_eq!(listed["exports"].as_array().map(Vec::len), Some(1), "a rehearsal is no export");
}

#[test]
fn a_full_disk_keeps_the_part_and_the_download_goes_on_later() {
    let (home, serving) = serve_folder(&[]);
    let home = home.path();
    let ask = |arguments: &[&str]| outcome(serving.asked(home, arguments).current_dir(home));
    let (_, id, _) = ask(&["export", "start", "--images", "--quiet"]);
    assert_eq!(ask(&["export", "watch", id.trim(), "--interval", "100ms"]).0, 0);
    let whole = serving.asked(home, &["export", "download", id.trim(), "-o", "x.zip"]);
    // The limit allows no file to have more than one block.
    let limit = "ulimit -f 1; exec \"$0\" \"$@\"";
    let mut limited = Command::new("sh");
    limited.args(["-c", limit]).arg(whole.get_program()).args(whole.get_args()).current_dir(home);
    for (name, value) in whole.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let (code, _, err) = outcome(&mut limited);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("Free some space") && !err.contains("panicked"), "{err}");
    let part = home.join(format!("x.zip.{}.part", &id[..8]));
    assert!(part.is_file() && !home.join("x.zip").exists());
    let (code, _, err) = ask(&["export", "download", id.trim(), "-o", "x.zip"]);
    assert_eq!(code, 0, "{err}");
    assert!(home.join("x.zip").is_file() && !part.exists());
}

/// Starts a service that responds to everything except the start of an export. That request is recorded and gets no
/// response.
fn silent_about_exports() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (asked, started) = mpsc::channel();
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            if String::from_utf8_lossy(&request).contains("export_context_async") {
                held.push(stream);
                asked.send(()).unwrap();
                continue;
            }
            let body = format!(r#"{{"id":"{DATASET}","display_name":"x","status_new":"READY"}}"#);
            let status = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
            let answer = format!("{status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    (url, started)
}

const DATASET: &str = "ad48d250-0000-11f1-bfca-000000000001";

#[test]
fn a_kill_before_the_answer_leaves_a_trace() {
    let (url, started) = silent_about_exports();
    let home = tempfile::tempdir().unwrap();
    let command = |arguments: &[&str]| {
        let mut command = tessera(home.path(), arguments);
        command.env("TESSERA_BASE_URL", &url).env("TESSERA_KIND", "onprem");
        command
    };
    let mut start = command(&["export", "start", DATASET]);
    let mut child = start.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    started.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, out, err) = outcome(&mut command(&["export", "list", "--json"]));
    assert_eq!(code, 0, "{err}");
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(listed["exports"][0]["state"], "may have started", "{listed}");
    assert!(started.try_recv().is_err(), "it was sent once");
}

/// Starts a service with a ready dataset whose exports start and end with these bodies.
async fn exporting(start: &'static str, status: &'static str) -> ScriptedServer {
    ScriptedServer::start(move |seen: &ReceivedRequest| match seen.path() {
        path if path.ends_with("/export_context_async") => Reply::json(start),
        path if path.ends_with("/export_status") => Reply::json(status),
        _ => {
            Reply::json(format!(r#"{{"id":"{DATASET}","display_name":"x","status_new":"READY"}}"#))
        }
    })
    .await
}

const REJECTED: &str = r#"{"id":"cf8b3e78-0000-4954-a782-000000000001","status":"REJECTED",
    "result_message":"91000 entities exceed the threshold"}"#;
const STARTED: &str = r#"{"id":"cf8b3e78-0000-4954-a782-000000000001","status":"INIT"}"#;
const NOT_ACCEPTED: &str = r#"{"error":"Export rejected: 91000 entities exceed the threshold"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_export_keeps_its_id_status_message_and_times() {
    let id = "cf8b3e78-0000-4954-a782-000000000001";
    let message = "the export ended with REJECTED (service: 91000 entities exceed the threshold)";
    for (start, options) in [
        (REJECTED, &["export", "start", DATASET][..]),
        (STARTED, &["export", "start", DATASET, "--wait"]),
    ] {
        let service = exporting(start, REJECTED).await;
        let home = tempfile::tempdir().unwrap();
        let ask = |arguments: &[&str]| {
            let mut command = tessera(home.path(), &[arguments, &["--json"]].concat());
            command.env("TESSERA_BASE_URL", service.url()).env("TESSERA_KIND", "onprem");
            let (code, out, err) = outcome(&mut command);
            (code, serde_json::from_str::<Value>(&out).unwrap_or_default(), err)
        };
        let (code, _, err) = ask(options);
        assert_eq!(code, 7, "{err}");
        let error: Value = serde_json::from_str(err.lines().last().unwrap()).unwrap();
        assert_eq!(error["message"], "the export ended with REJECTED");
        assert_eq!(error["detail"], "91000 entities exceed the threshold");
        let (_, listed, _) = ask(&["export", "list"]);
        let export = &listed["exports"][0];
        assert_eq!((&export["id"], &export["status"]), (&id.into(), &"REJECTED".into()));
        assert_eq!(export["result_message"], message);
        assert!(export["started_at"].is_string() && export["ended_at"].is_string(), "{export}");
        let (_, job, _) = ask(&["jobs", "show", id]);
        assert_eq!((&job["state"], &job["export_status"]), (&"failed".into(), &"REJECTED".into()));
        let (_, table, _) = outcome(&mut tessera(home.path(), &["jobs", "list"]));
        assert!(table.lines().last().unwrap().ends_with("failed\tREJECTED"), "{table}");
        for command in [["export", "status", id], ["export", "watch", &id[..8]]] {
            assert_eq!(ask(&command).0, 7, "{command:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_whose_response_reports_an_error_is_a_rejection() {
    let service = exporting(NOT_ACCEPTED, REJECTED).await;
    let home = tempfile::tempdir().unwrap();
    let mut command = tessera(home.path(), &["export", "start", DATASET]);
    command.env("TESSERA_BASE_URL", service.url()).env("TESSERA_KIND", "onprem");
    let (code, out, err) = outcome(&mut command);
    assert_eq!((code, out.as_str()), (7, ""), "{err}");
    assert!(err.contains("cannot start the export: the service reported an error"), "{err}");
    assert!(err.contains("91000 entities exceed the threshold"), "{err}");
    let path = format!("dataset/{DATASET}/export_context_async");
    let mut command = tessera(home.path(), &["api", "get", &path]);
    command.env("TESSERA_BASE_URL", service.url()).env("TESSERA_KIND", "onprem");
    let (code, out, err) = outcome(&mut command);
    assert_eq!((code, out.as_str()), (7, NOT_ACCEPTED), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_does_not_exist_is_refused_before_the_first_request() {
    let service = exporting(STARTED, REJECTED).await;
    let home = tempfile::tempdir().unwrap();
    let start = ["export", "start", DATASET, "--wait", "--download", "none/such"];
    let mut command = tessera(home.path(), &start);
    command.env("TESSERA_BASE_URL", service.url()).env("TESSERA_KIND", "onprem");
    let (code, out, err) = outcome(command.current_dir(home.path()));
    assert_eq!((code, out.as_str(), service.count()), (1, "", 0), "{err}");
    assert!(err.contains("none/such: the folder does not exist. Create the folder first"), "{err}");
}

/// No user can create files in `/proc`.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn no_export_starts_if_its_folders_cannot_be_written() {
    let service = exporting(STARTED, REJECTED).await;
    let home = tempfile::tempdir().unwrap();
    for to in [&["--download", "/proc"][..], &["--download", ".", "--extract", "/proc/version/new"]]
    {
        let start = [&["export", "start", DATASET][..], to].concat();
        let mut command = tessera(home.path(), &start);
        command.env("TESSERA_BASE_URL", service.url()).env("TESSERA_KIND", "onprem");
        let (code, out, err) = outcome(command.current_dir(home.path()));
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        assert!(err.contains("/proc"), "{err}");
        let requests = service.requests();
        let started = |request: &ReceivedRequest| request.path().ends_with("/export_context_async");
        assert!(!requests.iter().any(started), "the export was started: {err}");
    }
}

/// Adds a profile for a folder with two pictures. Returns the home and the folder.
fn local_folder() -> (TempDir, std::path::PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("pictures");
    fs::create_dir_all(folder.join("sub")).unwrap();
    picture(&folder.join("a.png"));
    picture(&folder.join("sub/b.png"));
    add_local_profile(home.path(), "mine", folder.to_str().unwrap());
    (home, folder)
}

fn local(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    let arguments = [&["--profile", "mine", "export", "start"], arguments].concat();
    outcome(tessera(home, &arguments).current_dir(home))
}

#[test]
fn a_local_archive_is_a_file_of_its_own_and_images_may_link_to_their_originals() {
    let (home, folder) = local_folder();
    let home = home.path();
    let copied = ["--images", "--download", ".", "--name", "copied", "--extract", "copied"];
    let (code, _, err) = local(home, &copied);
    assert_eq!(code, 0, "{err}");
    let links = fs::metadata(home.join("copied.zip")).unwrap().nlink();
    assert_eq!(links, 1, "a change of the file does not change the archive of the service");
    let linked =
        ["--images", "--download", ".", "--name", "linked", "--extract", "linked", "--link"];
    let (code, _, err) = local(home, &linked);
    assert_eq!(code, 0, "{err}");
    for (image, original) in [("a.png", "a.png"), ("b.png", "sub/b.png")] {
        let original = folder.join(original);
        let [copied, linked] =
            ["copied", "linked"].map(|it| home.join(it).join("images").join(image));
        assert_eq!(fs::read(&copied).unwrap(), fs::read(&original).unwrap());
        assert_eq!(fs::read(&linked).unwrap(), fs::read(&original).unwrap());
        assert_ne!(inode(&copied), inode(&original), "only --link may change originals");
        // Where the file system shares blocks, a link is not needed.
        let is_linked = inode(&linked) == inode(&original);
        assert!(is_linked || err.contains("2 share their space"), "{err}");
    }
    assert!(err.contains("2 links to their originals") || err.contains("2 share"), "{err}");
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

#[test]
fn an_archive_is_opened_again() {
    let (home, folder) = local_folder();
    let home = home.path();
    let row = r#"{"file_name":"a.png","caption":"A wall","objects":[{"label":"door","bbox":[0.1,0.2,0.33,0.5]}]}"#;
    fs::write(folder.join("metadata.jsonl"), row).unwrap();
    let (code, _, err) = local(home, &["--images", "--download", ".", "--name", "mine"]);
    assert_eq!(code, 0, "{err}");
    let archive = home.join("mine.zip");
    let serving = serve(home, &[archive.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    let start = ["export", "start", "mine", "--format", "parquet", "--images", "--name", "again"];
    let options = ["--download", ".", "--extract", "again", "--join"];
    let (code, _, err) = json(home, &serving, &[&start[..], &options].concat());
    assert_eq!(code, 0, "{err}");
    let rows = fs::read_to_string(home.join("again/rows.jsonl")).unwrap();
    let row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!((&row["file_name"], &row["caption"]), (&"images/a.png".into(), &"A wall".into()));
    assert_eq!(row["objects"][0]["label"], "door");
    assert_eq!(row["objects"][0]["bbox"], json!([3.2, 4.8, 10.56, 12.0]));
}

#[test]
fn the_exports_of_a_folder_are_not_those_of_another_with_its_name() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let [one, other] = ["one/pictures", "other/pictures"].map(|name| home.join(name));
    for folder in [&one, &other] {
        fs::create_dir_all(folder).unwrap();
        picture(&folder.join("a.png"));
    }
    let [one, other] = [&one, &other].map(|folder| folder.to_str().unwrap());
    let (code, _, err) = run(home, &["export", "start", one, "--wait"]);
    assert_eq!(code, 0, "{err}");
    for (arguments, count) in [
        (&["export", "list", one][..], 1),
        (&["export", "list", other], 0),
        (&["export", "list", "-d", other], 0),
        (&["export", "list", "--folder", one], 1),
    ] {
        let (code, out, err) = run(home, arguments);
        assert_eq!((code, out.lines().count()), (0, count), "{arguments:?}: {err}");
    }
}

#[test]
fn an_export_of_a_folder_is_found_without_the_folder() {
    let (home, folder) = super::home();
    let home = home.path();
    let ask = |arguments: &[&str]| outcome(tessera(home, arguments).current_dir(home));
    let (code, id, err) =
        ask(&["export", "start", "--folder", folder.to_str().unwrap(), "--wait", "--quiet"]);
    assert_eq!(code, 0, "{err}");
    let id = id.trim();
    let (code, listed, err) = ask(&["export", "list", "--jq", ".exports[].id"]);
    assert_eq!((code, listed.trim()), (0, id), "{err}");
    for arguments in [
        &["export", "status", id][..],
        &["export", "watch", &id[..8]],
        &["export", "download", id, "-o", "mine.zip"],
        &["jobs", "watch", id],
    ] {
        let (code, _, err) = ask(arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
    }
    assert!(home.join("mine.zip").is_file());
    let (code, _, err) = ask(&["export", "status", "cf8b3e78-0000-4954-a782-000000000001"]);
    assert!(code == 2 && err.contains("no deployment is selected"), "{code}: {err}");
}

#[test]
fn a_profile_of_an_archive_is_checked_like_one_of_a_folder() {
    let (home, _) = local_folder();
    let home = home.path();
    let (code, _, err) = local(home, &["--images", "--download", ".", "--name", "packed"]);
    assert_eq!(code, 0, "{err}");
    let add = ["profile", "add", "packed", "--kind", "local", "--folder", "packed.zip"];
    assert_eq!(outcome(tessera(home, &add).current_dir(home)).0, 0);
    let (code, out, err) = super::run(home, &["doctor", "--json"]);
    assert_eq!(code, 0, "{err}");
    let found: Value = serde_json::from_str(&out).unwrap();
    let findings = found["findings"].as_array().unwrap();
    let is_archive = |it: &&Value| it["message"].as_str().unwrap().ends_with("packed.zip");
    assert_eq!(findings.iter().find(is_archive).unwrap()["state"], "ok", "{out}");
    let (code, out, err) = super::run(home, &["-p", "packed", "check", "--min-media", "2"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn an_original_that_has_changed_is_not_linked() {
    let (home, folder) = local_folder();
    let home = home.path();
    let start = ["--images", "--wait", "--quiet"];
    let (code, id, err) = local(home, &start);
    assert_eq!(code, 0, "{err}");
    let archived = fs::read(folder.join("a.png")).unwrap();
    fs::write(folder.join("a.png"), "changed").unwrap();
    let arguments =
        ["--profile", "mine", "export", "download", id.trim(), "--extract", "out", "--link"];
    let (code, _, err) = outcome(tessera(home, &arguments).current_dir(home));
    assert_eq!(code, 0, "{err}");
    assert_eq!(fs::read(home.join("out/images/a.png")).unwrap(), archived, "the archived image");
    assert_eq!(fs::read(folder.join("a.png")).unwrap(), b"changed");
}

#[test]
fn a_list_has_the_metadata_and_the_paths_of_the_originals() {
    let (home, folder) = local_folder();
    let home = home.path();
    let (code, document, err) = local(home, &["--list", "rows.jsonl", "--json"]);
    assert_eq!(code, 0, "{err}");
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!((&document["rows_file"], &document["rows"]), (&json!("rows.jsonl"), &json!(2)));
    let rows = fs::read_to_string(home.join("rows.jsonl")).unwrap();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let paths: Vec<&str> = rows.iter().map(|row| row["original_path"].as_str().unwrap()).collect();
    let folder = fs::canonicalize(folder).unwrap();
    let expected = ["a.png", "sub/b.png"].map(|name| folder.join(name).display().to_string());
    assert_eq!(paths, expected);
    assert!(rows.iter().all(|row| row["labels"].is_array() && row["width"] == 32), "{rows:?}");
    let zips = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(zips.filter(|path| path.extension().is_some_and(|it| it == "zip")).count(), 0);

    fs::write(home.join("other"), "as the umask says").unwrap();
    let mode = |name: &str| fs::metadata(home.join(name)).unwrap().mode();
    assert_eq!(mode("rows.jsonl"), mode("other"));
    let (code, _, err) = local(home, &["--list", "-"]);
    assert!(code == 1 && err.contains("cannot be written to standard output"), "{code}: {err}");
    let (code, _, err) = local(home, &["--list", "rows.jsonl"]);
    assert!(code == 1 && err.contains("already exists"), "{err}");
    let (code, _, err) = local(home, &["--list", "rows.jsonl", "--force"]);
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = local(home, &["--list", "x", "--images"]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn the_rest_is_what_the_dataset_or_a_search_has_beside_the_selection() {
    let (home, folder) = local_folder();
    let home = home.path();
    let find = ["--profile", "mine", "search", "browse", "--flat", "--json"];
    let (code, found, err) = outcome(tessera(home, &find).current_dir(home));
    assert_eq!(code, 0, "{err}");
    let found: Value = serde_json::from_str(&found).unwrap();
    let media = found["previews"].as_array().unwrap();
    let a = media.iter().find(|row| row["file_name"] == "a.png").unwrap();
    let a = a["media_id"].as_str().unwrap();
    let rest = |more: &[&str]| local(home, &[&["--media", a, "--rest"], more].concat());
    let (code, _, err) = rest(&["--list", "rest.jsonl"]);
    assert_eq!(code, 0, "{err}");
    let rows = fs::read_to_string(home.join("rest.jsonl")).unwrap();
    let row: Value = serde_json::from_str(&rows).expect(&rows);
    let b = fs::canonicalize(folder).unwrap().join("sub/b.png");
    assert_eq!(row["original_path"], b.display().to_string());

    let path = r#"[{"path":{"op":"is","value":"sub"}}]"#;
    let (code, found, err) = rest(&["--vql", path, "--download", ".", "--json"]);
    let found: Value = serde_json::from_str(&found).expect(&err);
    assert_eq!((code, &found["kind"]), (0, &"rest".into()), "{found} {err}");
    assert_eq!(found["rows"], 1, "{found}");
    let (code, _, err) = local(home, &["--rest"]);
    assert!(code == 2 && err.contains("--rest needs a selection"), "{err}");
    let (code, _, err) = rest(&["--max-score", "0.5"]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn a_local_service_at_an_address_understands_what_only_local_services_do() {
    let (home, serving) = serve_folder(&[]);
    let home = home.path();
    let filter = r#"[{"width":{"op":"at_least","value":1}}]"#;
    for search in [&["search", "browse", "--sort", "bytes"][..], &["search", "vql", filter]] {
        let (code, found, err) = json(home, &serving, search);
        assert_eq!(code, 0, "{err}");
        assert!(!found["clusters"].as_array().unwrap().is_empty(), "{search:?}: {found}");
    }
    let (_, found, _) = json(home, &serving, &["search", "browse"]);
    let media = found["clusters"][0]["previews"][0]["media_id"].as_str().unwrap();
    let rest = ["export", "start", "--media", media, "--rest", "--wait"];
    let (code, exported, err) = json(home, &serving, &rest);
    assert_eq!(code, 0, "{exported} {err}");
}

#[test]
fn options_for_files_of_this_machine_need_a_local_profile() {
    let (home, serving) = serve_folder(&[]);
    let home = home.path();
    for options in [&["--list", "rows.jsonl"][..], &["--extract", "out", "--link"]] {
        let start = [&["export", "start"], options].concat();
        let (code, _, err) = json(home, &serving, &start);
        assert!(code == 2 && err.contains("needs a local folder"), "{err}");
    }
    let (_, listed, _) = json(home, &serving, &["export", "list"]);
    assert_eq!(listed["exports"].as_array().map(Vec::len), Some(0), "nothing was sent: {listed}");
}
