//! What an addition would send: a look at the media, the parts they are sent in, and what is left out.
//! `--dry-run` prints it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Add, source::Taken};
use crate::cli::{Column, Context, Document, Ended, Exit, note::amount};
use tessera_client::{Rehearsed, files_to_send};
use tessera_model::{AddMedia, Dataset, Failure, FailureKind, MediaSource, Preflight};

/// What is sent, and how.
#[derive(Debug)]
pub struct Plan {
    /// One request each, in their order; at least one.
    pub parts: Vec<Part>,
    /// What a look at the media has found.
    pub found: Preflight,
    /// The source in words.
    pub words: String,
    /// The source as an option of this command.
    pub option: String,
}

/// What one request carries.
#[derive(Debug)]
pub struct Part {
    /// The request.
    pub addition: AddMedia,
    /// Files that are uploaded; none for what the service fetches by itself.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

const PARTS: &[Column] =
    &[Column::new("PART", "part"), Column::new("FILES", "files"), Column::new("BYTES", "bytes")];

impl Plan {
    /// Looks at the media and cuts them into parts; tells what is left out.
    ///
    /// # Errors
    /// There is nothing to send, or something cannot be read and `--strict` is given.
    pub async fn make(
        context: &Context,
        add: &Add,
        taken: Taken,
        wishes: AddMedia,
    ) -> Result<Self, Ended> {
        let Taken { media, glob, words, option } = taken;
        let most = add.split;
        let looked = tokio::task::spawn_blocking(move || match media {
            MediaSource::Files(paths) => {
                let (files, found) = files_to_send(&paths, glob.as_ref());
                let most =
                    most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
                let parts = files.chunks(most).map(|files| Part {
                    files: files.len() as u64,
                    bytes: files.iter().map(|file| file.bytes).sum(),
                    addition: AddMedia {
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
                (vec![Part { files, bytes: found.bytes, addition: wishes }], found)
            }),
        });
        let lost = |_| Failure::new(FailureKind::Local, "the media could not be looked at");
        let (parts, found) = looked.await.map_err(lost)??;
        let plan = Self { parts, found, words, option };
        plan.tell(context);
        plan.check(add.strict)?;
        Ok(plan)
    }

    /// Tells what a person should know before it is sent.
    fn tell(&self, context: &Context) {
        for file in &self.found.named {
            context.note.warn(format!("left out: {}: {}", file.name, file.reason));
        }
        let more = self.found.unreadable - self.found.named.len() as u64;
        if more > 0 {
            context.note.warn(format!("left out: {more} more that cannot be read"));
        }
        for warning in &self.found.warnings {
            context.note.warn(warning);
        }
        if self.found.others > 0 {
            let others = self.found.others;
            context.note.say(format!("passed over, as no media or as links: {others}"));
        }
    }

    fn check(&self, strict: bool) -> Result<(), Ended> {
        let unreadable = self.found.unreadable;
        if strict && unreadable > 0 {
            let sentence = format!(
                "nothing was sent: not every file can be read (--strict); left out would be {unreadable}"
            );
            return Err(Ended::new(Exit::Failed, sentence).code("unreadable_files"));
        }
        if self.parts.is_empty() {
            let sentence = format!("no image or video that can be read: {}", self.words);
            return Err(Ended::new(Exit::Failed, sentence).code("no_media"));
        }
        Ok(())
    }

    /// Files of some parts.
    #[must_use]
    pub fn files(parts: &[Part]) -> u64 {
        parts.iter().map(|part| part.files).sum()
    }

    /// The paths of some parts, absolute, with a NUL byte after each.
    ///
    /// # Errors
    /// There is no working folder any more.
    pub fn list(parts: &[Part]) -> std::io::Result<Vec<u8>> {
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
        request: &Rehearsed,
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
            "_source": self.words,
            "_images": self.found.images,
            "_videos": self.found.videos,
            "_bytes": self.found.bytes,
            "_parts": parts,
            "_left_out": left_out(&self.found),
            "_n_left_out": self.found.unreadable,
            "_refused": refusal,
            "_request": { "method": request.method, "url": request.url },
        });
        Document::list("tessera.media_plan/1", plan, "_parts", PARTS)
    }

    /// The plan in a sentence.
    #[must_use]
    pub fn sentence(&self, dataset: &Dataset) -> String {
        let Preflight { images, videos, bytes, .. } = &self.found;
        let parts = match self.parts.len() {
            1 => "one request".to_owned(),
            several => format!("{several} parts"),
        };
        let what = if Self::files(&self.parts) == 0 {
            self.words.clone()
        } else {
            format!("{images} images and {videos} videos, {}", amount(*bytes))
        };
        format!("{what}, would be added to {} ({}) in {parts}", dataset.name, dataset.status.word())
    }
}

/// The files that are left out, as far as they are named.
#[must_use]
pub fn left_out(found: &Preflight) -> Value {
    let named = found.named.iter();
    named
        .map(|file| json!({ "name": file.name.as_str(), "reason": file.reason.as_str() }))
        .collect()
}
