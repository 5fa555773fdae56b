//! Encodes multipart forms.
//!
//! The form of `reqwest` is not used, because it nests one stream per part, which overflows the stack with 100,000
//! files.

use std::{io, path::PathBuf};

use bytes::Bytes;
use futures_util::stream;
use reqwest::Body;
use uuid::Uuid;

pub(super) struct MultipartBody {
    pub content_type: String,
    pub length: u64,
    pub body: Body,
}

#[derive(Clone)]
pub(super) struct Boundary(String);

pub(super) struct PartHeader<'a> {
    /// The name of the field, already escaped.
    pub field: &'a str,
    /// The escaped file name and its media type, or `None` for a short text.
    pub file: Option<(&'a str, &'a str)>,
}

/// A field with what it contains, before it is encoded.
pub(super) enum FormField {
    /// `name=text`
    Text(String),
    File {
        field: String,
        path: PathBuf,
        /// The name that is sent, escaped for a part header.
        name: String,
    },
}

pub(super) const OCTET_STREAM: &str = "application/octet-stream";
pub(super) const PART_END: &str = "\r\n";

pub(super) fn in_memory<'a>(
    parts: impl IntoIterator<Item = (PartHeader<'a>, Bytes)>,
) -> MultipartBody {
    let boundary = Boundary::new();
    let mut pieces = Vec::new();
    for (head, content) in parts {
        let head = Bytes::from(boundary.part_header(&head));
        pieces.extend([head, content, Bytes::from_static(PART_END.as_bytes())]);
    }
    pieces.push(boundary.closing_delimiter().into());
    let length = pieces.iter().map(|piece| piece.len() as u64).sum();
    let body = Body::wrap_stream(stream::iter(pieces.into_iter().map(Ok::<_, io::Error>)));
    MultipartBody { content_type: boundary.content_type(), length, body }
}

impl Boundary {
    pub(super) fn new() -> Self {
        Self(format!("tessera-{}", Uuid::new_v4().simple()))
    }

    pub(super) fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.0)
    }

    /// Returns the bytes before the content of a part (RFC 7578). Names must be escaped as browsers do.
    pub(super) fn part_header(&self, part: &PartHeader) -> String {
        let (boundary, field) = (&self.0, part.field);
        let disposition = format!("Content-Disposition: form-data; name=\"{field}\"");
        match part.file {
            None => format!("--{boundary}\r\n{disposition}\r\n\r\n"),
            Some((name, media_type)) => format!(
                "--{boundary}\r\n{disposition}; filename=\"{name}\"\r\n\
                 Content-Type: {media_type}\r\n\r\n"
            ),
        }
    }

    pub(super) fn closing_delimiter(&self) -> String {
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
            let head = boundary
                .part_header(&PartHeader { field: "files", file: Some((&name, OCTET_STREAM)) });
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
