//! A further name by which clients reach the service, such as that of a proxy.

use std::{fmt, str::FromStr};

use axum::http::uri::Authority;

/// `NAME`, `NAME:PORT`, or the origin that a proxy with TLS has for its clients: `https://NAME`.
#[derive(Clone, Debug)]
pub struct AllowedHost {
    scheme: Option<PublicScheme>,
    authority: Authority,
}

#[derive(Clone, Copy, Debug)]
enum PublicScheme {
    Http,
    Https,
}

impl PublicScheme {
    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl fmt::Display for PublicScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "http",
            Self::Https => "https",
        })
    }
}

impl AllowedHost {
    /// The start of links for a client that connects to `port` and names `host`; `None` if it may not.
    ///
    /// It is what was configured: forwarding headers of a request could come from anybody.
    pub(super) fn origin(&self, host: &Authority, port: u16) -> Option<String> {
        if host.as_str().contains('@') || !host.host().eq_ignore_ascii_case(self.authority.host()) {
            return None;
        }
        let Some(scheme) = self.scheme else {
            let expected = self.authority.port_u16().unwrap_or(port);
            return (host.port_u16().unwrap_or(80) == expected).then(|| format!("http://{host}"));
        };
        let default = scheme.default_port();
        let expected = self.authority.port_u16().unwrap_or(default);
        let name = self.authority.host().to_ascii_lowercase();
        let shown = if expected == default { String::new() } else { format!(":{expected}") };
        (host.port_u16().unwrap_or(default) == expected)
            .then(|| format!("{scheme}://{name}{shown}"))
    }
}

impl FromStr for AllowedHost {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let (scheme, rest) = match raw.split_once("://") {
            Some(("http", rest)) => (Some(PublicScheme::Http), rest),
            Some(("https", rest)) => (Some(PublicScheme::Https), rest),
            _ => (None, raw),
        };
        let authority: Option<Authority> = rest.parse().ok().filter(|_| !rest.contains('@'));
        let allowed = authority.map(|authority| Self { scheme, authority });
        allowed.ok_or_else(|| "expected NAME, NAME:PORT or https://NAME".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_scheme_decides_over_ports_and_links() {
        for (allowed, host, expected) in [
            ("media.example", "media.example:8080", Some("http://media.example:8080")),
            ("media.example", "media.example", None),
            ("media.example:80", "media.example", Some("http://media.example")),
            ("http://media.example", "media.example", Some("http://media.example")),
            ("https://media.example", "media.example", Some("https://media.example")),
            ("https://Media.example", "MEDIA.example:443", Some("https://media.example")),
            ("https://media.example:443", "media.example", Some("https://media.example")),
            (
                "https://media.example:8443",
                "media.example:8443",
                Some("https://media.example:8443"),
            ),
            ("https://media.example:8443", "media.example", None),
            ("https://media.example", "media.example:8080", None),
            ("https://media.example", "media.example:80", None),
            ("https://media.example", "other.example", None),
            ("https://media.example", "user@media.example", None),
            ("https://[2001:db8::1]", "[2001:db8::1]", Some("https://[2001:db8::1]")),
        ] {
            let origin =
                allowed.parse::<AllowedHost>().unwrap().origin(&host.parse().unwrap(), 8080);
            assert_eq!(origin.as_deref(), expected, "{allowed} {host}");
        }
    }

    #[test]
    fn only_hosts_and_their_origins_are_accepted() {
        let refused =
            ["", "https://", "ftp://media.example", "https://media.example/", "https://a@b", "a b"];
        for raw in refused {
            assert!(raw.parse::<AllowedHost>().is_err(), "{raw}");
        }
    }
}
