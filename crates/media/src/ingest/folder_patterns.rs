//! The patterns that include and exclude files of a folder, in the syntax of `.gitignore`. They are in the file
//! `.tessera.toml` of the folder, and the user may have chosen more for the dataset.

use std::{io::ErrorKind, path::Path, slice};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Deserialize;
use toml::Spanned;

use super::{OriginalFiles as _, SandboxedDir, text_encoding::to_utf8};
use tessera_files::read_at_most;
use tessera_model::{FileKind, MAX_PATTERNS, PatternLists, text::composed};

/// The name of the file with the patterns. The program reads its other tables as settings of a project.
pub const PATTERNS_FILE: &str = ".tessera.toml";
const MAX_FILE_BYTES: u64 = 64 << 10;

/// The reason for skipping a file or folder that a pattern excludes.
pub const EXCLUDED: &str = "excluded by a pattern";

/// Decides which files of a folder are scanned. The default excludes nothing.
#[derive(Clone, Debug, Default)]
pub struct FolderPatterns {
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
}

#[derive(Default, Deserialize)]
struct PatternsFile {
    #[serde(default)]
    folder: PatternsTable,
}

/// The patterns with their places in the file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PatternsTable {
    include: Vec<Spanned<String>>,
    exclude: Vec<Spanned<String>>,
}

impl FolderPatterns {
    /// Compiles patterns.
    ///
    /// # Errors
    /// A pattern is wrong, or there are more than [`MAX_PATTERNS`] of a kind.
    pub fn new(lists: &PatternLists) -> Result<Self, String> {
        Ok(Self { include: compile(&lists.include)?, exclude: compile(&lists.exclude)? })
    }

    /// Reads the patterns in the file of a folder, if it has one, and adds the `chosen` ones. A chosen pattern that
    /// begins with `!` takes in again what the file excludes.
    ///
    /// # Errors
    /// The file cannot be read or parsed, or a pattern is wrong. The message contains no local path.
    pub fn read(folder: &SandboxedDir, chosen: &PatternLists) -> Result<Self, String> {
        let PatternLists { mut include, mut exclude } = read_file(folder)?;
        include.extend_from_slice(&chosen.include);
        exclude.extend_from_slice(&chosen.exclude);
        let compiled = Self::new(&PatternLists { include, exclude });
        compiled.map_err(|cause| format!("{cause}; give --all-files or other patterns once"))
    }

    /// Whether a file or folder is excluded. Only pictures and videos have to match an `include` pattern, so that their
    /// sidecars are always read. A folder that matches no `include` pattern is not excluded, because it may contain
    /// files that do. `has_media` decides about a file whose name says nothing.
    pub(super) fn exclude(
        &self,
        path: &Path,
        is_folder: bool,
        has_media: impl FnOnce() -> bool,
    ) -> bool {
        // Patterns are in NFC.
        let text = path.to_str().map(composed);
        let path = text.as_deref().map_or(path, Path::new);
        let excludes = |patterns: &Gitignore| patterns.matched(path, is_folder).is_ignore();
        if self.exclude.as_ref().is_some_and(excludes) {
            return true;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_media = || match FileKind::from_name(&name) {
            FileKind::Other => has_media(),
            kind => kind.is_media(),
        };
        !is_folder
            && self.include.as_ref().is_some_and(|patterns| {
                !patterns.matched_path_or_any_parents(path, false).is_ignore()
            })
            && is_media()
    }
}

/// Reads the patterns in the file of a folder. There are none if the folder has no such file.
fn read_file(folder: &SandboxedDir) -> Result<PatternLists, String> {
    let bytes = match folder.open_file(Path::new(PATTERNS_FILE)) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(PatternLists::default()),
        file => file.and_then(|file| read_at_most(file, MAX_FILE_BYTES + 1)),
    };
    let bytes = bytes.map_err(|cause| format!("cannot read {PATTERNS_FILE}: {cause}"))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let limit = MAX_FILE_BYTES >> 10;
        return Err(format!("{PATTERNS_FILE} is larger than {limit} KiB; shorten it"));
    }
    let text = String::from_utf8(to_utf8(bytes));
    parse_file(&text.map_err(|_| format!("{PATTERNS_FILE} is not text; save it as UTF-8"))?)
}

/// Parses the patterns, and checks them, so that a mistake in the file is reported with its line.
fn parse_file(text: &str) -> Result<PatternLists, String> {
    let wrong = |start: usize, cause: &str| {
        let line = text[..start.min(text.len())].matches('\n').count() + 1;
        format!("{PATTERNS_FILE}, line {line}: {cause}")
    };
    let PatternsFile { folder } = toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        wrong(start, error.message())
    })?;
    let checked = |patterns: Vec<Spanned<String>>| {
        let check = |pattern: Spanned<String>| {
            let compiled = compile(slice::from_ref(pattern.get_ref()));
            compiled.map_err(|cause| wrong(pattern.span().start, &cause))?;
            Ok(pattern.into_inner())
        };
        patterns.into_iter().map(check).collect::<Result<Vec<_>, String>>()
    };
    let lists =
        PatternLists { include: checked(folder.include)?, exclude: checked(folder.exclude)? };
    FolderPatterns::new(&lists).map_err(|cause| format!("{PATTERNS_FILE}: {cause}"))?;
    Ok(lists)
}

