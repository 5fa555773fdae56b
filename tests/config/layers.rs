//! Tests `config::layers`: the order of the layers, and their errors.

use std::{ffi::OsString, fs, os::unix::ffi::OsStringExt as _};

use tessera_config::key::{KEYS, PROFILE_KEYS, ValueType};
use tessera_config::layers::PROJECT_FILE;
use tessera_config::settings_file::Setting;
use tessera_config::{Layers, Sources};
use toml::{Table, Value};

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
        files("[ui]\ntile = 'large'\n", "[ui]\n\ngraphics = 'sixel'\ntile = 'small'\n");
    sources.variables.insert("TESSERA_GRAPHICS", "kitty".into());
    sources.flags.push(("ui.graphics", "--graphics", "none".into()));
    let (layers, errors) = Layers::read(&sources);
    assert_eq!(errors, []);
    let [graphics, tile] = ["ui.graphics", "ui.tile"].map(|key| {
        let (_, settings) = layers.all().find(|(name, _)| *name == key).unwrap();
        let describe = |setting: &Setting| format!("{} {}", setting.value, setting.origin);
        settings.iter().map(describe).collect::<Vec<String>>()
    });
    assert_eq!(graphics[..2], ["\"none\" --graphics", "\"kitty\" TESSERA_GRAPHICS"]);
    assert!(graphics[2].starts_with("\"sixel\"") && graphics[2].ends_with("config.toml:3"));
    assert_eq!(graphics[3], "\"auto\" shipped");
    assert!(tile[0].starts_with("\"large\"") && tile[0].ends_with(".tessera.toml:2"));
    assert!(tile[1].starts_with("\"small\"") && tile[1].ends_with("config.toml:4"));
    assert_eq!(tile[2], "\"medium\" shipped");
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

/// Returns a value that this type accepts.
fn valid_value(value_type: ValueType) -> Value {
    match value_type {
        ValueType::Boolean => true.into(),
        ValueType::Choice(words) => words[0].into(),
        ValueType::ChoiceList(words) => vec![words[0]].into(),
        ValueType::Theme | ValueType::Text => "dark".into(),
        ValueType::DatasetIds => Value::Array(Vec::new()),
        ValueType::Integer(_, high) => high.into(),
        ValueType::Duration => "15s".into(),
        ValueType::CustomCommands => {
            let command = [("name", "a".into()), ("run", vec!["a"].into())];
            let command = command.map(|(key, value): (&str, Value)| (key.to_owned(), value));
            Value::Array(vec![Value::Table(Table::from_iter(command))])
        }
    }
}

/// Returns a file that contains only this key.
fn file_with(name: &str, value: Value) -> String {
    let nested = name
        .rsplit('.')
        .fold(value, |inner, part| Value::Table(Table::from_iter([(part.to_owned(), inner)])));
    toml::to_string(&nested).unwrap()
}

#[test]
fn a_project_sets_only_the_keys_that_cannot_redirect_anything() {
    let allowed = [
        "schema",
        "ui.tile",
        "ui.layout",
        "search.entity",
        "search.granularity",
        "export.format",
        "export.include_images",
    ];
    let of_profiles =
        PROFILE_KEYS.iter().map(|key| (format!("profiles.x.{}", key.name), key.value_type));
    let of_settings = KEYS.iter().map(|key| (key.name.to_owned(), key.value_type));
    let user = "[profiles.dark]\nkind = 'local'\nfolder = 'pictures'\n";
    for (name, value_type) in of_settings.chain(of_profiles) {
        let (_folder, sources) = files(&file_with(&name, valid_value(value_type)), user);
        let (layers, errors) = Layers::read(&sources);
        let from_project = layers
            .get(&name)
            .is_some_and(|setting| setting.origin.to_string().contains(PROJECT_FILE));
        assert_eq!(from_project, allowed.contains(&name.as_str()), "{name}: {errors:?}");
        if from_project {
            assert_eq!(errors, [], "{name}");
        } else {
            assert_eq!(errors.len(), 1, "{name}: {errors:?}");
            let error = errors[0].to_string();
            assert!(error.contains(".tessera.toml, line") && error.contains("project"), "{error}");
        }
    }
}

#[test]
fn the_patterns_of_a_folder_are_not_settings() {
    let project = "[folder]\nexclude = ['drafts/']\n[export]\nformat = 'json'\n";
    let (_folder, sources) = files(project, "");
    let (layers, errors) = Layers::read(&sources);
    assert_eq!(errors, []);
    assert_eq!(layers.get("export.format").unwrap().value, "json".into());
    let (_folder, sources) = files("", "[folder]\nexclude = []\n");
    assert_eq!(Layers::read(&sources).1.len(), 1, "only a project's file has patterns");
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

#[test]
fn a_variable_that_is_not_unicode_is_an_error() {
    let (_folder, mut sources) = files("", "");
    sources.variables.insert("TESSERA_GRAPHICS", OsString::from_vec(vec![0xff]));
    let (_, errors) = Layers::read(&sources);
    assert!(errors[0].to_string().contains("TESSERA_GRAPHICS"), "{errors:?}");
}
