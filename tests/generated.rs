//! What the README shows of the assets is what the assets say. `TESSERA_WRITE=1 cargo test --test
//! generated` writes it anew.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fmt::Write as _, fs, path::Path};

use tessera::input::{Action, KeyContext, Keymap, action::ActionGroup};

fn key_table() -> String {
    let keymap = Keymap::built_in().unwrap();
    let contexts: Vec<KeyContext> = keymap.contexts().collect();
    let mut table = String::from("| Keys | Action |\n|---|---|\n");
    for group in ActionGroup::ALL {
        for &action in Action::ALL.iter().filter(|action| action.group() == group) {
            let keys: Vec<String> =
                keymap.keys_of(&contexts, action).iter().map(|keys| format!("`{keys}`")).collect();
            writeln!(table, "| {} | {} |", keys.join(" "), action.help()).unwrap();
        }
    }
    table
}

fn config_block() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    format!("```toml\n{}```\n", fs::read_to_string(root.join("assets/config.toml")).unwrap())
}

#[test]
fn the_readme_shows_the_keys_and_settings_there_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let mut expected = readme.clone();
    for (name, block) in [("keys", key_table()), ("config", config_block())] {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let start = expected.find(&begin).unwrap() + begin.len();
        let stop = expected.find(&end).unwrap();
        expected.replace_range(start..stop, &block);
    }
    if std::env::var_os("TESSERA_WRITE").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert_eq!(readme, expected, "run TESSERA_WRITE=1 cargo test --test generated");
    }
}
