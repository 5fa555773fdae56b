//! A URL from the service. Signed links are temporary credentials, so neither `Debug` nor `Display`
//! prints the query; only a request may `expose` it.

use std::fmt::{self, Write as _};

use crate::SafeText;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link(String);

impl Link {
    /// Stores `url` unchanged; the client checks scheme and origin when it fetches.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The whole URL, for the request itself only.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The whole URL, percent-encoded, to copy. `None` if it is not a URL: a line break in it would
    /// run in the shell that it is pasted into.
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

    /// The URL without query and fragment; identifies the resource in caches.
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
                // User info before the host would be a password.
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
