//! Tests of `tessera::config`: layers.

use std::fs;

use toml::Value;

use tessera::config::layers::PROJECT_FILE;
use tessera::config::{Layers, Sources};

fn files(project: &str, user: &str) -> (tempfile::TempDir, Sources) {
    let folder = tempfile::tempdir().unwrap();
    let [project_file, user_file] =
        [(PROJECT_FILE, project), ("config.toml", user)].map(|(name, source)| {
            let path = folder.path().join(name);
            fs::write(&path, source).unwrap();
            Some(path)
        });
    (folder, Sources { project: project_file, user: user_file, ..Sources::default() })
}

#[test]
fn every_value_knows_its_origin_and_what_it_overrides() {
    let (_folder, mut sources) =
        files("[ui]\ngraphics = 'half'\n", "[ui]\n\ngraphics = 'sixel'\nmouse = false\n");
    sources.variables.insert("TESSERA_GRAPHICS", "kitty".to_owned());
    sources.flags.push(("ui.graphics", "--graphics", "none".into()));
    let (layers, errors) = Layers::read(&sources);
    assert_eq!(errors, []);
    let (_, graphics) = layers.all().find(|(name, _)| *name == "ui.graphics").unwrap();
    let messages: Vec<String> =
        graphics.iter().map(|setting| format!("{} {}", setting.value, setting.origin)).collect();
    assert_eq!(messages[0], "\"none\" --graphics");
    assert_eq!(messages[1], "\"kitty\" TESSERA_GRAPHICS");
    assert!(messages[2].starts_with("\"half\"") && messages[2].ends_with(".tessera.toml:2"));
    assert!(messages[3].starts_with("\"sixel\"") && messages[3].ends_with("config.toml:3"));
    assert_eq!(messages[4], "\"auto\" shipped");
    assert_eq!(layers.get("ui.mouse").unwrap().value, Value::Boolean(false));
}

#[test]
fn all_errors_are_reported_with_their_locations() {
    let (_folder, sources) = files(
        "[profiles.evil]\nkind = 'hosted'\nbase_url = 'https://evil.example'\n",
        "[ui]\nmouse = 'yes'\ncolor = 'red'\n\n[profiles.x]\nkind = 'onprem'\napi_secret = 's3cret'\n",
    );
    let (layers, errors) = Layers::read(&sources);
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(messages.len(), 4, "{messages:#?}");
    assert!(
        messages[0].contains(".tessera.toml, line 1")
            && messages[0].contains("cannot define profiles")
    );
    for (line, word) in [
        ("line 2, column 1", "true or false"),
        ("line 3", "color"),
        ("line 7", "secrets do not belong"),
    ] {
        assert!(
            messages.iter().any(|message| message.contains(line) && message.contains(word)),
            "{messages:#?}"
        );
    }
    assert!(!messages.concat().contains("s3cret"));
    assert!(layers.get("profiles.evil.kind").is_none());
}

#[test]
fn a_profile_has_exactly_the_keys_of_its_kind() {
    for (user, word) in [
        ("[profiles.x]\nbase_url = 'u'\n", "has no kind"),
        ("[profiles.x]\nkind = 'cloud'\nbase_url = 'u'\n", "hosted, onprem, local"),
        ("[profiles.x]\nkind = 'hosted'\napi_key = 'k'\n", "needs base_url"),
        ("[profiles.x]\nkind = 'onprem'\nbase_url = 'u'\napi_key = 'k'\n", "is only for hosted"),
        ("default_profile = 'y'\n", "none"),
        ("[poll]\nmin = '1m'\n", "more than poll.max"),
        ("[profiles.'a b']\nkind = 'local'\n", "a profile name"),
    ] {
        let (_folder, sources) = files("", user);
        let (_, errors) = Layers::read(&sources);
        assert!(errors.iter().any(|error| error.reason.contains(word)), "{user}: {errors:?}");
        assert!(errors.iter().all(|error| error.position.is_some()), "{errors:?}");
    }
}

#[test]
fn any_content_is_read_without_panicking() {
    for source in [
        "\u{0}",
        "[[[",
        "a = ",
        "profiles = 3",
        "ui.theme.x = 1",
        "[profiles]\nx = 1",
        "x = \"\"\"",
        "[ui]\n[ui]\n",
    ] {
        let (_folder, sources) = files("", source);
        let (_, errors) = Layers::read(&sources);
        assert!(!errors.is_empty(), "{source}");
    }
}
