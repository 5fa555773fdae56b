//! Tests `tessera profile`: profiles without secrets are added, used, shown and removed.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use super::{
    config::{document, home, settings},
    outcome, run, tessera,
};

#[test]
fn profiles_are_added_used_shown_and_removed() {
    let home = home("# mine\n");
    let home = home.path();
    for (name, url, prefix, expected) in [
        ("plain", "http://127.0.0.1:9", "/api/v1", "http://127.0.0.1:9/api/v1"),
        ("prefixed", "http://127.0.0.1:9/api/v1/", "/api/v1", "http://127.0.0.1:9/api/v1"),
        ("gateway", "http://127.0.0.1:9", "/media/v2", "http://127.0.0.1:9/media/v2"),
    ] {
        let add = ["profile", "add", name, "--kind", "onprem", "--base-url", url];
        let (code, out, err) = run(home, &[&add[..], &["--api-prefix", prefix]].concat());
        assert_eq!((code, out.split('\t').next()), (0, Some(name)), "{err}");
        let (code, printed, err) = run(home, &["-p", name, "dataset", "list", "--dry-run"]);
        assert_eq!(
            (code, printed.as_str()),
            (0, format!("GET {expected}/datasets\n").as_str()),
            "{err}"
        );
        let other = ["-p", name, "--api-prefix", "/", "dataset", "list", "--dry-run"];
        assert_eq!(run(home, &other).1, "GET http://127.0.0.1:9/datasets\n");
        let sent = document(&run(home, &[&other[..], &["--json"]].concat()).1);
        assert_eq!(sent["schema"], "tessera.dry_run/1");
        assert_eq!(sent["url"], "http://127.0.0.1:9/datasets");
    }
    let hosted =
        ["profile", "add", "prod", "--kind", "hosted", "--base-url", "https://media.example"];
    let (code, _, err) = run(home, &[&hosted[..], &["--api-key", "ak_1", "--use"]].concat());
    assert_eq!(code, 0, "{err}");
    let (_, out, _) = run(home, &["profile", "show", "--json"]);
    let shown = document(&out);
    assert_eq!((&shown["name"], &shown["api_key"]), (&"prod".into(), &"ak_1".into()));
    assert!(shown["secret"].as_str().unwrap().contains("auth import"), "{shown}");
    let listed = document(&run(home, &["profile", "list", "--json"]).1);
    assert_eq!(listed["profiles"].as_array().unwrap().len(), 4);
    let (code, _, err) = run(home, &hosted);
    assert_eq!(code, 2);
    assert!(err.contains("already"), "{err}");
    assert_eq!(run(home, &["profile", "use", "plain"]).0, 0);
    let (code, _, err) = run(home, &["profile", "remove", "prod"]);
    assert_eq!(code, 2);
    assert!(err.contains("--yes"), "{err}");
    for name in ["prod", "plain", "prefixed", "gateway"] {
        assert_eq!(run(home, &["profile", "remove", name, "--yes"]).0, 0);
    }
    assert_eq!(settings(home), "# mine\n");
}

#[test]
fn a_profile_stays_as_long_as_its_secret() {
    let hosted = "[profiles.prod]\nkind = 'hosted'\nbase_url = 'https://media.example'\n";
    let home = home(hosted);
    let home = home.path();
    fs::write(home.join("tessera/secrets.toml"), "damaged").unwrap();
    let (code, _, err) = run(home, &["profile", "remove", "prod", "--yes"]);
    assert_eq!((code, settings(home).as_str()), (1, hosted), "{err}");
    assert!(err.contains("prod stays") && !err.contains("was removed from"), "{err}");
    // A profile whose secret could not be stored does not exist.
    let mut init = tessera(home, &["init", "--from-env", "--store"]);
    init.env("TESSERA_BASE_URL", "https://new.example").env("TESSERA_KIND", "hosted");
    init.env("TESSERA_API_KEY", "ak_1").env("TESSERA_API_SECRET", "canary");
    let (code, _, err) = outcome(&mut init);
    assert_eq!((code, settings(home).as_str()), (1, hosted), "{err}");
    assert!(err.contains("could not be stored") && !err.contains("canary"), "{err}");
}

