//! Decides whether a link or redirect of a service may be followed. Neither an address nor a name may lead to something
//! that only this machine can reach.

use std::{
    error::Error,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};
use tessera_proxy::is_loopback;
use tokio::net::lookup_host;

const TOO_CLOSE: &str = "an address that only this machine can reach";

fn ip_address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_matches(['[', ']']).parse().ok()
}

/// The services that give logins to the machines of a cloud, at addresses that are not link-local: of Alibaba, of Azure,
/// of AWS (for machines and for containers), and of Google.
const METADATA_SERVICES: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// The networks from which an address can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    ThisMachine,
    /// Hosts on the same link, and the services of clouds that only the machines themselves can reach.
    SameLink,
    Anywhere,
}

impl Reach {
    fn of(url: &Url) -> Self {
        match ip_address(url) {
            _ if is_loopback(url) => Self::ThisMachine,
            Some(address) => Self::of_address(address),
            None => Self::Anywhere,
        }
    }

    fn of_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            address if address.is_loopback() || address.is_unspecified() => Self::ThisMachine,
            address if METADATA_SERVICES.contains(&address) => Self::SameLink,
            IpAddr::V4(address) if address.is_link_local() => Self::SameLink,
            IpAddr::V6(address) if address.is_unicast_link_local() => Self::SameLink,
            _ => Self::Anywhere,
        }
    }
}

/// Returns the reason why a link or redirect of `service` must not lead to `target`: the target could be something that
/// only this machine can reach, or the connection would lose its encryption.
pub(super) fn target_error(service: &Url, target: &Url) -> Option<&'static str> {
    let reach = Reach::of(target);
    if !matches!(target.scheme(), "http" | "https") {
        Some("neither http nor https")
    } else if service.scheme() == "https" && target.scheme() == "http" {
        Some("not encrypted, unlike the service")
    } else if reach != Reach::Anywhere && reach != Reach::of(service) {
        Some(TOO_CLOSE)
    } else {
        None
    }
}

/// Resolves the names in links, except to addresses that are closer than the addresses of the service.
#[derive(Clone)]
pub(super) struct LinkResolver {
    service: Url,
}

impl LinkResolver {
    pub(super) fn new(service: Url) -> Self {
        Self { service }
    }

    async fn check(
        &self,
        name: &str,
        addresses: Vec<SocketAddr>,
    ) -> Result<Vec<SocketAddr>, Box<dyn Error + Send + Sync>> {
        let service = self.service.host_str().unwrap_or_default();
        // Links to `localhost` were refused earlier, so this `localhost` is the name of a proxy.
        let is_trusted = name == service || name == "localhost";
        if is_trusted || !addresses.iter().any(is_close) {
            return Ok(addresses);
        }
        // The service may itself be on this machine, under a name.
        let of_service = lookup_host((service.trim_matches(['[', ']']), 0)).await?.collect();
        let reachable = no_closer_than(of_service, addresses);
        if reachable.is_empty() { Err(ForbiddenAddress.into()) } else { Ok(reachable) }
    }
}

impl Resolve for LinkResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = lookup_host((name.as_str(), 0)).await?.collect();
            let reachable = resolver.check(name.as_str(), addresses).await?;
            Ok(Box::new(reachable.into_iter()) as Addrs)
        })
    }
}

fn is_close(address: &SocketAddr) -> bool {
    Reach::of_address(address.ip()) != Reach::Anywhere
}

fn no_closer_than(service: Vec<SocketAddr>, addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let of_service: Vec<_> =
        service.into_iter().map(|address| Reach::of_address(address.ip())).collect();
    let is_allowed = |address: &SocketAddr| {
        !is_close(address) || of_service.contains(&Reach::of_address(address.ip()))
    };
    addresses.into_iter().filter(is_allowed).collect()
}

/// The error for a name in a link that leads only to addresses closer than the addresses of the service.
#[derive(Debug)]
pub(super) struct ForbiddenAddress;

impl fmt::Display for ForbiddenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TOO_CLOSE)
    }
}

impl Error for ForbiddenAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(raw: &[&str]) -> Vec<SocketAddr> {
        raw.iter().map(|raw| SocketAddr::new(raw.parse().unwrap(), 0)).collect()
    }

    #[tokio::test]
    async fn names_lead_no_closer_than_the_service() {
        let all = addresses(&[
            "10.0.0.1",
            "127.0.0.1",
            "::1",
            "::ffff:127.0.0.1",
            "169.254.169.254",
            "fe80::1",
            "::ffff:100.100.100.200",
            "fd00:ec2::254",
        ]);
        for (service, name, count) in [
            ("https://8.8.8.8", "cdn.example", 1),
            ("http://127.0.0.1:8080", "cdn.example", 4),
            ("http://[::1]:8080", "cdn.example", 4),
            ("http://169.254.1.1", "cdn.example", 5),
            ("https://vl.example", "vl.example", 8),
            ("https://8.8.8.8", "localhost", 8),
        ] {
            let resolver = LinkResolver::new(Url::parse(service).unwrap());
            let reachable = resolver.check(name, all.clone()).await.unwrap();
            assert_eq!(reachable.len(), count, "{service}, {name}: {reachable:?}");
        }
        let resolver = LinkResolver::new(Url::parse("https://8.8.8.8").unwrap());
        let error = resolver.check("cdn.example", addresses(&["127.0.0.1", "fe80::1"])).await;
        assert!(error.unwrap_err().is::<ForbiddenAddress>());
    }
}
