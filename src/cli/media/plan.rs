//! Plans an addition: its media, parts and skipped files. `--dry-run` prints the plan.

use serde_json::{Value, json};

use super::{options::MediaAddOptions, source::ResolvedSource};
use crate::cli::{CliError, CliResult, Column, Context, Document, messages::format_bytes};
use tessera_client::{DryRunRequest, files_to_send};
use tessera_model::{
    Dataset, Failure, FailureKind, MediaAddition, MediaSource, Preflight, ShellCommand,
    ingest::UnreadableFile, text::count_with_noun,
};

#[derive(Debug)]
pub struct AdditionPlan {
    /// One per request, in order; at least one.
    pub parts: Vec<AdditionPart>,
    pub preflight: Preflight,
    pub description: String,
    /// The source as options of this command.
    pub option: ShellCommand,
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
    pub async fn prepare(
        context: &Context,
        options: &MediaAddOptions,
        source: ResolvedSource,
        addition: MediaAddition,
    ) -> CliResult<Self> {
        let ResolvedSource { media, glob, description, option } = source;
        let max_files = options.split.and_then(|max| usize::try_from(max).ok());
        let inspection = tokio::task::spawn_blocking(move || match media {
            MediaSource::Files(paths) => {
                let (files, preflight) = files_to_send(&paths, glob.as_ref());
                let parts = files.chunks(max_files.unwrap_or(usize::MAX)).map(|files| {
                    let paths = files.iter().map(|file| file.path.clone()).collect();
                    AdditionPart {
                        files: files.len() as u64,
                        bytes: files.iter().map(|file| file.bytes).sum(),
                        addition: MediaAddition {
                            source: MediaSource::Files(paths),
                            ..addition.clone()
                        },
                    }
                });
                Ok((parts.collect(), preflight))
            }
            source => tessera_client::preflight(&source).map(|preflight| {
                let files = u64::from(matches!(source, MediaSource::Archive(_)));
                (vec![AdditionPart { files, bytes: preflight.bytes, addition }], preflight)
            }),
        });
        let lost = |_| Failure::new(FailureKind::Local, "the media could not be inspected");
        let (parts, preflight) = inspection.await.map_err(lost)??;
        let plan = Self { parts, preflight, description, option };
        plan.report(context);
        plan.check(options.strict)?;
        Ok(plan)
    }

    fn report(&self, context: &Context) {
        let Preflight { unreadable, unreadable_files, warnings, skipped, .. } = &self.preflight;
        warn_of_unreadable(context, unreadable_files);
        let more = unreadable - unreadable_files.len() as u64;
        if more > 0 {
            let files = count_with_noun(more, "more file", "more files");
            context.messages.warn(format!("skipped {files} that cannot be read"));
        }
        for warning in warnings {
            context.messages.warn(warning);
        }
        if *skipped > 0 {
            let (one, many) =
                ("link or file that is not media", "links and files that are not media");
            context.messages.info(format!("ignored {}", count_with_noun(*skipped, one, many)));
        }
    }

    fn check(&self, strict: bool) -> CliResult<()> {
        let unreadable = self.preflight.unreadable;
        if strict && unreadable > 0 {
            let files = count_with_noun(unreadable, "file", "files");
            let message = format!("nothing was sent (--strict): {files} cannot be read");
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
                list.extend_from_slice(std::path::absolute(path)?.as_os_str().as_encoded_bytes());
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
            .map(|(part, it)| json!({ "part": part, "files": it.files, "bytes": it.bytes }))
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
            "_left_out": unreadable_json(&self.preflight.unreadable_files),
            "_n_left_out": self.preflight.unreadable,
            "_refused": refusal,
            "_request": { "method": request.method, "url": request.url },
        });
        Document::list("tessera.addition_plan/1", plan, "_parts", PART_COLUMNS)
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

pub fn warn_of_unreadable(context: &Context, files: &[UnreadableFile]) {
    for file in files {
        context.messages.warn(format!("skipped {}: {}", file.name, file.reason));
    }
}

pub fn unreadable_json<'a>(files: impl IntoIterator<Item = &'a UnreadableFile>) -> Value {
    files
        .into_iter()
        .map(|file| json!({ "name": file.name.as_str(), "reason": file.reason.as_str() }))
        .collect()
}
