//! Tests the user's own commands in the real binary: what they are given, how they get the terminal, and how a failure
//! is shown.

use std::fs;

use super::{Program, pty};

const SETTINGS: &str = r#"
[[commands]]
name = "Collect"
run = ["sh", "-c", 'echo "in the terminal: $#"; cp "$0" files; printf "%s\n" "$@" > words', "{list}", "{paths}"]
key = "! c"
terminal = true

[[commands]]
name = "One"
run = ["sh", "-c", 'printf "%s\n" "$@" > one; cp "$0" selection.json', "{selection}", "{path}", "--of={dataset}"]
key = "! o"

[[commands]]
name = "Fail"
run = ["sh", "-c", 'echo "cannot do it" >&2; exit 3']
key = "! f"
"#;

#[test]
fn a_command_gets_what_is_selected_and_the_terminal_if_it_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.toml");
    fs::write(&settings, SETTINGS).unwrap();
    let script = "mkdir -p \"$XDG_CONFIG_HOME/tessera\" && mv settings.toml \"$XDG_CONFIG_HOME/tessera/config.toml\"
        exec tessera demo --images 12 --data data";
    let mut program = pty::Program::script(script, folder);
    program.wait_for("7 clusters");
    program.press("!");
    program.wait_for("Collect");
    program.press("f");
    program.wait_for("exit status: 3: cannot do it");
    program.press("!o");
    program.wait_for("started your command");
    program.press("V");
    program.wait_for("basket 7");
    program.press("!c");
    // The interface is back at once, so the line is not on the screen for long.
    program.wait_for_after(0, "in the terminal: 12");
    let before = program.output().len();
    // The interface is back, and takes keys.
    program.press("?");
    program.wait_for_after(before, "In Results");
    program.press("\x1b");
    program.wait_until_gone("In Results");
    program.press("q");
    assert_eq!(program.wait(), 0, "{}", program.output());

    let read = |name: &str| fs::read_to_string(program.home().join(name)).unwrap();
    let words = read("words");
    let files = read("files");
    let list: Vec<&str> = files.split_terminator('\0').collect();
    assert_eq!(words.lines().collect::<Vec<_>>(), list);
    assert_eq!(list.len(), 12);
    assert!(list.iter().all(|file| fs::metadata(file).is_ok()), "{list:?}");
    let one = read("one");
    let one: Vec<&str> = one.lines().collect();
    assert!(list.contains(&one[0]) && one[1].starts_with("--of=") && one.len() == 2, "{one:?}");
    let selection: serde_json::Value = serde_json::from_str(&read("selection.json")).unwrap();
    assert!(selection["media_selection"].is_array(), "{selection}");
}

#[test]
fn a_key_that_cannot_be_typed_is_named_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "commands = [{ name = \"a\", run = [\"a\"], key = \"g\" }]";
    fs::write(folder.path().join("settings.toml"), settings).unwrap();
    let script = "mkdir -p \"$XDG_CONFIG_HOME/tessera\" && mv settings.toml \"$XDG_CONFIG_HOME/tessera/config.toml\"
        tessera config validate || true; exec tessera demo --images 12 --data data";
    let mut program: Program = pty::Program::script(script, folder);
    assert_eq!(program.wait(), 2);
    let output = program.output();
    assert!(output.contains("config.toml  1 "), "{output}");
    assert_eq!(output.matches("`g` cannot be typed beside `g").count(), 2, "{output}");
    assert!(!output.contains("generating"), "the mistake is named before the work: {output}");
}
