//! Tests `config::edit`: changes to the user's settings file.

use std::{fs, os::unix::net::UnixListener};

use tessera_config::edit::{EditError, add_profile, change_pins, remove_profile, set, unset};
use tessera_config::{DeploymentConfig, Profile, Settings, Sources};
use toml::Value;

const MINE: &str = "# mine\n[ui]\nmouse = false # the terminal's own\n";

fn lab() -> Profile {
    let base_url = "http://media.lab.example".to_owned();
    Profile::new("lab", DeploymentConfig::OnPrem { base_url, pipeline_url: None })
}

#[test]
fn profiles_are_added_and_removed_without_other_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, MINE).unwrap();
    let stored = || Ok(());
    let refused = add_profile(&file, &lab(), || Err("no keyring".to_owned())).unwrap_err();
    assert!(matches!(refused, EditError::Unwritten(_)));
    let refused = refused.to_string();
    assert!(refused.contains("no keyring") && fs::read_to_string(&file).unwrap() == MINE);
    add_profile(&file, &lab(), stored).unwrap();
    let written = fs::read_to_string(&file).unwrap();
    let section = "\n[profiles.lab]\nkind = \"onprem\"\nbase_url = \"http://media.lab.example\"\n";
    assert_eq!(written, format!("{MINE}{section}"));
    let sources = Sources { user: Some(file.clone()), ..Sources::default() };
    let settings = Settings::load(&sources).unwrap();
    assert_eq!(settings.profiles, [lab()]);
    assert!(!settings.ui.mouse);
    let exists = add_profile(&file, &lab(), stored).unwrap_err().to_string();
    assert!(exists.contains("config.toml") && exists.contains("lab"), "{exists}");
    set(&file, "default_profile", &"lab".into()).unwrap();
    remove_profile(&file, "lab", || Err::<(), _>("locked".to_owned())).unwrap_err();
    assert!(fs::read_to_string(&file).unwrap().contains("lab"), "its secret is still there");
    assert_eq!(remove_profile(&file, "lab", stored), Ok(Some(())));
    assert_eq!(remove_profile(&file, "lab", stored), Ok(None));
    assert_eq!(fs::read_to_string(&file).unwrap(), MINE);
}

#[test]
fn a_value_is_replaced_in_place_with_its_comment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, MINE).unwrap();
    set(&file, "ui.mouse", &Value::Boolean(true)).unwrap();
    set(&file, "export.format", &"json".into()).unwrap();
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(
        written,
        "# mine\n[ui]\nmouse = true # the terminal's own\n\n[export]\nformat = \"json\"\n"
    );
    assert!(unset(&file, "export.format").unwrap() && !unset(&file, "poll.min").unwrap());
    let missing = folder.path().join("missing.toml");
    assert!(!unset(&missing, "poll.min").unwrap() && !missing.exists(), "nothing was changed");
    let error = set(&file, "ui.theme", &"../up".into()).unwrap_err().to_string();
    assert!(error.contains("ui.theme") && error.contains("nothing was changed"), "{error}");
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    std::thread::scope(|scope| {
        for number in 0..16 {
            let name = format!("lab{number}");
            let file = &file;
            scope.spawn(move || add_profile(file, &Profile { name, ..lab() }, || Ok(())).unwrap());
        }
    });
    std::thread::scope(|scope| {
        for number in 1..=16 {
            let id = format!("00000000-0000-4000-8000-{number:012}");
            let file = &file;
            scope.spawn(move || change_pins(file, "lab0", &[], |pinned| pinned.push(id)).unwrap());
        }
    });
    let sources = Sources { user: Some(file), ..Sources::default() };
    let profiles = Settings::load(&sources).unwrap().profiles;
    assert_eq!(profiles.len(), 16);
    assert_eq!(profiles[0].options.pinned.len(), 16);
}

#[test]
fn only_a_regular_file_is_replaced_by_settings() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _listening = UnixListener::bind(&socket).unwrap();
    for changed in [set(&socket, "ui.mouse", &true.into()), add_profile(&socket, &lab(), || Ok(()))]
    {
        let refused = changed.unwrap_err().to_string();
        assert!(refused.ends_with("not a regular file, so it is not replaced"), "{refused}");
    }
}

#[test]
fn a_broken_file_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    for broken in ["[ui\n", "[ui]\ncolor = 1\n"] {
        fs::write(&file, broken).unwrap();
        assert!(
            set(&file, "ui.mouse", &Value::Boolean(true)).unwrap_err().to_string().contains("line")
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
}
