//! Reads the user's own commands, which are `[[commands]]` in the settings, and replaces their placeholders. A command
//! is a list of words, in which placeholders stand for what is selected. No shell reads the words, so a file name is
//! never anything but a file name.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use tessera_model::SafeText;

use crate::{input::parse_sequence, text_enum};

/// The maximum number of characters of the name, which is shown in lists.
pub const MAX_NAME_CHARS: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomCommand {
    pub name: String,
    /// The program and its arguments.
    pub run: Vec<String>,
    /// The keys that run the command, such as `! g`.
    pub key: Option<String>,
    /// Whether the command needs the terminal, such as an editor. The interface then waits for its end.
    #[serde(default)]
    pub terminal: bool,
}

/// A command whose placeholders are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyCommand {
    pub name: SafeText,
    /// The program and its arguments.
    pub words: Vec<OsString>,
}

text_enum! {
    /// A word, or a part of one, that stands for something else.
    pub enum Placeholder: text {
        /// The original under the cursor.
        Path = "{path}",
        /// The originals of the selection, a word each.
        Paths = "{paths}",
        /// A file with the paths of the originals, separated by NUL.
        List = "{list}",
        /// The identifiers of the selected media items and clusters, a word each.
        Ids = "{ids}",
        /// A file with the selection.
        Selection = "{selection}",
        Dataset = "{dataset}",
        /// The beginning of a `tessera` command for the same deployment, quoted for a shell.
        Tessera = "{tessera}",
    }
}

impl Placeholder {
    /// Whether it becomes any number of words, so that it must be a word of its own.
    fn is_several_words(self) -> bool {
        matches!(self, Self::Paths | Self::Ids)
    }
}

/// What the placeholders stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceholderValues {
    pub paths: Vec<PathBuf>,
    pub list: PathBuf,
    pub ids: Vec<String>,
    pub selection: PathBuf,
    pub dataset: String,
    pub tessera: String,
}

impl CustomCommand {
    /// Reads the value of the setting. The error says which command is wrong.
    pub fn read_all(value: &toml::Value) -> Result<Vec<Self>, String> {
        let expected = "must be tables [[commands]] with name, run and optionally key and terminal";
        let tables = value.as_array().ok_or(expected)?;
        let mut commands: Vec<Self> = Vec::with_capacity(tables.len());
        for (number, table) in (1..).zip(tables) {
            let wrong = |reason: &str| format!("command {number}: {reason}");
            let command: Self = table
                .clone()
                .try_into()
                .map_err(|error: toml::de::Error| wrong(error.message()))?;
            command.check().map_err(|reason| wrong(&reason))?;
            if commands.iter().any(|other| other.name == command.name) {
                return Err(wrong("another command has the same name"));
            }
            commands.push(command);
        }
        Ok(commands)
    }

    fn check(&self) -> Result<(), String> {
        let is_name = !self.name.trim().is_empty()
            && self.name.chars().count() <= MAX_NAME_CHARS
            && !self.name.contains(char::is_control);
        if !is_name {
            return Err(format!("name must have 1 to {MAX_NAME_CHARS} printable characters"));
        }
        if self.run.first().is_none_or(String::is_empty) {
            return Err("run must be a list of words that begins with a program".to_owned());
        }
        for word in &self.run {
            check_word(word)?;
        }
        if let Some(key) = &self.key {
            parse_sequence(key)?;
        }
        if self.uses(Placeholder::Path)
            && (self.uses(Placeholder::Paths) || self.uses(Placeholder::List))
        {
            return Err("{path} is the file under the cursor; use it, or {paths}".to_owned());
        }
        Ok(())
    }

    pub fn uses(&self, placeholder: Placeholder) -> bool {
        self.run.iter().any(|word| word.contains(placeholder.text()))
    }

    /// Whether the command acts on files, which only datasets of this machine have.
    pub fn uses_files(&self) -> bool {
        [Placeholder::Path, Placeholder::Paths, Placeholder::List].iter().any(|it| self.uses(*it))
    }

    /// Whether the command acts on what is selected, or under the cursor.
    pub fn uses_selection(&self) -> bool {
        let is_selected = |it| !matches!(it, Placeholder::Dataset | Placeholder::Tessera);
        Placeholder::ALL.into_iter().any(|it| is_selected(it) && self.uses(it))
    }

    /// Replaces the placeholders.
    pub fn ready(&self, values: &PlaceholderValues) -> ReadyCommand {
        let mut words = Vec::with_capacity(self.run.len() + values.paths.len());
        for word in &self.run {
            match word.as_str() {
                "{paths}" => words.extend(values.paths.iter().map(OsString::from)),
                "{ids}" => words.extend(values.ids.iter().map(OsString::from)),
                _ => words.push(replaced(word, values)),
            }
        }
        ReadyCommand { name: SafeText::name(&self.name), words }
    }
}

