//! The location of a picture: a link of the service, a local file, or an entry of an archive. A frame also has a
//! position in its video. A signed link is a temporary credential, so neither `Debug` nor `Display` prints the query of
//! a link; only a request may `expose` it.

use std::{
    fmt::{self, Write as _},
    path::PathBuf,
    time::Duration,
};

use crate::{
    SafeText,
    text::{format_duration, grouped_with_noun},
};

/// The location of a picture. `Display` does not print the signature of a link.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureSource {
    Link(Link),
    File(PathBuf),
    Entry(PathBuf, String),
}

impl fmt::Display for PictureSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(link) => link.fmt(f),
            Self::File(path) => SafeText::file_name(&path.display().to_string()).fmt(f),
            Self::Entry(_, name) => SafeText::file_name(name).fmt(f),
        }
    }
}

/// A URL from the service.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link(String);

impl Link {
    /// Stores `url` unchanged. The client checks its scheme and origin when it fetches the picture.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// Returns the whole URL, which only the request itself may use.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the whole URL, percent-encoded for copying. Returns `None` if the text is not a URL, because a shell
    /// would run a line break in pasted text.
    pub fn encoded(&self) -> Option<String> {
        let url = self.0.as_str();
        let address = match url.split_once("://") {
            Some(("http" | "https", address)) => address,
            Some(_) => return None,
            None => url.strip_prefix('/')?,
        };
        if address.is_empty() || url.chars().any(char::is_control) {
            return None;
        }
        let mut encoded = String::with_capacity(url.len());
        for byte in url.bytes() {
            match byte {
                b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => encoded.push(char::from(byte)),
                _ => {
                    // Writing to a string cannot fail.
                    let _ = write!(encoded, "%{byte:02X}");
                }
            }
        }
        Some(encoded)
    }

    /// Returns the URL without query and fragment, which identifies the resource in caches.
    pub fn resource(&self) -> &str {
        self.0.split(['?', '#']).next().unwrap_or_default()
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource();
        let shown = match resource.split_once("://") {
            Some((scheme, rest)) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                // User info before the host is omitted because it may contain a password.
                let host = authority.rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}{path}")
            }
            None => resource.to_owned(),
        };
        write!(f, "{}", SafeText::detail(&shown))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({self})")
    }
}

/// The position of a frame in a video.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoFrame {
    /// The path of the video, or another text that identifies the video.
    pub video: SafeText,
    /// `None` if the service does not send it.
    pub seconds: Option<f64>,
    /// The link to the video itself.
    pub link: Option<Link>,
}

impl VideoFrame {
    /// The file name of the video.
    pub fn video_name(&self) -> &str {
        self.video.as_str().rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default()
    }

    /// Returns the time and the name of the video: `00:07 clip.mp4`. The time comes first so that it is not cut off in
    /// narrow places.
    pub fn title(&self) -> SafeText {
        let time = self.seconds.map(|seconds| format!("{} ", format_timestamp(seconds)));
        SafeText::file_name(&format!("{}{}", time.unwrap_or_default(), self.video_name()))
    }
}

/// Writes `12 frames, 3 videos`, or only the frames if the number of videos is unknown.
pub fn frames_and_videos(frames: u64, videos: Option<u64>) -> String {
    let frames = grouped_with_noun(frames, "frame", "frames");
    match videos {
        None => frames,
        Some(videos) => format!("{frames}, {}", grouped_with_noun(videos, "video", "videos")),
    }
}

/// Formats a time in a video as `00:07` or `1:00:07.5`.
pub fn format_timestamp(seconds: f64) -> String {
    let tenths =
        Duration::try_from_secs_f64((seconds * 10.0).round()).unwrap_or_default().as_secs();
    let time = format_duration(Duration::from_secs(tenths / 10));
    if tenths.is_multiple_of(10) { time } else { format!("{time}.{}", tenths % 10) }
}
