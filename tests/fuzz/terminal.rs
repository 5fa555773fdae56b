//! Fuzzes the replies of a terminal, and text from outside.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::{collection::vec, prelude::*};
use tessera::runtime::probe::LateReplyFilter;
use tessera_model::SafeText;

use super::{fuzz, mutation::mutated};

#[test]
fn late_replies_end_within_the_limit_of_keys() {
    let key = prop_oneof![Just('_'), Just('\\'), Just('g'), Just('p'), any::<char>()];
    let keys = vec((key, any::<bool>(), any::<bool>(), 0_u64..80), 0..200);
    fuzz(500, &keys, |keys| {
        let start = Instant::now();
        let (mut filter, mut now, mut dropped) = (LateReplyFilter::new(start), start, 0);
        for (letter, alt, control, pause) in keys {
            now += Duration::from_millis(pause);
            let mut modifiers = KeyModifiers::NONE;
            modifiers.set(KeyModifiers::ALT, alt);
            modifiers.set(KeyModifiers::CONTROL, control);
            let key = KeyEvent::new(KeyCode::Char(letter), modifiers);
            dropped = if filter.drops(now, &key) { dropped + 1 } else { 0 };
            let typed = !alt && pause > 50;
            assert!(!(typed && dropped > 0), "a key typed after a pause is never dropped");
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
