//! A model hub on loopback, with the faults that public hubs and the networks before them have. Large files are
//! redirected to another host, as public hubs do. The responses have version 1.0 of HTTP, so that clients do not use a
//! connection again while it is being closed.

use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The commit of all repositories.
pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubFault {
    None,
    /// Requests without the token `hf_secret` get 401.
    Gated,
    /// The first request for each address gets 429, and is asked to wait for no time.
    BusyOnce,
    /// Every request gets 429, and is asked to wait for no time.
    BusyAlways,
    /// Every request gets 429, and is asked to wait for an hour.
    BusyForAnHour,
    /// Every response has the whole file.
    IgnoresRange,
    /// The content of large files differs from their hash.
    WrongContent,
    /// The repository has another name now.
    Moved,
    /// The first response with a large file ends in the middle.
    CutOnce,
    /// All responses with large files end in the middle.
    CutAlways,
}

/// A request that a hub has received.
#[derive(Clone, Debug)]
pub struct HubRequest {
    pub path: String,
    /// Whether the request was sent to the other host.
    pub to_other_host: bool,
    pub authorization: Option<String>,
    pub range: Option<String>,
}

pub struct LoopbackHub {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<HubRequest>>>,
}

struct State {
    files: Vec<(String, Vec<u8>)>,
    fault: HubFault,
    other_host: SocketAddr,
    requests: Arc<Mutex<Vec<HubRequest>>>,
}

impl LoopbackHub {
    /// Serves the files, by their paths, in every repository.
    pub fn new(files: Vec<(String, Vec<u8>)>, fault: HubFault) -> Self {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [address, other_host] = [0, 1].map(|at| listeners[at].local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let state = Arc::new(State { files, fault, other_host, requests: Arc::clone(&requests) });
        for (listener, to_other_host) in listeners.into_iter().zip([false, true]) {
            let state = Arc::clone(&state);
            thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    // A client that goes away is no failure of the hub.
                    let _ = state.serve(&stream, to_other_host);
                }
            });
        }
        Self { address, requests }
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<HubRequest> {
        self.requests.lock().clone()
    }
}

impl State {
    fn serve(&self, stream: &TcpStream, to_other_host: bool) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut request = HubRequest { path, to_other_host, authorization: None, range: None };
        for line in lines {
            let line = line?;
            let Some((name, value)) = line.split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "authorization" => request.authorization = Some(value.to_owned()),
                "range" => request.range = Some(value.to_owned()),
                _ => {}
            }
        }
        let earlier = {
            let mut requests = self.requests.lock();
            requests.push(request.clone());
            requests.iter().filter(|other| other.path == request.path).count() - 1
        };
        self.respond(stream, &request, earlier)
    }

    fn respond(
        &self,
        mut stream: &TcpStream,
        request: &HubRequest,
        earlier: usize,
    ) -> std::io::Result<()> {
        let is_busy = match self.fault {
            HubFault::BusyOnce => earlier == 0,
            HubFault::BusyAlways | HubFault::BusyForAnHour => true,
            _ => false,
        };
        if is_busy {
            let wait = if self.fault == HubFault::BusyForAnHour { 3_600 } else { 0 };
            return write!(
                stream,
                "HTTP/1.0 429 Too Many Requests\r\nRetry-After: {wait}\r\nContent-Length: 0\r\n\r\n"
            );
        }
        let is_listing = request.path.starts_with("/api/models/");
        if self.fault == HubFault::Gated
            && !request.to_other_host
            && request.authorization.as_deref() != Some("Bearer hf_secret")
        {
            return write!(stream, "HTTP/1.0 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
        }
        let is_old = !request.to_other_host && !request.path.contains("new-name");
        if self.fault == HubFault::Moved && is_old {
            let to = request.path.replacen("/tiny", "/new-name", 1);
            return redirect(stream, 307, &to);
        }
        if is_listing {
            let body = self.listing().to_string();
            return write!(
                stream,
                "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
        let asked = request.path.split('?').next().unwrap_or_default();
        let found = self.files.iter().find(|(path, _)| asked.ends_with(&format!("/{path}")));
        let Some((path, content)) = found else {
            return write!(stream, "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        };
        if is_large(path) && !request.to_other_host {
            let to = format!("http://{}/blob/{path}?signature=secret", self.other_host);
            return redirect(stream, 302, &to);
        }
        self.send(stream, request, content, is_large(path), earlier)
    }

    fn send(
        &self,
        mut stream: &TcpStream,
        request: &HubRequest,
        content: &[u8],
        is_large: bool,
        earlier: usize,
    ) -> std::io::Result<()> {
        let mut content = content.to_vec();
        if self.fault == HubFault::WrongContent && is_large {
            for byte in &mut content {
                *byte ^= 1;
            }
        }
        let start = request.range.as_deref().and_then(|range| {
            range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok()
        });
        let start = start.filter(|_| self.fault != HubFault::IgnoresRange);
        let mut head = String::from("HTTP/1.0 ");
        // Writing to a string cannot fail.
        let _ = match start {
            Some(start) => write!(
                head,
                "206 Partial Content\r\nContent-Range: bytes {start}-{}/{}\r\n",
                content.len().saturating_sub(1),
                content.len()
            ),
            None => write!(head, "200 OK\r\n"),
        };
        let rest = content.get(start.unwrap_or_default()..).unwrap_or_default();
        let _ = write!(head, "Content-Length: {}\r\n\r\n", rest.len());
        stream.write_all(head.as_bytes())?;
        let is_cut = is_large
            && match self.fault {
                HubFault::CutOnce | HubFault::IgnoresRange => earlier == 0,
                HubFault::CutAlways => true,
                _ => false,
            };
        stream.write_all(if is_cut { &rest[..rest.len() / 2] } else { rest })
    }

    fn listing(&self) -> Value {
        let files = self.files.iter().map(|(path, content)| {
            let mut file = json!({
                "rfilename": path, "size": content.len(), "blobId": git_hash(content),
            });
            if is_large(path) {
                let digits =
                    Sha256::digest(content).iter().fold(String::new(), |mut text, byte| {
                        let _ = write!(text, "{byte:02x}");
                        text
                    });
                file["lfs"] =
                    json!({ "sha256": digits, "size": content.len(), "pointerSize": 134 });
            }
            file
        });
        json!({ "sha": COMMIT, "private": false, "siblings": files.collect::<Vec<_>>() })
    }
}

fn redirect(mut stream: &TcpStream, status: u16, to: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.0 {status} Redirect\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

/// Whether a hub keeps a file outside its Git repository.
fn is_large(path: &str) -> bool {
    path.contains(".onnx") || path.contains("weights")
}

fn git_hash(content: &[u8]) -> String {
    let mut hasher = sha1_smol::Sha1::new();
    hasher.update(format!("blob {}\0", content.len()).as_bytes());
    hasher.update(content);
    hasher.digest().to_string()
}
