//! Lists what the last indexing of a local dataset could not read, or not completely. Folders are expected to contain
//! other files, so only pictures, videos, sidecars and folders that cannot be listed count.

use std::path::Path;

use serde_json::{Value, json};
use tessera_model::{Dataset, ShellCommand, SkippedFile, text::grouped_with_noun};

use super::media_rows::MediaRow;

#[derive(Debug, Default)]
pub struct UnreadFiles {
    pub media: Vec<SkippedFile>,
    pub sidecars: Vec<SkippedFile>,
    /// Folders that cannot be listed.
    pub folders: Vec<SkippedFile>,
}

impl UnreadFiles {
    pub fn new(mut skipped: Vec<SkippedFile>) -> Self {
        let media = skipped.extract_if(.., |it| it.is_media()).collect();
        let folders = skipped.extract_if(.., |it| it.is_unlisted()).collect();
        skipped.retain(SkippedFile::is_sidecar);
        Self { media, sidecars: skipped, folders }
    }

    pub fn all(&self) -> impl Iterator<Item = &SkippedFile> {
        self.media.iter().chain(&self.sidecars).chain(&self.folders)
    }

    /// Returns the number of each kind of files that there are.
    pub fn counts(&self) -> Vec<String> {
        let kinds = [
            (&self.media, "picture or video", "pictures or videos"),
            (&self.sidecars, "annotation file", "annotation files"),
            (&self.folders, "folder", "folders"),
        ];
        let kinds = kinds.into_iter().filter(|(files, ..)| !files.is_empty());
        kinds.map(|(files, one, many)| grouped_with_noun(files.len() as u64, one, many)).collect()
    }

    /// Returns a warning with the first file of each kind, or `None` if everything was read. `command` lists all files.
    pub fn warning(&self, dataset: &Dataset, command: &ShellCommand) -> Option<String> {
        let first = [self.media.first(), self.sidecars.first(), self.folders.first()];
        let first = first.into_iter().flatten();
        let first: Vec<String> = first.map(|it| format!("{}: {}", it.file, it.reason)).collect();
        let verb = if self.all().count() == 1 { "was" } else { "were" };
        (!first.is_empty()).then(|| {
            format!(
                "{} of {} {verb} not read, or not completely, such as {}; `{command}` lists all",
                self.counts().join(" and "),
                dataset.name,
                first.join(", and "),
            )
        })
    }

    /// Returns the pictures and videos, and the folders that may contain some, as rows, which have no media item.
    /// `folder` is that of the dataset.
    pub fn media_rows(&self, folder: Option<&Path>) -> Vec<MediaRow> {
        // An archive is not a folder.
        let original = |it: &SkippedFile| {
            folder.map(|folder| folder.join(it.file.received())).filter(|file| file.exists())
        };
        let row = |it: &SkippedFile| MediaRow {
            path: it.file.received().to_owned(),
            original: original(it),
            ..MediaRow::default()
        };
        self.media.iter().chain(&self.folders).map(row).collect()
    }

    pub fn describe(&self) -> Value {
        let row = |it: &SkippedFile| json!({ "path": it.file, "reason": it.reason });
        self.all().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use tessera_model::{FileKind, SafeText, local_files::UNLISTED};

    use super::*;

    #[test]
    fn a_file_that_was_not_read_has_its_path_on_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let here = "he\u{202e}re.jpg";
        std::fs::write(folder.path().join(here), "").unwrap();
        let skipped = |name: &str, reason: &str| SkippedFile {
            file: SafeText::name(name),
            reason: SafeText::name(reason),
            kind: FileKind::from_name(name),
            is_excluded: false,
        };
        let unread = UnreadFiles::new(vec![
            skipped(here, "damaged"),
            skipped("archive.zip/a.jpg", "damaged"),
            skipped("closed", UNLISTED),
        ]);
        let rows = unread.media_rows(Some(folder.path()));
        let originals: Vec<_> = rows.into_iter().map(|row| row.original).collect();
        assert_eq!(originals, [Some(folder.path().join(here)), None, None]);
    }
}
