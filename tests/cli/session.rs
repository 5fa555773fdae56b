//! Tests the example session of the command line, exactly as it is written, in a shell. The examples need `jq`.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::json;

use super::{Serving, outcome, picture, serve};

const COUNT: &str = r#"tessera search caption "red van" -d street-cams --max-score 0.4 --json=cluster_id,relevance_score | jq length"#;
const EXPORT: &str = "tessera search image van.jpg --box 0.1,0.2,0.5,0.6 --all --mark vans && tessera export start street-cams --selection vans --format parquet --images --wait --download .";
const ADD: &str = "find . -name '*.jpg' -print0 | tessera media add dash-old --files-from - --split 2000 --then-reindex --wait";
const WAIT: &str = r#"tessera dataset wait dash-old --until READY --timeout 2h && tessera export start dash-old --format json --wait --download . || echo "code $?""#;
const SERVE: &str = "tessera serve ./photos | head -n 1 | jq -r .base_url";

/// Returns a command that runs a line in a shell, in `folder`, with the program on the path and the service in the
/// environment.
fn shell(home: &Path, serving: &Serving, folder: &Path, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).stdin(Stdio::null());
    for (name, value) in serving.asked(home, &[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_tessera")).parent().unwrap().to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path))).unwrap();
    let reported = |field: &str| serving.1[field].as_str().unwrap().to_owned();
    command.env("PATH", path).env("TESSERA_KIND", "hosted");
    command
        .env("TESSERA_API_KEY", reported("api_key"))
        .env("TESSERA_API_SECRET", reported("api_secret"));
    // The search of the second example names no dataset.
    command.env("TESSERA_DATASET", "street-cams");
    command
}

#[test]
fn the_example_session_runs_as_it_is_written() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for folder in ["street-cams", "dash-old", "more", "photos"] {
        fs::create_dir(home.join(folder)).unwrap();
        picture(&home.join(folder).join(format!("{folder}.jpg")));
    }
    let caption = json!({ "file_name": "street-cams.jpg", "caption": "A red van in the street" });
    fs::write(home.join("street-cams/metadata.jsonl"), caption.to_string()).unwrap();
    picture(&home.join("van.jpg"));
    let [cams, dash, data] = ["street-cams", "dash-old", "served"]
        .map(|name| home.join(name).to_str().unwrap().to_owned());
    let serving = serve(home, &[&cams, &dash, "--data", &data]);
    let run = |folder: &str, line: &str| {
        let (code, out, err) = outcome(&mut shell(home, &serving, &home.join(folder), line));
        assert_eq!(code, 0, "{line}\n{err}");
        out
    };

    run(".", "tessera dataset wait street-cams && tessera dataset wait dash-old");
    assert_eq!(run(".", COUNT).trim(), "1");
    run(".", EXPORT);
    assert!(home.join("vans.zip").is_file());
    run("more", ADD);
    assert!(!run(".", WAIT).contains("code"));
    assert!(home.join("dash-old.zip").is_file());
    let records = run(".", "tessera dataset list --json=display_name,n_images,status_new");
    let records: serde_json::Value = serde_json::from_str(&records).unwrap();
    let added = json!({ "display_name": "dash-old", "n_images": 2, "status_new": "READY" });
    assert!(records.as_array().unwrap().contains(&added), "{records}");

    // The last example serves until it is stopped.
    let mut line = shell(home, &serving, home, SERVE);
    let mut child = line.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-TERM", "--", &group]).status().unwrap();
    child.wait().unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
}
