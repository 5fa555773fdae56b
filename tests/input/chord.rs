//! Tests `input::chord`: how chords are read and printed.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;

use tessera::input::Chord;

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
    let upper = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::NONE);
    let shifted = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::SHIFT);
    assert_eq!(Chord::from_terminal(upper), Chord::from_terminal(shifted));
    let back = KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT);
    assert_eq!(Chord::from_terminal(back), Some("shift-tab".parse().unwrap()));
}
