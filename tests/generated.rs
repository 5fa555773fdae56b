//! Compares the generated parts of the documentation with their sources: keys, settings, exit codes, and the coverage
//! of the API document. `TESSERA_WRITE=1 cargo test --test tests generated` rewrites these parts.

use std::{fmt::Write as _, fs, path::Path};

use tessera::cli::Exit;
use tessera_config::input::{Action, KeyContext, Keymap, action::ActionGroup};
use tessera_config::key::KEYS;

fn key_table() -> String {
    let keymap = Keymap::built_in().unwrap();
    let contexts: Vec<KeyContext> = keymap.contexts().collect();
    let mut table = String::from("| Keys | Action |\n|---|---|\n");
    for group in ActionGroup::ALL {
        let actions = Action::ALL.iter().filter(|action| action.group() == group);
        for &action in actions.filter(|action| action.tab_index().is_none_or(|index| index == 0)) {
            if action.tab_index().is_some() {
                table.push_str("| `Alt-1` … `Alt-9` | Go to a results tab |\n");
                continue;
            }
            let mut keys: Vec<String> = Vec::new();
            for key in keymap.keys_of(&contexts, action).iter().map(|keys| format!("`{keys}`")) {
                // Several contexts may have the same key.
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
            writeln!(table, "| {} | {} |", keys.join(" "), action.help()).unwrap();
        }
    }
    table
}

fn config_block() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    format!("```toml\n{}```\n", fs::read_to_string(root.join("assets/config.toml")).unwrap())
}

fn project_key_list() -> String {
    let keys = KEYS.iter().filter(|key| key.in_projects);
    keys.fold(String::new(), |list, key| list + &format!("- `{}`\n", key.name))
}

fn exit_code_table() -> String {
    let mut table = String::from("| Code | Meaning |\n|---|---|\n");
    for exit in Exit::ALL {
        writeln!(table, "| {} | {} |", exit as u8, exit.meaning()).unwrap();
    }
    table
}

#[test]
fn the_documentation_lists_the_keys_settings_and_exit_codes_of_the_program() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let blocks = [
        ("keys.md", "keys", key_table()),
        ("settings.md", "config", config_block()),
        ("settings.md", "project keys", project_key_list()),
        ("scripting.md", "exit codes", exit_code_table()),
        ("coverage.md", "coverage", crate::coverage::table()),
    ];
    for (page, name, block) in blocks {
        let path = docs.join(page);
        let text = fs::read_to_string(&path).unwrap();
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let start = text.find(&begin).unwrap() + begin.len();
        let stop = text.find(&end).unwrap();
        let mut expected = text.clone();
        expected.replace_range(start..stop, &block);
        if std::env::var_os("TESSERA_WRITE").is_some() {
            fs::write(&path, &expected).unwrap();
        } else {
            assert_eq!(text, expected, "run TESSERA_WRITE=1 cargo test --test tests generated");
        }
    }
}
