//! Tests `tessera media add` with every source, in parts, refused and interrupted.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{outcome, picture, picture_folder, piped, run, serve, tessera};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";

/// Creates a home with a folder `new` that contains this number of different pictures.
fn home(pictures: u8) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("new");
    std::fs::create_dir(&folder).unwrap();
    for n in 0..pictures {
        let image = image::RgbImage::from_fn(16, 16, |x, y| {
            let shade = |v: u32| u8::try_from(v * 7).unwrap();
            image::Rgb([shade(x), shade(y), n * 20])
        });
        image.save(folder.join(format!("{n}.png"))).unwrap();
    }
    (home, folder)
}

/// Starts a service with one dataset, whose status is the next one of these at each read.
async fn scripted(
    statuses: &'static [&'static str],
    add: impl Fn(usize) -> Reply + Send + Sync + 'static,
) -> ScriptedServer {
    let (reads, additions) = (AtomicUsize::new(0), AtomicUsize::new(0));
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.method == "POST" || seen.path().ends_with("process/add_media") {
            return add(additions.fetch_add(1, Ordering::Relaxed));
        }
        let turn = reads.fetch_add(1, Ordering::Relaxed).min(statuses.len() - 1);
        // The dataset grows, because an addition of nothing is a failure.
        let record = json!({ "id": ID, "display_name": "dash", "status_new": statuses[turn],
            "n_images": 3 + turn });
        Reply::json(record.to_string())
    })
    .await
}

fn asked(server: &ScriptedServer, home: &Path, arguments: &[&str]) -> Command {
    let mut command = tessera(home, arguments);
    command.env("TESSERA_BASE_URL", server.url()).env("TESSERA_KIND", "onprem");
    command.env("TESSERA_PIPELINE_URL", server.url());
    command
}

fn additions(server: &ScriptedServer) -> usize {
    let sent = |seen: &&ReceivedRequest| seen.path().ends_with("add_media");
    server.requests().iter().filter(sent).count()
}

fn document(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// The session goes only to the endpoint that accepts it, is used once, and is stored nowhere.
#[tokio::test]
async fn an_upload_can_log_in_with_the_cookie_of_a_browser() {
    const SESSION: &str = "canary-session-of-an-upload";
    tessera_testing::canaries::register_secret(SESSION, false);
    let server = scripted(&["READY"], |_| Reply::new(202, &[], "")).await;
    let (home, folder) = home(1);
    let url = server.url();
    let settings = format!("[profiles.prod]\nkind = 'hosted'\nbase_url = '{url}'\n");
    std::fs::create_dir(home.path().join("tessera")).unwrap();
    std::fs::write(home.path().join("tessera/config.toml"), settings).unwrap();
    tokio::task::spawn_blocking(move || {
        let import = ["auth", "import", "-p", "prod", "--secret-stdin", "--api-key", "ak_1"];
        let secret = "a-secret-of-at-least-thirty-two-bytes";
        let import = [&import[..], &["--insecure-storage"]].concat();
        assert_eq!(piped(home.path(), &import, secret).0, 0);
        let add = ["media", "add", ID, "-p", "prod", "--dir", folder.to_str().unwrap()];
        let add = [&add[..], &["--auth", "cookie"]].concat();
        let (code, out, err) = run(home.path(), &[&add[..], &["--print", "curl"]].concat());
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("-b \"SESSION=$SESSION\"") && !out.contains("Bearer"), "{out}");
        let (code, _, err) = run(home.path(), &add);
        assert_eq!(code, 2);
        assert!(err.contains("--cookie-stdin"), "{err}");
        let add = [&add[..], &["--cookie-stdin", "-v"]].concat();
        let (code, _, err) = piped(home.path(), &add, &format!("SESSION={SESSION}\n"));
        assert_eq!(code, 0, "{err}");
    })
    .await
    .unwrap();
    for seen in server.requests() {
        let uploads = seen.method == "POST";
        let cookie = format!("SESSION={SESSION}");
        assert_eq!(seen.header("cookie"), uploads.then_some(cookie.as_str()), "{}", seen.target);
        assert_eq!(seen.header("authorization").is_none(), uploads, "never both");
    }
    assert_eq!(additions(&server), 1);
}

