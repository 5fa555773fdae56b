//! A scripted HTTP/1.1 server on loopback. It records every request and plays its script byte by byte, including
//! protocol violations. Each connection has one request.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinHandle,
};

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }
}

/// The reaction to one request.
pub struct Reply {
    /// The semaphore from which the reply needs a permit before it is sent.
    gate: Option<Arc<Semaphore>>,
    bytes: Vec<u8>,
    end: ConnectionEnd,
}

enum ConnectionEnd {
    Close,
    /// Keeps the connection open without sending anything.
    Hold,
    /// Repeats the bytes until the client disconnects.
    Repeat(Vec<u8>, Duration),
}

impl Reply {
    /// Returns a complete response.
    pub fn new(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let length = body.as_ref().len().to_string();
        let mut all = vec![("content-length", length.as_str())];
        all.extend(headers);
        let mut bytes = head(status, &all);
        bytes.extend(body.as_ref());
        Self::raw(bytes)
    }

    /// Returns a complete JSON response.
    pub fn json(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, &[("content-type", "application/json")], body)
    }

    /// Returns a reply that sends the bytes and closes the connection.
    pub fn raw(bytes: Vec<u8>) -> Self {
        Self { gate: None, bytes, end: ConnectionEnd::Close }
    }

    /// Returns a reply that closes the connection without a response.
    pub fn disconnect() -> Self {
        Self::raw(Vec::new())
    }

    /// Returns a reply that sends the bytes and keeps the connection open.
    pub fn hold(bytes: Vec<u8>) -> Self {
        Self { end: ConnectionEnd::Hold, ..Self::raw(bytes) }
    }

    /// Returns a reply that sends the bytes, and then `chunk` repeatedly.
    pub fn repeat(bytes: Vec<u8>, chunk: Vec<u8>, every: Duration) -> Self {
        Self { end: ConnectionEnd::Repeat(chunk, every), ..Self::raw(bytes) }
    }

    /// Makes the reply wait for a permit of `gate` first.
    pub fn after_permit(mut self, gate: &Arc<Semaphore>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }
}

/// Returns the head of a response that closes the connection.
pub fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let first = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\n");
    let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let head: String = std::iter::once(first).chain(lines).collect();
    format!("{head}\r\n").into_bytes()
}

/// The server, which stops when it is dropped.
pub struct ScriptedServer {
    pub address: SocketAddr,
    log: Arc<RequestLog>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct RequestLog {
    requests: Mutex<Vec<ReceivedRequest>>,
    count: watch::Sender<usize>,
    connections_without_request: AtomicUsize,
}

type Script = dyn Fn(&ReceivedRequest) -> Reply + Send + Sync;

impl ScriptedServer {
    /// Starts a server that responds to each request as `script` says.
    pub async fn start(script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(None, Arc::new(script)).await
    }

    /// Starts a server that closes connections whose request begins with `beginning`, without reading further, and
    /// counts them. It responds to all other requests as `script` says.
    pub async fn closing_unread(
        beginning: &'static str,
        script: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::listen(Some(beginning), Arc::new(script)).await
    }

    async fn listen(closing_unread: Option<&'static str>, script: Arc<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::<RequestLog>::default();
        let server_log = Arc::clone(&log);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Some(beginning) = closing_unread {
                    let mut first = [0; 64];
                    let read = stream.peek(&mut first).await.unwrap_or(0);
                    if first[..read].starts_with(beginning.as_bytes()) {
                        server_log.connections_without_request.fetch_add(1, Ordering::SeqCst);
                        continue;
                    }
                }
                tokio::spawn(serve(stream, Arc::clone(&script), Arc::clone(&server_log)));
            }
        });
        Self { address, log, accepting }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.log.requests.lock().clone()
    }

    /// Returns the number of requests for which a reply was chosen.
    pub fn count(&self) -> usize {
        *self.log.count.borrow()
    }

    /// Returns the number of requests that were closed unread.
    pub fn connections_without_request(&self) -> usize {
        self.log.connections_without_request.load(Ordering::SeqCst)
    }

    /// Waits until `count` requests have arrived.
    pub async fn wait_for_requests(&self, count: usize) {
        self.log.count.subscribe().wait_for(|&received| received >= count).await.unwrap();
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Script>, log: Arc<RequestLog>) {
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    log.requests.lock().push(request.clone());
    let reply = script(&request);
    log.count.send_modify(|count| *count += 1);
    if let Some(gate) = reply.gate {
        gate.acquire().await.unwrap().forget();
    }
    // The client may have disconnected.
    let mut alive = stream.write_all(&reply.bytes).await.is_ok();
    match reply.end {
        ConnectionEnd::Close => {}
        ConnectionEnd::Hold => while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {},
        ConnectionEnd::Repeat(chunk, every) => {
            while alive {
                tokio::time::sleep(every).await;
                alive = stream.write_all(&chunk).await.is_ok();
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ').map(str::to_owned);
    let headers = lines.filter_map(|line| line.split_once(": "));
    let mut request = ReceivedRequest {
        method: first.next()?,
        target: first.next()?,
        headers: headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
        body: bytes.split_off(end + 4),
    };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    while request.body.len() < length {
        if stream.read_buf(&mut request.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(request)
}
