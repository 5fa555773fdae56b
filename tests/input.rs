//! Tests `tessera_config::input`: how chords are read and printed, bindings, contexts and overrides.

use std::path::Path;

use tessera_config::input::{
    Action, Chord, KeyContext, KeyMatch, Keymap, SequenceSplitter, TerminalInput, decode,
};

fn keys(written: &str) -> Vec<Chord> {
    written.split(' ').map(|chord| chord.parse().unwrap()).collect()
}

#[test]
fn the_built_in_keymap_binds_every_action() {
    let keymap = Keymap::built_in().unwrap();
    let contexts: Vec<KeyContext> = keymap.contexts().collect();
    for &action in Action::ALL {
        assert!(!keymap.keys_of(&contexts, action).is_empty(), "{action:?} has no key");
    }
}

#[test]
fn inner_contexts_win_and_sequences_wait() {
    let keymap =
        Keymap::parse("[everywhere]\nfirst = ['g g']\nquit = ['q']\n[jobs]\nback = ['q']").unwrap();
    let jobs = [KeyContext::Jobs, KeyContext::Everywhere];
    assert_eq!(keymap.resolve(&jobs, &keys("g")), KeyMatch::Pending);
    assert_eq!(keymap.resolve(&jobs, &keys("g g")), KeyMatch::Action(Action::First));
    assert_eq!(keymap.resolve(&jobs, &keys("q")), KeyMatch::Action(Action::Back));
    assert_eq!(keymap.resolve(&jobs, &keys("x")), KeyMatch::Unbound);
}

#[test]
fn keys_that_an_inner_context_or_a_command_takes_are_not_active() {
    let source = "[everywhere]\nprevious-page = ['p', 'alt-p']\nfirst = ['g g']\nlast = ['g e']\n\
                  export = ['e']\n[tagging]\npick = ['p']\nreject = ['g e']\n[jobs]\ninspect = ['g']";
    let keymap = Keymap::parse(source).unwrap();
    let keymap = keymap.with_custom_commands(vec![(keys("e"), 0)]).unwrap();
    let active = |context, action| {
        keymap.active_keys_of(&[context, KeyContext::Everywhere], action).join(", ")
    };
    assert_eq!(active(KeyContext::Tagging, Action::Pick), "p");
    assert_eq!(active(KeyContext::Tagging, Action::PreviousPage), "Alt-p");
    assert_eq!(active(KeyContext::Tagging, Action::Export), "");
    assert_eq!(active(KeyContext::Tagging, Action::First), "g g");
    assert_eq!(active(KeyContext::Jobs, Action::First), "", "the first key inspects");
    let contexts = [KeyContext::Tagging, KeyContext::Everywhere];
    let continuations = [("e".to_owned(), Action::Reject), ("g".to_owned(), Action::First)];
    assert_eq!(keymap.continuations(&contexts, &keys("g")), continuations);
}

#[test]
fn user_bindings_replace_line_by_line_and_report_actions_without_keys() {
    let shipped = Keymap::built_in().unwrap();
    let source = "[everywhere]\nquit = ['Q']\nexport = ['f']";
    let (keymap, lost) = shipped.with_overrides(source).unwrap();
    let everywhere = [KeyContext::Everywhere];
    assert_eq!(keymap.resolve(&everywhere, &keys("Q")), KeyMatch::Action(Action::Quit));
    assert_eq!(keymap.resolve(&everywhere, &keys("q")), KeyMatch::Unbound);
    assert_eq!(keymap.resolve(&everywhere, &keys("f")), KeyMatch::Action(Action::Export));
    assert_eq!(keymap.resolve(&everywhere, &keys("j")), KeyMatch::Action(Action::Down));
    assert_eq!(lost, [Action::Similar]);
    assert!(keymap.has_action(KeyContext::Everywhere, Action::Similar), "menus offer it");
    let (keymap, lost) = keymap.with_overrides("[everywhere]\nquit = []").unwrap();
    assert_eq!(keymap.resolve(&everywhere, &keys("Q")), KeyMatch::Unbound);
    assert_eq!(lost, [Action::Similar, Action::Quit]);
}

#[test]
fn errors_name_the_unknown_word() {
    for (source, word) in [
        (
            "[nowhere]\nquit = ['q']",
            "`[nowhere]` is not a key context; there are everywhere, datasets",
        ),
        ("[everywhere]\nfly = ['q']", "fly"),
        ("[everywhere]\nquit = ['hyper-q']", "hyper-q"),
        ("[everywhere]\nfirst = ['g then g']", "one space between its keys, as in `g g`"),
        ("[everywhere]\nquit = ['q']\nback = ['q']", "twice"),
        ("[everywhere]\nfirst = ['g g']\nlast = ['g']", "is a prefix of"),
    ] {
        assert!(Keymap::parse(source).unwrap_err().reason.contains(word), "{source}");
    }
}

#[test]
fn every_mistake_of_a_key_file_is_reported() {
    let source = "[nowhere]\nquit = ['q']\n[everywhere]\nfly = ['f']\nfirst = ['g g', 'g', 'x']";
    let error = Keymap::parse(source).unwrap_err().reason;
    let expected = "[everywhere] first: `g` is a prefix of another binding, or starts with one; `fly` in [everywhere] is \
                    not an action; `:` in the interface lists the actions; `[nowhere]` is not a key context; ";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn a_key_file_that_is_not_toml_has_its_error_in_one_line() {
    let error = Keymap::parse("[everywhere]\nquit = q\n").unwrap_err();
    assert_eq!(error.position, Some((2, 8)), "{error}");
    let shown = error.in_file(Path::new("keys.toml")).to_string();
    assert!(shown.starts_with("keys.toml, line 2, column 8: "), "{shown}");
    assert_eq!(shown.lines().count(), 1, "{shown}");
}

#[test]
fn chords_are_read_and_printed() {
    for (written, printed) in [
        ("q", "q"),
        ("G", "G"),
        ("ctrl-p", "Ctrl-P"),
        ("shift-tab", "Shift-Tab"),
        ("-", "-"),
        ("ctrl--", "Ctrl--"),
        ("f1", "F1"),
        ("space", "Space"),
        ("pagedown", "PgDn"),
    ] {
        assert_eq!(written.parse::<Chord>().unwrap().to_string(), printed);
    }
    assert!("f13".parse::<Chord>().is_err());
    assert!("hyper-x".parse::<Chord>().is_err());
}

#[test]
fn shifted_letters_are_one_key_however_reported() {
    let keys = |bytes: &str| -> Vec<TerminalInput> {
        let sequences = SequenceSplitter::default().feed(bytes.as_bytes());
        sequences.into_iter().flat_map(decode).collect()
    };
    assert_eq!(keys("G"), keys("\x1b[103:71;2u"));
    assert_eq!(keys("G"), keys("\x1b[103;2u"));
    assert_eq!(keys("\x1b[Z"), [TerminalInput::Key("shift-tab".parse().unwrap())]);
    assert_eq!(keys("\x1b[9;2u"), keys("\x1b[Z"));
}
