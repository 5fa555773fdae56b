//! Tests `tessera store` and `serve --store`. The tests that need a server run only if `TESSERA_TEST_STORE` names one.

use serde_json::Value;
use tessera_testing::tiny_model::ModelFolder;

use super::{home, outcome, run, serve, started, tessera};
use crate::test_store;

const PASSWORD: &str = "hunter2-of-the-store";

#[test]
fn errors_of_the_store_name_the_server_without_its_password() {
    let home = tempfile::tempdir().unwrap();
    let (code, _, err) = run(home.path(), &["store", "status"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--store or TESSERA_STORE"), "{err}");
    let no_server = format!("postgres://ann:{PASSWORD}@127.0.0.1:1/media");
    for (address, exit, words) in [
        (format!("mysql://ann:{PASSWORD}@db/media"), 2, "postgres://user@host/database"),
        (format!("postgres://ann:{PASSWORD}@db:port/media"), 2, "not an address of PostgreSQL"),
        (format!("{no_server}?sslmode=verify-full"), 2, "give their file with sslrootcert"),
        (
            format!("{no_server}?sslmode=verify-ca&sslrootcert=/none.pem"),
            1,
            "the root certificates in /none.pem cannot be used",
        ),
        (no_server, 1, "cannot connect to the store postgres://127.0.0.1:1/media"),
    ] {
        for command in [["store", "init"], ["store", "status"], ["store", "revoke"], ["serve", "."]]
        {
            let mut command = tessera(home.path(), &command);
            // A variable that was read from a file ends with a line break.
            let (code, out, err) = outcome(command.env("TESSERA_STORE", format!("{address}\n")));
            assert_eq!(code, exit, "{err}");
            assert!(err.contains(words) && !err.contains(PASSWORD), "{err}");
            assert_eq!(out, "");
        }
    }
}

#[test]
fn a_revoked_login_is_replaced_also_for_the_next_start() {
    let (home, folder) = home();
    let index = home.path().join("index");
    let data = index.to_str().unwrap();
    let (code, _, err) = run(home.path(), &["store", "revoke", "--data", data]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("there is no index in"), "{err}");
    assert!(!index.exists());
    let start = || serve(home.path(), &[folder.to_str().unwrap(), "--data", data]);
    let serving = start();
    let (code, out, err) = run(home.path(), &["store", "revoke", "--data", data, "--json"]);
    assert_eq!(code, 0, "{err}");
    let new: Value = serde_json::from_str(&out).unwrap();
    assert_ne!(new["api_key"], serving.1["api_key"]);
    drop(serving);
    let serving = start();
    for name in ["api_key", "api_secret", "session"] {
        assert_eq!(serving.1[name], new[name], "{name}");
    }
}

#[test]
fn passwords_on_the_command_line_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let address = format!("postgres://ann:{PASSWORD}@127.0.0.1:1/media");
    let (code, _, err) = run(home.path(), &["store", "status", "--store", &address]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("set TESSERA_STORE instead") && !err.contains(PASSWORD), "{err}");
}

#[test]
fn a_store_on_a_server_is_created_once_and_then_served() {
    let Some(schema) = test_store::schema() else { return };
    let (home, folder) = home();
    let asked = |arguments: &[&str]| {
        let mut command = tessera(home.path(), arguments);
        command.env("TESSERA_STORE", schema.address());
        command
    };
    let folder = folder.to_str().unwrap();
    let (code, _, err) = outcome(&mut asked(&["serve", folder]));
    assert_eq!(code, 1);
    assert!(err.contains("has no tables; run `tessera store init`"), "{err}");
    for _ in 0..2 {
        let (code, out, err) = outcome(&mut asked(&["store", "init", "--json"]));
        assert_eq!(code, 0, "{err}");
        let status: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(status["schema_version"], status["known_version"]);
        assert_eq!(status["media"], 0);
    }
    let serving = started(asked(&["serve", folder, "--no-auth"]));
    let dataset = serving.1["datasets"][0]["id"].as_str().unwrap();
    let (code, _, err) = outcome(&mut serving.asked(home.path(), &["dataset", "wait", dataset]));
    assert_eq!(code, 0, "{err}");
    let second = started(asked(&["serve", "--no-auth"]));
    assert_eq!(second.1["datasets"][0]["id"], serving.1["datasets"][0]["id"]);
    let (_, out, _) = outcome(&mut asked(&["store", "status", "--json"]));
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&status["datasets"], &status["media"]), (&1.into(), &1.into()));
}

#[test]
fn processes_with_another_model_are_refused_until_the_settings_are_reset() {
    let Some(schema) = test_store::store() else { return };
    let home = tempfile::tempdir().unwrap();
    let asked = |arguments: &[&str]| {
        let mut command = tessera(home.path(), arguments);
        command.env("TESSERA_STORE", schema.address());
        command
    };
    let folder = ModelFolder::clip();
    let model = ["--model", folder.path().to_str().unwrap()];
    drop(started(asked(&["serve", "--no-auth"])));
    for command in [&["serve", "--no-auth"][..], &["work", "--once"]] {
        let (code, out, err) = outcome(&mut asked(&[command, &model].concat()));
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        for words in ["used with no model, and this process was given the model ", "reset"] {
            assert!(err.contains(words), "{err}");
        }
    }
    let (code, _, err) = outcome(&mut asked(&["store", "init", "--reset-settings"]));
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = outcome(&mut asked(&[&["work", "--once"][..], &model].concat()));
    assert_eq!(code, 0, "{err}");
}
