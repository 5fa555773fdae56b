//! Reads the address of a store on a server. The address has the syntax of libpq, and `sslmode` and `sslrootcert` have
//! the meaning that libpq documents. The address may contain a password, which is never shown.

use std::{env::home_dir, fmt, path::PathBuf, str::FromStr};

use percent_encoding::percent_decode_str;
use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

use super::tls::ServerVerification;

/// The file, below the home folder, in which libpq looks for the certificates of authorities.
const DEFAULT_ROOTS: &str = ".postgresql/root.crt";

/// Parameters that precede those of an address. A connection that waits for nothing can be lost as well: after a minute
/// without any response of the other system, the system ends the connection. By default, it does so after two hours.
const KEEPALIVE: &str =
    "keepalives_idle=30&keepalives_interval=10&keepalives_retries=3&tcp_user_timeout=60";

/// The address of a store: `postgres://USER@HOST/DATABASE`. The type is small because errors contain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreAddress(Box<(Config, ServerVerification)>);

impl StoreAddress {
    pub(super) fn config(&self) -> &Config {
        &self.0.0
    }

    pub(super) fn verification(&self) -> &ServerVerification {
        &self.0.1
    }

    pub fn has_password(&self) -> bool {
        self.config().get_password().is_some()
    }
}

impl FromStr for StoreAddress {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| raw.starts_with(scheme)) {
            return Err("expected an address like postgres://user@host/database".to_owned());
        }
        let (server, mut query) = split_query(raw);
        let tls = TlsOptions::take(&mut query, home_dir().map(|home| home.join(DEFAULT_ROOTS)))?;
        // The cause is not shown, because it could repeat a part of the password.
        let mut config: Config = format!("{server}?{KEEPALIVE}&{query}").parse().map_err(|_| {
            "not an address of PostgreSQL; percent-encode special characters".to_owned()
        })?;
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
        }
        // TLS is used only over networks, as in libpq.
        let is_local = |host: &Host| matches!(host, Host::Unix(_));
        let is_local = !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_local);
        config.ssl_mode(if is_local { SslMode::Disable } else { tls.mode });
        if config.get_application_name().is_none() {
            config.application_name("tessera");
        }
        Ok(Self(Box::new((config, tls.verification))))
    }
}

/// Splits the query off an address. A question mark before the host belongs to the password.
fn split_query(raw: &str) -> (&str, String) {
    let host = raw.find('@').map_or(0, |end| end + 1);
    match raw[host..].find('?') {
        Some(length) => (&raw[..host + length], raw[host + length + 1..].to_owned()),
        None => (raw, String::new()),
    }
}

/// The user and the password are not shown.
impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        let config = self.config();
        match config.get_hosts().first() {
            Some(Host::Tcp(host)) => f.write_str(host)?,
            Some(Host::Unix(folder)) => write!(f, "{}", folder.display())?,
            None => {}
        }
        if let Some(port) = config.get_ports().first() {
            write!(f, ":{port}")?;
        }
        match config.get_dbname().or(config.get_user()) {
            Some(database) => write!(f, "/{database}"),
            None => Ok(()),
        }
    }
}

/// The value of `sslrootcert` for the authorities of the system.
const SYSTEM: &str = "system";

/// Whether a connection is encrypted, and what the certificate of the server must prove.
#[derive(Debug, PartialEq, Eq)]
struct TlsOptions {
    mode: SslMode,
    verification: ServerVerification,
}

impl TlsOptions {
    /// Removes both parameters from `query`, which is the part of an address after the question mark. If `sslrootcert`
    /// is missing, the authorities are in `default_roots`, if that file exists.
    fn take(query: &mut String, default_roots: Option<PathBuf>) -> Result<Self, String> {
        let (mut mode, mut roots) = (None, None);
        let mut others = Vec::new();
        for parameter in query.split('&') {
            let option = match parameter.split_once('=') {
                Some(("sslmode", value)) => (&mut mode, value),
                Some(("sslrootcert", value)) => (&mut roots, value),
                _ => {
                    others.push(parameter);
                    continue;
                }
            };
            let value = percent_decode_str(option.1).decode_utf8();
            *option.0 =
                Some(value.map_err(|_| "sslmode or sslrootcert is not UTF-8")?.into_owned());
        }
        let options = Self::new(mode.as_deref(), roots, default_roots);
        *query = others.join("&");
        options
    }

