//! Tests `tessera config` and `tessera init`: layers with their origins, and errors with their
//! positions.

use std::{
    fs,
    os::unix::fs::{chown, symlink},
    path::Path,
};

use serde_json::Value;

use tessera_testing::scripts::write_script;

use super::{outcome, picture_folder, run, tessera, unreadable::wrapped};

/// Creates a home folder with this settings file.
pub(super) fn home(settings: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("tessera")).unwrap();
    fs::write(home.path().join("tessera/config.toml"), settings).unwrap();
    home
}

pub(super) fn settings(home: &Path) -> String {
    fs::read_to_string(home.join("tessera/config.toml")).unwrap()
}

pub(super) fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns the row of a setting in the output of `config show --json`.
fn row<'a>(shown: &'a Value, key: &str) -> &'a Value {
    let rows = shown["settings"].as_array().unwrap();
    rows.iter().find(|row| row["key"] == key).unwrap()
}

#[test]
fn every_setting_is_shown_with_its_origin_and_overridden_values() {
    let home = home("[ui]\ntheme = 'light'\n\n[export]\nformat = 'json'\n");
    let inner = home.path().join("project/inner");
    fs::create_dir_all(&inner).unwrap();
    fs::write(home.path().join("project/.tessera.toml"), "[export]\nformat = 'parquet'\n").unwrap();
    let mut command = tessera(home.path(), &["config", "show", "--json", "--graphics", "half"]);
    command.current_dir(&inner).env("TESSERA_THEME", "plain");
    let (code, out, err) = outcome(&mut command);
    assert_eq!(code, 0, "{err}");
    let shown = document(&out);
    assert_eq!(shown["schema"], "tessera.settings/1");
    let graphics = row(&shown, "ui.graphics");
    assert_eq!((&graphics["value"], &graphics["origin"]), (&"half".into(), &"--graphics".into()));
    assert_eq!(graphics["overrides"][0], "auto (shipped)");
    let theme = row(&shown, "ui.theme");
    assert_eq!((&theme["value"], &theme["origin"]), (&"plain".into(), &"TESSERA_THEME".into()));
    assert!(theme["overrides"][0].as_str().unwrap().ends_with("tessera/config.toml:2)"));
    let format = row(&shown, "export.format");
    assert_eq!(format["value"], "parquet");
    assert!(format["origin"].as_str().unwrap().ends_with(".tessera.toml:2"));
    assert_eq!(row(&shown, "ui.accessible")["origin"], "not set");
    let mut command = tessera(home.path(), &["profile", "list"]);
    let (code, _, err) = outcome(command.current_dir(&inner));
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("project settings") && err.contains(".tessera.toml"), "{err}");
}

