//! Tests the proxies of `docs/serve.md` in front of the service, with the documented settings: TLS, links, uploads and
//! downloads. A proxy that is not installed is skipped. Also tests requests through a SOCKS proxy, such as the one of
//! `ssh -D`, and variables that name no proxy.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Serving, outcome, picture, picture_folder, serve, tessera};

const NGINX_PREFIX: &str = "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log;\n\
                            events {}\nhttp {\naccess_log off;\n";
const CADDY_PREFIX: &str = "{\nadmin off\nauto_https off\n}\n";

/// A process that ends with the test.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        // The proxy may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns whether a program is installed. If it is not, prints what is not tested.
#[expect(clippy::print_stdout, reason = "who runs the tests should know what was not tested")]
fn is_installed(program: &str, argument: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    let is_installed = command.status().is_ok_and(|status| status.success());
    if !is_installed {
        println!("skipped: {program} is not installed");
    }
    is_installed
}

/// Returns the documented settings of a proxy.
fn documented(language: &str) -> String {
    let page = include_str!("../../docs/serve.md");
    let block = page.split(&format!("```{language}\n")).nth(1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a service for clients of `https://localhost:PORT`, and creates a certificate for that
/// name.
fn service(home: &Path, port: u16) -> Serving {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(home.join("certificate.pem"), certified.cert.pem()).unwrap();
    fs::write(home.join("key.pem"), certified.signing_key.serialize_pem()).unwrap();
    picture_folder(home, "pictures", &["a.png"]);
    let origin = format!("https://localhost:{port}");
    let folder = home.join("pictures");
    let serving = serve(home, &[folder.to_str().unwrap(), "--no-auth", "--allow-host", &origin]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    serving
}

fn start(mut command: Command, port: u16) -> Proxy {
    let proxy = Proxy(command.stdin(Stdio::null()).spawn().unwrap());
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20), "the proxy does not listen");
        std::thread::yield_now();
    }
    proxy
}

/// Returns the result of a command that reaches the service only through the proxy.
fn through_proxy(home: &Path, port: u16, arguments: &[&str]) -> Value {
    let mut command = tessera(home, arguments);
    command.args(["--json", "--ca-file"]).arg(home.join("certificate.pem")).current_dir(home);
    command.env("TESSERA_BASE_URL", format!("https://localhost:{port}"));
    command.env("TESSERA_KIND", "onprem");
    let (code, out, err) = outcome(&mut command);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// Asserts that an upload and a download by the link of a response work.
fn assert_works(home: &Path, port: u16) {
    let upload = home.join("large.png");
    picture(&upload);
    // The file is larger than what nginx accepts by default. Decoders ignore the bytes that follow
    // a picture.
    let mut file = fs::OpenOptions::new().append(true).open(&upload).unwrap();
    file.write_all(&vec![0; 2 << 20]).unwrap();
    through_proxy(
        home,
        port,
        &["media", "add", "pictures", "--file", "large.png", "--then-reindex", "--wait"],
    );
    let export = ["export", "start", "pictures", "--images", "--format", "json", "--download", "."];
    let export = through_proxy(home, port, &export);
    assert_eq!(
        (&export["status"], &export["images"]),
        (&"COMPLETED".into(), &2.into()),
        "{export}"
    );
    assert!(home.join("pictures.zip").is_file());
}

#[test]
fn nginx_works_as_documented() {
    if !is_installed("nginx", "-v") {
        return;
    }
    let (home, port) = (tempfile::tempdir().unwrap(), free_port());
    let home = home.path();
    let serving = service(home, port);
    let path = |name: &str| home.join(name).display().to_string();
    let settings = documented("nginx")
        .replace("listen 443 ssl", &format!("listen 127.0.0.1:{port} ssl"))
        .replace("media.example;", "localhost;")
        .replace("/etc/ssl/media.example.pem", &path("certificate.pem"))
        .replace("/etc/ssl/media.example.key", &path("key.pem"))
        .replace("http://127.0.0.1:8080", serving.1["base_url"].as_str().unwrap());
    let folders: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {};\n", path(name)))
        .concat();
    fs::write(home.join("nginx.conf"), format!("{NGINX_PREFIX}{folders}{settings}}}\n")).unwrap();
    let mut command = Command::new("nginx");
    command.arg("-p").arg(home).args(["-c", "nginx.conf", "-e", "error.log"]);
    let _proxy = start(command, port);
    assert_works(home, port);
}

#[test]
fn caddy_works_as_documented() {
    if !is_installed("caddy", "version") {
        return;
    }
    let (home, port) = (tempfile::tempdir().unwrap(), free_port());
    let home = home.path();
    let serving = service(home, port);
    let path = |name: &str| home.join(name).display().to_string();
    let site =
        format!("https://localhost:{port} {{\ntls {} {}", path("certificate.pem"), path("key.pem"));
    let base_url = serving.1["base_url"].as_str().unwrap();
    let settings = documented("caddyfile")
        .replace("media.example {", &site)
        .replace("127.0.0.1:8080", base_url.trim_start_matches("http://"));
    fs::write(home.join("Caddyfile"), format!("{CADDY_PREFIX}{settings}")).unwrap();
    let mut command = Command::new("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(home.join("Caddyfile"));
    command.env("HOME", home).env("XDG_DATA_HOME", home).env("XDG_CONFIG_HOME", home);
    command.stderr(Stdio::null());
    let _proxy = start(command, port);
    assert_works(home, port);
}

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
fn a_socks_proxy_that_requires_a_login_is_reported_as_such() {
    let home = tempfile::tempdir().unwrap();
    // No method of authentication that the client has offered is acceptable.
    let address = answering(&[5, 255]);
    let list = ["--base-url", "http://media.lab.example", "--kind", "onprem", "dataset", "list"];
    for (login, requires_login) in [("", true), ("me:s3cret@", false)] {
        let mut command = tessera(home.path(), &list);
        command.env("ALL_PROXY", format!("socks5h://{login}{address}"));
        let (code, _, err) = outcome(&mut command);
        assert!(code != 0 && !err.contains("s3cret"), "{err}");
        assert_eq!(err.contains("the proxy requires a login"), requires_login, "{err}");
    }
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
