//! Handles the keys that dialogs share: keys of text fields, of typed paths with completion, of forms, and of texts
//! that scroll.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use tessera_config::input::{Chord, Key};
use tessera_model::{FolderEntry, FolderListing, FolderQuery};
use tui_input::{Input, InputRequest};

use crate::{
    app::pane::cycle,
    drawing::{Prefilled, ScrollState},
    file_uri::{is_file_uri, local_path_of_file_uri, without_comments},
};

/// What a dialog wants after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyResult {
    Stay,
    Close,
    /// The dialog closes, and `Dialog::accept` is called.
    Accept,
    /// The form below the dialog is shown again.
    Back,
}

impl KeyResult {
    /// Returns what happens to a dialog that only asks for confirmation. `y` confirms everything. Enter does not
    /// confirm what removes, moves or replaces something, because Enter also opens things, and may be pressed before
    /// the dialog is read.
    pub fn of_confirmation(chord: Chord, only_adds: bool) -> Self {
        match chord.key {
            Key::Char('y') => Self::Accept,
            Key::Enter if only_adds => Self::Accept,
            Key::Esc | Key::Char('n' | 'q') => Self::Close,
            _ => Self::Stay,
        }
    }
}

/// Returns the path that was typed. `~/` stands for `home`, an empty text for the working directory, and a `file://`
/// link for its path.
pub fn expand_path(typed: &str, home: Option<&Path>) -> PathBuf {
    let typed = typed.trim();
    if let Some(path) = local_path_of_file_uri(typed) {
        return PathBuf::from(path);
    }
    match (typed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if typed.is_empty() => PathBuf::from("."),
        _ => PathBuf::from(typed),
    }
}

/// Splits a line at spaces that are not quoted or escaped, as a shell does, because terminals paste dropped files in
/// this form. A line with an open quote is one word. So is a line that begins with `#`, which would be
/// a comment in a shell.
pub fn split_words(typed: &str) -> Vec<String> {
    if typed.starts_with('#') {
        return vec![typed.to_owned()];
    }
    shell_words::split(&plain_quotes(typed)).unwrap_or_else(|_| vec![typed.to_owned()])
}

/// Turns words in the quotes `$'…'`, with which shells write names that contain quotes, into words in plain quotes.
fn plain_quotes(typed: &str) -> String {
    let (mut plain, mut rest) = (String::new(), typed);
    while let Some((before, quoted)) = rest.split_once("$'") {
        plain.push_str(before);
        let is_outside = shell_words::split(&plain).is_ok();
        let is_word = is_outside && (plain.is_empty() || plain.ends_with(' '));
        if let Some((text, after)) = ansi_quoted(quoted).filter(|_| is_word) {
            plain.push_str(&shell_words::quote(&text));
            rest = after;
        } else {
            plain.push_str("$'");
            rest = quoted;
        }
    }
    plain + rest
}

/// Returns the text up to the end of its quote, and what follows. Characters that are written as numbers give `None`.
fn ansi_quoted(quoted: &str) -> Option<(String, &str)> {
    let (mut text, mut chars) = (String::new(), quoted.chars());
    loop {
        match chars.next()? {
            '\'' => return Some((text, chars.as_str())),
            '\\' => text.push(chars.next().filter(|c| matches!(c, '\\' | '\'' | '"'))?),
            c => text.push(c),
        }
    }
}

/// Handles a key of a dialog that is a single text field.
pub(super) fn handle_key(field: &mut Prefilled, chord: Chord) -> KeyResult {
    match chord.key {
        Key::Esc => KeyResult::Close,
        Key::Enter => KeyResult::Accept,
        _ => {
            field.edit(chord);
            KeyResult::Stay
        }
    }
}

/// Handles a key of a text field. Returns whether the text has changed.
pub fn edit(input: &mut Input, chord: Chord) -> bool {
    let change = edit_request(chord).and_then(|request| input.handle(request));
    change.is_some_and(|change| change.value)
}

