//! The form of `add_media`, streamed to a staging folder: which media, and what to do with
//! them. A form that is refused, broken or cut off leaves nothing behind.

use std::{
    fs::File,
    io::{self, ErrorKind, Read as _},
    path::Path,
};

use axum::{body::HttpBody as _, extract::Request, http::StatusCode};
use tokio::io::AsyncWriteExt as _;

use super::{
    body::{Limit, Part, Parts},
    params::{BOOLEAN, boolean, invalid},
    problem::Problem,
};
use crate::{
    ingest::{
        kind::Kind,
        names::mended,
        stage::{ARCHIVE, Places, Staged, private, room},
        unpack::ArchiveKind,
    },
    storage::Role,
};
use tessera_wire::paths::field;

/// What the form asks for. What it says of sizes and of spot machines is checked, and nothing
/// that a local deployment needs to know.
#[derive(Debug)]
pub struct Submission {
    /// Where the media come from.
    pub source: Source,
    /// Whether to cluster anew at once.
    pub auto_reindex: bool,
    /// The role to assume for storage of another account.
    pub assume_role: Option<Role>,
}

/// Where media come from.
#[derive(Debug)]
pub enum Source {
    /// Uploaded files, in the folder.
    Files(Staged),
    /// An uploaded archive: the file [`ARCHIVE`] in the folder.
    Archive(Staged, ArchiveKind),
    /// A folder or manifest in object storage, as it was given; not empty.
    Storage(String),
}

/// The field name that the interface's own error text suggests, and that is none.
const LIST_FIELD: &str = "files[]";
/// The fields that are short texts.
const TEXTS: [&str; 7] = [
    field::S3_URI,
    field::AUTO_REINDEX,
    field::ASSUME_ROLE,
    field::BATCH_N_VIDEOS,
    field::BATCH_N_IMAGES,
    field::BATCH_N_OBJECTS,
    field::USE_SPOT,
];
/// A text field.
const TEXT: Limit = Limit { bytes: 4 << 10, words: "A text field is longer than 4 KiB" };
/// The words of what finds no room.
const NO_ROOM: &str = "The upload is larger than what can be stored here";

/// Reads the form into a staging folder below `uploads`.
///
/// # Errors
/// 400 for no or several sources, a field given twice, an archive that is none, or a broken
/// form; 408; 413; 422 for the value of a field; 500 when the upload cannot be stored.
pub async fn read(request: Request, uploads: &Path) -> Result<Submission, Problem> {
    // What clients send for a form of no fields: not even its end.
    if request.body().is_end_stream() {
        return Err(one_source());
    }
    private(uploads).map_err(|cause| unstored(&cause))?;
    let room = room(uploads).map_err(|cause| unstored(&cause))?;
    let mut parts = Parts::of(request, Limit { bytes: room, words: NO_ROOM }).await?;
    let mut draft = Draft { uploads, source: None, texts: Vec::new() };
    match draft.fill(&mut parts).await {
        Ok(()) => draft.submission(),
        Err(problem) => {
            drop(draft);
            parts.swallow().await;
            Err(problem)
        }
    }
}

/// The form as far as it was read.
struct Draft<'a> {
    uploads: &'a Path,
    source: Option<Media>,
    texts: Vec<(&'static str, String)>,
}

/// A source as it comes in.
enum Media {
    Files(Staged, Places),
    Archive(Staged, ArchiveKind),
    Storage(String),
}

