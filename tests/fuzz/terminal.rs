//! Fuzzes what a terminal sends, and text from outside.

use tessera_config::input::{Chord, Key, SequenceSplitter, TerminalInput, decode};
use tessera_model::SafeText;

use super::{fuzz, mutation::mutated};

#[test]
fn what_a_terminal_sends_is_the_same_however_it_is_split() {
    let corpus = [
        "\u{1b}[200~a\u{1b}[201~",
        "\u{1b}P>|kitty\u{1b}\\\u{1b}[?62;4c",
        "\u{1b}[1081::113;;1081u",
        "й\u{1b}OA",
    ];
    let corpus = corpus.map(|text| text.as_bytes().to_vec()).to_vec();
    let tokens = &[
        "\u{1b}",
        "\u{1b}[",
        "\u{1b}]11;",
        "\u{1b}\\",
        "\u{1b}[M",
        "\u{1b}[<0;",
        "u",
        "~",
        "\u{7}",
        "\u{3}",
    ];
    fuzz(5_000, &mutated(corpus, tokens), |input| {
        let mut whole = SequenceSplitter::default();
        let expected = whole.feed(&input.0);
        let mut pieces = SequenceSplitter::default();
        let found: Vec<_> = input.0.iter().flat_map(|byte| pieces.feed(&[*byte])).collect();
        assert_eq!(found, expected);
        for decoded in found.into_iter().flat_map(decode) {
            let is_key = |chord: Chord| matches!(chord.key, Key::Char(c) if c.is_control());
            assert!(!matches!(decoded, TerminalInput::Key(chord) if is_key(chord)), "{decoded:?}");
        }
    });
}

#[test]
fn text_from_outside_contains_no_control_characters() {
    let corpus = ["\u{1b}]0;title\u{7}", "\u{202e}abc", "e\u{301}\u{301}", "\u{9b}31m", "👨‍👩‍👧"];
    let corpus = corpus.map(|text| text.as_bytes().to_vec()).to_vec();
    let tokens =
        &["\u{1b}[", "\u{200b}", "\u{2028}", "\u{e0001}", "\u{fe0f}", "\u{300}", "\r", "\u{85}"];
    fuzz(5_000, &mutated(corpus, tokens), |input| {
        let text = String::from_utf8_lossy(&input.0);
        for safe in [SafeText::name(&text), SafeText::caption(&text)] {
            let hostile = |letter: char| {
                letter.is_control() && letter != '\n' || ('\u{202a}'..='\u{202e}').contains(&letter)
            };
            assert!(!safe.as_str().chars().any(hostile), "{safe:?}");
        }
    });
}