/// Returns what a key does in a text field, or `None` for other keys.
fn edit_request(chord: Chord) -> Option<InputRequest> {
    Some(match (chord.key, chord.ctrl) {
        (Key::Char(c), false) if !chord.alt => InputRequest::InsertChar(c),
        (Key::Char('u'), true) => InputRequest::DeleteLine,
        (Key::Char('w'), true) => InputRequest::DeletePrevWord,
        (Key::Char('a'), true) | (Key::Home, _) => InputRequest::GoToStart,
        (Key::Char('e'), true) | (Key::End, _) => InputRequest::GoToEnd,
        (Key::Left, true) => InputRequest::GoToPrevWord,
        (Key::Right, true) => InputRequest::GoToNextWord,
        (Key::Left, false) => InputRequest::GoToPrevChar,
        (Key::Right, false) => InputRequest::GoToNextChar,
        (Key::Backspace, _) => InputRequest::DeletePrevChar,
        (Key::Delete, _) => InputRequest::DeleteNextChar,
        _ => return None,
    })
}

impl Prefilled {
    pub(in crate::app) fn new(default: &str) -> Self {
        Self { input: default.into(), is_default: true }
    }

    /// A field with a text that the user has chosen.
    pub(in crate::app) fn of_choice(text: &str) -> Self {
        Self { input: text.into(), is_default: false }
    }

    pub fn value(&self) -> &str {
        self.input.value()
    }

    /// Returns the field for a text that is inserted, and that replaces the default.
    pub(in crate::app) fn replaced(&mut self) -> &mut Input {
        if std::mem::take(&mut self.is_default) {
            self.input.reset();
        }
        &mut self.input
    }

    /// Handles a key of the field. Returns whether the text has changed.
    pub(in crate::app) fn edit(&mut self, chord: Chord) -> bool {
        match edit_request(chord) {
            Some(InputRequest::InsertChar(_)) => _ = self.replaced(),
            Some(_) => self.is_default = false,
            None => {}
        }
        edit(&mut self.input, chord)
    }
}

/// Inserts pasted text as one line without control characters, so that the text never acts as keys. The pasted lines
/// are joined by spaces, and so are the parts between tabs and page breaks.
pub fn paste(input: &mut Input, raw: &str) {
    let breaks = ['\r', '\n', '\t', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let parts = raw.split(breaks).filter(|part| !part.trim().is_empty());
    insert(input, &parts.collect::<Vec<_>>().join(" "));
}

/// Inserts the text in one step, because `Input` copies its whole value for each character. The terminal layer limits
/// the length of pasted text.
fn insert(input: &mut Input, text: &str) {
    let text: String = text.trim().chars().filter(|c| !c.is_control()).collect();
    let (before, after) = input.value().split_at(cursor_byte(input));
    let cursor = input.cursor() + text.chars().count();
    *input = Input::new([before, &text, after].concat()).with_cursor(cursor);
}

/// Inserts pasted paths or `file://` links into a list that [`split_words`] separates. File managers paste one path or
/// link per line without quotes, and terminals paste dropped files on one line with quotes.
pub(super) fn paste_paths(input: &mut Input, raw: &str) {
    let paths: Vec<String> = pasted_lines(raw).into_iter().flat_map(pasted_paths).collect();
    let (before, _) = input.value().split_at(cursor_byte(input));
    // A name continues the path before the cursor, and a whole path is the next entry.
    let separates = paths.first().is_some_and(|path| is_absolute(path))
        && !before.is_empty()
        && !before.ends_with(' ');
    if separates {
        let _ = input.handle(InputRequest::InsertChar(' '));
    }
    let quoted: Vec<_> = paths.iter().map(|path| shell_words::quote(path)).collect();
    insert(input, &quoted.join(" "));
}

/// Returns the lines of a pasted list of paths without blank lines and comments.
fn pasted_lines(raw: &str) -> Vec<&str> {
    let raw = raw.trim_start_matches('\u{feff}');
    let lines = raw.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty());
    without_comments(lines.collect())
}

fn cursor_byte(input: &Input) -> usize {
    input.value().char_indices().nth(input.cursor()).map_or(input.value().len(), |(at, _)| at)
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with("~/") || is_file_uri(path)
}

