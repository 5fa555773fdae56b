//! Multipart forms, which can be sent again as long as their files do not change. Files are streamed from disk, one
//! after the other, in constant memory.
//!
//! The form of `reqwest` is not used, because it nests one stream per part, which overflows the stack with 100,000
//! files.

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, stream};
use parking_lot::Mutex;
use reqwest::Body;
use tokio::{fs::File, io::AsyncReadExt as _};
use uuid::Uuid;

use crate::preflight::{FileFingerprint, UploadFile};
use tessera_model::SafeText;

pub(super) const OCTET_STREAM: &str = "application/octet-stream";
const PART_END: &str = "\r\n";
const CHUNK_BYTES: usize = 128 << 10;

#[derive(Clone)]
pub(super) struct Form {
    parts: Arc<[FormPart]>,
    /// The size of the contents.
    pub content_bytes: u64,
    progress: Arc<FileProgress>,
}

pub(super) struct FormPart {
    pub field: Cow<'static, str>,
    pub content: FormContent,
}

pub(super) enum FormContent {
    /// A short text.
    Text(Bytes),
    /// A file whose bytes are in memory. Its name is escaped for a part header.
    File { path: PathBuf, name: String, media_type: &'static str, bytes: Bytes },
    /// A file that is read when it is sent.
    OnDisk(UploadFile),
}

/// What was sent of the files on disk.
#[derive(Default)]
struct FileProgress {
    sent_bytes: AtomicU64,
    error: Mutex<Option<String>>,
}

pub(super) struct MultipartBody {
    pub content_type: String,
    pub length: u64,
    pub body: Body,
}

impl Form {
    pub(super) fn new(parts: impl IntoIterator<Item = FormPart>) -> Self {
        let parts: Arc<[FormPart]> = parts.into_iter().collect();
        let content_bytes = parts.iter().map(FormPart::content_bytes).sum();
        Self { parts, content_bytes, progress: Arc::default() }
    }

    pub(super) fn parts(&self) -> &[FormPart] {
        &self.parts
    }

    /// Returns the number of bytes of files on disk that were sent.
    pub(super) fn sent_bytes(&self) -> u64 {
        self.progress.sent_bytes.load(Ordering::Relaxed)
    }

    /// Returns the first error that occurred while a file was sent.
    pub(super) fn file_error(&self) -> Option<String> {
        self.progress.error.lock().clone()
    }

    pub(super) fn multipart_body(&self) -> MultipartBody {
        self.progress.sent_bytes.store(0, Ordering::Relaxed);
        let boundary = Boundary::new();
        let (content_type, end) = (boundary.content_type(), boundary.closing_delimiter());
        let encoded_bytes = |part: &FormPart| {
            (part.header(&boundary).len() + PART_END.len()) as u64 + part.content_bytes()
        };
        let length = end.len() as u64 + self.parts.iter().map(encoded_bytes).sum::<u64>();
        let (parts, progress) = (Arc::clone(&self.parts), Arc::clone(&self.progress));
        let parts = stream::iter(0..parts.len()).flat_map(move |index| {
            let part = &parts[index];
            let content = match &part.content {
                FormContent::Text(bytes) | FormContent::File { bytes, .. } => {
                    once(bytes.clone()).left_stream()
                }
                FormContent::OnDisk(file) => {
                    file_stream(file.clone(), Arc::clone(&progress)).right_stream()
                }
            };
            once(part.header(&boundary)).chain(content).chain(once(PART_END))
        });
        MultipartBody { content_type, length, body: Body::wrap_stream(parts.chain(once(end))) }
    }
}

impl FormPart {
    fn content_bytes(&self) -> u64 {
        match &self.content {
            FormContent::Text(bytes) | FormContent::File { bytes, .. } => bytes.len() as u64,
            FormContent::OnDisk(file) => file.fingerprint.bytes,
        }
    }

