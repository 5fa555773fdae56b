//! Chooses the address of a local service: the address that an option names, or a port of the index folder. The port of
//! an index folder is the same at every start, so that links and saved addresses still work after a restart.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    path::Path,
};

use tokio::net::TcpListener;
use uuid::Uuid;

use crate::cli::{CliError, CliResult, messages::write_message};

/// The ports of index folders begin here. They are below the ports that Linux and macOS give to outgoing connections,
/// because such a port is often in use at the next start.
const FIRST_PORT: u16 = 20_000;
const PORT_COUNT: u16 = 12_000;
/// The number of ports of an index folder, for services that run at the same time.
const PORTS_PER_FOLDER: u16 = 16;

/// Listens on the address that an option names.
pub(super) async fn bind(address: SocketAddr, option: &str) -> CliResult<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let remedy = format!("choose another address with {option}, or port 0 for a free port");
        CliError::failed(format!("cannot listen on {address}: {error}; {remedy}"))
    })
}

/// Listens on the first port of an index folder that is not in use. If all of them are in use, listens on any free
/// port.
pub(super) async fn bind_port_of(index_folder: &Path) -> CliResult<TcpListener> {
    let ports = ports_of(index_folder).map_err(|error| {
        CliError::io(format_args!("create the index folder {}", index_folder.display()), &error)
    })?;
    for (port, is_first) in ports.zip(std::iter::once(true).chain(std::iter::repeat(false))) {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            if !is_first {
                write_message(&format!(
                    "another program uses the port of this index folder; listening on port {port}."
                ));
            }
            return Ok(listener);
        }
    }
    bind((Ipv4Addr::LOCALHOST, 0).into(), "--listen").await
}

/// Returns the ports of an index folder, which depend only on its path. The folder is created if needed, because only
/// the path of an existing folder is free of symbolic links.
fn ports_of(index_folder: &Path) -> io::Result<impl Iterator<Item = u16> + use<>> {
    tessera_files::create_private_dir_durably(index_folder)?;
    let path = index_folder.canonicalize()?;
    let [.., high, low] =
        Uuid::new_v5(&Uuid::NAMESPACE_URL, path.as_os_str().as_encoded_bytes()).into_bytes();
    let first = u16::from_be_bytes([high, low]) % PORT_COUNT;
    Ok((0..PORTS_PER_FOLDER).map(move |number| FIRST_PORT + (first + number) % PORT_COUNT))
}

/// Returns an address that clients can use. If the service listens on all addresses of this
/// machine, one of them is chosen.
pub(super) fn reachable_address(listening: SocketAddr) -> SocketAddr {
    let (target, loopback): (_, IpAddr) = match listening.ip() {
        all if !all.is_unspecified() => return listening,
        IpAddr::V4(_) => ("192.0.2.1:9", Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(_) => ("[2001:db8::1]:9", Ipv6Addr::LOCALHOST.into()),
    };
    // Connecting a UDP socket sends nothing, but chooses the address of the default route.
    let network_address = || {
        let socket = UdpSocket::bind((listening.ip(), 0)).ok()?;
        socket.connect(target).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    SocketAddr::new(network_address().unwrap_or(loopback), listening.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ports_of_a_folder_stay_the_same_and_are_its_own() {
        let home = tempfile::tempdir().unwrap();
        let ports = |name: &str| ports_of(&home.path().join(name)).unwrap().collect::<Vec<_>>();
        let first = ports("a");
        assert_eq!(first, ports("a"));
        assert_ne!(first, ports("b"));
        std::os::unix::fs::symlink(home.path().join("a"), home.path().join("link")).unwrap();
        assert_eq!(first, ports("link"));
        assert_eq!(first.len(), usize::from(PORTS_PER_FOLDER));
        assert!(first.iter().all(|port| (FIRST_PORT..FIRST_PORT + PORT_COUNT).contains(port)));
    }
}
