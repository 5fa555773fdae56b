//! Defines text that is safe to print and to paste. No other text reaches standard output, standard
//! error or the clipboard, because almost every text contains names, details and file names that
//! come from outside.

use std::fmt::{self, Display};

use serde_json::Value;
use tessera_model::{Link, SafeText, ShellCommand, text::escape_json};

/// Lines without anything that a terminal interprets, except for the styles that this type adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintableText(String);

impl PrintableText {
    /// Makes each line of `text` printable. Tabs are kept, because they separate columns.
    pub fn lines(text: &str) -> Self {
        let mut printable = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            for (index, cell) in line.split('\t').enumerate() {
                if index > 0 {
                    printable.push('\t');
                }
                push_printable(&mut printable, cell);
            }
            printable.push_str(end);
        }
        Self(printable)
    }

    /// Formats a single line.
    pub fn line(text: impl Display) -> Self {
        Self::lines(&format!("{text}\n"))
    }

    /// Formats indented JSON, with a line break at the end.
    pub fn pretty_json(value: &Value) -> Self {
        Self(escape_json(&format!("{value:#}\n")))
    }

    /// Formats JSON on one line.
    pub fn compact_json(value: &Value) -> Self {
        Self(escape_json(&format!("{value}\n")))
    }

    /// Returns the whole link including its signature, percent-encoded, or `None` if it is not a
    /// link.
    pub fn exposed_link(link: &Link) -> Option<Self> {
        link.encoded().map(Self)
    }

    #[must_use]
    pub fn bold(self) -> Self {
        Self(format!("\u{1b}[1m{}\u{1b}[0m", self.0))
    }

    pub fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<SafeText> for PrintableText {
    fn from(text: SafeText) -> Self {
        Self(text.as_str().to_owned())
    }
}

impl From<ShellCommand> for PrintableText {
    fn from(command: ShellCommand) -> Self {
        Self::lines(command.as_str())
    }
}

impl Extend<Self> for PrintableText {
    fn extend<T: IntoIterator<Item = Self>>(&mut self, parts: T) {
        self.0.extend(parts.into_iter().map(|part| part.0));
    }
}

impl FromIterator<Self> for PrintableText {
    fn from_iter<T: IntoIterator<Item = Self>>(parts: T) -> Self {
        Self(parts.into_iter().map(|part| part.0).collect())
    }
}

impl Display for PrintableText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn push_printable(printable: &mut String, text: &str) {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        printable.push_str(text);
    } else {
        printable.push_str(SafeText::new(text, usize::MAX).as_str());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tessera_model::text::is_invisible;

    use super::*;

    const HOSTILE: &str = "a\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2028}\u{85}\u{200f}é\u{e0041}😀\"";

    fn is_printable(text: &PrintableText) -> bool {
        text.as_str()
            .chars()
            .all(|c| c == '\n' || c == '\t' || !(c.is_control() || is_invisible(u32::from(c))))
    }

    #[test]
    fn json_escapes_what_a_terminal_interprets() {
        let value = json!({ "name": HOSTILE });
        for text in [PrintableText::compact_json(&value), PrintableText::pretty_json(&value)] {
            assert!(is_printable(&text), "{text:?}");
            assert!(text.as_str().contains('é') && text.as_str().contains('😀'));
            assert_eq!(serde_json::from_str::<Value>(text.as_str()).unwrap(), value);
        }
        let compact = PrintableText::compact_json(&json!({ "a": [1, 2.5, null, {}], "b": {} }));
        assert_eq!(compact.as_str(), "{\"a\":[1,2.5,null,{}],\"b\":{}}\n");
    }

    #[test]
    fn lines_keep_their_breaks_and_tabs_and_nothing_else_that_controls() {
        let text = PrintableText::lines(&format!("{HOSTILE}\t{HOSTILE}\r\nb\n\nc"));
        assert!(is_printable(&text), "{text:?}");
        assert_eq!(text.as_str().split('\n').count(), 4);
        assert_eq!(text.as_str().matches('\t').count(), 1);
        assert_eq!(PrintableText::line("a b").as_str(), "a b\n");
        assert_eq!(PrintableText::lines("a").bold().as_str(), "\u{1b}[1ma\u{1b}[0m");
    }
}
