//! The form of `add_media`. Files are streamed from disk one after the other, so that memory and
//! open files do not grow with the upload.

use std::{
    io,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, stream};
use reqwest::Body;
use tokio::{fs::File, io::AsyncReadExt as _};

use super::{
    archive_check,
    local_files::{FileFingerprint, UploadFile, collect_files},
    upload_failure,
};
use crate::multipart::{self, Boundary, MultipartBody, OCTET_STREAM, PartHeader};
use tessera_model::{Failure, MediaAddition, MediaSource, Preflight, SafeText};
use tessera_wire::paths::field;

const CHUNK_BYTES: usize = 128 << 10;

/// A form that can be sent again as long as its files are unchanged.
pub(crate) struct MediaForm {
    text_fields: Vec<(&'static str, String)>,
    field: &'static str,
    files: Arc<[UploadFile]>,
    total_bytes: u64,
    /// The result of checking the files; empty for a remote source.
    preflight: Preflight,
    stream_state: Arc<UploadStreamState>,
}

#[derive(Default)]
struct UploadStreamState {
    sent_bytes: AtomicU64,
    error: Mutex<Option<String>>,
}

impl MediaForm {
    /// Checks the files; unreadable ones are left out.
    ///
    /// # Errors
    /// Nothing is left to send, or the archive is invalid.
    pub(crate) async fn open(addition: &MediaAddition) -> Result<Self, Failure> {
        let source = addition.source.clone();
        let files = tokio::task::spawn_blocking(move || files_of_source(&source)).await;
        let (field, files, found) =
            files.map_err(|_| upload_failure("the files could not be checked"))??;
        let total = files.iter().map(|file| file.fingerprint.bytes).sum();
        let (texts, files) = (text_fields(addition), files.into());
        Ok(Self {
            text_fields: texts,
            field,
            files,
            total_bytes: total,
            preflight: found,
            stream_state: Arc::default(),
        })
    }

    /// The fields as `curl -F` arguments, with files as `@PATH`.
    pub(crate) fn curl_fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let texts = self.text_fields.iter().cloned();
        texts.chain(self.files.iter().map(|file| (self.field, format!("@{}", file.path.display()))))
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    pub(crate) fn preflight(&self) -> &Preflight {
        &self.preflight
    }

    pub(crate) fn sent_bytes(&self) -> u64 {
        self.stream_state.sent_bytes.load(Ordering::Relaxed)
    }

    /// The first error of a file while it was sent.
    pub(crate) fn file_error(&self) -> Option<String> {
        self.stream_state.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The form, to be sent from its beginning.
    pub(crate) fn multipart_body(&self) -> MultipartBody {
        self.stream_state.sent_bytes.store(0, Ordering::Relaxed);
        let boundary = Boundary::new();
        let field = self.field;
        let mut length = boundary.closing_delimiter().len() as u64;
        let mut before = Vec::new();
        for (field, text) in &self.text_fields {
            let head = PartHeader { field, file: None };
            length += boundary.part_length(&head, text.len() as u64);
            before.push(multipart::part_stream(
                boundary.part_header(&head),
                multipart::text_stream(text.clone()),
            ));
        }
        for file in self.files.iter() {
            length += boundary.part_length(
                &PartHeader { field, file: Some((&file.name, OCTET_STREAM)) },
                file.fingerprint.bytes,
            );
        }
        let (content_type, end) =
            (boundary.content_type(), multipart::text_stream(boundary.closing_delimiter()));
        let (files, flow) = (Arc::clone(&self.files), Arc::clone(&self.stream_state));
        let files = stream::iter(0..files.len()).flat_map(move |place| {
            let file = files[place].clone();
            let head =
                boundary.part_header(&PartHeader { field, file: Some((&file.name, OCTET_STREAM)) });
            multipart::part_stream(head, file_stream(file, Arc::clone(&flow)))
        });
        let body = Body::wrap_stream(stream::iter(before).flatten().chain(files).chain(end));
        MultipartBody { content_type, length, body }
    }
}

/// The form field and files of a source; no files for a remote source.
fn files_of_source(
    source: &MediaSource,
) -> Result<(&'static str, Vec<UploadFile>, Preflight), Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (chosen, found) = collect_files(paths, None);
            if chosen.is_empty() {
                let sentence = format!("no readable media: {} unreadable", found.unreadable);
                return Err(upload_failure(&sentence).with_remedy("Choose other files"));
            }
            Ok((field::FILES, chosen, found))
        }
        MediaSource::Archive(path) => {
            let archive = archive_check::check_archive(path)
                .map_err(|reason| upload_failure(&with_path(path, &reason)))?;
            Ok((field::ARCHIVE, vec![archive.file], Preflight::default()))
        }
        MediaSource::Storage(_) | MediaSource::ServerPath(_) => {
            Ok((field::FILES, Vec::new(), Preflight::default()))
        }
    }
}

