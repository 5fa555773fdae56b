//! Reads the `file` URIs that users paste or list. Programs that list folders write the name of the machine into them.

use tessera_wire::preview::split_file_uri;

/// Returns the path in a `file` URI of any machine. Other text gives `None`.
pub fn path_of_file_uri(uri: &str) -> Option<String> {
    split_file_uri(uri).map(|(_, path)| path)
}

/// Returns the path in a `file` URI of this machine. Other text gives `None`.
pub fn local_path_of_file_uri(uri: &str) -> Option<String> {
    let (host, path) = split_file_uri(uri)?;
    let is_local = |host: &str| host.is_empty() || host.eq_ignore_ascii_case("localhost");
    (is_local(host) || is_this_machine(host)).then_some(path)
}

fn is_this_machine(host: &str) -> bool {
    let name = rustix::system::uname();
    name.nodename().to_str().is_ok_and(|name| name.eq_ignore_ascii_case(host))
}
