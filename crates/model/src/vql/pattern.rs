//! Patterns of paths: `*` matches within a name, `**` also across folders, `?` one character, `[a-z]` one of several,
//! and `{a,b}` one of the alternatives. A backslash takes the next character literally.
//!
//! A pattern matches a file, or all files of a folder: `train` matches `train/cat/1.jpg`. A pattern becomes a regular
//! expression, which the search in memory and PostgreSQL both run. The expressions of existing crates match bytes,
//! which PostgreSQL's expressions cannot. Patterns are in NFC, and are compared with paths in NFC.

use super::{InvalidField, values::non_empty};
use crate::text::composed;

/// A pattern of paths relative to the folder of the dataset, or of names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathPattern {
    text: String,
    /// The regular expression without anchors.
    regex: String,
}

impl PathPattern {
    pub const MAX_CHARS: usize = 1_000;
    /// Maximum number of `*` and `**`. The limit is needed because PostgreSQL's time grows with them.
    pub const MAX_WILDCARDS: usize = 16;

    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        let text = composed(&non_empty(raw, Self::MAX_CHARS, "a pattern")?).into_owned();
        let inner = text.strip_prefix("./").unwrap_or(&text).trim_matches('/');
        let regex = if inner.is_empty() { ".*".to_owned() } else { translate(inner)? };
        Ok(Self { text, regex })
    }

    /// Returns the pattern that matches exactly this path, or the files in it.
    pub fn literal(path: &str) -> Result<Self, InvalidField> {
        let mut text = String::new();
        for c in path.chars() {
            if "*?[{\\".contains(c) {
                text.push('\\');
            }
            text.push(c);
        }
        Self::new(&text)
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the regular expression for whole paths: the file itself, or everything in a folder.
    pub fn path_regex(&self) -> String {
        format!("^(?:{})(?:/.*)?$", self.regex)
    }

    /// Returns the regular expression for whole names.
    pub fn name_regex(&self) -> String {
        format!("^(?:{})$", self.regex)
    }

    /// Returns the characters with which every matching path begins.
    pub fn literal_prefix(&self) -> &str {
        let inner = self.text.strip_prefix("./").unwrap_or(&self.text).trim_matches('/');
        let end = inner.find(['*', '?', '[', '{', '\\']).unwrap_or(inner.len());
        &inner[..end]
    }
}

fn invalid(reason: &str) -> InvalidField {
    InvalidField::new("value", format!("the pattern {reason}"))
}

fn translate(pattern: &str) -> Result<String, InvalidField> {
    let mut regex = String::new();
    let mut rest = pattern.chars().peekable();
    let (mut wildcards, mut in_group) = (0, false);
    while let Some(c) = rest.next() {
        match c {
            '*' => {
                wildcards += 1;
                let crosses_folders = rest.next_if_eq(&'*').is_some();
                let begins_name =
                    regex.is_empty() || regex.ends_with('/') || regex.ends_with("/)?");
                regex.push_str(match crosses_folders {
                    // `**/` also matches no folder at all.
                    true if begins_name && rest.next_if_eq(&'/').is_some() => "(?:.*/)?",
                    true => ".*",
                    false => "[^/]*",
                });
            }
            '?' => regex.push_str("[^/]"),
            '[' => push_class(&mut regex, &mut rest)?,
            '{' if in_group => return Err(invalid("has braces inside braces")),
            '{' => {
                in_group = true;
                regex.push_str("(?:");
            }
            '}' if in_group => {
                in_group = false;
                regex.push(')');
            }
            ',' if in_group => regex.push('|'),
            '\\' => {
                let next = rest.next().ok_or_else(|| invalid("ends with a backslash"))?;
                push_literal(&mut regex, next);
            }
            c => push_literal(&mut regex, c),
        }
    }
    if in_group {
        return Err(invalid("has a brace that is not closed"));
    }
    if wildcards > PathPattern::MAX_WILDCARDS {
        return Err(invalid("has more than 16 wildcards"));
    }
    Ok(regex)
}

/// Writes a list of characters, of which the opening bracket is read already.
fn push_class(
    regex: &mut String,
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
) -> Result<(), InvalidField> {
    let is_negated = rest.next_if(|c| matches!(c, '!' | '^')).is_some();
    regex.push_str(if is_negated { "[^/" } else { "[" });
    let mut is_empty = true;
    loop {
        let first = rest.next().ok_or_else(|| invalid("has a bracket that is not closed"))?;
        match first {
            ']' if !is_empty => break,
            '/' => return Err(invalid("has a slash in brackets")),
            _ => {}
        }
        is_empty = false;
        push_literal(regex, first);
        if rest.peek() == Some(&'-') {
            rest.next();
            match rest.next_if(|c| *c != ']') {
                Some(last) if first <= last && !(first..=last).contains(&'/') => {
                    regex.push('-');
                    push_literal(regex, last);
                }
                Some(_) => return Err(invalid("has a range that does not exist, or with a slash")),
                None => push_literal(regex, '-'),
            }
        }
    }
    regex.push(']');
    Ok(())
}

fn push_literal(regex: &mut String, c: char) {
    // Only these characters have a meaning, as in `regex_syntax::escape`. An escape gives a meaning to some of the other
    // characters: `\<` is the start of a word.
    if r"\.+*?()|[]{}^$#&-~".contains(c) {
        regex.push('\\');
    }
    regex.push(c);
}
