//! The input of a path, with completion.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use tui_input::Input;

use crate::app::overlay::text_field::{self, expand_path};
use tessera_model::{FolderEntry, FolderListing};

#[derive(Clone, Debug, Default)]
pub struct PathInput {
    pub text: Input,
}

impl PathInput {
    /// The typed path up to its last slash, and the rest.
    fn split(&self) -> (&str, &str) {
        let typed = self.text.value().trim_start();
        typed.rfind('/').map_or(("", typed), |slash| typed.split_at(slash + 1))
    }

    pub(super) fn folder(&self, home: Option<&Path>) -> PathBuf {
        expand_path(self.split().0, home)
    }

    pub(super) fn path(&self, home: Option<&Path>) -> Option<PathBuf> {
        let typed = self.text.value();
        (!typed.trim().is_empty()).then(|| expand_path(typed, home))
    }

    /// An exact match first, then folders, then files; hidden entries only after a typed dot.
    pub(super) fn completions<'a>(&self, folder: &'a FolderListing) -> Vec<&'a FolderEntry> {
        let (_, typed) = self.split();
        let lower = typed.to_lowercase();
        let mut completions: Vec<&FolderEntry> = folder
            .entries
            .iter()
            .filter(|entry| {
                let name = name(entry);
                name.to_lowercase().starts_with(&lower)
                    && (typed.starts_with('.') || !name.starts_with('.'))
            })
            .collect();
        completions.sort_by_key(|entry| (name(entry) != typed, !entry.is_folder));
        completions
    }

    /// Extends the path by the common prefix of the completions; whether that changed it.
    pub(super) fn complete(&mut self, completions: &[&FolderEntry]) -> bool {
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

    pub(super) fn enter_folder(&mut self, folder: &FolderEntry) {
        let (before, _) = self.split();
        self.text = format!("{before}{}/", name(folder)).into();
    }

    /// Inserts pasted text. The path of a file dropped on the terminal replaces the typed one.
    pub(super) fn paste(&mut self, raw: &str) {
        match parse_dropped_path(raw) {
            Some(path) => {
                self.text = Input::default();
                text_field::paste(&mut self.text, &path);
            }
            None => text_field::paste(&mut self.text, raw),
        }
    }
}

fn name(entry: &FolderEntry) -> Cow<'_, str> {
    entry.file_name.to_string_lossy()
}

/// The path that a terminal pastes for a dropped file: a `file://` address, a quoted path, or one
/// with escaped spaces. The first of several; `None` for other text.
fn parse_dropped_path(raw: &str) -> Option<String> {
    let line = raw.trim().lines().next()?.trim();
    if let Some(address) = line.strip_prefix("file://") {
        // The address may contain the host name.
        return Some(percent_decoded(&address[address.find('/')?..]));
    }
    for quote in ['\'', '"'] {
        if let Some((path, _)) = line.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return Some(path.to_owned());
        }
    }
    if !(line.starts_with('/') || line.starts_with("~/")) {
        return None;
    }
    let mut path = String::new();
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        path.extend(if c == '\\' { characters.next() } else { Some(c) });
    }
    Some(path)
}

fn percent_decoded(address: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = address.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|_| byte == b'%');
        let read = escape.and_then(|digits| std::str::from_utf8(digits).ok());
        let read = read.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(read.unwrap_or(byte));
        rest = if read.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
