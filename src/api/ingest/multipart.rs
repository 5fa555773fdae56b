//! A form as bytes on the wire: the head of each part, its content, and the end.
//!
//! The form of `reqwest` wraps a stream around a stream for each part: with 100,000 files that is
//! deeper than any stack.

use std::io;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use uuid::Uuid;

/// What stands between two parts; no file holds it but by intent.
#[derive(Clone)]
pub(super) struct Boundary(String);

/// A part without its content.
pub(super) struct Head<'a> {
    /// The field it belongs to; one of our own words.
    pub field: &'static str,
    /// The name of its file, safe by now; none for a short text.
    pub file: Option<&'a str>,
}

impl Boundary {
    pub(super) fn new() -> Self {
        Self(format!("tessera-{}", Uuid::new_v4().simple()))
    }

    /// The media type of the whole.
    pub(super) fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.0)
    }

    /// What comes before the content of a part (RFC 7578; names as browsers write them).
    pub(super) fn head(&self, part: &Head) -> String {
        let (boundary, field) = (&self.0, part.field);
        let disposition = format!("Content-Disposition: form-data; name=\"{field}\"");
        match part.file {
            None => format!("--{boundary}\r\n{disposition}\r\n\r\n"),
            Some(name) => format!(
                "--{boundary}\r\n{disposition}; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n"
            ),
        }
    }

    /// What comes after the last part.
    pub(super) fn end(&self) -> String {
        format!("--{}--\r\n", self.0)
    }

    /// Bytes of a part whose content has so many.
    pub(super) fn length(&self, part: &Head, content: u64) -> u64 {
        self.head(part).len() as u64 + content + AFTER.len() as u64
    }
}

/// What comes after the content of each part.
const AFTER: &str = "\r\n";

/// A part: its head, and its content piece by piece.
pub(super) fn part<S>(head: String, content: S) -> impl Stream<Item = io::Result<Bytes>>
where
    S: Stream<Item = io::Result<Bytes>>,
{
    bytes(head).chain(content).chain(bytes(AFTER.to_owned()))
}

/// A text as a stream of one piece.
pub(super) fn bytes(text: String) -> impl Stream<Item = io::Result<Bytes>> {
    stream::iter([Ok(Bytes::from(text))])
}