/// The short text fields. Unset values are not sent.
fn text_fields(addition: &MediaAddition) -> Vec<(&'static str, String)> {
    let mut texts = vec![(field::AUTO_REINDEX, addition.auto_reindex.to_string())];
    if let MediaSource::Storage(uri) = &addition.source {
        texts.push((field::S3_URI, uri.clone()));
    }
    let counts = [
        (field::BATCH_N_VIDEOS, addition.batch_videos),
        (field::BATCH_N_IMAGES, addition.batch_images),
        (field::BATCH_N_OBJECTS, addition.batch_objects),
    ];
    texts.extend(counts.into_iter().filter_map(|(name, count)| Some((name, count?.to_string()))));
    texts.extend(addition.assume_role.iter().map(|role| (field::ASSUME_ROLE, role.clone())));
    texts.extend(addition.spot.map(|spot| (field::USE_SPOT, spot.to_string())));
    texts
}

/// Streams a file, which is opened when its first chunk is needed. It must be unchanged: another
/// length would corrupt the form, other content the picture.
fn file_stream(
    file: UploadFile,
    flow: Arc<UploadStreamState>,
) -> impl Stream<Item = io::Result<Bytes>> + use<> {
    stream::try_unfold((None, 0_u64), move |(open, sent)| {
        let (file, flow) = (file.clone(), Arc::clone(&flow));
        async move {
            let next = read_chunk(open, sent, &file).await;
            if let Err(error) = &next {
                let fault = with_path(&file.path, &error.to_string());
                *flow.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
            }
            Ok(next?.map(|(open, piece)| {
                let length = piece.len() as u64;
                flow.sent_bytes.fetch_add(length, Ordering::Relaxed);
                (piece, (Some(open), sent + length))
            }))
        }
    })
}

/// The next chunk and the open file, or `None` at the end.
async fn read_chunk(
    open: Option<File>,
    sent: u64,
    file: &UploadFile,
) -> io::Result<Option<(File, Bytes)>> {
    let changed = || io::Error::other("it changed while it was sent");
    let mut reader = match open {
        Some(reader) => reader,
        None => File::open(&file.path).await?,
    };
    if sent == 0 || sent == file.fingerprint.bytes {
        let now = reader.metadata().await?;
        if FileFingerprint::of(&now) != file.fingerprint {
            return Err(changed());
        }
        if sent == file.fingerprint.bytes {
            return Ok(None);
        }
    }
    let left = usize::try_from(file.fingerprint.bytes - sent).unwrap_or(CHUNK_BYTES);
    let mut piece = BytesMut::with_capacity(left.min(CHUNK_BYTES));
    let read = reader.read_buf(&mut piece).await?;
    piece.truncate(left);
    if read == 0 { Err(changed()) } else { Ok(Some((reader, piece.freeze()))) }
}

fn with_path(path: &Path, reason: &str) -> String {
    format!("{}: {reason}", SafeText::file_name(&path.display().to_string()))
}
