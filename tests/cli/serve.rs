//! Tests the options of `tessera serve`.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Serving, home, picture, picture_folder, run, serve, tessera};

impl Serving {
    /// Sends a request without a body, and returns the status and body. `{id}` in the path stands
    /// for the dataset.
    pub fn ask(&self, method: &str, path: &str) -> (u16, Value) {
        let url = self.1["base_url"].as_str().unwrap();
        let host = url.trim_start_matches("http://");
        let path = path.replace("{id}", self.1["datasets"][0]["id"].as_str().unwrap());
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
    }

    /// Posts JSON, and returns the status. `{id}` in the path stands for the dataset.
    fn post_json(&self, path: &str, body: &str) -> u16 {
        let host = self.1["base_url"].as_str().unwrap().trim_start_matches("http://");
        let path = path.replace("{id}", self.1["datasets"][0]["id"].as_str().unwrap());
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer[9..12].parse().unwrap()
    }

    /// Returns a line of the process status, in bytes.
    #[cfg(target_os = "linux")]
    fn memory(&self, name: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let kibibytes: usize =
            line.trim_matches([':', ' ', '\t']).trim_end_matches(" kB").parse().unwrap();
        kibibytes << 10
    }

    /// Resets the peak memory use, and returns the present use in bytes.
    #[cfg(target_os = "linux")]
    fn reset_peak_memory(&self) -> usize {
        std::fs::write(format!("/proc/{}/clear_refs", self.0.id()), "5").unwrap();
        self.memory("VmRSS")
    }

    /// Returns the record of the first dataset that was announced, once all datasets are indexed.
    pub fn indexed(&self) -> Value {
        let begun = Instant::now();
        loop {
            let (_, records) = self.ask("GET", "/api/v1/datasets");
            let records = records.as_array().unwrap();
            if records.iter().all(|record| record["status_new"] != "INDEXING") {
                let first = &self.1["datasets"][0]["id"];
                return records.iter().find(|record| record["id"] == *first).unwrap().clone();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{records:?}");
        }
    }
}

const ADD: &str = "/api/v1/process/add_media?dataset_id={id}&path=";

#[test]
fn the_line_reports_where_the_description_and_the_session_are() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let serving = serve(home.path(), &[folder]);
    let reported = &serving.1;
    let openapi = format!("{}/api/v1/openapi.json", reported["base_url"].as_str().unwrap());
    assert_eq!(reported["openapi"], openapi.as_str());
    assert!(reported["session"].as_str().unwrap().len() >= 32);
    let (status, description) = serving.ask("GET", "/api/v1/openapi.json");
    assert_eq!((status, &description["security"][0]["token"][0]), (200, &Value::Null));
    assert_eq!(serving.ask("GET", "/api/v1/datasets").0, 401);
    drop(serving);
    let serving = serve(home.path(), &[folder, "--no-auth"]);
    assert!(serving.1["session"].is_null());
    let (_, description) = serving.ask("GET", "/api/v1/openapi.json");
    assert!(description["security"].is_null(), "nobody needs a token");
    assert_eq!(serving.ask("GET", "/api/v1/healthcheck").0, 404);
}

#[test]
fn links_still_work_after_a_restart_because_the_port_stays_the_same() {
    let (home, folder) = home();
    let start = || {
        let serving = serve(home.path(), &[folder.to_str().unwrap(), "--no-auth"]);
        assert_eq!(serving.indexed()["status_new"], "READY");
        let (status, page) = serving.ask("GET", "/api/v1/explore/{id}?entity_type=IMAGES");
        let link = page["clusters"][0]["previews"][0]["media_uri"].as_str().unwrap_or_default();
        assert_eq!(status, 200, "{page}");
        (link.to_owned(), serving)
    };
    let (first, serving) = start();
    let (second, another) = start();
    assert_ne!(second, first, "two services of one index folder have different ports");
    drop((serving, another));
    assert_eq!(start().0, first);
    let address = first.trim_start_matches("http://").split('/').next().unwrap();
    let taken = TcpListener::bind(address).unwrap();
    let (other, mut serving) = start();
    assert_ne!(other, first);
    let mut messages = serving.0.stderr.take().unwrap();
    drop(serving);
    let mut text = String::new();
    messages.read_to_string(&mut text).unwrap();
    assert!(text.contains("another program uses the port of this index folder"), "{text}");
    drop(taken);
    assert_eq!(start().0, first);
}

