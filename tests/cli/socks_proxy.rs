//! Tests requests through a SOCKS proxy, such as the one of `ssh -D`, and variables that name no proxy.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use super::{outcome, tessera};

const NO_DATASETS: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                             content-length: 2\r\nconnection: close\r\n\r\n[]";

/// Serves one request behind the SOCKS 5 handshake, and returns the name of the host that the client asked for.
fn serve_behind_socks(listener: &TcpListener) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let mut greeting = [0; 2];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(greeting[0], 5, "the version of SOCKS");
    stream.read_exact(&mut vec![0; greeting[1].into()]).unwrap();
    stream.write_all(&[5, 0]).unwrap();
    // Version, the command to connect, a reserved byte, and an address that is a name.
    let mut request = [0; 5];
    stream.read_exact(&mut request).unwrap();
    assert_eq!(request[..4], [5, 1, 0, 3]);
    let mut name = vec![0; request[4].into()];
    stream.read_exact(&mut name).unwrap();
    stream.read_exact(&mut [0; 2]).unwrap();
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    stream.write_all(NO_DATASETS).unwrap();
    String::from_utf8(name).unwrap()
}

#[test]
fn requests_go_through_a_socks_proxy_which_resolves_the_name() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let served = thread::spawn(move || serve_behind_socks(&listener));
    let home = tempfile::tempdir().unwrap();
    let list = ["--base-url", "http://media.lab.example", "--kind", "onprem", "dataset", "list"];
    let mut command = tessera(home.path(), &list);
    let (code, _, err) = outcome(command.env("ALL_PROXY", format!("socks5h://{address}")));
    assert_eq!(code, 0, "{err}");
    assert_eq!(served.join().unwrap(), "media.lab.example");
}

#[test]
fn a_variable_that_names_no_proxy_is_refused_without_showing_it() {
    let home = tempfile::tempdir().unwrap();
    let service =
        ["--base-url", "https://media.lab.example", "--kind", "onprem", "dataset", "list"];
    let hub = ["model", "get", "someone/model", "--yes"];
    for (arguments, expected) in [(&service[..], 2), (&hub, 1)] {
        let mut command = tessera(home.path(), arguments);
        let (code, _, err) = outcome(command.env("HTTPS_PROXY", "htp://me:s3cret@proxy:3128"));
        assert_eq!(code, expected, "{arguments:?}");
        assert!(err.contains("HTTPS_PROXY is not the address of a proxy"), "{err}");
        assert!(!err.contains("s3cret"), "{err}");
    }
}

/// Answers each connection with these bytes after the first bytes of a request, and returns the address.
fn answering(reply: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // A client may end the connection first.
            let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(reply));
        }
    });
    address
}

#[test]
fn a_failure_behind_a_proxy_names_the_proxy_without_its_login() {
    let home = tempfile::tempdir().unwrap();
    let closing = answering(b"");
    let not_http = answering(&[5, 255]);
    let page = answering(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 7\r\n\r\nblocked");
    let tunnel = answering(b"HTTP/1.1 200 OK\r\n\r\n");
    let login = answering(b"HTTP/1.1 407 Proxy Login\r\ncontent-length: 0\r\n\r\n");
    let cases = [
        ("http", "http_proxy", "http", &closing),
        ("http", "http_proxy", "http", &not_http),
        ("http", "HTTP_PROXY", "http", &page),
        ("http", "http_proxy", "http", &login),
        ("http", "ALL_PROXY", "socks5h", &closing),
        ("https", "https_proxy", "http", &page),
        ("https", "https_proxy", "http", &login),
        ("https", "HTTPS_PROXY", "http", &tunnel),
        ("https", "all_proxy", "http", &closing),
        ("https", "https_proxy", "https", &page),
    ];
    let check = |(service, variable, scheme, address): (&str, &str, &str, &String)| {
        let url = format!("{service}://media.lab.example");
        let list = ["--base-url", &url, "--kind", "onprem", "dataset", "list"];
        let mut command = tessera(home.path(), &list);
        command.env(variable, format!("{scheme}://me:s3cret@{address}"));
        let (code, _, err) = outcome(&mut command);
        let named = format!("{scheme}://{address} ({variable})");
        assert!(code != 0 && err.contains(&named), "{named}: {err}");
        assert!(!err.contains("s3cret"), "{err}");
    };
    // The commands pause between their attempts, so they run at the same time.
    thread::scope(|scope| {
        let check = &check;
        for case in cases {
            scope.spawn(move || check(case));
        }
    });
}