    fn new(
        mode: Option<&str>,
        roots: Option<String>,
        default_roots: Option<PathBuf>,
    ) -> Result<Self, String> {
        if roots.as_deref() == Some(SYSTEM) {
            return match mode {
                None | Some("verify-full") => Ok(Self {
                    mode: SslMode::Require,
                    verification: ServerVerification::IssuedForHostBySystem,
                }),
                Some(_) => Err("sslrootcert=system needs sslmode=verify-full".to_owned()),
            };
        }
        let roots = roots.map(PathBuf::from).or(default_roots.filter(|file| file.exists()));
        let (mode, verification) = match (mode.unwrap_or("prefer"), roots) {
            ("disable", _) => (SslMode::Disable, ServerVerification::Unverified),
            ("prefer", _) => (SslMode::Prefer, ServerVerification::Unverified),
            ("require", None) => (SslMode::Require, ServerVerification::Unverified),
            ("require" | "verify-ca", Some(roots)) => {
                (SslMode::Require, ServerVerification::IssuedBy(roots))
            }
            ("verify-full", Some(roots)) => {
                (SslMode::Require, ServerVerification::IssuedForHostBy(roots))
            }
            ("verify-ca" | "verify-full", None) => {
                return Err("sslmode=verify-ca and verify-full need the certificates of \
                            authorities; give their file with sslrootcert, or sslrootcert=system \
                            with verify-full"
                    .to_owned());
            }
            _ => {
                return Err(
                    "sslmode must be disable, prefer, require, verify-ca or verify-full".to_owned()
                );
            }
        };
        Ok(Self { mode, verification })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(query: &str, default_roots: Option<&str>) -> Result<(String, TlsOptions), String> {
        let mut rest = query.to_owned();
        let options = TlsOptions::take(&mut rest, default_roots.map(PathBuf::from))?;
        Ok((rest, options))
    }

    #[test]
    fn modes_verify_what_libpq_documents() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let exists = file.path().to_str();
        let issued = ServerVerification::IssuedBy;
        let for_host = ServerVerification::IssuedForHostBy;
        let given = PathBuf::from("/etc/ca 1.pem");
        let default = file.path().to_path_buf();
        for (query, default_roots, mode, verification) in [
            ("", None, SslMode::Prefer, ServerVerification::Unverified),
            ("", exists, SslMode::Prefer, ServerVerification::Unverified),
            ("sslmode=disable", exists, SslMode::Disable, ServerVerification::Unverified),
            ("sslmode=require", None, SslMode::Require, ServerVerification::Unverified),
            ("sslmode=require", Some("/none"), SslMode::Require, ServerVerification::Unverified),
            ("sslmode=require", exists, SslMode::Require, issued(default.clone())),
            ("sslmode=verify-full", exists, SslMode::Require, for_host(default)),
            (
                "sslmode=verify-ca&sslrootcert=/etc/ca%201.pem",
                exists,
                SslMode::Require,
                issued(given.clone()),
            ),
            (
                "sslrootcert=/etc/ca%201.pem&sslmode=verify-full",
                None,
                SslMode::Require,
                for_host(given),
            ),
            (
                "sslrootcert=system",
                None,
                SslMode::Require,
                ServerVerification::IssuedForHostBySystem,
            ),
        ] {
            let expected = (String::new(), TlsOptions { mode, verification });
            assert_eq!(taken(query, default_roots), Ok(expected), "{query}");
        }
    }

    #[test]
    fn weak_and_unknown_modes_are_refused() {
        for (query, words) in [
            ("sslmode=require&sslrootcert=system", "needs sslmode=verify-full"),
            ("sslmode=verify-full", "give their file with sslrootcert"),
            ("sslmode=allow", "sslmode must be"),
            ("sslmode=verify-ca&sslrootcert=%ff", "not UTF-8"),
        ] {
            let refused = taken(query, None).unwrap_err();
            assert!(refused.contains(words), "{query}: {refused}");
        }
    }

    #[test]
    fn other_parameters_are_kept() {
        let query = "connect_timeout=3&sslmode=require&options=-csearch_path%3Dmedia";
        let (rest, _) = taken(query, None).unwrap();
        assert_eq!(rest, "connect_timeout=3&options=-csearch_path%3Dmedia");
    }
}