    fn header(&self, boundary: &Boundary) -> String {
        let file = match &self.content {
            FormContent::Text(_) => None,
            FormContent::File { name, media_type, .. } => Some((name.as_str(), *media_type)),
            FormContent::OnDisk(file) => Some((file.name.as_str(), OCTET_STREAM)),
        };
        boundary.part_header(&escape_file_name(&self.field), file)
    }
}

fn once(bytes: impl Into<Bytes>) -> impl Stream<Item = io::Result<Bytes>> {
    stream::iter([Ok(bytes.into())])
}

/// Streams a file, which is opened when its first chunk is needed. The file must be unchanged: a different length would
/// corrupt the form, and different content would corrupt the picture.
fn file_stream(
    file: UploadFile,
    progress: Arc<FileProgress>,
) -> impl Stream<Item = io::Result<Bytes>> + use<> {
    stream::try_unfold((None, 0_u64), move |(open, sent)| {
        let (file, progress) = (file.clone(), Arc::clone(&progress));
        async move {
            let next = read_chunk(open, sent, &file).await;
            if let Err(error) = &next {
                let error = with_path(&file.path, &error.to_string());
                *progress.error.lock() = Some(error);
            }
            Ok(next?.map(|(open, chunk)| {
                let length = chunk.len() as u64;
                progress.sent_bytes.fetch_add(length, Ordering::Relaxed);
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

pub(super) fn with_path(path: &Path, reason: &str) -> String {
    format!("{}: {reason}", SafeText::file_name(&path.display().to_string()))
}

struct Boundary(String);

impl Boundary {
    fn new() -> Self {
        Self(format!("tessera-{}", Uuid::new_v4().simple()))
    }

    fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.0)
    }

    /// Returns the bytes before the content of a part (RFC 7578). `file` is the file name and its media type, or `None`
    /// for a short text. Names must be escaped as browsers do.
    fn part_header(&self, field: &str, file: Option<(&str, &str)>) -> String {
        let boundary = &self.0;
        let disposition = format!("Content-Disposition: form-data; name=\"{field}\"");
        match file {
            None => format!("--{boundary}\r\n{disposition}\r\n\r\n"),
            Some((name, media_type)) => format!(
                "--{boundary}\r\n{disposition}; filename=\"{name}\"\r\n\
                 Content-Type: {media_type}\r\n\r\n"
            ),
        }
    }

    fn closing_delimiter(&self) -> String {
        format!("--{}--\r\n", self.0)
    }
}

/// Escapes a file name for a part header. Quotes and line breaks are escaped as browsers do; backslashes and other
/// control characters become underscores.
pub(super) fn escape_file_name(raw: &str) -> String {
    let mut name = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '\r' => name.push_str("%0D"),
            '\n' => name.push_str("%0A"),
            '"' => name.push_str("%22"),
            '\\' => name.push('_'),
            c if c.is_control() => name.push('_'),
            c => name.push(c),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Characters that could break out of a header, and some that could not.
    const NASTY: [char; 20] = [
        '\r', '\n', '\0', '"', '\\', ';', '=', '%', '\'', ':', ' ', '\t', '\u{7f}', '\u{85}',
        '\u{202e}', '\u{2028}', '\u{fffd}', 'é', '-', 'a',
    ];

    fn expected(raw: &str) -> String {
        raw.replace('"', "%22")
            .replace('\r', "%0D")
            .replace('\n', "%0A")
            .replace(|c: char| c == '\\' || c.is_control(), "_")
    }

    #[test]
    fn random_names_survive_encoding() {
        let boundary = Boundary::new();
        let mut seed = 7_u64;
        for _ in 0..1_000_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = (seed >> 60) as usize % 12;
            let nasty = |n| NASTY[usize::try_from((seed >> (5 * n)) % 20).unwrap()];
            let raw: String = (0..length).map(nasty).collect();
            let name = escape_file_name(&raw);
            let head = boundary.part_header("files", Some((&name, OCTET_STREAM)));
            let lines: Vec<&str> = head.split("\r\n").collect();
            let [first, disposition, kind, "", ""] = lines.as_slice() else { panic!("{head:?}") };
            let read = disposition
                .strip_prefix("Content-Disposition: form-data; name=\"files\"; filename=\"")
                .and_then(|rest| rest.strip_suffix('"'));
            assert_eq!(read, Some(expected(&raw).as_str()), "{raw:?}");
            assert!(first.starts_with("--tessera-") && !name.contains(['"', '\n', '\r']));
            assert_eq!(*kind, "Content-Type: application/octet-stream");
        }
    }
    proptest! {
        #[test]
        fn any_name_stays_inside_its_quotes(raw in "\\PC*|[\\x00-\\x1f\"\\\\a\u{202e}]*") {
            let name = escape_file_name(&raw);
            prop_assert!(!name.contains(['"', '\\']) && !name.contains(char::is_control));
        }
    }
}