/// Returns the paths on a pasted line. A line without quotes is one path with spaces, unless each of its words is a
/// whole path.
fn pasted_paths(line: &str) -> Vec<String> {
    let is_quoted = line.contains(['\'', '"', '\\']);
    let words =
        if is_quoted { split_words(line) } else { line.split(' ').map(str::to_owned).collect() };
    if !is_quoted && !words.iter().all(|word| is_absolute(word)) {
        return vec![local_path_of_file_uri(line).unwrap_or_else(|| line.to_owned())];
    }
    words.into_iter().map(|word| local_path_of_file_uri(&word).unwrap_or(word)).collect()
}

/// What a path has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    Picture,
    File,
    Folder,
    FileOrFolder,
}

impl PathKind {
    pub(in crate::app) fn takes_folders(self) -> bool {
        matches!(self, Self::Folder | Self::FileOrFolder)
    }

    /// Returns whether an entry of a folder is offered. Every path may lead through a folder.
    pub(in crate::app) fn offers(self, entry: &FolderEntry) -> bool {
        entry.is_folder || self != Self::Folder
    }
}

/// What became of a path that was to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    Extended,
    /// Several names continue the path.
    Ambiguous,
    /// The path is a whole one, or nothing continues it.
    Complete,
}

/// The text of a path, with completion.
#[derive(Clone, Debug)]
pub struct PathField {
    pub text: Input,
    pub kind: PathKind,
}

impl PathField {
    pub(in crate::app) fn new(typed: &str, kind: PathKind) -> Self {
        Self { text: typed.into(), kind }
    }

    /// Returns the typed path up to its last slash, and the rest.
    fn split(&self) -> (&str, &str) {
        let typed = self.text.value().trim_start();
        typed.rfind('/').map_or(("", typed), |slash| typed.split_at(slash + 1))
    }

    /// Returns the name that was begun after the last slash.
    pub(in crate::app) fn name(&self) -> &str {
        self.split().1
    }

    /// Returns the query for the entries that may continue the path.
    pub(in crate::app) fn query(&self, home: Option<&Path>) -> FolderQuery {
        let (folder, prefix) = self.split();
        FolderQuery { folder: expand_path(folder, home), prefix: prefix.to_owned() }
    }

    pub(super) fn path(&self, home: Option<&Path>) -> Option<PathBuf> {
        let typed = self.text.value();
        (!typed.trim().is_empty()).then(|| expand_path(typed, home))
    }

    /// Returns the entries that continue the typed name: an exact match first, then folders, then files. Hidden
    /// entries are returned only after a typed dot.
    pub(super) fn completions<'a>(&self, folder: &'a FolderListing) -> Vec<&'a FolderEntry> {
        let query = self.query(None);
        let typed = query.prefix.as_str();
        let mut completions: Vec<&FolderEntry> = folder
            .entries
            .iter()
            .filter(|entry| {
                let name = name(entry);
                self.kind.offers(entry)
                    && query.accepts(&name)
                    && (typed.starts_with('.') || !name.starts_with('.'))
            })
            .collect();
        completions.sort_by_key(|entry| (name(entry) != typed, !entry.is_folder));
        completions
    }

    /// Extends the path by the common prefix of the completions. Returns whether the path has changed.
    pub(super) fn complete(&mut self, completions: &[FolderEntry]) -> bool {
        let Some((first, rest)) = completions.split_first() else { return false };
        let mut common = name(first).into_owned();
        for other in rest.iter().map(|entry| name(entry)) {
            let pairs = common.char_indices().zip(other.chars());
            let end = pairs.take_while(|((_, one), other)| one == other).last();
            let end = end.map_or(0, |((at, one), _)| at + one.len_utf8());
            common.truncate(end);
        }
        let (folder, typed) = self.split();
        let is_longer = common.len() > typed.len();
        if is_longer {
            self.text = format!("{folder}{common}").into();
        }
        is_longer
    }

    /// Completes the path in a field that shows no candidates, as a shell does.
    pub(in crate::app) fn complete_in(&mut self, folder: &FolderListing) -> Completion {
        let found: Vec<FolderEntry> = self.completions(folder).into_iter().cloned().collect();
        let is_whole = found.first().is_some_and(|first| name(first) == self.name());
        match found.as_slice() {
            [] => Completion::Complete,
            _ if is_whole => Completion::Complete,
            // The names that are not listed may continue the path, too.
            _ if folder.omitted > 0 => Completion::Ambiguous,
            [only] => {
                let end = if only.is_folder { "/" } else { "" };
                self.text = format!("{}{end}", self.text_of(only)).into();
                Completion::Extended
            }
            found if self.complete(found) => Completion::Extended,
            _ => Completion::Ambiguous,
        }
    }

    pub(super) fn enter_folder(&mut self, folder: &FolderEntry) {
        self.text = format!("{}/", self.text_of(folder)).into();
    }

    /// Returns the path of an entry of the typed folder, as it would be typed.
    pub(super) fn text_of(&self, entry: &FolderEntry) -> String {
        format!("{}{}", self.split().0, name(entry))
    }
}

