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

/// Whether a path or link has the form of a `file` URI with a whole path.
pub fn is_file_uri(text: impl AsRef<[u8]>) -> bool {
    let parts = text.as_ref().split_at_checked("file:".len());
    parts.is_some_and(|(scheme, rest)| {
        scheme.eq_ignore_ascii_case(b"file:") && rest.starts_with(b"/")
    })
}

/// Removes the comments from the lines of a list of `file` URIs (RFC 2483). In any other list, `#` begins a name.
pub fn without_comments<T: AsRef<[u8]>>(mut lines: Vec<T>) -> Vec<T> {
    let is_comment = |line: &T| line.as_ref().starts_with(b"#");
    let (comments, paths): (Vec<&T>, Vec<&T>) = lines.iter().partition(|line| is_comment(line));
    if !comments.is_empty() && !paths.is_empty() && paths.iter().all(is_file_uri) {
        lines.retain(|line| !is_comment(line));
    }
    lines
}

fn is_this_machine(host: &str) -> bool {
    let name = rustix::system::uname();
    name.nodename().to_str().is_ok_and(|name| name.eq_ignore_ascii_case(host))
}
