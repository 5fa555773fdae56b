//! Reads the lists of rows in the text files of `assets`, which have one row for each thing, so that a new one is added
//! in one place.

/// Returns the rows of a text file: a name, a colon and a text each. A line that begins with `#` is a comment.
pub fn rows(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "))
}

/// Returns the text of the row with this name. A row may have several names with spaces between them.
pub fn text_of(file: &'static str, name: &str) -> Option<&'static str> {
    let is_named = |names: &str| names.split(' ').any(|each| each == name);
    rows(file).find(|(names, _)| is_named(names)).map(|(_, text)| text)
}
