//! Tests `tessera auth` and `tessera api`: key pairs, tokens, and requests that the user composes.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _, net::UnixListener},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Serving, outcome, picture, piped, run, serve, tessera};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

/// Writes a profile `prod` for this address.
fn profile(home: &Path, base_url: &str) {
    fs::create_dir_all(home.join("tessera")).unwrap();
    let profile = format!("# mine\n[profiles.prod]\nkind = 'hosted'\nbase_url = '{base_url}'\n");
    fs::write(home.join("tessera/config.toml"), profile).unwrap();
}

/// Creates a home folder with a profile `prod` for this address.
fn home(base_url: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    profile(home.path(), base_url);
    home
}

/// Starts a service over one picture that requires a login, and creates a home folder with a
/// profile for it.
fn service() -> (tempfile::TempDir, Serving) {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().join("pictures");
    fs::create_dir(&pictures).unwrap();
    picture(&pictures.join("a.png"));
    let serving = serve(folder.path(), &[pictures.to_str().unwrap()]);
    profile(folder.path(), text(&serving.1, "base_url"));
    (folder, serving)
}

fn secrets_of(home: &Path) -> std::path::PathBuf {
    home.join("tessera/secrets.toml")
}

const IMPORT: &[&str] =
    &["auth", "import", "-p", "prod", "--cookie-stdin", "--insecure-storage", "--json"];

