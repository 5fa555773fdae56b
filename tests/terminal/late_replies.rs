//! Tests replies of a terminal that arrive after the timeout of the probe.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tessera::runtime::probe::LateReplyFilter;

/// The maximum number of keys that are dropped as one reply.
const MAX_REPLY_KEYS: usize = 64;

fn keys(text: &str) -> Vec<KeyEvent> {
    let mut keys = Vec::new();
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        let (code, modifiers) = match next {
            '\x1b' => (chars.next().expect("a key after ESC"), KeyModifiers::ALT),
            other => (other, KeyModifiers::NONE),
        };
        keys.push(KeyEvent::new(KeyCode::Char(code), modifiers));
    }
    keys
}

#[test]
fn late_replies_never_become_keys() {
    for delay in [0, 400, 5_000] {
        let start = Instant::now();
        let now = start + Duration::from_millis(delay);
        let mut filter = LateReplyFilter::new(start);
        for key in keys("\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.36.4)\x1b\\\x1b]11;rgb:0/0/0\x1b\\") {
            assert!(filter.drops(now, &key), "{key:?} after {delay} ms");
        }
        assert!(!filter.drops(now, &keys("j")[0]));
    }
}

#[test]
fn typed_keys_pass() {
    let start = Instant::now();
    let mut filter = LateReplyFilter::new(start);
    for key in keys("jk\x1bxq") {
        assert!(!filter.drops(start, &key));
    }
    // A typed Alt+P loses only this one key, and after the time window it loses nothing.
    assert!(filter.drops(start, &keys("\x1bP")[0]));
    let later = start + Duration::from_millis(100);
    assert!(!filter.drops(later, &keys("j")[0]));
    assert!(!filter.drops(start + Duration::from_secs(10), &keys("\x1bP")[0]));
}

#[test]
fn an_endless_reply_is_limited() {
    let start = Instant::now();
    let mut filter = LateReplyFilter::new(start);
    let endless = format!("\x1b_{}", "x".repeat(MAX_REPLY_KEYS));
    let dropped = keys(&endless).iter().filter(|key| filter.drops(start, key)).count();
    assert_eq!(dropped, MAX_REPLY_KEYS);
}
