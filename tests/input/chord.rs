//! Tests `input::chord`: how chords are read and printed.

use tessera_config::input::{Chord, SequenceSplitter, TerminalInput, decode};

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
