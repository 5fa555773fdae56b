//! Plans an addition: inspects the media, splits them into parts, and lists what is skipped.
//! `--dry-run` prints the plan.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{MediaAddOptions, source::ResolvedSource};
use crate::cli::{CliError, Column, Context, Document, messages::format_bytes};
use tessera_client::{DryRunRequest, files_to_send};
use tessera_model::{Dataset, Failure, FailureKind, MediaAddition, MediaSource, Preflight};

#[derive(Debug)]
pub struct AdditionPlan {
    /// One per request, in order; at least one.
    pub parts: Vec<AdditionPart>,
    pub preflight: Preflight,
    pub description: String,
    /// The source as options of this command.
    pub option: String,
}

#[derive(Debug)]
pub struct AdditionPart {
    pub addition: MediaAddition,
    /// Uploaded files; zero for sources that the service fetches itself.
    pub files: u64,
    pub bytes: u64,
}

const PART_COLUMNS: &[Column] =
    &[Column::new("PART", "part"), Column::new("FILES", "files"), Column::new("BYTES", "bytes")];

impl AdditionPlan {
    /// Inspects the media, splits them into parts, and reports what is skipped.
    pub async fn prepare(
        context: &Context,
        add: &MediaAddOptions,
        taken: ResolvedSource,
        wishes: MediaAddition,
    ) -> Result<Self, CliError> {
        let ResolvedSource { media, glob, description: words, option } = taken;
        let most = add.split;
        let inspection = tokio::task::spawn_blocking(move || match media {
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
        let lost = |_| Failure::new(FailureKind::Local, "the media could not be inspected");
        let (parts, found) = inspection.await.map_err(lost)??;
        let plan = Self { parts, preflight: found, description: words, option };
        plan.report(context);
        plan.check(add.strict)?;
        Ok(plan)
    }

    fn report(&self, context: &Context) {
        for file in &self.preflight.unreadable_files {
            context.messages.warn(format!("skipped {}: {}", file.name, file.reason));
        }
        let more = self.preflight.unreadable - self.preflight.unreadable_files.len() as u64;
        if more > 0 {
            context.messages.warn(format!("skipped {more} more files that cannot be read"));
        }
        for warning in &self.preflight.warnings {
            context.messages.warn(warning);
        }
        if self.preflight.skipped > 0 {
            let others = self.preflight.skipped;
            context.messages.info(format!("ignored {others} links and files that are not media"));
        }
    }

    fn check(&self, strict: bool) -> Result<(), CliError> {
        let unreadable = self.preflight.unreadable;
        if strict && unreadable > 0 {
            let message = format!("nothing was sent (--strict): {unreadable} files cannot be read");
            return Err(CliError::failed(message).with_code("unreadable_files"));
        }
        if self.parts.is_empty() {
            let message = format!("no readable image or video: {}", self.description);
            return Err(CliError::failed(message).with_code("no_media"));
        }
        Ok(())
    }

    pub fn file_count(parts: &[AdditionPart]) -> u64 {
        parts.iter().map(|part| part.files).sum()
    }

    /// Absolute paths, each followed by a NUL byte.
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
            "status_new": dataset.status.as_str(),
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
        format!("would add {what} to {} ({}) in {parts}", dataset.name, dataset.status.as_str())
    }
}

pub fn skipped_files(found: &Preflight) -> Value {
    let named = found.unreadable_files.iter();
    named
        .map(|file| json!({ "name": file.name.as_str(), "reason": file.reason.as_str() }))
        .collect()
}
