//! Tests the proxies of `docs/serve.md` in front of the service, with the documented settings: TLS, links, uploads and
//! downloads. A proxy that is not installed is skipped.

use std::{
    fs,
    io::Write as _,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{Serving, outcome, picture, serve, tessera};

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
    fs::create_dir(home.join("pictures")).unwrap();
    picture(&home.join("pictures/a.png"));
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
