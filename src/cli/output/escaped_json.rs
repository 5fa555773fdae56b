//! JSON that is safe to print to a terminal: characters that JSON allows but a terminal interprets,
//! such as C1 controls and bidirectional overrides, are `\u` escapes.

use std::io;

use serde::Serialize as _;
use serde_json::{
    Serializer, Value,
    ser::{CompactFormatter, Formatter, PrettyFormatter},
};

pub(super) fn pretty(value: &Value) -> String {
    serialize(value, EscapingFormatter(PrettyFormatter::new()))
}

pub(super) fn compact(value: &Value) -> String {
    serialize(value, EscapingFormatter(CompactFormatter))
}

fn serialize(value: &Value, formatter: impl Formatter) -> String {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail, and all keys are strings.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a terminal would interpret the character instead of showing it.
pub(super) fn is_terminal_active(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0x61C | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE007F)
}

struct EscapingFormatter<F>(F);

impl<F: Formatter> Formatter for EscapingFormatter<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_terminal_active(*c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn m7_what_a_terminal_acts_on_is_escaped_and_means_the_same() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2028}\u{85}\u{200f}é\u{e0041}😀\"";
        for text in [compact(&json!({ "name": hostile })), pretty(&json!([hostile]))] {
            assert!(text.chars().all(|c| c == '\n' || !is_terminal_active(c)), "{text:?}");
            assert!(text.contains('é') && text.contains('😀'));
            let back: Value = serde_json::from_str(&text).unwrap();
            assert!(back == json!({ "name": hostile }) || back == json!([hostile]));
        }
        assert_eq!(
            compact(&json!({ "a": [1, 2.5, null, {}], "b": {} })),
            r#"{"a":[1,2.5,null,{}],"b":{}}"#
        );
    }
}
