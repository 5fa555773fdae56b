//! The form of `add_media`: its fields, and files that are streamed from the disk when their turn
//! comes, so that memory and open files do not grow with the upload.

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
    chosen::{Chosen, Stamp, choose},
    packed, refuse,
};
use crate::multipart::{self, BYTES, Boundary, Head, Sending};
use tessera_model::{AddMedia, Failure, MediaSource, Preflight, SafeText};
use tessera_wire::paths::field;

/// Bytes read at once.
const PIECE: usize = 128 << 10;

/// A form that can be sent again as long as its files are the same.
pub(crate) struct MediaForm {
    texts: Vec<(&'static str, String)>,
    /// Field of the files.
    field: &'static str,
    files: Arc<[Chosen]>,
    total: u64,
    /// What the last look at the files has found; nothing for a source that is not here.
    found: Preflight,
    flow: Arc<Flow>,
}

/// What the streams of the files tell.
#[derive(Default)]
struct Flow {
    sent: AtomicU64,
    fault: Mutex<Option<String>>,
}

impl MediaForm {
    /// Looks at what is to be sent; files that cannot be read are left out.
    ///
    /// # Errors
    /// [`tessera_model::FailureKind::Local`]: nothing is left to send, or the archive is none.
    pub(super) async fn of(addition: &AddMedia) -> Result<Self, Failure> {
        let source = addition.source.clone();
        let files = tokio::task::spawn_blocking(move || files_of(&source)).await;
        let (field, files, found) =
            files.map_err(|_| refuse("the files could not be looked at"))??;
        let total = files.iter().map(|file| file.stamp.bytes).sum();
        let (texts, files) = (texts(addition), files.into());
        Ok(Self { texts, field, files, total, found, flow: Arc::default() })
    }

    /// Its fields as `curl -F` takes them, the files as `@PATH`.
    pub(crate) fn words(&self) -> impl Iterator<Item = (&'static str, String)> {
        let texts = self.texts.iter().cloned();
        texts.chain(self.files.iter().map(|file| (self.field, format!("@{}", file.path.display()))))
    }

    /// Bytes of all files.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// What the last look at its files has found.
    pub(super) fn found(&self) -> &Preflight {
        &self.found
    }

    /// Bytes handed over so far.
    pub(super) fn sent(&self) -> u64 {
        self.flow.sent.load(Ordering::Relaxed)
    }

    /// What went wrong with a file on the way.
    pub(super) fn fault(&self) -> Option<String> {
        self.flow.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The form, to be sent from its beginning.
    pub(crate) fn sending(&self) -> Sending {
        self.flow.sent.store(0, Ordering::Relaxed);
        let boundary = Boundary::new();
        let field = self.field;
        let mut length = boundary.end().len() as u64;
        let mut before = Vec::new();
        for (field, text) in &self.texts {
            let head = Head { field, file: None };
            length += boundary.length(&head, text.len() as u64);
            before.push(multipart::part(boundary.head(&head), multipart::bytes(text.clone())));
        }
        for file in self.files.iter() {
            length +=
                boundary.length(&Head { field, file: Some((&file.name, BYTES)) }, file.stamp.bytes);
        }
        let (content_type, end) = (boundary.content_type(), multipart::bytes(boundary.end()));
        let (files, flow) = (Arc::clone(&self.files), Arc::clone(&self.flow));
        let files = stream::iter(0..files.len()).flat_map(move |place| {
            let file = files[place].clone();
            let head = boundary.head(&Head { field, file: Some((&file.name, BYTES)) });
            multipart::part(head, pieces(file, Arc::clone(&flow)))
        });
        let body = Body::wrap_stream(stream::iter(before).flatten().chain(files).chain(end));
        Sending { content_type, length, body }
    }
}

/// The files of a source with their field, and what was found; none for object storage.
fn files_of(source: &MediaSource) -> Result<(&'static str, Vec<Chosen>, Preflight), Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (chosen, found) = choose(paths, None);
            if chosen.is_empty() {
                let sentence = format!("no readable media: {} unreadable", found.unreadable);
                return Err(refuse(&sentence).remedy("Choose other files"));
            }
            Ok((field::FILES, chosen, found))
        }
        MediaSource::Archive(path) => {
            let archive = packed::look(path).map_err(|reason| refuse(&named(path, &reason)))?;
            Ok((field::ARCHIVE, vec![archive.file], Preflight::default()))
        }
        MediaSource::Storage(_) | MediaSource::ServerPath(_) => {
            Ok((field::FILES, Vec::new(), Preflight::default()))
        }
    }
}

/// The fields that are short texts. What is not set is not sent (M34, M35).
fn texts(addition: &AddMedia) -> Vec<(&'static str, String)> {
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

/// A file piece by piece, opened when the first one is wanted. It must stay the file that was
/// looked at: another length would spoil the form, other bytes the picture (U03).
fn pieces(file: Chosen, flow: Arc<Flow>) -> impl Stream<Item = io::Result<Bytes>> + use<> {
    stream::try_unfold((None, 0_u64), move |(open, sent)| {
        let (file, flow) = (file.clone(), Arc::clone(&flow));
        async move {
            let next = piece(open, sent, &file).await;
            if let Err(error) = &next {
                let fault = named(&file.path, &error.to_string());
                *flow.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
            }
            Ok(next?.map(|(open, piece)| {
                let length = piece.len() as u64;
                flow.sent.fetch_add(length, Ordering::Relaxed);
                (piece, (Some(open), sent + length))
            }))
        }
    })
}

/// The next piece, and the file for the one after it; `None` at the end.
async fn piece(open: Option<File>, sent: u64, file: &Chosen) -> io::Result<Option<(File, Bytes)>> {
    let changed = || io::Error::other("it changed while it was sent");
    let mut reader = match open {
        Some(reader) => reader,
        None => File::open(&file.path).await?,
    };
    if sent == 0 || sent == file.stamp.bytes {
        let now = reader.metadata().await?;
        if Stamp::of(&now) != file.stamp {
            return Err(changed());
        }
        if sent == file.stamp.bytes {
            return Ok(None);
        }
    }
    let left = usize::try_from(file.stamp.bytes - sent).unwrap_or(PIECE);
    let mut piece = BytesMut::with_capacity(left.min(PIECE));
    let read = reader.read_buf(&mut piece).await?;
    piece.truncate(left);
    if read == 0 { Err(changed()) } else { Ok(Some((reader, piece.freeze()))) }
}

fn named(path: &Path, reason: &str) -> String {
    format!("{}: {reason}", SafeText::file(&path.display().to_string()))
}
