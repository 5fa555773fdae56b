//! Headers of partial responses: the byte range and the version of the archive.

use reqwest::header::{CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED};

/// What is known about the remote archive.
#[derive(Default)]
pub(super) struct ArchiveVersion {
    /// A strong `ETag`, or `Last-Modified`.
    pub validator: Option<HeaderValue>,
    pub total: Option<u64>,
}

/// The value for `If-Range`. A weak `ETag` does not guarantee equal bytes.
pub(super) fn validator(headers: &HeaderMap) -> Option<HeaderValue> {
    let strong = headers.get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/"));
    strong.or_else(|| headers.get(LAST_MODIFIED)).cloned()
}

/// `Content-Range: bytes 5-9/10`, or `bytes */10` with a 416.
pub(super) struct ContentRange {
    pub start: Option<u64>,
    pub total: Option<u64>,
}

impl ContentRange {
    pub(super) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let value = headers.get(CONTENT_RANGE)?.to_str().ok()?;
        let (range, total) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
        Some(Self {
            start: range.split_once('-').and_then(|(start, _)| start.trim().parse().ok()),
            total: total.trim().parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        let read = |value: &str| {
            let headers = [(CONTENT_RANGE, value.parse().unwrap())].into_iter().collect();
            ContentRange::from_headers(&headers).map(|range| (range.start, range.total))
        };
        assert_eq!(read("bytes 5-9/10"), Some((Some(5), Some(10))));
        assert_eq!(read("bytes 5-9/*"), Some((Some(5), None)));
        assert_eq!(read("bytes */10"), Some((None, Some(10))));
        for bad in ["bytes", "items 0-1/2", "bytes 5-9", ""] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn weak_etags_are_not_validators() {
        let of = |pairs: &[(reqwest::header::HeaderName, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
            validator(&pairs.collect())
        };
        let date = "Sat, 01 Aug 2026 00:00:00 GMT";
        assert_eq!(of(&[(ETAG, "\"v1\""), (LAST_MODIFIED, date)]).unwrap(), "\"v1\"");
        assert_eq!(of(&[(ETAG, "W/\"v1\""), (LAST_MODIFIED, date)]).unwrap(), date);
        assert_eq!(of(&[(ETAG, "W/\"v1\"")]), None);
    }
}