#[test]
fn setting_a_value_keeps_the_rest_of_the_file() {
    let home = home("# mine\n[ui]\nmouse = false # the terminal's own\n");
    let home = home.path();
    let (code, out, err) = run(home, &["config", "set", "ui.notify", "bell,toast"]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(settings(home).starts_with("# mine\n[ui]\nmouse = false # the terminal's own\n"));
    assert_eq!(run(home, &["config", "get", "ui.notify"]).1, "bell,toast\n");
    assert_eq!(run(home, &["config", "get", "ui.accessible"]).0, 5);
    let before = settings(home);
    for (arguments, word) in [
        (["config", "set", "ui.them", "dark"], "ui.theme"),
        (["config", "set", "search.granularity", "7"], "0 to 4"),
    ] {
        let (code, _, err) = run(home, &arguments);
        assert_eq!(code, 2);
        assert!(err.contains(word), "{err}");
    }
    let (code, out, err) =
        run(home, &["config", "set", "ui.mouse", "true", "--dry-run", "--jq", ".change"]);
    assert_eq!((code, out.as_str()), (0, "ui.mouse = true\n"), "{err}");
    assert_eq!(settings(home), before);
    let mut command = tessera(home, &["config", "set", "ui.theme", "dark"]);
    let (code, _, err) = outcome(command.env("TESSERA_THEME", "plain"));
    assert_eq!(code, 0);
    assert!(err.contains("TESSERA_THEME takes precedence"), "{err}");
    assert_eq!(run(home, &["config", "unset", "ui.theme"]).0, 0);
    assert_eq!(settings(home), before);
    let (_, path, _) = run(home, &["config", "path"]);
    assert_eq!(path.trim(), home.join("tessera/config.toml").to_str().unwrap());
}

#[test]
fn a_theme_without_a_file_is_reported() {
    let home = home("");
    let (code, _, err) = run(home.path(), &["config", "set", "ui.theme", "purple"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning: `theme`: there is no theme"), "{err}");
    assert!(err.contains("themes/purple.toml; write it, or choose auto"), "{err}");
    let (code, out, _) = run(home.path(), &["config", "validate", "--json"]);
    assert_eq!(code, 2);
    let errors = document(&out)["diagnostics"].clone();
    assert!(errors[0]["message"].as_str().unwrap().contains("themes/purple.toml"), "{errors}");
    fs::create_dir(home.path().join("tessera/themes")).unwrap();
    let theme = include_str!("../../assets/themes/dark.toml");
    fs::write(home.path().join("tessera/themes/purple.toml"), theme).unwrap();
    let (code, _, err) = run(home.path(), &["config", "validate"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn a_model_without_its_files_is_reported() {
    let home = home("model = '~/nowhere'\n");
    let (code, out, _) =
        run(home.path(), &["config", "validate", "--jq", ".diagnostics[].message"]);
    let message = "`model`: ~/nowhere has no model; `tessera model list` lists the models, and `none` chooses none";
    assert_eq!((code, out.trim()), (2, message));
    let (code, _, err) = run(home.path(), &["config", "set", "model", "none"]);
    assert!(code == 0 && !err.contains("warning"), "{err}");
    assert_eq!(run(home.path(), &["config", "validate"]).0, 0);
}

#[test]
fn a_broken_file_stops_commands_and_is_mended_with_config() {
    let home = home("[ui]\nmouse = 'yes'\ncolor = 'red'\n");
    let home = home.path();
    fs::write(home.join("tessera/keys.toml"), "[everywhere]\nfly = \"x\"\n").unwrap();
    fs::create_dir(home.join("tessera/themes")).unwrap();
    fs::write(home.join("tessera/themes/mine.toml"), "accent = \"no color\"\n").unwrap();
    let (code, out, err) = run(home, &["profile", "list"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("line 2") && err.contains("line 3") && err.contains("validate"), "{err}");
    let (code, out, _) = run(home, &["config", "validate", "--json"]);
    assert_eq!(code, 2);
    let reported = document(&out);
    let files: Vec<&str> = reported["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mistake| mistake["file"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(files, ["config.toml", "config.toml", "keys.toml", "mine.toml"]);
    assert_eq!(
        (&reported["diagnostics"][1]["line"], &reported["diagnostics"][1]["column"]),
        (&3.into(), &1.into())
    );
    assert_eq!(run(home, &["config", "path"]).0, 0);

    // The editor fixes the file, and does not see the secret.
    let editor = home.join("editor");
    let script = r#"printf '[ui]\nmouse = true\n# %s' "$TESSERA_API_SECRET" > "$1""#;
    write_script(&editor, script);
    for name in ["keys.toml", "themes/mine.toml"] {
        fs::remove_file(home.join("tessera").join(name)).unwrap();
    }
    let mut command = tessera(home, &["config", "edit"]);
    command.env("VISUAL", &editor).env("TESSERA_API_SECRET", "canary");
    let (code, _, err) = outcome(&mut command);
    assert_eq!(code, 0, "{err}");
    assert_eq!(settings(home), "[ui]\nmouse = true\n# ");
    assert_eq!(run(home, &["config", "validate"]).0, 0);
}

#[test]
fn a_project_decides_neither_where_a_key_goes_nor_what_a_secret_is() {
    let home = home("");
    let project = home.path().join("project");
    fs::create_dir(&project).unwrap();
    for (source, word) in [
        ("[profiles.prod]\nkind = 'hosted'\nbase_url = 'https://evil.example'\n", "cannot define"),
        ("api_secret = 's3cret'\n", "secrets do not belong"),
        ("default_profile = 'partner'\n", "cannot set `default_profile`"),
        ("search.text_search_path = 'x/{dataset_id}'\n", "cannot set `search.text_search_path`"),
        ("export.download_dir = '/etc/cron.d'\n", "cannot set `export.download_dir`"),
        ("export.auto_download = true\n", "cannot set `export.auto_download`"),
    ] {
        fs::write(project.join(".tessera.toml"), source).unwrap();
        let mut command = tessera(home.path(), &["profile", "list"]);
        let (code, _, err) = outcome(command.current_dir(&project));
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(word) && err.contains("line 1") && !err.contains("s3cret"), "{err}");
    }
}

#[test]
fn a_project_file_of_another_user_is_ignored_with_a_warning() {
    let home = home("");
    let project = home.path().join("project");
    fs::create_dir(&project).unwrap();
    let file = project.join(".tessera.toml");
    fs::write(&file, "[export]\nformat = 'json'\n").unwrap();
    let run_in_project = |arguments: &[&str]| {
        let (code, out, err) = outcome(tessera(home.path(), arguments).current_dir(&project));
        assert_eq!(code, 0, "{err}");
        (out, err)
    };
    let format = ["config", "get", "export.format"];
    assert_eq!(run_in_project(&format).0, "json\n");
    // Only the superuser can change the owner of a file. Without that right, the test links to a
    // file of the superuser.
    if chown(&file, Some(65_534), None).is_err() {
        fs::remove_file(&file).unwrap();
        symlink("/etc/passwd", &file).unwrap();
    }
    assert_eq!(run_in_project(&format).0, "parquet\n");
    for command in
        [&["config", "get", "ui.tile"][..], &["config", "validate"], &["profile", "list"]]
    {
        let (_, err) = run_in_project(command);
        assert!(err.contains("warning: ignoring") && err.contains("another user"), "{err}");
        assert!(!err.contains("using project settings"), "{err}");
    }
    let (out, _) = run_in_project(&["doctor", "--offline", "--json"]);
    assert!(out.contains("belongs to another user"), "{out}");
}

#[test]
fn the_schema_describes_every_key() {
    let home = home("");
    let (code, out, _) = run(home.path(), &["config", "schema"]);
    assert_eq!(code, 0);
    let schema = document(&out);
    assert_eq!(schema["properties"]["export"]["properties"]["format"]["default"], "parquet");
    assert!(
        schema["properties"]["profiles"]["additionalProperties"]["properties"]["ca_file"]
            ["description"]
            .as_str()
            .unwrap()
            .contains("certificate")
    );
}

#[test]
fn the_home_folder_is_expanded_in_variables() {
    let (home, folder) = super::home();
    fs::write(home.path().join("other.toml"), "[ui]\ntheme = 'light'\n").unwrap();
    let ask = |arguments: &[&str]| {
        let mut command = tessera(home.path(), arguments);
        command.env("TESSERA_CONFIG", "~/other.toml").env("TESSERA_DATASET", "~/pictures");
        let (code, out, err) = outcome(&mut command);
        assert_eq!(code, 0, "{err}");
        out
    };
    assert_eq!(ask(&["config", "get", "ui.theme"]), "light\n");
    assert_eq!(
        ask(&["search", "browse", "--paths"]).trim(),
        folder.join("a.png").to_str().unwrap()
    );
}

#[test]
fn a_settings_file_that_is_named_exists_or_is_created() {
    let (home, folder) = super::home();
    let file = home.path().join("named.toml");
    let ask = |line: &str| {
        let mut command = tessera(home.path(), &line.split(' ').collect::<Vec<_>>());
        outcome(command.env("TESSERA_CONFIG", &file).current_dir(home.path()))
    };
    let reads = ["config validate", "config get ui.theme", "profile list", "report", "serve ."];
    for line in reads.iter().chain(&["doctor --offline"]) {
        let (code, out, err) = ask(line);
        assert_eq!(code, 2, "{line}: {err}");
        let said = format!("{out}{err}");
        assert!(said.contains("named.toml"), "{line}: {said}");
        assert!(said.contains("the file does not exist; correct --config"), "{line}: {said}");
        assert!(!out.contains("ok\tsettings"), "{out}");
    }
    let folder = folder.to_str().unwrap();
    let init = format!("init --local {folder}");
    let add = format!("profile add lab --kind local --folder {folder}");
    for line in ["config set ui.theme dark", &init, &add] {
        let (code, _, err) = ask(line);
        assert_eq!(code, 0, "{line}: {err}");
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn settings_that_cannot_be_written_are_a_failure() {
    let home = home("");
    for arguments in [
        "config set ui.theme dark",
        "profile add lab --kind onprem --base-url http://127.0.0.1:9",
        "man --dir /proc/pages",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let command = tessera(home.path(), &arguments);
        let limited = ["sh", "-c", "ulimit -f 0; exec \"$0\" \"$@\""];
        let (code, _, err) = outcome(&mut wrapped(&command, &limited));
        assert_eq!(code, 1, "{arguments:?}: {err}");
    }
    assert_eq!(settings(home.path()), "");
}

#[test]
fn options_override_the_environment() {
    let home = home("[profiles.p]\nkind = 'onprem'\nbase_url = 'http://127.0.0.1:1'\n");
    let ask = |variables: &[(&str, &str)], more: &[&str]| {
        let arguments = [&["dataset", "list", "--dry-run"][..], more].concat();
        let mut command = tessera(home.path(), &arguments);
        outcome(command.envs(variables.iter().copied())).1
    };
    let typed = ["--base-url", "http://127.0.0.1:2", "--kind", "onprem"];
    let of = |port: u8| format!("GET http://127.0.0.1:{port}/api/v1/datasets\n");
    assert_eq!(ask(&[("TESSERA_PROFILE", "p")], &typed), of(2));
    let environment = [("TESSERA_BASE_URL", "http://127.0.0.1:3"), ("TESSERA_KIND", "onprem")];
    assert_eq!(ask(&environment, &["--profile", "p"]), of(1));
    assert_eq!(ask(&environment, &[]), of(3));
    assert_eq!(ask(&[], &[]), of(1));
}

#[test]
fn init_makes_the_first_profile_without_questions() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let (code, out, err) = run(home, &["init"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("--from-env") && err.contains("--local"), "{err}");
    let (code, _, err) = run(home, &["init", "--from-env"]);
    assert_eq!(code, 2);
    assert!(err.contains("TESSERA_BASE_URL"), "{err}");
    let mut command = tessera(home, &["init", "--from-env"]);
    command.env("TESSERA_BASE_URL", "https://media.example").env("TESSERA_KIND", "hosted");
    command.env("TESSERA_API_KEY", "ak_1").env("TESSERA_API_SECRET", "canary");
    let (code, out, err) = outcome(&mut command);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("media-example\thosted\thttps://media.example"), "{out}");
    assert!(!settings(home).contains("canary") && settings(home).contains("ak_1"));
    assert!(!home.join("tessera/secrets.toml").exists(), "the secret stays where it is");

    let pictures = picture_folder(home, "pictures", &["a.png"]);
    let (code, _, err) = run(home, &["init", "--local", pictures.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = run(home, &["-p", "pictures", "dataset", "list"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\tpictures\tREADY\t"), "{out}");
}

#[test]
fn without_a_terminal_the_short_help_is_printed() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(home.path(), &[]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("Usage:") && err.contains("tessera demo"), "{err}");
    let (code, _, err) = run(home.path(), &["tui", "set", "--tab", "elsewhere"]);
    assert_eq!(code, 2);
    assert!(err.contains("results") && err.contains("basket"), "{err}");
}

#[test]
fn the_short_help_fits_a_screen_and_a_folder_stands_for_open() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, err) = run(home.path(), &["-h"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.lines().count() <= 24 && out.contains("Select and export"), "{out}");
    let (code, out, _) = run(home.path(), &["help", "options"]);
    assert_eq!(code, 0);
    assert!(out.contains("--ca-file") && !out.contains("Usage"), "{out}");
    // Without a terminal the interface does not start, but the word was taken for a folder.
    fs::create_dir(home.path().join("photos")).unwrap();
    for folder in ["photos", "./photos", "."] {
        let (code, _, err) = outcome(tessera(home.path(), &[folder]).current_dir(home.path()));
        assert_eq!(code, 2);
        assert!(err.contains("the interface needs a terminal"), "{folder}: {err}");
    }
    let (_, _, err) = run(home.path(), &["~/photos"]);
    assert!(err.contains("the folder ~/photos does not exist"), "{err}");
    let (code, _, err) = run(home.path(), &["serch"]);
    assert_eq!(code, 2);
    assert!(err.contains("try: tessera search"), "{err}");
}

#[test]
fn paths_in_messages_cannot_control_the_terminal() {
    let home = home("");
    let project = home.path().join("\u{1b}]0;title\u{7}\u{9b}31m\u{202e}");
    fs::create_dir(&project).unwrap();
    fs::write(project.join(".tessera.toml"), "[export]\nformat = 'parquet'\n").unwrap();
    for arguments in [&["profile", "list"][..], &["dataset", "list", "--json"]] {
        let (_, _, err) = outcome(tessera(home.path(), arguments).current_dir(&project));
        assert!(err.contains("project settings") && err.contains("title"), "{err}");
        let hostile = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!err.contains(hostile), "{err:?}");
    }
}

#[test]
fn commands_work_with_a_home_that_is_not_a_folder() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [&["profile", "list"][..], &["config", "show"], &["config", "validate"]] {
        let mut command = tessera(home.path(), arguments);
        let (code, _, err) = outcome(command.env("XDG_CONFIG_HOME", "/dev/null"));
        assert_eq!(code, 0, "{arguments:?}: {err}");
    }
}