#[test]
fn a_session_is_imported_checked_and_logged_out() {
    let (home, serving) = service();
    let home = home.path();
    let (code, _, err) = run(home, &["auth", "status", "-p", "prod"]);
    assert_eq!(code, 4);
    assert!(err.contains("auth import --profile prod"), "{err}");

    let session = format!("SESSION={}\n", text(&serving.1, "session"));
    let (code, out, err) = piped(home, IMPORT, &session);
    assert_eq!(code, 0, "{err}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["schema"], "tessera.key_pair/1");
    assert_eq!(answer["secret_store"], "file");
    assert!(text(&answer, "message").contains("only this once"), "the words of the service");
    assert!(err.contains("secrets.toml"), "the place is reported before: {err}");
    let kept = fs::read_to_string(secrets_of(home)).unwrap();
    let secret = kept.lines().find_map(|line| line.strip_prefix("api_secret = ")).unwrap();
    let secret = secret.trim_matches('"');
    assert!(!out.contains(secret) && !err.contains(secret), "it is stored, not shown");
    assert_eq!(fs::metadata(secrets_of(home)).unwrap().permissions().mode() & 0o777, 0o600);

    let (code, out, err) = run(home, &["auth", "status", "-p", "prod", "--json"]);
    assert_eq!(code, 0, "{err}");
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status["api_key"], answer["api_key"]);
    assert_eq!(status["check"], json!({ "http_status": 200, "message": "accepted" }));
    let nobody = "95233006-eddc-11ef-b303-76dbc3993eb2";
    let (code, out, _) = run(home, &["auth", "status", "-p", "prod", "-d", nobody]);
    assert_eq!(code, 5);
    assert!(out.contains("no such dataset, or no access"), "{out}");

    // The service does not show the secret of an existing pair again, and the stored secret stays.
    let (code, _, err) = piped(home, &[IMPORT, &["--yes"]].concat(), &session);
    assert_eq!(code, 1);
    assert!(
        err.contains("only when it creates the pair") && err.contains("--secret-stdin"),
        "{err}"
    );
    let planned = ["auth", "logout", "-p", "prod", "--dry-run", "--jq", ".change"];
    assert_eq!(run(home, &planned).1, "remove the secret of prod\n");
    let (code, out, err) = run(home, &["auth", "logout", "-p", "prod", "--json"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["removed_from"], json!(["file"]));
    assert!(!fs::read_to_string(secrets_of(home)).unwrap().contains(secret));
    let settings = fs::read_to_string(home.join("tessera/config.toml")).unwrap();
    assert!(settings.starts_with("# mine\n") && settings.contains(text(&answer, "api_key")));
}

#[test]
fn tokens_are_printed_and_a_wrong_secret_is_reported() {
    let (home, serving) = service();
    let home = home.path();
    let (key, secret) = (text(&serving.1, "api_key"), text(&serving.1, "api_secret"));
    let give = |secret: &str| {
        let arguments =
            ["auth", "import", "-p", "prod", "--secret-stdin", "--insecure-storage", "--yes"];
        piped(home, &[&arguments[..], &["--api-key", key]].concat(), secret)
    };
    assert_eq!(give(secret).0, 0);
    let token = ["auth", "token", "-p", "prod"];
    let (code, header, _) = run(home, &[&token[..], &["--as-header"]].concat());
    assert_eq!(code, 0);
    assert!(header.starts_with("Authorization: Bearer ey"), "{header}");
    let (code, bare, _) = run(home, &[&token[..], &["--ttl", "1m"]].concat());
    assert_eq!((code, bare.matches('.').count()), (0, 2));
    for ttl in ["5s", "25h", "soon"] {
        assert_eq!(run(home, &[&token[..], &["--ttl", ttl]].concat()).0, 2, "{ttl}");
    }
    let base_url = text(&serving.1, "base_url");
    let listed = |token: &str| {
        let arguments = ["--base-url", base_url, "--kind", "hosted", "dataset", "list"];
        outcome(tessera(home, &arguments).env("TESSERA_TOKEN", token))
    };
    assert_eq!(listed(bare.trim()).0, 0, "a ready token is used as it is");
    let (code, _, err) = listed("ey.not.ours");
    assert_eq!((code, err.contains("not.ours")), (4, false), "{err}");
    for (name, rest) in
        [("TESSERA_TOKEN", ""), ("TESSERA_API_SECRET", "ak_1"), ("TESSERA_API_KEY", "")]
    {
        let mut command =
            tessera(home, &["--base-url", base_url, "--kind", "hosted", "dataset", "list"]);
        command.env("TESSERA_API_KEY", rest).env(name, OsStr::from_bytes(b"latin-1 \xe9"));
        let (code, _, err) = outcome(&mut command);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(&format!("{name} is not UTF-8 text")), "{err}");
    }

    assert_eq!(give("another-secret-of-at-least-32-bytes").0, 0);
    let (code, out, _) = run(home, &["auth", "status", "-p", "prod"]);
    assert_eq!(code, 4);
    assert!(out.contains("expired or is wrong"), "{out}");
}

#[test]
fn a_secret_file_that_others_can_write_is_refused() {
    let home = home("http://127.0.0.1:9");
    let file = home.path().join("secret");
    fs::write(&file, "canary-in-a-file").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let mut command = tessera(home.path(), &["auth", "token", "-p", "prod"]);
    command.env("TESSERA_API_SECRET_FILE", &file).env("TESSERA_PROFILE", "prod");
    let (code, out, err) = outcome(command.env("TESSERA_API_KEY", "ak_1"));
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("chmod 600") && !err.contains("canary"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_of_all_profiles_sends_no_login_of_another_service() {
    let named = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("[]")).await;
    let other = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("[]")).await;
    let home = home(&other.url());
    let mut command = tessera(home.path(), &["doctor", "--json"]);
    command.env("TESSERA_TOKEN", "canary").env("TESSERA_BASE_URL", named.url());
    let (code, out, _) = outcome(&mut command);
    assert!(code != 0 && out.contains("the profile `prod` has no"), "{code} {out}");
    assert_eq!(other.count(), 0);
}

