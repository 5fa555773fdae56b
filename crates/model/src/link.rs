//! A URL that comes from the service. Signed links are credentials for a while, so neither
//! `Debug` nor `Display` ever prints the query part; only a request may `expose` it.

use std::fmt;

use crate::SafeText;

/// An absolute or server-relative URL, printable without its secrets.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link(String);

impl Link {
    /// Keeps `url` as it came; checking scheme and origin is the work of the client that fetches.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The whole URL, for the request itself and nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The URL without its query: names the resource, whatever the signature. Used as cache key.
    pub fn resource(&self) -> &str {
        self.0.split(['?', '#']).next().unwrap_or_default()
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource();
        // User info before the host would be a password.
        let shown = match (resource.split_once("://"), resource.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            _ => resource.to_owned(),
        };
        write!(f, "{}", SafeText::detail(&shown))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({self})")
    }
}
