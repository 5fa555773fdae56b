//! What an addition would send: a look at the media, the parts they are sent in, and what is left out.
//! `--dry-run` prints it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{MediaAddOptions, source::ResolvedSource};
use crate::cli::{CliError, Column, Context, Document, Exit, messages::format_bytes};
use tessera_client::{DryRunRequest, files_to_send};
use tessera_model::{Dataset, Failure, FailureKind, MediaAddition, MediaSource, Preflight};

/// What is sent, and how.
#[derive(Debug)]
pub struct AdditionPlan {
    /// One request each, in their order; at least one.
    pub parts: Vec<AdditionPart>,
    /// What a look at the media has found.
    pub preflight: Preflight,
    /// The source in words.
    pub description: String,
    /// The source as an option of this command.
    pub option: String,
}

/// What one request carries.
#[derive(Debug)]
pub struct AdditionPart {
    /// The request.
    pub addition: MediaAddition,
    /// Files that are uploaded; none for what the service fetches by itself.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

const PART_COLUMNS: &[Column] =
    &[Column::new("PART", "part"), Column::new("FILES", "files"), Column::new("BYTES", "bytes")];

impl AdditionPlan {
    /// Looks at the media and cuts them into parts; tells what is left out.
    ///
    /// # Errors
    /// There is nothing to send, or something cannot be read and `--strict` is given.
    pub async fn prepare(
        context: &Context,
        add: &MediaAddOptions,
        taken: ResolvedSource,
        wishes: MediaAddition,
    ) -> Result<Self, CliError> {
        let ResolvedSource { media, glob, description: words, option } = taken;
        let most = add.split;
        let looked = tokio::task::spawn_blocking(move || match media {
            MediaSource::Files(paths) => {
                let (files, found) = files_to_send(&paths, glob.as_ref());
                let most =
                    most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
                let parts = files.chunks(most).map(|files| AdditionPart {
                    files: files.len() as u64,
                    bytes: files.iter().map(|file| file.bytes).sum(),
                    addition: MediaAddition {
                        source: MediaSource::Files(
                            files.iter().map(|file| file.path.clone()).collect(),
                        ),
                        ..wishes.clone()
                    },
                });
                Ok((parts.collect::<Vec<_>>(), found))
            }
            source => tessera_client::preflight(&source).map(|found| {
                let files = u64::from(matches!(source, MediaSource::Archive(_)));
                (vec![AdditionPart { files, bytes: found.bytes, addition: wishes }], found)
            }),
        });
        let lost = |_| Failure::new(FailureKind::Local, "the media could not be looked at");
        let (parts, found) = looked.await.map_err(lost)??;
        let plan = Self { parts, preflight: found, description: words, option };
        plan.report(context);
        plan.check(add.strict)?;
        Ok(plan)
    }

    /// Tells what a person should know before it is sent.
    fn report(&self, context: &Context) {
        for file in &self.preflight.unreadable_files {
            context.messages.warn(format!("left out: {}: {}", file.name, file.reason));
        }
        let more = self.preflight.unreadable - self.preflight.unreadable_files.len() as u64;
        if more > 0 {
            context.messages.warn(format!("left out: {more} more that cannot be read"));
        }
        for warning in &self.preflight.warnings {
            context.messages.warn(warning);
        }
        if self.preflight.skipped > 0 {
            let others = self.preflight.skipped;
            context.messages.info(format!("passed over, as no media or as links: {others}"));
        }
    }

    fn check(&self, strict: bool) -> Result<(), CliError> {
        let unreadable = self.preflight.unreadable;
        if strict && unreadable > 0 {
            let sentence = format!(
                "nothing was sent: not every file can be read (--strict); left out would be {unreadable}"
            );
            return Err(CliError::new(Exit::Failed, sentence).with_code("unreadable_files"));
        }
        if self.parts.is_empty() {
            let sentence = format!("no image or video that can be read: {}", self.description);
            return Err(CliError::new(Exit::Failed, sentence).with_code("no_media"));
        }
        Ok(())
    }

    /// Files of some parts.
    #[must_use]
    pub fn file_count(parts: &[AdditionPart]) -> u64 {
        parts.iter().map(|part| part.files).sum()
    }

    /// The paths of some parts, absolute, with a NUL byte after each.
    ///
    /// # Errors
    /// There is no working folder any more.
    pub fn file_list(parts: &[AdditionPart]) -> std::io::Result<Vec<u8>> {
        let mut list = Vec::new();
        for part in parts {
            let MediaSource::Files(paths) = &part.addition.source else { continue };
            for path in paths {
                let whole: PathBuf = std::path::absolute(path)?;
                list.extend_from_slice(whole.as_os_str().as_encoded_bytes());
                list.push(0);
            }
        }
        Ok(list)
    }

    /// The plan, with its first request, as a document.
    #[must_use]
    pub fn document(
        &self,
        dataset: &Dataset,
        request: &DryRunRequest,
        refusal: Option<&str>,
    ) -> Document {
        let parts: Vec<Value> = (1..)
            .zip(&self.parts)
            .map(|(number, part)| {
                json!({ "part": number, "files": part.files, "bytes": part.bytes })
            })
            .collect();
        let plan = json!({
            "id": dataset.id,
            "display_name": dataset.name.as_str(),
            "status_new": dataset.status.word(),
            "_source": self.description,
            "_images": self.preflight.images,
            "_videos": self.preflight.videos,
            "_bytes": self.preflight.bytes,
            "_parts": parts,
            "_left_out": skipped_files(&self.preflight),
            "_n_left_out": self.preflight.unreadable,
            "_refused": refusal,
            "_request": { "method": request.method, "url": request.url },
        });
        Document::list("tessera.media_plan/1", plan, "_parts", PART_COLUMNS)
    }

    /// The plan in a sentence.
    #[must_use]
    pub fn summary(&self, dataset: &Dataset) -> String {
        let Preflight { images, videos, bytes, .. } = &self.preflight;
        let parts = match self.parts.len() {
            1 => "one request".to_owned(),
            several => format!("{several} parts"),
        };
        let what = if Self::file_count(&self.parts) == 0 {
            self.description.clone()
        } else {
            format!("{images} images and {videos} videos, {}", format_bytes(*bytes))
        };
        format!("{what}, would be added to {} ({}) in {parts}", dataset.name, dataset.status.word())
    }
}

/// The files that are left out, as far as they are named.
#[must_use]
pub fn skipped_files(found: &Preflight) -> Value {
    let named = found.unreadable_files.iter();
    named
        .map(|file| json!({ "name": file.name.as_str(), "reason": file.reason.as_str() }))
        .collect()
}
