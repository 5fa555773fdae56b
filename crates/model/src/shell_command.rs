//! A command line that the user can paste into a shell. It is made of fixed text and of quoted words, which the shell
//! reads exactly as they are. Nothing else can become part of it, so a file name can neither end a word nor send
//! control characters to the terminal.

use std::{borrow::Cow, ffi::OsStr, fmt, fmt::Write as _, os::unix::ffi::OsStrExt as _};

use shell_words::quote;

use crate::SafeText;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand(String);

impl ShellCommand {
    pub fn new(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// Appends fixed text, after a space.
    #[must_use]
    pub fn text(self, text: &'static str) -> Self {
        self.append(text)
    }

    /// Appends a quoted word, after a space.
    #[must_use]
    pub fn word(self, word: impl AsRef<OsStr>) -> Self {
        self.append(&quoted(word.as_ref()))
    }

    #[must_use]
    pub fn option(self, flag: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.text(flag).word(value)
    }

    /// Appends options that were saved as text.
    #[must_use]
    pub fn saved_options(self, options: &SafeText) -> Self {
        self.append(options.as_str())
    }

    #[must_use]
    pub fn followed_by(self, rest: &Self) -> Self {
        self.append(&rest.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn append(mut self, text: &str) -> Self {
        if !self.0.is_empty() && !text.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(text);
        self
    }
}

impl From<&'static str> for ShellCommand {
    fn from(text: &'static str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Quotes a word. Bytes that a terminal or the clipboard could misinterpret are escaped (`$'\033'`), which `bash`,
/// `zsh`, `ksh` and POSIX 2024 understand.
fn quoted(word: &OsStr) -> String {
    if let Some(text) = word.to_str()
        && SafeText::new(text, usize::MAX).as_str() == text
    {
        let quoted = quote(text);
        // The library leaves what only some shells interpret: braces, the history of `bash` and `csh`, and `zsh`'s
        // extended patterns.
        return match quoted {
            Cow::Borrowed(plain) if plain.contains(['{', '}', '!', '^']) => format!("'{plain}'"),
            quoted => quoted.into_owned(),
        };
    }
    let mut escaped = "$'".to_owned();
    for byte in word.as_bytes() {
        match byte {
            b'\'' | b'\\' => escaped.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => escaped.push(char::from(*byte)),
            // Three octal digits are written, because a hexadecimal escape would absorb a hexadecimal digit that
            // follows.
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\{byte:03o}");
            }
        }
    }
    escaped + "'"
}