/// Compiles patterns. Returns `None` if there are none.
fn compile(patterns: &[String]) -> Result<Option<Gitignore>, String> {
    if patterns.is_empty() {
        return Ok(None);
    }
    if patterns.len() > MAX_PATTERNS {
        return Err(format!("more than {MAX_PATTERNS} patterns; combine some of them"));
    }
    let mut builder = GitignoreBuilder::new("");
    builder.allow_unclosed_class(false);
    for pattern in patterns {
        let wrong = |cause| format!("the pattern {pattern:?} is wrong: {cause}");
        builder.add_line(None, &composed(pattern)).map_err(wrong)?;
    }
    builder.build().map(Some).map_err(|cause| cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(text: &str, path: &str) -> bool {
        let patterns = FolderPatterns::new(&parse_file(text).unwrap()).unwrap();
        let (path, is_folder) =
            path.strip_suffix('/').map_or((path, false), |folder| (folder, true));
        patterns.exclude(Path::new(path), is_folder, || path.ends_with("clip"))
    }

    #[test]
    fn patterns_have_the_syntax_of_gitignore() {
        let text = "[folder]\nexclude = ['drafts/', '*.tmp.png', '/top.png', '!keep.tmp.png']";
        for path in ["drafts/", "a/drafts/", "x.tmp.png", "a/x.tmp.png", "top.png"] {
            assert!(excluded(text, path), "{path}");
        }
        for path in ["drafts", "a/top.png", "keep.tmp.png", "a/", "a.png"] {
            assert!(!excluded(text, path), "{path}");
        }
    }

    #[test]
    fn only_pictures_and_videos_have_to_be_included() {
        let text = "[folder]\ninclude = ['*.jpg', 'scans/']\nexclude = ['b.jpg']";
        for path in ["a.png", "b.jpg", "scans/b.jpg", "a.mp4", "a.clip"] {
            assert!(excluded(text, path), "{path}");
        }
        for path in ["a.jpg", "x/a.jpg", "scans/a.png", "a.txt", "metadata.jsonl", "x/"] {
            assert!(!excluded(text, path), "{path}");
        }
    }

    #[test]
    fn names_are_compared_in_nfc() {
        for pattern in ["\u{e9}t\u{e9}/", "e\u{301}te\u{301}/"] {
            let text = format!("[folder]\nexclude = ['{pattern}']");
            assert!(excluded(&text, "\u{e9}t\u{e9}/") && excluded(&text, "e\u{301}te\u{301}/"));
        }
    }

    #[test]
    fn other_tables_are_ignored_and_mistakes_are_named() {
        assert!(!excluded("[export]\nformat = 'parquet'", "a.png"));
        for (text, words) in [
            ("[folder]\nexclud = []", "line 2: unknown field `exclud`"),
            ("[folder]\nexclude = 'a'", "line 2: invalid type"),
            ("[folder", "line 1"),
            ("[folder]\nexclude = [\n'a',\n'[z-a]']", "line 4: the pattern \"[z-a]\" is wrong"),
            ("[folder]\ninclude = ['[a']", "line 2: the pattern \"[a\" is wrong"),
        ] {
            let error = parse_file(text).unwrap_err();
            assert!(error.starts_with(PATTERNS_FILE) && error.contains(words), "{error}");
        }
    }

    #[test]
    fn chosen_patterns_are_added_to_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[folder]\ninclude = ['*.jpg']\nexclude = ['drafts/', 'b.jpg']";
        std::fs::write(folder.path().join(PATTERNS_FILE), text).unwrap();
        let opened = SandboxedDir::open(&folder.path().canonicalize().unwrap()).unwrap();
        let lists = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect();
        let chosen =
            PatternLists { include: lists(&["*.png"]), exclude: lists(&["!b.jpg", "c.*"]) };
        let patterns = FolderPatterns::read(&opened, &chosen).unwrap();
        let excluded = |path: &str| patterns.exclude(Path::new(path), false, || false);
        assert!(["c.png", "a.gif"].into_iter().all(excluded));
        assert!(!["a.jpg", "b.jpg", "a.png"].into_iter().any(excluded));
        assert!(patterns.exclude(Path::new("drafts"), true, || false));
        let wrong = PatternLists { include: lists(&["[z-a]"]), ..PatternLists::default() };
        let error = FolderPatterns::read(&opened, &wrong).unwrap_err();
        assert!(error.starts_with("the pattern \"[z-a]\" is wrong"), "{error}");
    }

    #[test]
    fn the_file_is_not_a_link_and_not_too_large() {
        let folder = tempfile::tempdir().unwrap();
        let read = || {
            let opened = SandboxedDir::open(&folder.path().canonicalize().unwrap()).unwrap();
            FolderPatterns::read(&opened, &PatternLists::default())
        };
        assert!(read().is_ok());
        let file = folder.path().join(PATTERNS_FILE);
        std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
        let error = read().unwrap_err();
        assert!(error.starts_with("cannot read .tessera.toml"), "{error}");
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "#".repeat(70_000)).unwrap();
        let error = read().unwrap_err();
        assert!(error.contains("larger than 64 KiB"), "{error}");
    }
}