/// The login in the environment belongs to the service that the environment names: no other profile sends it elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn the_login_in_the_environment_is_sent_to_its_service_only() {
    let named_service = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("[]")).await;
    let other = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("[]")).await;
    let (named_url, other_url) = (named_service.url(), other.url());
    let home = home(&other_url);
    let settings = home.path().join("tessera/config.toml");
    let lab = format!("[profiles.lab]\nkind = 'hosted'\nbase_url = '{named_url}/api/v1/'\n");
    fs::write(&settings, fs::read_to_string(&settings).unwrap() + &lab).unwrap();
    let secret_file = home.path().join("secret");
    fs::write(&secret_file, "canary-in-a-file").unwrap();
    fs::set_permissions(&secret_file, fs::Permissions::from_mode(0o600)).unwrap();
    let logins = [
        ("TESSERA_TOKEN", "canary"),
        ("TESSERA_API_SECRET", "canary"),
        ("TESSERA_API_SECRET_FILE", "~/secret"),
    ];
    let names = [
        None,
        Some(("TESSERA_BASE_URL", named_url.as_str(), named_url.as_str())),
        Some(("TESSERA_PROFILE", "lab", "`lab`")),
    ];
    for (variable, value) in logins {
        for named in names {
            let ask = |arguments: &[&str]| {
                let mut command = tessera(home.path(), arguments);
                command.env(variable, value).env("TESSERA_API_KEY", "ak_1");
                if let Some((name, service, _)) = named {
                    command.env(name, service);
                }
                outcome(&mut command)
            };
            let elsewhere = ["--kind", "hosted", "--base-url", &other_url];
            for command in [["dataset", "list"], ["auth", "token"]] {
                let (code, _, err) = ask(&[&command[..], &["-p", "prod"]].concat());
                assert_eq!(code, 4, "{variable} {named:?}: {err}");
                let (name, _, shown) = named.unwrap_or(("TESSERA_BASE_URL", "", "TESSERA_PROFILE"));
                assert!([variable, name, shown].iter().all(|word| err.contains(word)), "{err}");
                let (code, _, err) = ask(&[&command[..], &["-p", "lab"]].concat());
                assert_eq!(code, if named.is_some() { 0 } else { 4 }, "{variable}: {err}");
                if named.is_some() {
                    let (code, _, err) = ask(&[&command[..], &elsewhere].concat());
                    assert_eq!(code, 2, "{err}");
                    assert!(err.contains(variable) && err.contains(shown), "{err}");
                }
            }
            let (_, out, _) = ask(&["doctor", "--json", "-p", "lab"]);
            assert!(!out.contains("prod"), "only the named profile is checked: {out}");
        }
    }
    assert_eq!(other.count(), 0);
    // Each login of a named service sends one request for the list and one for the check.
    assert_eq!(named_service.count(), 2 * 2 * logins.len());
}

#[test]
fn what_needs_no_login_and_where_none_is_sent() {
    let home = home("http://media.example");
    let (code, _, err) = piped(home.path(), IMPORT, "session");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("not encrypted") && err.contains("--allow-http"), "{err}");
    let arguments = ["--base-url", "http://127.0.0.1:9", "--kind", "onprem", "auth", "token"];
    let (code, _, err) = run(home.path(), &arguments);
    assert_eq!(code, 2);
    assert!(err.contains("needs no login"), "{err}");
    let (code, out, _) = run(home.path(), &["auth", "import", "-p", "prod", "--print", "curl"]);
    assert_eq!(code, 1, "not over http: {out}");
}

#[test]
fn secrets_are_private_with_any_umask() {
    for umask in ["000", "022", "077"] {
        let home = home("https://media.example");
        let config = home.path().join("config.toml");
        fs::rename(home.path().join("tessera/config.toml"), &config).unwrap();
        fs::remove_dir(home.path().join("tessera")).unwrap();
        let script = format!("umask {umask}; echo a-secret | \"$0\" \"$@\"");
        let program = env!("CARGO_BIN_EXE_tessera");
        let mut command = tessera(home.path(), &[]);
        let environment: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        command = Command::new("sh");
        command.args(["-c", &script, program, "auth", "import", "-p", "prod", "--secret-stdin"]);
        command.args(["--api-key", "ak_1", "--insecure-storage", "--config"]).arg(config);
        let (code, _, err) = outcome(command.envs(environment));
        assert_eq!(code, 0, "{err}");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&secrets_of(home.path())), 0o600, "{umask}");
        assert_eq!(mode(&home.path().join("tessera")), 0o700, "{umask}");
    }
}

