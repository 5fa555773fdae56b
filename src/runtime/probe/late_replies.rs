//! Filters terminal replies that arrive after the timeout, when the input reader takes them for
//! keys.
//!
//! The reader turns `ESC _ G ... ESC \` into Alt+`_`, the letters in between, and Alt+`\`. No key
//! binding starts like that, so everything up to the end is dropped: for a limited time and number
//! of keys, and only while they follow each other immediately.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// How long after the start replies are expected.
const REPLY_WINDOW: Duration = Duration::from_secs(10);
/// A reply arrives in one piece; after a longer pause it is the user.
const MAX_KEY_GAP: Duration = Duration::from_millis(50);
/// More than the longest reply.
const MAX_REPLY_KEYS: usize = 64;

#[derive(Clone, Debug)]
pub struct LateReplyFilter {
    started: Instant,
    open_reply: Option<(Instant, usize)>,
}

impl LateReplyFilter {
    pub fn new(started: Instant) -> Self {
        Self { started, open_reply: None }
    }

    /// Whether this key is part of a reply and must be dropped.
    pub fn drops(&mut self, now: Instant, key: &KeyEvent) -> bool {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let Some((last, count)) = self.open_reply else {
            let begins = alt && matches!(key.code, KeyCode::Char('_' | 'P' | 'p' | ']'));
            if begins && now.duration_since(self.started) < REPLY_WINDOW {
                self.open_reply = Some((now, 1));
            }
            return self.open_reply.is_some();
        };
        if now.duration_since(last) > MAX_KEY_GAP || count >= MAX_REPLY_KEYS {
            self.open_reply = None;
            return self.drops(now, key);
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        // `ESC \`, or a bell, which the reader takes for Ctrl+G.
        let ends =
            alt && key.code == KeyCode::Char('\\') || control && key.code == KeyCode::Char('g');
        self.open_reply = (!ends).then_some((now, count + 1));
        true
    }
}
