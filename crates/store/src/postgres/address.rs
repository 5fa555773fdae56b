//! The address of a store on a server, as libpq writes it. It may contain a password, which is never shown.

use std::{env::home_dir, fmt, str::FromStr};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

use super::tls_options::TlsOptions;
use crate::engine::ServerVerification;

/// Where libpq looks for the certificates of authorities, below the home folder.
const DEFAULT_ROOTS: &str = ".postgresql/root.crt";

/// Where a store is: `postgres://USER@HOST/DATABASE`. Errors contain it, so it is small.
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
        // The cause could repeat a part of the password.
        let mut config: Config = format!("{server}?{query}").parse().map_err(|_| {
            "not an address of PostgreSQL; percent-encode special characters".to_owned()
        })?;
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
        }
        // As libpq does; TLS is only for networks.
        let is_local = |host: &Host| matches!(host, Host::Unix(_));
        let is_local = !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_local);
        config.ssl_mode(if is_local { SslMode::Disable } else { tls.mode });
        if config.get_application_name().is_none() {
            config.application_name("tessera");
        }
        Ok(Self(Box::new((config, tls.verification))))
    }
}

/// A question mark before the host belongs to the password.
fn split_query(raw: &str) -> (&str, String) {
    let host = raw.find('@').map_or(0, |end| end + 1);
    match raw[host..].find('?') {
        Some(length) => (&raw[..host + length], raw[host + length + 1..].to_owned()),
        None => (raw, String::new()),
    }
}

/// Without user and password.
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