/// Inserts pasted text into a field with one path. The path of a file dropped on the terminal replaces the typed one.
pub(in crate::app) fn paste_path(input: &mut Input, raw: &str) {
    match parse_dropped_path(raw) {
        Some(path) => {
            *input = Input::default();
            paste(input, &path);
        }
        None => paste(input, raw),
    }
}

fn name(entry: &FolderEntry) -> Cow<'_, str> {
    entry.file_name.to_string_lossy()
}

/// Returns the path that a terminal pastes for a dropped file: a `file://` address, a quoted path,
/// or a path with escaped spaces. If there are several paths, the first is returned. Other text
/// gives `None`.
fn parse_dropped_path(raw: &str) -> Option<String> {
    let line = pasted_lines(raw).into_iter().next()?;
    let is_path =
        is_absolute(line) || ["'", "\"", "$'"].iter().any(|quote| line.starts_with(quote));
    is_path.then(|| pasted_paths(line))?.into_iter().next()
}

/// Returns the path in a list of paths that a completion continues: the last one, unless a space follows it.
pub(super) fn last_path(list: &str) -> String {
    let begun = &list[last_path_start(list)..];
    // A quote that is still open ends with the path.
    let closed =
        ["", "'", "\""].iter().find_map(|end| shell_words::split(&format!("{begun}{end}")).ok());
    closed.and_then(|mut words| words.pop()).unwrap_or_default()
}

/// Replaces the last path of a list, and quotes it where a shell would need quotes.
pub(super) fn replace_last_path(list: &str, path: &str) -> String {
    let before = &list[..last_path_start(list)];
    // A quoted tilde would not be the home folder in a shell.
    let (home, rest) = path.strip_prefix("~/").map_or(("", path), |rest| ("~/", rest));
    let rest = if rest.is_empty() { "".into() } else { shell_words::quote(rest) };
    format!("{before}{home}{rest}")
}

/// Returns where the last path of a list begins, which is behind the last space outside of quotes.
fn last_path_start(list: &str) -> usize {
    let (mut start, mut quote, mut is_escaped) = (0, None, false);
    for (at, c) in list.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if quote != Some('\'') => is_escaped = true,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            ' ' if quote.is_none() => start = at + 1,
            _ => {}
        }
    }
    start
}

/// Returns the position of the focused field of a form.
pub(super) fn position<F: PartialEq>(fields: &[F], focused: &F) -> usize {
    fields.iter().position(|field| field == focused).unwrap_or(0)
}

/// Handles a key that ends a form or moves between its fields. Returns `None` for other keys, which change the
/// focused field.
pub(super) fn handle_form_key<F: Copy + PartialEq>(
    focused: &mut F,
    fields: &[F],
    chord: Chord,
) -> Option<KeyResult> {
    let by = match chord.key {
        Key::Esc => return Some(KeyResult::Close),
        Key::Enter => return Some(KeyResult::Accept),
        Key::Tab if chord.shift => -1,
        Key::Up => -1,
        Key::Tab | Key::Down => 1,
        _ => return None,
    };
    *focused = cycle(fields, *focused, by);
    Some(KeyResult::Stay)
}

/// The number of lines that `PgUp` and `PgDn` scroll by.
const PAGE_LINES: isize = 10;