#[test]
fn exactly_one_source_is_accepted_before_any_request() {
    let (home, folder) = home(1);
    let place = ["--base-url", "http://127.0.0.1:9", "--kind", "onprem"];
    let folder = folder.to_str().unwrap();
    for (source, words) in [
        (vec![], "Exactly one media source must be provided: files[], s3_uri, or archive"),
        (vec!["--dir", folder, "--s3", "s3://b/"], "Exactly one media source"),
        (vec!["--archive", "a.zip", "--server-path", "/d"], "Exactly one media source"),
        (vec!["--s3", "b/"], "must begin with s3://"),
        (vec!["--archive", "a.rar"], "must be a .zip, .tar or .tar.gz"),
        (vec!["--server-path", "d"], "must be absolute"),
        (vec!["--server-path", "/d", "--reindex"], "cannot be combined"),
        (vec!["--s3", "s3://b/", "--split", "2"], "--split is for files"),
        (vec!["--dir", folder, "--assume-role", "arn:aws:iam::123456789012:role/x"], "storage"),
        (vec!["--dir", folder, "--spot=on"], "--spot is for hosted"),
        (vec!["--dir", folder, "--auth", "cookie"], "needs no login"),
        (vec!["--dir", folder, "--cookie-stdin"], "--auth cookie"),
        (vec!["--dir", "/no/such/folder"], "not a folder"),
        (vec!["--files-from", "/dev/null"], "the list is empty"),
        (vec!["--dir", folder, "--reindex", "--then-reindex"], "cannot be used with"),
    ] {
        let arguments = [&["media", "add", ID][..], &place, &source].concat();
        let (code, out, err) = run(home.path(), &arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{source:?}: {err}");
        assert!(err.contains(words), "{source:?}: {err}");
    }
}

#[test]
fn the_documented_split_example_works() {
    let (home, _) = home(5);
    let old = picture_folder(home.path(), "dash-old", &["a.png"]);
    for n in 0..5 {
        let from = home.path().join(format!("new/{n}.png"));
        let to = home.path().join(format!("new/{n}.jpg"));
        image::open(&from).unwrap().save(to).unwrap();
    }
    std::fs::write(home.path().join("new/broken.jpg"), "no picture").unwrap();
    let serving = serve(home.path(), &[old.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    let line = "find . -name '*.jpg' -print0 | \
                tessera media add dash-old --files-from - --split 3 --then-reindex --wait --json";
    let mut command = serving.asked(home.path(), &[]);
    let folder = Path::new(env!("CARGO_BIN_EXE_tessera")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(home.path().join("new")).env("PATH", path);
    for (name, value) in command.stdin(Stdio::null()).get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let (code, out, err) = outcome(&mut shell);
    assert_eq!(code, 9, "one file is skipped: {err}");
    assert!(err.contains("skipped ./broken.jpg"), "{err}");
    let reported = document(&out);
    assert_eq!(reported["schema"], "tessera.addition/1");
    assert_eq!((&reported["parts_accepted"], &reported["files"]), (&json!(2), &json!(5)));
    assert_eq!(
        (&reported["status_new"], &reported["reindex_accepted"]),
        (&json!("READY"), &json!(true))
    );
    let show = ["dataset", "show", "dash-old", "--json=n_images"];
    let (_, out, _) = outcome(&mut serving.asked(home.path(), &show));
    assert_eq!(document(&out)["n_images"], 6);
}

#[test]
fn a_path_of_the_pipeline_is_sent_and_its_script_printed() {
    let (home, folder) = home(2);
    let old = picture_folder(home.path(), "old", &["a.png"]);
    let new = folder.to_str().unwrap();
    let serving = serve(home.path(), &[old.to_str().unwrap(), "--no-auth", "--allow-path", new]);
    let id = serving.1["datasets"][0]["id"].as_str().unwrap();
    let asked = |more: &[&str]| {
        let arguments = [&["media", "add", "old", "--server-path", new][..], more].concat();
        let mut command = serving.asked(home.path(), &arguments);
        command.env("TESSERA_PIPELINE_URL", serving.1["base_url"].as_str().unwrap());
        outcome(&mut command)
    };
    let (code, out, err) = asked(&["--print-script", "--reindex"]);
    let script = format!("run_profiler.sh -o add_media -d {id} -p {new} -a\n");
    assert_eq!((code, out), (0, script), "{err}");
    let (code, out, err) = asked(&["--queue", "--wait", "--json"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("cannot be checked locally"), "{err}");
    assert_eq!(document(&out)["status_new"], "PARTIAL INDEX", "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_stop_at_the_first_refusal_with_a_command_for_the_rest() {
    let (home, folder) = home(5);
    let server = scripted(&["READY", "READY", "READ ONLY", "PARTIAL INDEX"], |turn| match turn {
        0 => Reply::new(202, &[], ""),
        _ => Reply::new(
            409,
            &[("content-type", "application/json")],
            r#"{"detail":"Operation 'add_media' is blocked while MEDIA_ADDITION task is running"}"#,
        ),
    })
    .await;
    let new = folder.to_str().unwrap();
    let options = "--split 2 --then-reindex --queue --strict --force --wait";
    let options: Vec<&str> = options.split(' ').collect();
    let arguments = [&["media", "add", ID, "--dir", new, "--json"][..], &options].concat();
    let (code, out, err) = outcome(&mut asked(&server, home.path(), &arguments));
    assert_eq!((code, additions(&server)), (6, 2), "{err}");
    assert_eq!(document(&out)["parts_accepted"], 1);
    let error = document(err.lines().last().unwrap());
    assert_eq!((&error["code"], &error["http_status"]), (&json!("operation_running"), &json!(409)));
    assert!(error["message"].as_str().unwrap().contains("1 of 3 parts were accepted"), "{error}");
    let remedy = error["remedy"].as_str().unwrap();
    assert!(remedy.ends_with(&options.join(" ")), "{remedy}");
    let listed = std::fs::read_to_string(list_of_remaining(&error)).unwrap();
    assert_eq!(listed.split_terminator('\0').count(), 3);
    assert!(listed.starts_with(&format!("{new}/2.png\0")), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_addition_waits_until_idle_and_is_sent_once() {
    let (home, folder) = home(1);
    let server = scripted(&["INDEXING", "INDEXING", "READY"], |_| Reply::new(202, &[], "")).await;
    let file = folder.join("0.png");
    let arguments = ["media", "add", ID, "--file", file.to_str().unwrap()];
    let (code, _, err) = outcome(&mut asked(&server, home.path(), &arguments));
    assert_eq!((code, additions(&server)), (6, 0), "{err}");
    let arguments = [&arguments[..], &["--queue"]].concat();
    let (code, out, err) = outcome(&mut asked(&server, home.path(), &arguments));
    assert_eq!((code, additions(&server)), (0, 1), "{err}");
    assert!(err.contains("waiting until it is idle") && out.contains(ID), "{err}{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_fails_reports_the_last_status() {
    let (home, folder) = home(1);
    let new = folder.to_str().unwrap();
    let arguments = ["media", "add", ID, "--dir", new, "--wait", "--json", "--timeout", "2s"];
    for (statuses, exit, last) in [
        (&["READY", "READY", "READ ONLY", "ERROR"][..], 7, "ERROR"),
        (&["READY", "READY", "READ ONLY"], 124, "READ ONLY"),
    ] {
        let server = scripted(statuses, |_| Reply::new(202, &[], "")).await;
        let (code, out, err) = outcome(&mut asked(&server, home.path(), &arguments));
        assert_eq!(code, exit, "{err}");
        assert_eq!(document(&out)["status_new"], last, "{err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_reports_the_plan_and_strict_refuses_what_is_left_out() {
    let (home, folder) = home(3);
    std::fs::write(folder.join("bad.png"), "no picture").unwrap();
    let server = scripted(&["READY"], |_| Reply::new(202, &[], "")).await;
    let base = ["media", "add", ID, "--dir", folder.to_str().unwrap(), "--json"];
    let add =
        |more: &[&str]| outcome(&mut asked(&server, home.path(), &[&base[..], more].concat()));
    let (code, out, err) = add(&["--dry-run", "--split", "2"]);
    assert_eq!(code, 9, "{err}");
    let plan = document(&out);
    let files: Vec<_> = plan["parts"].as_array().unwrap().iter().map(|p| &p["files"]).collect();
    assert_eq!(files, [2, 1]);
    assert_eq!((&plan["images"], &plan["n_skipped"]), (&json!(3), &json!(1)));
    assert!(plan["request"]["url"].as_str().unwrap().ends_with("add_media"), "{plan}");
    let (code, out, err) = add(&["--strict"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("unreadable_files") && err.contains("bad.png"), "{err}");
    let (code, out, err) = add(&["--dry-run", "--glob", "none"]);
    assert_eq!(code, 1, "{err}");
    let plan = document(&out);
    assert_eq!((&plan["parts"], &plan["request"]), (&json!([]), &Value::Null), "{plan}");
    assert!(plan["refusal"].as_str().unwrap().contains("no readable image or video"), "{plan}");
    assert_eq!(add(&["--glob", "none"]).1, "", "only a plan is printed");
    let (_, out, _) = add(&["--glob", "[01].png", "--print", "curl"]);
    assert_eq!(out.matches("files=@").count(), 2, "{out}");
    assert_eq!(additions(&server), 0);
    let (code, ..) = add(&["--glob", "0.png"]);
    assert_eq!((code, additions(&server)), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refusal_has_its_exit_code_and_its_cause() {
    let (home, folder) = home(1);
    let refusals: [(u16, &str, i32, &str); 5] = [
        (400, "Dataset x has no embedding_config set", 8, "no_embedding_config"),
        (400, "Invalid S3 URI or no media files found at s3://b/", 8, "no_media_at_uri"),
        (403, "Add media feature is not enabled", 4, "add_media_disabled"),
        (500, "The pipeline could not be triggered", 3, "trigger_failed"),
        (418, "Something unheard of", 1, "failed"),
    ];
    for (status, detail, expected, cause) in refusals {
        let body = json!({ "detail": detail }).to_string();
        let server = scripted(&["READY"], move |_| Reply::new(status, &[], &body)).await;
        let arguments = ["media", "add", ID, "--json", "--dir", folder.to_str().unwrap()];
        let (code, out, err) = outcome(&mut asked(&server, home.path(), &arguments));
        assert_eq!((code, out.as_str(), additions(&server)), (expected, "", 1), "{err}");
        let error = document(err.lines().last().unwrap());
        assert_eq!((&error["code"], &error["detail"]), (&json!(cause), &json!(detail)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_response_is_reported_with_the_dataset_status() {
    let (home, folder) = home(1);
    let arguments = ["media", "add", ID, "--dir", folder.to_str().unwrap()];
    let taken = scripted(&["READY", "READY", "READ ONLY"], |_| Reply::disconnect()).await;
    let (code, _, err) = outcome(&mut asked(&taken, home.path(), &arguments));
    assert_eq!((code, additions(&taken)), (0, 1), "{err}");
    let unknown = scripted(&["READY"], |_| Reply::disconnect()).await;
    let by_path = ["media", "add", ID, "--server-path", "/data"];
    let (code, out, err) = outcome(&mut asked(&unknown, home.path(), &by_path));
    assert_eq!((code, out.as_str(), additions(&unknown)), (3, "", 1), "{err}");
    assert!(err.contains("may have started"), "{err}");
}

/// Returns the path of the list in the command that sends the remaining files.
fn list_of_remaining(error: &Value) -> PathBuf {
    let mut words = error["remedy"].as_str().unwrap().split_whitespace();
    words.find(|word| *word == "--files-from").unwrap();
    words.next().unwrap().into()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_interrupted_addition_has_its_own_list_and_names_uncertain_files() {
    let (home, folder) = home(5);
    let (added, is_busy) = (AtomicUsize::new(0), AtomicBool::new(false));
    let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.method == "POST" {
            return match added.fetch_add(1, Ordering::Relaxed) {
                1 => Reply::new(413, &[], "{}"),
                3 => Reply::disconnect(),
                _ => {
                    is_busy.store(true, Ordering::Relaxed);
                    Reply::new(202, &[], "")
                }
            };
        }
        let was_busy = is_busy.swap(false, Ordering::Relaxed);
        let status = if was_busy { "READ ONLY" } else { "PARTIAL INDEX" };
        let images = added.load(Ordering::Relaxed).div_ceil(2);
        let record =
            json!({ "id": ID, "display_name": "dash", "status_new": status, "n_images": images });
        Reply::json(record.to_string())
    })
    .await;
    let add = |files: std::ops::Range<u8>| {
        let files = files.map(|n| format!("{}/{n}.png", folder.display())).collect::<Vec<_>>();
        let mut command = asked(&server, home.path(), &["media", "add", ID, "--split", "1"]);
        let (_, _, err) = outcome(command.args(["--json", "--file"]).args(files));
        document(err.lines().last().unwrap())
    };
    let (refused, lost) = (add(0..2), add(2..5));
    let uncertain = "1 file at the start of the list may already have been added";
    let names_uncertain = |error: &Value| error["message"].as_str().unwrap().contains(uncertain);
    assert_eq!((names_uncertain(&refused), names_uncertain(&lost)), (false, true), "{lost}");
    for (error, files) in [(&refused, 1..2), (&lost, 3..5)] {
        let listed = std::fs::read_to_string(list_of_remaining(error)).unwrap();
        let path = |n: u8| format!("{}/{n}.png\0", folder.display());
        assert_eq!(listed, files.map(path).collect::<String>(), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_reports_whether_the_upload_may_have_been_accepted() {
    let (home, folder) = home(1);
    let server = scripted(&["READY"], |_| Reply::hold(Vec::new())).await;
    let arguments = ["media", "add", ID, "--dir", folder.to_str().unwrap()];
    let child = asked(&server, home.path(), &arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The requests are two reads of the record, and the upload, which is read to its end and gets
    // no response.
    server.wait_for_requests(3).await;
    let begun = std::time::Instant::now();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("may have been accepted; dash is READY"), "{err}");
    assert!(begun.elapsed().as_millis() < 1_000, "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipeline_that_reports_an_error_has_accepted_nothing() {
    let (home, _) = home(1);
    let body = r#"{"status":"error","message":"Path /data/bad does not exist"}"#;
    let server = scripted(&["READY"], move |_| Reply::json(body)).await;
    let arguments = ["media", "add", ID, "--server-path", "/data/bad", "--json"];
    let (code, out, err) = outcome(&mut asked(&server, home.path(), &arguments));
    assert_eq!((code, out.as_str(), additions(&server)), (7, "", 1), "{err}");
    let error = document(err.lines().last().unwrap());
    assert_eq!(error["detail"], "Path /data/bad does not exist");
    assert!(!err.contains("accepted"), "{err}");
    let (_, out, _) = outcome(&mut asked(&server, home.path(), &["jobs", "list", "--json"]));
    assert_eq!(document(&out)["jobs"][0]["state"], "failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_cannot_be_read_are_warned_about_once() {
    let (home, _) = home(1);
    let server = ScriptedServer::start(|_: &ReceivedRequest| {
        let record = json!({ "id": ID, "display_name": "dash", "status_new": "READY",
            "n_images": ["3"] });
        Reply::json(json!([record, record]).to_string())
    })
    .await;
    let (code, _, err) = outcome(&mut asked(&server, home.path(), &["dataset", "list"]));
    let warning = "tessera: warning: the response of GET /api/v1/datasets has fields that cannot be \
                   read: datasets.n_images is an unexpected list\n";
    assert_eq!((code, err.as_str()), (0, warning));
}

/// The addition is often over before the first poll, and the dataset then has the same status as before.
#[test]
fn an_addition_that_adds_nothing_fails_each_time() {
    let (home, folder) = home(2);
    let added = home.path().join("added.png");
    picture(&added);
    let broken = home.path().join("broken.png");
    let bytes = std::fs::read(&added).unwrap();
    std::fs::write(&broken, &bytes[..bytes.len() / 2]).unwrap();
    let add = |file: &Path| {
        let files = ["--folder", folder.to_str().unwrap(), "--file", file.to_str().unwrap()];
        let wait = ["--wait", "--yes", "--timeout", "50s"];
        run(home.path(), &[&["media", "add"], &files[..], &wait].concat())
    };
    assert_eq!(add(&added).0, 0, "the dataset is PARTIAL INDEX");
    for _ in 0..6 {
        let (code, _, err) = add(&broken);
        assert_eq!(code, 7, "{err}");
    }
}