#[test]
fn what_cannot_be_used_is_not_written() {
    let home = home("");
    let home = home.path();
    let add = ["profile", "add", "x", "--kind", "onprem", "--base-url"];
    for (rest, word) in [
        (vec!["https://me:canary@media.example"], "user name or password"),
        (vec!["media.example"], "base_url"),
        (vec!["https://media.example", "--text-search-path", "explore"], "text_search_path"),
        (vec!["https://media.example", "--api-prefix", "a b"], "api_prefix"),
        (vec!["https://media.example", "--ca-file", "/no/such.pem"], "/no/such.pem"),
    ] {
        let (code, out, err) = run(home, &[&add[..], &rest].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(word) && !err.contains("canary"), "{err}");
    }
    let (code, _, err) =
        run(home, &["profile", "add", "x", "--base-url", "https://u.example", "--kind", "local"]);
    assert_eq!(code, 2);
    assert!(err.contains("--folder"), "{err}");
    assert_eq!(settings(home), "");
}

#[test]
fn the_login_is_sent_unencrypted_only_with_allow_http() {
    let home =
        home("[profiles.p]\nkind = 'hosted'\nbase_url = 'http://media.example'\napi_key = 'k'\n");
    let ask = |more: &[&str]| {
        let arguments = [&["dataset", "list", "--dry-run"][..], more].concat();
        let mut command = tessera(home.path(), &arguments);
        outcome(command.env("TESSERA_PROFILE", "p").env("TESSERA_API_SECRET", "canary"))
    };
    let (code, out, err) = ask(&[]);
    assert_eq!(out, "");
    assert_ne!(code, 0);
    assert!(err.contains("not encrypted") && err.contains("--allow-http"), "{err}");
    assert_eq!(ask(&["--allow-http"]).0, 0);
    fs::write(home.path().join("tessera/ca.pem"), "").unwrap();
    let ca = home.path().join("tessera/ca.pem");
    let (code, _, err) = ask(&["--allow-http", "--ca-file", ca.to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(err.contains("ca.pem") && err.contains("empty"), "{err}");
}

#[test]
fn a_profile_that_is_read_only_changes_nothing() {
    let (home, listener) = (home(""), TcpListener::bind("127.0.0.1:0").unwrap());
    let url = format!("http://{}", listener.local_addr().unwrap());
    let profile = format!("[profiles.p]\nkind = 'onprem'\nbase_url = '{url}'\nread_only = true\n");
    fs::write(home.path().join("tessera/config.toml"), profile).unwrap();
    let id = "95233006-eddc-11ef-b303-76dbc3993eb2";
    let record = format!(r#"{{"id":"{id}","display_name":"a","status_new":"READY"}}"#);
    // The service responds only with the record of the dataset, so that any request that changes something would stay
    // without a response.
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 4096];
        let length = stream.read(&mut asked).unwrap();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{record}", record.len()).unwrap();
        String::from_utf8_lossy(&asked[..length]).into_owned()
    });
    let image = home.path().join("a.png");
    super::picture(&image);
    let (code, out, err) =
        run(home.path(), &["media", "add", id, "--file", image.to_str().unwrap()]);
    assert_eq!((code, out.as_str()), (6, ""), "{err}");
    assert!(err.contains("read_only"), "{err}");
    assert!(served.join().unwrap().starts_with("GET "));
    // Nothing listens any more, so this shows that a request that the user composes is not sent,
    // either.
    let add = ["api", "GET", "process/add_media", "-Q", "path=/x"];
    for request in [&["api", "POST", "dataset/x/trigger_indexing"][..], &add] {
        let (code, out, err) = run(home.path(), request);
        assert_eq!((code, out.as_str()), (6, ""), "{err}");
        assert!(err.contains("read_only"), "{err}");
    }
}

#[test]
fn a_wrong_address_is_a_usage_error_that_names_its_option() {
    let home = home("");
    let list = ["dataset", "list", "--kind", "onprem", "--base-url"];
    let pipeline = ["http://127.0.0.1:1", "--pipeline-url", "nowhere"];
    for (address, reason) in
        [(&["nowhere"][..], "the base URL is not"), (&pipeline, "the pipeline URL is not")]
    {
        let (code, out, err) = run(home.path(), &[&list[..], address].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(reason), "{err}");
    }
}
