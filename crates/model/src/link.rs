//! A URL from the service. Signed links are temporary credentials, so neither `Debug` nor `Display`
//! prints the query; only a request may `expose` it.

use std::fmt;

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

    /// The URL without query and fragment; identifies the resource in caches.
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