/// Fails if a word is a placeholder that does not exist, or contains one that has to be a word of its own.
fn check_word(word: &str) -> Result<(), String> {
    let name = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let looks_like_one = name
        .is_some_and(|it| !it.is_empty() && it.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    if looks_like_one && Placeholder::ALL.iter().all(|it| it.text() != word) {
        let known = Placeholder::ALL.map(Placeholder::text).join(", ");
        return Err(format!("{word} is unknown; the placeholders are {known}"));
    }
    let several = Placeholder::ALL.iter().filter(|it| it.is_several_words());
    match several.map(|it| it.text()).find(|text| word.contains(text)) {
        Some(text) if text != word => {
            Err(format!("{text} becomes a word for each item, so it must be a word of its own"))
        }
        _ => Ok(()),
    }
}

/// Returns a word with the placeholders in it replaced. What was inserted is not read again.
fn replaced(word: &str, values: &PlaceholderValues) -> OsString {
    let mut result = OsString::new();
    let mut rest = word;
    loop {
        let found =
            Placeholder::ALL.iter().filter_map(|it| Some((rest.find(it.text())?, it.text(), it)));
        let Some((position, text, placeholder)) = found.min_by_key(|(position, ..)| *position)
        else {
            result.push(rest);
            return result;
        };
        result.push(&rest[..position]);
        match placeholder {
            Placeholder::Path => {
                result.push(values.paths.first().map_or(Path::new(""), PathBuf::as_path));
            }
            Placeholder::List => result.push(&values.list),
            Placeholder::Selection => result.push(&values.selection),
            Placeholder::Dataset => result.push(&values.dataset),
            Placeholder::Tessera => result.push(&values.tessera),
            Placeholder::Paths | Placeholder::Ids => result.push(text),
        }
        rest = &rest[position + text.len()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<Vec<CustomCommand>, String> {
        let table: toml::Table = toml::from_str(source).unwrap();
        CustomCommand::read_all(&table["commands"])
    }

    #[test]
    fn placeholders_become_words_that_nothing_reads_again() {
        let source = r#"
            [[commands]]
            name = "Label"
            run = ["label", "--of={selection}", "{paths}", "--", "{ids}", "${x}", "{dataset}:{list}", "{tessera} x"]
            key = "! l"
        "#;
        let command = read(source).unwrap().remove(0);
        assert!(command.uses_files() && command.uses_selection() && !command.terminal);
        let values = PlaceholderValues {
            paths: vec!["/p/a b.jpg".into(), "/p/{ids}.jpg".into()],
            list: "/t/{dataset}".into(),
            ids: vec!["1".into()],
            selection: "/t/s".into(),
            dataset: "d".into(),
            tessera: "tessera --folder '/p/{ids}'".into(),
        };
        let words = command.ready(&values).words;
        let expected = [
            "label",
            "--of=/t/s",
            "/p/a b.jpg",
            "/p/{ids}.jpg",
            "--",
            "1",
            "${x}",
            "d:/t/{dataset}",
            "tessera --folder '/p/{ids}' x",
        ];
        assert_eq!(words, expected.map(OsString::from));
    }

    #[test]
    fn a_wrong_command_is_named() {
        let problems = [
            ("commands = 3", "must be tables"),
            ("[[commands]]\nname = 'a'\nrun = []", "command 1: run must be a list"),
            ("[[commands]]\nname = ''\nrun = ['x']", "command 1: name must have"),
            ("[[commands]]\nname = 'a'\nrun = 'rm -r x'", "command 1: invalid type: string"),
            ("[[commands]]\nname = 'a'\nrun = ['x', '{pahts}']", "{pahts} is unknown"),
            ("[[commands]]\nname = 'a'\nrun = ['x', '-f={paths}']", "must be a word of its own"),
            ("[[commands]]\nname = 'a'\nrun = ['x', '{path}', '{paths}']", "under the cursor"),
            ("[[commands]]\nname = 'a'\nrun = ['x']\nshell = true", "unknown field `shell`"),
            ("[[commands]]\nname = 'a'\nrun = ['x']\nkey = 'gg'", "command 1: `gg` is not a key"),
        ];
        for (source, expected) in problems {
            let problem = read(source).unwrap_err();
            assert!(problem.contains(expected), "{source}: {problem}");
        }
        let twice = "[[commands]]\nname = 'a'\nrun = ['x']\n".repeat(2);
        assert!(read(&twice).unwrap_err().starts_with("command 2: "));
    }
}
