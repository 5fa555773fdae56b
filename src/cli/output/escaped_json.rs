//! JSON that is safe to print to a terminal: characters that JSON allows but a terminal interprets,
//! such as C1 controls and bidirectional overrides, are `\u` escapes.

use std::fmt::Write as _;

use serde_json::Value;

/// Indented, with a line break at the end.
pub(super) fn pretty(value: &Value) -> String {
    escape(&format!("{value:#}\n"))
}

/// One line.
pub(in crate::cli) fn compact(value: &Value) -> String {
    escape(&format!("{value}\n"))
}

/// Escapes what JSON allows in strings; line breaks occur only between tokens.
fn escape(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_terminal_control(c) {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

pub(super) fn is_terminal_control(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0x61C | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn characters_that_a_terminal_interprets_are_escaped() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2028}\u{85}\u{200f}é\u{e0041}😀\"";
        for text in [compact(&json!({ "name": hostile })), pretty(&json!([hostile]))] {
            assert!(text.chars().all(|c| c == '\n' || !is_terminal_control(c)), "{text:?}");
            assert!(text.contains('é') && text.contains('😀'));
            let back: Value = serde_json::from_str(&text).unwrap();
            assert!(back == json!({ "name": hostile }) || back == json!([hostile]));
        }
        assert_eq!(
            compact(&json!({ "a": [1, 2.5, null, {}], "b": {} })),
            "{\"a\":[1,2.5,null,{}],\"b\":{}}\n"
        );
    }
}
