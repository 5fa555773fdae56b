//! The form of a media upload, streamed from disk, one file after the other, in constant memory.

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

use crate::{
    multipart::{Boundary, FormField, MultipartBody, OCTET_STREAM, PART_END, PartHeader},
    preflight::{FileFingerprint, UploadFile, check_archive, collect_files},
};
use tessera_model::{Failure, MediaAddition, MediaSource, Preflight, SafeText};
use tessera_wire::add_media::field;

const CHUNK_BYTES: usize = 128 << 10;

/// A form that can be sent again as long as its files do not change.
pub(crate) struct MediaForm {
    text_fields: Vec<(&'static str, String)>,
    field: &'static str,
    files: Arc<[UploadFile]>,
    pub total_bytes: u64,
    /// The result of checking the files. It is empty for a remote source.
    pub preflight: Preflight,
    stream_state: Arc<UploadStreamState>,
}

#[derive(Default)]
struct UploadStreamState {
    sent_bytes: AtomicU64,
    error: Mutex<Option<String>>,
}

impl MediaForm {
    /// Checks the files. Unreadable files are skipped.
    pub(crate) async fn open(addition: &MediaAddition) -> Result<Self, Failure> {
        let source = addition.source.clone();
        let files = tokio::task::spawn_blocking(move || files_of_source(&source)).await;
        let (field, files, preflight) =
            files.map_err(|_| Failure::local("the files could not be checked"))??;
        Ok(Self {
            text_fields: text_fields(addition),
            field,
            total_bytes: files.iter().map(|file| file.fingerprint.bytes).sum(),
            files: files.into(),
            preflight,
            stream_state: Arc::default(),
        })
    }

    pub(crate) fn form_fields(&self) -> impl Iterator<Item = FormField> {
        let text = |(field, text): &(_, _)| FormField::Text(format!("{field}={text}"));
        let texts = self.text_fields.iter().map(text);
        let file = |file: &UploadFile| FormField::File {
            field: self.field.to_owned(),
            path: file.path.clone(),
            name: file.name.clone(),
        };
        texts.chain(self.files.iter().map(file))
    }

    pub(crate) fn sent_bytes(&self) -> u64 {
        self.stream_state.sent_bytes.load(Ordering::Relaxed)
    }

    /// Returns the first error that occurred while a file was sent.
    pub(crate) fn file_error(&self) -> Option<String> {
        self.stream_state.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn multipart_body(&self) -> MultipartBody {
        self.stream_state.sent_bytes.store(0, Ordering::Relaxed);
        let boundary = Boundary::new();
        let mut texts = String::new();
        for (field, text) in &self.text_fields {
            let header = boundary.part_header(&PartHeader { field, file: None });
            texts.extend([header.as_str(), text, PART_END]);
        }
        let (content_type, end) = (boundary.content_type(), boundary.closing_delimiter());
        let field = self.field;
        let file_header = move |file: &UploadFile| {
            let file = Some((file.name.as_str(), OCTET_STREAM));
            boundary.part_header(&PartHeader { field, file })
        };
        let overhead = |file| (file_header(file).len() + PART_END.len()) as u64;
        let length = (texts.len() + end.len()) as u64
            + self.files.iter().map(overhead).sum::<u64>()
            + self.total_bytes;
        let (files, state) = (Arc::clone(&self.files), Arc::clone(&self.stream_state));
        let parts = stream::iter(0..files.len()).flat_map(move |index| {
            let file = files[index].clone();
            let header = text_stream(file_header(&file));
            let content = file_stream(file, Arc::clone(&state));
            header.chain(content).chain(text_stream(PART_END.to_owned()))
        });
        let body = Body::wrap_stream(text_stream(texts).chain(parts).chain(text_stream(end)));
        MultipartBody { content_type, length, body }
    }
}

/// Returns the form field, the files, and the result of checking them. A remote source has no files.
fn files_of_source(
    source: &MediaSource,
) -> Result<(&'static str, Vec<UploadFile>, Preflight), Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (files, preflight) = collect_files(paths, None);
            if files.is_empty() {
                let sentence = format!("no readable media: {} unreadable", preflight.unreadable);
                return Err(Failure::local(sentence).with_remedy("Choose other files"));
            }
            Ok((field::FILES, files, preflight))
        }
        MediaSource::Archive(path) => {
            let archive =
                check_archive(path).map_err(|reason| Failure::local(with_path(path, &reason)))?;
            Ok((field::ARCHIVE, vec![archive.file], Preflight::default()))
        }
        MediaSource::Storage(_) | MediaSource::ServerPath(_) => {
            Ok((field::FILES, Vec::new(), Preflight::default()))
        }
    }
}

fn text_stream(text: String) -> impl Stream<Item = io::Result<Bytes>> {
    stream::iter([Ok(Bytes::from(text))])
}

/// Returns the short text fields. Unset values are not sent.
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

/// Streams a file, which is opened when its first chunk is needed. The file must be unchanged: a different length would
/// corrupt the form, and different content would corrupt the picture.
fn file_stream(
    file: UploadFile,
    state: Arc<UploadStreamState>,
) -> impl Stream<Item = io::Result<Bytes>> + use<> {
    stream::try_unfold((None, 0_u64), move |(open, sent)| {
        let (file, state) = (file.clone(), Arc::clone(&state));
        async move {
            let next = read_chunk(open, sent, &file).await;
            if let Err(error) = &next {
                let error = with_path(&file.path, &error.to_string());
                *state.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            Ok(next?.map(|(open, chunk)| {
                let length = chunk.len() as u64;
                state.sent_bytes.fetch_add(length, Ordering::Relaxed);
                (chunk, (Some(open), sent + length))
            }))
        }
    })
}

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
    let mut chunk = BytesMut::with_capacity(left.min(CHUNK_BYTES));
    let read = reader.read_buf(&mut chunk).await?;
    chunk.truncate(left);
    if read == 0 { Err(changed()) } else { Ok(Some((reader, chunk.freeze()))) }
}

fn with_path(path: &Path, reason: &str) -> String {
    format!("{}: {reason}", SafeText::file_name(&path.display().to_string()))
}
