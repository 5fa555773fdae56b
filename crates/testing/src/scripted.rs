//! A scripted HTTP/1.1 server on loopback. It records every request and plays its script byte by
//! byte, including protocol violations. One request per connection.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinHandle,
};

/// A received request.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }
}

/// The reaction to one request.
pub struct Act {
    /// Waits for one permit first.
    gate: Option<Arc<Semaphore>>,
    bytes: Vec<u8>,
    end: End,
}

enum End {
    Close,
    /// Keeps the connection open without sending.
    Hold,
    /// Repeats the bytes until the client disconnects.
    Repeat(Vec<u8>, Duration),
}

impl Act {
    /// A complete response.
    pub fn reply(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let length = body.as_ref().len().to_string();
        let mut all = vec![("content-length", length.as_str())];
        all.extend(headers);
        let mut bytes = head(status, &all);
        bytes.extend(body.as_ref());
        Self::raw(bytes)
    }

    /// A complete JSON response.
    pub fn json(body: impl AsRef<[u8]>) -> Self {
        Self::reply(200, &[("content-type", "application/json")], body)
    }

    /// Sends the bytes and closes the connection.
    pub fn raw(bytes: Vec<u8>) -> Self {
        Self { gate: None, bytes, end: End::Close }
    }

    /// Closes the connection without a response.
    pub fn cut() -> Self {
        Self::raw(Vec::new())
    }

    /// Sends the bytes and keeps the connection open.
    pub fn hold(bytes: Vec<u8>) -> Self {
        Self { end: End::Hold, ..Self::raw(bytes) }
    }

    /// Sends the bytes, then `piece` repeatedly.
    pub fn repeat(bytes: Vec<u8>, piece: Vec<u8>, every: Duration) -> Self {
        Self { end: End::Repeat(piece, every), ..Self::raw(bytes) }
    }

    /// Waits for a permit of `gate` first.
    pub fn behind(mut self, gate: &Arc<Semaphore>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }
}

/// The head of a response that closes the connection.
pub fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let first = format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\n");
    let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    let head: String = std::iter::once(first).chain(lines).collect();
    format!("{head}\r\n").into_bytes()
}

/// The server, which stops when dropped.
pub struct Scripted {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    count: watch::Receiver<usize>,
    unread: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

type Script = dyn Fn(&Seen) -> Act + Send + Sync;

impl Scripted {
    /// Responds to each request as `script` says.
    pub async fn start(script: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::listen(None, Arc::new(script)).await
    }

    /// Closes connections whose request starts like this without reading on, and counts them;
    /// responds to all others as `script` says.
    pub async fn deaf_to(
        beginning: &'static str,
        script: impl Fn(&Seen) -> Act + Send + Sync + 'static,
    ) -> Self {
        Self::listen(Some(beginning), Arc::new(script)).await
    }

    async fn listen(deaf_to: Option<&'static str>, script: Arc<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let (counter, count) = watch::channel(0);
        let log = Arc::clone(&seen);
        let counter = Arc::new(counter);
        let unread = Arc::<AtomicUsize>::default();
        let dropped = Arc::clone(&unread);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Some(beginning) = deaf_to {
                    let mut first = [0; 64];
                    let read = stream.peek(&mut first).await.unwrap_or(0);
                    if first[..read].starts_with(beginning.as_bytes()) {
                        dropped.fetch_add(1, Ordering::SeqCst);
                        continue;
                    }
                }
                let script = Arc::clone(&script);
                tokio::spawn(serve(stream, script, Arc::clone(&log), Arc::clone(&counter)));
            }
        });
        Self { address, seen, count, unread, accepting }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// The number of requests that were closed unread.
    pub fn unread(&self) -> usize {
        self.unread.load(Ordering::SeqCst)
    }

    /// Waits until there were `count` requests.
    pub async fn reaches(&self, count: usize) {
        let mut counter = self.count.clone();
        counter.wait_for(|&seen| seen >= count).await.unwrap();
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    script: Arc<Script>,
    log: Arc<Mutex<Vec<Seen>>>,
    counter: Arc<watch::Sender<usize>>,
) {
    let Some(seen) = read_request(&mut stream).await else {
        return;
    };
    log.lock().unwrap().push(seen.clone());
    let act = script(&seen);
    counter.send_modify(|count| *count += 1);
    if let Some(gate) = act.gate {
        gate.acquire().await.unwrap().forget();
    }
    // The client may have disconnected.
    let mut alive = stream.write_all(&act.bytes).await.is_ok();
    match act.end {
        End::Close => {}
        End::Hold => while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {},
        End::Repeat(piece, every) => {
            while alive {
                tokio::time::sleep(every).await;
                alive = stream.write_all(&piece).await.is_ok();
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
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
    let mut seen = Seen {
        method: first.next()?,
        target: first.next()?,
        headers: headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
        body: bytes.split_off(end + 4),
    };
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    while seen.body.len() < length {
        if stream.read_buf(&mut seen.body).await.ok()? == 0 {
            return None;
        }
    }
    Some(seen)
}