#[test]
fn the_login_is_kept_over_restarts_in_a_private_file() {
    let (home, folder) = home();
    let data = home.path().join("data");
    let start =
        || serve(home.path(), &[folder.to_str().unwrap(), "--data", data.to_str().unwrap()]);
    let login = |serving: &Serving| {
        ["api_key", "api_secret", "session"].map(|field| serving.1[field].clone())
    };
    let first = login(&start());
    assert!(first.iter().all(Value::is_string));
    assert_eq!(login(&start()), first);
    let file = data.join("login.json");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::write(&file, "{\"api_secret\":\"canary-in-the-file\"").unwrap();
    let (code, _, err) =
        run(home.path(), &["serve", folder.to_str().unwrap(), "--data", data.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(err.contains("login.json") && err.contains("remove the file"), "{err}");
    assert!(!err.contains("canary"), "{err}");
}

#[test]
fn only_the_given_folders_are_offered() {
    let (home, folder) = home();
    let private = picture_folder(home.path(), "private", &["secret.png"]);
    let private = private.to_str().unwrap();
    let document = |arguments: &[&str]| -> Value {
        let (code, out, err) = run(home.path(), arguments);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).unwrap()
    };
    let before = document(&["--folder", private, "dataset", "list", "--json"]);
    let hidden = before["datasets"][0]["id"].as_str().unwrap().to_owned();
    let serving = serve(home.path(), &[folder.to_str().unwrap(), "--no-auth"]);
    serving.indexed();
    let (_, offered) = serving.ask("GET", "/api/v1/datasets");
    assert_eq!(offered.as_array().unwrap().len(), 1, "{offered}");
    for path in ["dataset/{hidden}", "enrichment/{hidden}/context"] {
        let path = format!("/api/v1/{}", path.replace("{hidden}", &hidden));
        assert_eq!(serving.ask("GET", &path).0, 404, "{path}");
    }
    drop(serving);
    let found = document(&["--folder", private, "search", "browse", "--flat", "--json"]);
    assert_eq!(found["previews"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn the_explanation_needs_no_folder() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(home.path(), &["serve", "--explain"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let printed = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let pages =
        [include_str!("../../docs/choices.md"), include_str!("../../docs/compatibility.md")];
    for page in pages {
        let next_lines = page.lines().skip(1).chain([""]);
        let is_separator = |line: &str| line.starts_with("|---");
        let rows = page.lines().zip(next_lines).filter(|(line, next)| {
            line.starts_with('|') && !is_separator(line) && !is_separator(next)
        });
        for cell in rows.flat_map(|(row, _)| row.trim_matches('|').split(" | ")) {
            let cell = cell.trim().replace('`', "");
            assert!(printed.contains(&cell), "{cell} is not printed");
        }
    }
    for words in ["used_duckdb", "without a model", "--compat", "LIMITS", "similarity_cluster"] {
        assert!(out.contains(words), "{words}");
    }
    let (code, _, err) = run(home.path(), &["serve"]);
    assert_eq!(code, 2);
    assert!(err.contains("FOLDERS"), "{err}");
}

#[test]
fn wrong_settings_of_object_storage_are_named_before_anything_is_done() {
    let (home, folder) = home();
    let mut command = tessera(home.path(), &["serve", folder.to_str().unwrap()]);
    let output = command.env("AWS_ENDPOINT_URL", "no address").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("AWS_ENDPOINT_URL") && !err.contains("no address"), "{err}");
}

#[test]
fn wrong_options_are_refused_with_what_would_be_right() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    for (arguments, words) in [
        (["--fail", "everything"], "upload, trigger, add_media, reindex, export, search"),
        (["--slow-progress", "9999"], "3600"),
        (["--drain", "9999"], "3600"),
        (["--metrics", ":9090"], "or a port alone"),
        (["--allow-path", "/no/such/folder"], "--allow-path /no/such/folder"),
        (["--allow-host", "user@host"], "--allow-host user@host: expected NAME"),
        (["--allow-host", "*.example"], "--allow-host *.example: expected NAME"),
    ] {
        let (code, out, err) = run(home.path(), &["serve", folder, arguments[0], arguments[1]]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(words), "{words}: {err}");
    }
}

#[test]
fn without_write_access_nothing_is_changed() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let serving = serve(home.path(), &[folder, "--no-auth", "--read-only"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    for (method, path) in [
        ("GET", format!("{ADD}{folder}")),
        ("POST", "/api/v1/dataset/{id}/add_media".to_owned()),
        ("POST", "/api/v1/dataset/{id}/reindex".to_owned()),
    ] {
        let (status, body) = serving.ask(method, &path);
        assert_eq!(status, 403, "{path}: {body}");
        assert!(body["detail"].as_str().unwrap().contains("write access"), "{body}");
    }
}

#[test]
fn the_feature_of_adding_media_can_be_off() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let serving = serve(home.path(), &[folder, "--no-auth", "--no-add-media"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    let (status, body) = serving.ask("GET", &format!("{ADD}{folder}"));
    assert_eq!((status, body["detail"].as_str()), (403, Some("Add media feature is not enabled")));
}

#[test]
fn only_allowed_folders_are_read() {
    let (home, folder) = home();
    let (beside, secret) = (home.path().join("beside"), home.path().join("secret"));
    for other in [&beside, &secret] {
        std::fs::create_dir(other).unwrap();
        picture(&other.join("b.png"));
    }
    let (folder, beside) = (folder.to_str().unwrap(), beside.to_str().unwrap());
    let serving = serve(home.path(), &[folder, "--no-auth", "--allow-path", beside]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    assert_eq!(serving.ask("GET", &format!("{ADD}{}", secret.display())).0, 403);
    assert_eq!(serving.ask("GET", &format!("{ADD}{beside}")).0, 200);
}

#[test]
fn rehearsals_fail_and_take_their_time() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let rehearsal = ["--fail", "trigger", "--fail", "search", "--slow-progress", "1", "--compat"];
    let arguments = [&[folder, "--no-auth"][..], &rehearsal].concat();
    let begun = Instant::now();
    let serving = serve(home.path(), &arguments);
    assert_eq!(serving.indexed()["status_new"], "READY");
    assert!(begun.elapsed() >= Duration::from_secs(1), "it took its time");
    let (status, body) = serving.ask("GET", &format!("{ADD}{folder}"));
    assert_eq!(status, 500, "{body}");
    assert!(body["detail"].as_str().unwrap().contains("pipeline"), "{body}");
    assert_eq!(serving.ask("GET", "/api/v1/healthcheck").0, 200);
}

#[test]
fn each_request_is_a_line_of_a_private_log() {
    let (home, folder) = home();
    let log = home.path().join("access.log");
    let arguments = [folder.to_str().unwrap(), "--no-auth", "--access-log", log.to_str().unwrap()];
    let mut serving = serve(home.path(), &arguments);
    assert_eq!(serving.ask("GET", "/api/v1/datasets?caption=secret").0, 422);
    kill_process(Pid::from_child(&serving.0), Signal::TERM).unwrap();
    assert_eq!(serving.0.wait().unwrap().code(), Some(0));
    let text = std::fs::read_to_string(&log).unwrap();
    let record: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&record["route"], &record["status"]), (&"/api/v1/datasets".into(), &422.into()));
    assert!(!text.contains("secret"), "{text}");
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    let serving = serve(home.path(), &arguments);
    assert_eq!(serving.ask("GET", "/api/v1/datasets").0, 200);
    drop(serving);
    let (code, _, err) = run(home.path(), &["serve", arguments[0], "--access-log", arguments[0]]);
    assert_eq!(code, 1);
    assert!(err.contains("access log") && err.contains("not a regular file"), "{err}");
}

#[test]
fn the_log_can_follow_the_announcement_on_standard_output() {
    let (home, folder) = home();
    let arguments = ["serve", folder.to_str().unwrap(), "--no-auth", "--access-log", "-"];
    let mut child = tessera(home.path(), &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap()).unwrap();
    let serving = Serving(child, next());
    assert_eq!(serving.ask("GET", "/api/v1/datasets").0, 200);
    assert_eq!(next()["route"], "/api/v1/datasets");
}

#[test]
fn metrics_are_served_at_their_own_address() {
    let (home, folder) = home();
    let arguments = [folder.to_str().unwrap(), "--no-auth", "--metrics", "127.0.0.1:0"];
    let serving = serve(home.path(), &arguments);
    let url = serving.1["metrics"].as_str().unwrap();
    let host = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("tessera_build_info"),
        "{answer}"
    );
    assert_eq!(serving.ask("GET", "/metrics").0, 404);
    let (code, _, err) = run(home.path(), &["serve", arguments[0], "--metrics", host]);
    assert_eq!(code, 1);
    assert!(err.contains(host) && err.contains("--metrics"), "{err}");
}

#[test]
fn a_stop_signal_ends_readiness_first_and_a_second_one_the_wait() {
    let (home, folder) = home();
    let arguments = [folder.to_str().unwrap(), "--no-auth", "--drain", "3600"];
    let mut serving = serve(home.path(), &arguments);
    assert_eq!(serving.ask("GET", "/readyz").0, 200);
    let process = Pid::from_child(&serving.0);
    kill_process(process, Signal::TERM).unwrap();
    let begun = Instant::now();
    while serving.ask("GET", "/readyz").0 != 503 {
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(serving.ask("GET", "/api/v1/datasets").0, 200);
    kill_process(process, Signal::TERM).unwrap();
    assert_eq!(serving.0.wait().unwrap().code(), Some(0));
}

#[test]
fn a_service_waits_for_a_task_that_does_not_stop_until_a_second_signal() {
    let (home, folder) = home();
    // The task looks whether to stop every 30 seconds.
    let folder = folder.to_str().unwrap();
    let mut serving = serve(home.path(), &[folder, "--no-auth", "--slow-progress", "600"]);
    let process = Pid::from_child(&serving.0);
    kill_process(process, Signal::TERM).unwrap();
    std::thread::sleep(Duration::from_secs(4));
    assert!(serving.0.try_wait().unwrap().is_none(), "the service waits for the task");
    let begun = Instant::now();
    kill_process(process, Signal::TERM).unwrap();
    assert_eq!(serving.0.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn all_addresses_are_announced_as_one_that_works_with_a_warning() {
    let (home, folder) = home();
    let folder = folder.to_str().unwrap();
    let arguments = [folder, "--listen", "0.0.0.0:0", "--allow-host", "media.example"];
    let mut serving = serve(home.path(), &arguments);
    assert_eq!(serving.ask("GET", "/api/v1/openapi.json").0, 200);
    let mut stderr = serving.0.stderr.take().unwrap();
    drop(serving);
    let mut warning = String::new();
    stderr.read_to_string(&mut warning).unwrap();
    assert!(warning.contains("unencrypted") && warning.contains("--allow-host"), "{warning}");
}

#[test]
fn what_is_open_to_others_without_login_is_announced_with_a_warning() {
    for (options, expected) in [
        (["--metrics", "0.0.0.0:0"], Some("can read the metrics without login")),
        (["--metrics", "127.0.0.1:0"], None),
        (
            ["--no-auth", "--allow-host=https://media.example"],
            Some("can read and change all datasets"),
        ),
        (["--no-auth", "--allow-host=media.example"], Some("can read and change all datasets")),
        (["--no-add-media", "--allow-host=https://media.example"], None),
    ] {
        let (home, folder) = home();
        let arguments = [folder.to_str().unwrap(), options[0], options[1]];
        let mut serving = serve(home.path(), &arguments);
        let mut stderr = serving.0.stderr.take().unwrap();
        drop(serving);
        let mut messages = String::new();
        stderr.read_to_string(&mut messages).unwrap();
        let warned = messages.contains("warning: ");
        assert_eq!(warned, expected.is_some(), "{options:?}: {messages}");
        assert!(messages.contains(expected.unwrap_or_default()), "{options:?}: {messages}");
    }
}

/// Returns selections of this size that have as many values as possible.
#[cfg(target_os = "linux")]
fn dense_selections(size: usize) -> Vec<(&'static str, String, u16)> {
    let repeated = |head: &str, element: &str, tail: &str| {
        let count = size / (element.len() + 1);
        format!("{{\"media_selection\":[{head}{}{tail}]}}", vec![element; count].join(","))
    };
    let id = "\"00000000-0000-4000-8000-000000000000\"";
    let cluster = format!("{{\"type\":\"cluster\",\"payload\":{{\"cluster_id\":{id},");
    let labels: Vec<String> = (10..100).map(|label| format!("\"{label}\"")).collect();
    let labelled = format!(
        "{cluster}\"cluster_filters\":{{\"entity_type\":\"IMAGES\",\"vql\":[{}]}}}}}}",
        vec![format!("{{\"labels\":{{\"op\":\"is\",\"value\":[{}]}}}}", labels.join(",")); 16]
            .join(",")
    );
    vec![
        ("empty items", repeated("", "{}", ""), 422),
        ("small items", repeated("", "{\"a\":0}", ""), 422),
        (
            "identifiers",
            repeated("{\"type\":\"media\",\"payload\":{\"media_ids\":[", id, "]}}"),
            404,
        ),
        (
            "labels",
            repeated(
                &format!("{cluster}\"cluster_filters\":{{\"entity_type\":\"IMAGES\",\"labels\":["),
                "\"\"",
                "]}}}",
            ),
            422,
        ),
        ("filters", repeated("", &labelled, ""), 404),
        ("nested lists", format!("{{\"media_selection\":[{}", "[".repeat(size)), 422),
        ("ignored fields", repeated("{\"a\":[", "[]", "]}"), 422),
    ]
}

/// Posts the same selection twice at a time, and returns how many light reads got a response meanwhile.
#[cfg(target_os = "linux")]
fn light_reads_beside_posts(serving: &Serving, body: &str, expected: u16) -> usize {
    let path = "/api/v1/dataset/{id}/export_entities_async?export_format=json";
    std::thread::scope(|scope| {
        let posts: Vec<_> = (0..2).map(|_| scope.spawn(|| serving.post_json(path, body))).collect();
        let mut light_reads = 0;
        while posts.iter().any(|post| !post.is_finished()) {
            assert_eq!(serving.ask("GET", "/api/v1/datasets").0, 200);
            light_reads += 1;
        }
        for post in posts {
            assert_eq!(post.join().unwrap(), expected);
        }
        light_reads
    })
}

/// Reading a selection takes at most four times its size, and light reads continue meanwhile.
#[cfg(target_os = "linux")]
#[test]
fn dense_selections_take_little_memory_and_delay_nothing() {
    const SIZE: usize = 4 << 20;
    let (home, folder) = home();
    let serving = serve(home.path(), &[folder.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    for (name, body, expected) in dense_selections(SIZE) {
        let idle = serving.reset_peak_memory();
        // If light reads had to wait for a selection, only one would finish. The system may give this thread no time
        // until the selections are read, but not five times in a row.
        let is_delayed = || light_reads_beside_posts(&serving, &body, expected) <= 2;
        assert!((0..5).any(|_| !is_delayed()), "{name}: light reads waited five times");
        let grown = serving.memory("VmHWM").saturating_sub(idle);
        assert!(grown <= 2 * 4 * SIZE, "{name}: {} MiB", grown >> 20);
    }
}
