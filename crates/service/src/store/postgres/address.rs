//! The address of a store on a server, as libpq writes it. It may contain a password, which is never shown.

use std::{fmt, str::FromStr};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

/// Where a store is: `postgres://USER@HOST/DATABASE`. Errors contain it, so it is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreAddress(Box<Config>);

impl StoreAddress {
    pub(super) fn config(&self) -> &Config {
        &self.0
    }
}

impl FromStr for StoreAddress {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| raw.starts_with(scheme)) {
            return Err("expected an address like postgres://user@host/database".to_owned());
        }
        // The cause could repeat a part of the password.
        let mut config: Config = raw.parse().map_err(|_| {
            "not an address of PostgreSQL; percent-encode special characters".to_owned()
        })?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err("TLS to the store is not supported yet; use a tunnel or a local proxy, \
                        and remove sslmode=require"
                .to_owned());
        }
        if config.get_application_name().is_none() {
            config.application_name("tessera");
        }
        Ok(Self(Box::new(config)))
    }
}

/// Without user and password.
impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        match self.0.get_hosts().first() {
            Some(Host::Tcp(host)) => f.write_str(host)?,
            Some(Host::Unix(folder)) => write!(f, "{}", folder.display())?,
            None => {}
        }
        if let Some(port) = self.0.get_ports().first() {
            write!(f, ":{port}")?;
        }
        match self.0.get_dbname().or(self.0.get_user()) {
            Some(database) => write!(f, "/{database}"),
            None => Ok(()),
        }
    }
}