impl Draft<'_> {
    async fn fill(&mut self, parts: &mut Parts) -> Result<(), Problem> {
        while let Some(part) = parts.next().await? {
            let name = part.name().unwrap_or_default();
            if name == LIST_FIELD {
                let words = "Field required: its name is 'files', not 'files[]'";
                return Err(invalid("body", field::FILES, "missing", words, None));
            }
            if name == field::FILES {
                self.file(part).await?;
            } else if name == field::ARCHIVE {
                self.archive(part).await?;
            } else if let Some(name) = TEXTS.into_iter().find(|text| *text == name) {
                self.text(name, part).await?;
            } else {
                part.skip().await?;
            }
        }
        Ok(())
    }

    async fn text(&mut self, name: &'static str, part: Part<'_>) -> Result<(), Problem> {
        if self.texts.iter().any(|(known, _)| *known == name) {
            return Err(twice(name));
        }
        let text = String::from_utf8(part.bytes(TEXT).await?).map_err(|_| {
            invalid("body", name, "string_unicode", "Input should be valid UTF-8", None)
        })?;
        let text = text.trim().to_owned();
        // An empty field is what a form sends that was not filled in.
        if name == field::S3_URI && !text.is_empty() {
            if self.source.is_some() {
                return Err(one_source());
            }
            self.source = Some(Media::Storage(text.clone()));
        }
        self.texts.push((name, text));
        Ok(())
    }

    async fn file(&mut self, part: Part<'_>) -> Result<(), Problem> {
        let Some(name) = file_name(field::FILES, &part)? else { return unfilled(part).await };
        if self.source.is_none() {
            let staged = Staged::open(self.uploads).map_err(|cause| unstored(&cause))?;
            let places = Places::new(staged.path());
            self.source = Some(Media::Files(staged, places));
        }
        let Some(Media::Files(_, places)) = &mut self.source else { return Err(one_source()) };
        let (_, file) = places.create(&mended(&name)).map_err(|cause| unstored(&cause))?;
        let largest = Kind::of(&name).largest();
        let words = "A file is larger than 256 MiB, or 4 GiB for a video";
        store(part, file, Limit { bytes: largest, words }).await
    }

    async fn archive(&mut self, part: Part<'_>) -> Result<(), Problem> {
        let Some(name) = file_name(field::ARCHIVE, &part)? else { return unfilled(part).await };
        match self.source {
            None => {}
            Some(Media::Archive(..)) => return Err(twice(field::ARCHIVE)),
            Some(_) => return Err(one_source()),
        }
        let kind = ArchiveKind::of(&name).ok_or_else(|| {
            Problem::bad_request("The archive must be a .zip, .tar or .tar.gz file")
        })?;
        let staged = Staged::open(self.uploads).map_err(|cause| unstored(&cause))?;
        let path = staged.path().join(ARCHIVE);
        let file = File::create_new(&path).map_err(|cause| unstored(&cause))?;
        // Its size is bounded by the body's.
        store(part, file, Limit { bytes: u64::MAX, words: NO_ROOM }).await?;
        if !kind.begins(&head(&path).map_err(|cause| unstored(&cause))?) {
            let words = format!("The archive is not a {} file", kind.extension());
            return Err(Problem::bad_request(words));
        }
        self.source = Some(Media::Archive(staged, kind));
        Ok(())
    }

    fn submission(self) -> Result<Submission, Problem> {
        let auto_reindex = self.value(field::AUTO_REINDEX, BOOLEAN, boolean)?;
        self.value(field::USE_SPOT, BOOLEAN, boolean)?;
        for name in [field::BATCH_N_VIDEOS, field::BATCH_N_IMAGES, field::BATCH_N_OBJECTS] {
            let words = "Input should be a valid integer, 0 or more";
            self.value(name, words, |raw| raw.parse::<u32>().ok())?;
        }
        let words = "Input should be the ARN of a role: arn:aws:iam::<account>:role/<name>";
        let assume_role = self.value(field::ASSUME_ROLE, words, Role::parse)?;
        let source = match self.source.ok_or_else(one_source)? {
            Media::Files(staged, _) => Source::Files(staged),
            Media::Archive(staged, kind) => Source::Archive(staged, kind),
            Media::Storage(uri) => Source::Storage(uri),
        };
        Ok(Submission { source, auto_reindex: auto_reindex.unwrap_or(false), assume_role })
    }

    /// The value of an optional text field.
    fn value<T>(
        &self,
        name: &'static str,
        words: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let text = self.texts.iter().find(|(known, text)| *known == name && !text.is_empty());
        let Some((_, text)) = text else { return Ok(None) };
        let wrong = || invalid("body", name, "value_error", words, Some(text.clone()));
        parse(text).map(Some).ok_or_else(wrong)
    }
}

/// The file name of an upload; `None` for a file field that was not filled in.
fn file_name(field: &'static str, part: &Part<'_>) -> Result<Option<String>, Problem> {
    match part.file_name() {
        Some("") => Ok(None),
        Some(name) => Ok(Some(name.to_owned())),
        None => {
            let words = "Input should be a file: the part has no file name";
            Err(invalid("body", field, "value_error", words, None))
        }
    }
}

/// A file field without a name has no content either.
async fn unfilled(part: Part<'_>) -> Result<(), Problem> {
    let words = "A file without a name was sent";
    part.bytes(Limit { bytes: 0, words }).await.map(drop)
}

/// Streams a part into a file of at most `limit`.
async fn store(mut part: Part<'_>, file: File, limit: Limit) -> Result<(), Problem> {
    let mut file = tokio::fs::File::from_std(file);
    let mut bytes = 0;
    while let Some(chunk) = part.chunk().await? {
        bytes += chunk.len() as u64;
        limit.allow(bytes)?;
        file.write_all(&chunk).await.map_err(|cause| unstored(&cause))?;
    }
    // Without it the last error of the disk would be lost.
    file.flush().await.map_err(|cause| unstored(&cause))
}

/// The first bytes of a file, enough to tell an archive.
fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(512).read_to_end(&mut head)?;
    Ok(head)
}

fn one_source() -> Problem {
    Problem::bad_request("Exactly one media source must be provided: files[], s3_uri, or archive")
}

fn twice(name: &str) -> Problem {
    Problem::bad_request(format!("The field '{name}' was given more than once"))
}

/// 500: the upload to storage failed.
fn unstored(cause: &io::Error) -> Problem {
    let why = match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "it may not be written",
        _ => "the disk failed",
    };
    let words = format!("The upload could not be stored: {why}");
    Problem::Plain(StatusCode::INTERNAL_SERVER_ERROR, words)
}

#[cfg(test)]
mod tests;
