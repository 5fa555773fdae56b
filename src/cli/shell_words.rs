//! Reads the words of a line that is being typed in a shell, and quotes the words that complete it. Shells pass typed
//! words as they are on the line, with their quotes and backslashes.

/// Removes quotes and backslashes as a shell does. The last quote may still be open.
pub(super) fn unquoted(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let (mut letters, mut quote) = (word.chars(), None);
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            ('\\', None) => plain.extend(letters.next()),
            ('\\', Some('"')) => match letters.next() {
                Some(escaped) if r#""$`\"#.contains(escaped) => plain.push(escaped),
                other => plain.extend(['\\'].into_iter().chain(other)),
            },
            _ => plain.push(letter),
        }
    }
    plain
}

/// The quote in which a word is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenQuote {
    None,
    Single,
    Double,
}

impl OpenQuote {
    /// `start` is the beginning of the typed word.
    pub(super) fn from_start(start: &str) -> Self {
        match start.chars().next() {
            Some('\'') => Self::Single,
            Some('"') => Self::Double,
            _ => Self::None,
        }
    }

    /// Quotes a word, so that a shell that inserts it as it is reads it literally. A home folder at its beginning is
    /// kept.
    pub(super) fn quote(self, word: &str) -> String {
        match self {
            Self::Single => word.replace('\'', r"'\''"),
            Self::Double => escaped(word, |letter| r#""$`\"#.contains(letter)),
            Self::None => match word.strip_prefix("~/") {
                Some(below_home) => format!("~/{}", escaped(below_home, is_special)),
                None => escaped(word, is_special),
            },
        }
    }
}

fn is_special(letter: char) -> bool {
    letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"_-./,+@%:=".contains(letter)
}

fn escaped(word: &str, is_special: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(word.len());
    for letter in word.chars() {
        if is_special(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_words_are_read_as_a_shell_reads_them() {
        for (typed, plain) in [
            ("plain", "plain"),
            (r"my\ dir/", "my dir/"),
            (r#""my d"#, "my d"),
            ("'my d", "my d"),
            (r"'it'\''s", "it's"),
            (r#""a\"b\$c\d"#, r#"a"b$c\d"#),
            ("~/pi", "~/pi"),
            (r"a\", "a"),
        ] {
            assert_eq!(unquoted(typed), plain, "{typed}");
        }
    }

    #[test]
    fn quoted_words_are_read_back_and_keep_the_home_folder() {
        for word in
            ["my dir/", "it's", "a$b`c", "semi;colon", "caf\u{e9} 😀", "~x", "#x", "{a,b}!^"]
        {
            for quote in [OpenQuote::None, OpenQuote::Single, OpenQuote::Double] {
                let start = match quote {
                    OpenQuote::None => "",
                    OpenQuote::Single => "'",
                    OpenQuote::Double => "\"",
                };
                assert_eq!(OpenQuote::from_start(&format!("{start}x")), quote);
                assert_eq!(unquoted(&format!("{start}{}", quote.quote(word))), word);
            }
        }
        assert_eq!(OpenQuote::None.quote("~/my pics/"), r"~/my\ pics/");
    }
}