impl ScrollState {
    /// Handles a key of a dialog that is a read-only text.
    pub(super) fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Up | Key::Char('k') => self.scroll(-1),
            Key::Down | Key::Char('j') => self.scroll(1),
            Key::PageUp => self.scroll(-PAGE_LINES),
            Key::PageDown | Key::Char(' ') => self.scroll(PAGE_LINES),
            Key::Char('u') if chord.ctrl => self.scroll(-PAGE_LINES),
            Key::Char('d') if chord.ctrl => self.scroll(PAGE_LINES),
            Key::Home | Key::Char('g') => *self = Self::default(),
            Key::End | Key::Char('G') => *self = Self::END,
            Key::Esc | Key::Enter | Key::Char('q') => return KeyResult::Close,
            _ => {}
        }
        KeyResult::Stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pasted(before: &str, text: &str) -> String {
        let mut input = Input::from(before);
        paste_paths(&mut input, text);
        input.value().to_owned()
    }

    #[test]
    fn pasted_lines_are_joined_by_spaces() {
        for (text, line) in [
            ("red van\nat night", "red van at night"),
            ("red van\r\nat night\r\n", "red van at night"),
            ("a\rb\r\rc\td", "a b c d"),
            ("a\u{b}b\u{c}c\u{85}d\u{2028}e\u{2029}f", "a b c d e f"),
            ("\x1b[31mred\x07", "[31mred"),
        ] {
            let mut input = Input::default();
            paste(&mut input, text);
            assert_eq!(input.value(), line, "{text:?}");
        }
    }

    #[test]
    fn pasted_paths_become_entries() {
        for (text, line) in [
            ("'/p/a b.png'\n'/p/c.png'\n", "'/p/a b.png' /p/c.png"),
            ("/p/a b.png\r/p/c.png\r", "'/p/a b.png' /p/c.png"),
            ("file:///p/a%20b.png\r\nfile://localhost/p/c.png\r\n", "'/p/a b.png' /p/c.png"),
            ("/p/a\\ b.png /p/c.png ", "'/p/a b.png' /p/c.png"),
            ("/p/a.png ~/c.png", "/p/a.png '~/c.png'"),
            ("file:///p/a.png file:///p/b.png", "/p/a.png /p/b.png"),
            ("/p/my pictures", "'/p/my pictures'"),
            ("/p/it's.png", "'/p/it'\\''s.png'"),
            ("# copied\r\nFILE:///p/a.png\r\nfile:/p/b%20c.png\r\n", "/p/a.png '/p/b c.png'"),
            ("\u{feff}/p/a.png\n", "/p/a.png"),
            ("$'/p/it\\'s.png' '/p/c$' '/p/d'", "'/p/it'\\''s.png' '/p/c$' /p/d"),
            ("\"/p/a $'b' c\"", "'/p/a $'\\''b'\\'' c'"),
            ("#1.png\n/p/a.png", "'#1.png' /p/a.png"),
        ] {
            assert_eq!(pasted("", text), line, "{text:?}");
        }
        assert_eq!(pasted("/p/a.png", "/p/b.png"), "/p/a.png /p/b.png");
        assert_eq!(pasted("/p/", "my pictures"), "/p/'my pictures'");
        assert_eq!(split_words("/p/'my pictures'"), ["/p/my pictures"]);
    }

    #[test]
    fn the_last_path_of_a_list_is_replaced() {
        for (list, path, replaced) in [
            ("", "", "/p/b"),
            ("/p/a /q", "/q", "/p/a /p/b"),
            ("/p/a ", "", "/p/a /p/b"),
            ("'/p/a b' '/q r", "/q r", "'/p/a b' /p/b"),
            ("/p/a\\ b", "/p/a b", "/p/b"),
            ("'/p/a b'/c", "/p/a b/c", "/p/b"),
        ] {
            assert_eq!(last_path(list), path, "{list:?}");
            assert_eq!(replace_last_path(list, "/p/b"), replaced, "{list:?}");
        }
        assert_eq!(replace_last_path("~", "~/a b/"), "~/'a b/'");
        assert_eq!(split_words("~/'a b/'"), ["~/a b/"]);
    }

    #[test]
    fn links_are_paths_wherever_a_path_is_typed() {
        let home = Some(Path::new("/home/me"));
        assert_eq!(expand_path("file:///p/a%20b.png", home), Path::new("/p/a b.png"));
        assert_eq!(expand_path("file://localhost/p/%C3%A9", home), Path::new("/p/é"));
        assert_eq!(expand_path("~/file:", home), Path::new("/home/me/file:"));
    }
}