#[test]
fn without_a_keyring_nothing_is_stored_before_consent() {
    let home = home("https://media.example");
    let arguments = ["auth", "import", "-p", "prod", "--cookie-stdin"];
    let (code, _, err) = piped(home.path(), &arguments, "session");
    assert_eq!(code, 2);
    assert!(err.contains("--insecure-storage") && err.contains("secrets.toml"), "{err}");
    assert!(!secrets_of(home.path()).exists());
    // The error names everything that is missing at once.
    let (code, _, err) = run(home.path(), &["auth", "import", "-p", "prod"]);
    assert_eq!(code, 2);
    assert!(err.contains("--insecure-storage") && err.contains("--cookie-stdin"), "{err}");
    let (code, out, err) = run(home.path(), &["auth", "import", "-p", "prod", "--print", "curl"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        out,
        "curl -sS -b \"SESSION=$SESSION\" https://media.example/api/v1/api_credentials\n"
    );
}

#[test]
fn a_bus_that_hangs_costs_three_seconds() {
    let home = home("https://media.example");
    let socket = home.path().join("bus");
    let _silent = UnixListener::bind(&socket).unwrap();
    let mut command = tessera(home.path(), &["auth", "import", "-p", "prod", "--cookie-stdin"]);
    command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", socket.display()));
    let begun = Instant::now();
    let (code, _, err) = outcome(&mut command);
    assert_eq!(code, 2);
    assert!(err.contains("did not respond within 3 s"), "{err}");
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
}

/// Returns how an import ends with this response, and how many requests it sent.
async fn imported(reply: fn() -> Reply) -> (i32, String, String, usize) {
    let server = ScriptedServer::start(move |_: &ReceivedRequest| reply()).await;
    let home = home(&server.url());
    let reported =
        tokio::task::spawn_blocking(move || piped(home.path(), IMPORT, "canary-session"));
    let (code, out, err) = reported.await.unwrap();
    let seen = server.requests();
    assert!(seen.iter().all(|seen| seen.header("cookie") == Some("SESSION=canary-session")));
    assert!(seen.iter().all(|seen| seen.header("authorization").is_none()), "never both");
    assert!(!err.contains("canary") && !out.contains("canary"), "{err}");
    (code, out, err, seen.len())
}

#[tokio::test]
async fn the_credentials_request_is_never_retried() {
    let redirect = || Reply::new(302, &[("location", "/login")], "");
    let half = || Reply::json(r#"{"api_key":"ak_1","api_secret":"#);
    let (code, _, err, requests) = imported(Reply::disconnect).await;
    assert_eq!((code, requests), (3, 1), "{err}");
    assert!(err.contains("may have created a key pair"), "{err}");
    let (code, _, err, requests) = imported(|| Reply::new(500, &[], "")).await;
    assert_eq!((code, requests), (3, 1), "{err}");
    assert!(err.contains("may have created a key pair"), "{err}");
    let (code, _, err, requests) = imported(half).await;
    assert_eq!((code, requests), (1, 1), "{err}");
    assert!(err.contains("may have created a key pair"), "{err}");
    let (code, _, err, requests) = imported(redirect).await;
    assert_eq!((code, requests), (1, 1), "{err}");
    let (code, _, err, requests) = imported(|| Reply::new(401, &[], "{}")).await;
    assert_eq!((code, requests), (4, 1), "{err}");
    assert!(err.contains("the session was not accepted"), "{err}");
}

#[tokio::test]
async fn a_key_from_the_service_is_one_quoted_word_of_the_suggested_command() {
    let without_secret = || Reply::json(r#"{"api_key":"ak_1; $(reboot)'\u001b[2J\n"}"#);
    let (code, _, err, _) = imported(without_secret).await;
    assert_eq!(code, 1, "{err}");
    let word = r"--api-key $'ak_1; $(reboot)\'\033[2J\012'";
    let reported: Value = serde_json::from_str(err.lines().last().unwrap()).unwrap();
    assert!(text(&reported, "remedy").ends_with(word), "{err}");
}

#[test]
fn a_secret_from_standard_input_is_not_printed() {
    let home = home("https://media.example");
    let home = home.path();
    // Other users can write in the folder, so storing the secret fails.
    fs::set_permissions(home.join("tessera"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(home.join("secret"), "piped-canary").unwrap();
    let import = ["auth", "import", "-p", "prod", "--secret-stdin", "--insecure-storage"];
    let reported = tessera(home, &[&import[..], &["--api-key", "ak_1"]].concat());
    let mut command = Command::new("setsid");
    command.arg("-w").arg(reported.get_program()).args(reported.get_args());
    for (name, value) in reported.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let (code, out, err) = outcome(command.stdin(fs::File::open(home.join("secret")).unwrap()));
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("chmod 700") && !err.contains("piped-canary"), "{err}");
}

/// The service would show the secret of a new key pair only once.
#[tokio::test]
async fn no_key_pair_is_requested_whose_secret_could_not_be_stored() {
    let server = ScriptedServer::start(|_: &ReceivedRequest| Reply::json("{}")).await;
    let home = home(&server.url());
    fs::write(secrets_of(home.path()), "damaged").unwrap();
    fs::set_permissions(secrets_of(home.path()), fs::Permissions::from_mode(0o600)).unwrap();
    let import = move || piped(home.path(), IMPORT, "session");
    let (code, _, err) = tokio::task::spawn_blocking(import).await.unwrap();
    assert_eq!((code, server.requests().len()), (1, 0), "{err}");
    assert!(err.contains("secrets.toml: is damaged"), "{err}");
}

#[tokio::test]
async fn a_secret_that_cannot_be_stored_is_printed_rather_than_lost() {
    let pair = r#"{"api_key":"ak_1","api_secret":"only-once","message":"keep it"}"#;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("tessera");
    let server = ScriptedServer::start(move |_: &ReceivedRequest| {
        // Other users can write in the folder while the service issues the secret, so storing it fails.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        Reply::json(pair)
    })
    .await;
    profile(home.path(), &server.url());
    let mut command = Command::new("setsid");
    command.args(["-w", env!("CARGO_BIN_EXE_tessera")]).args(IMPORT);
    let (code, out, err) = tokio::task::spawn_blocking(move || {
        let reported = tessera(home.path(), IMPORT);
        let environment: Vec<_> = reported
            .get_envs()
            .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
            .collect();
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let cookie = home.path().join("cookie");
        fs::write(&cookie, "session").unwrap();
        outcome(command.stdin(fs::File::open(cookie).unwrap()))
    })
    .await
    .unwrap();
    assert_eq!(code, 1, "{err}");
    assert_eq!(out, "api_key=ak_1\napi_secret=only-once\n");
    assert!(err.contains("chmod 700") && err.contains("--secret-stdin"), "{err}");
}

#[test]
fn variables_are_read_without_the_line_break_at_their_end() {
    let (home, serving) = service();
    let mut command = tessera(home.path(), &["config", "show", "--json"]);
    let (_, out, err) = outcome(command.env("TESSERA_THEME", "plain\n"));
    assert!(out.contains("TESSERA_THEME"), "{err}");
    let login = ["api_key", "api_secret"].map(|name| text(&serving.1, name));
    let url = text(&serving.1, "base_url");
    for end in ["\n", "\r\n", " "] {
        for (service, named) in [("TESSERA_PROFILE", "prod"), ("TESSERA_BASE_URL", url)] {
            let mut command = tessera(home.path(), &["search", "browse", "--json"]);
            for (name, value) in [
                (service, named),
                ("TESSERA_KIND", "hosted"),
                ("TESSERA_API_KEY", login[0]),
                ("TESSERA_API_SECRET", login[1]),
                ("TESSERA_DATASET", "pictures"),
                ("TESSERA_READ_ONLY", "1"),
            ] {
                command.env(name, format!("{value}{end}"));
            }
            let (code, _, err) = outcome(&mut command);
            assert_eq!(code, 0, "{service} {end:?}: {err}");
        }
    }
}

#[test]
fn any_request_with_the_login_and_the_code_of_its_status() {
    let (home, serving) = service();
    let home = home.path();
    let ask = |arguments: &[&str]| {
        let mut command = tessera(home, arguments);
        command.env("TESSERA_PROFILE", "prod");
        command.env("TESSERA_API_KEY", text(&serving.1, "api_key"));
        command.env("TESSERA_API_SECRET", text(&serving.1, "api_secret"));
        outcome(&mut command)
    };
    let (code, out, err) = ask(&["api", "get", "datasets", "-p", "prod", "--include"]);
    assert_eq!(code, 0, "{err}");
    let (head, body) = out.split_once("\n\n").unwrap();
    assert!(head.starts_with("HTTP 200\n") && head.contains("content-type: "), "{head}");
    assert!(serde_json::from_str::<Value>(body).is_ok(), "{body}");
    let (code, out, err) = ask(&["api", "get", "datasets", "-p", "prod", "--jq", ".[0].status"]);
    assert_eq!((code, out.as_str()), (0, "READY\n"), "{err}");
    let (code, out, err) = ask(&["api", "get", "datasets", "-p", "prod", "--jsonl"]);
    assert_eq!((code, out.lines().count()), (0, 1), "{err}");
    assert!(serde_json::from_str::<Value>(&out).unwrap().is_object(), "{out}");
    let (code, out, err) = ask(&["api", "get", "datasets", "-p", "prod", "--json"]);
    assert_eq!(code, 0, "{err}");
    assert!(serde_json::from_str::<Value>(&out).unwrap().is_array(), "{out}");
    for option in ["--csv", "--json=id"] {
        let (code, out, err) = ask(&["api", "get", "datasets", "-p", "prod", option]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains("use --jq"), "{err}");
    }
    let (code, out, _) = ask(&["api", "get", "dataset/none", "-p", "prod", "--jq", ".id"]);
    assert!([5, 8].contains(&code) && out.contains("detail"), "{code} {out}");
    let (code, out, err) = ask(&["api", "GET", "/api/v1/dataset/none", "-p", "prod"]);
    assert!([5, 8].contains(&code) && out.contains("detail"), "{code} {out} {err}");
    let (code, _, err) = ask(&["api", "GET", "../../etc", "-p", "prod"]);
    assert_eq!(code, 1);
    assert!(err.contains("not a path below"), "{err}");
    let (code, _, err) = ask(&["api", "POST", "x", "-p", "prod", "--read-only"]);
    assert_eq!(code, 6, "{err}");
    let (code, out, _) = ask(&["api", "POST", "x", "-p", "prod", "-Q", "a=b c", "--print", "curl"]);
    assert_eq!(code, 0);
    assert!(out.contains("-X POST") && out.contains("/api/v1/x?a=b+c"), "{out}");
}

#[cfg(target_os = "linux")]
#[test]
fn no_core_dump_can_be_made() {
    let (_home, serving) = service();
    let limits = fs::read_to_string(format!("/proc/{}/limits", serving.0.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let values: Vec<&str> = core.split_whitespace().collect();
    assert_eq!(values[4..6], ["0", "0"], "{core}");
}
