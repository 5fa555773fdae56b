//! Clients that mean harm. Each one connects again whenever the service has closed its connection.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    runtime::Runtime,
    time::{interval, sleep},
};

use crate::service::Service;

#[derive(Clone, Copy, Debug)]
pub(super) enum AttackClient {
    /// Sends many requests at once, without reading a response.
    Pipelining,
    Silent,
    /// Sends the beginning of a request.
    HalfHead,
    /// Uploads media slightly faster than the minimum rate.
    SlowUpload,
    SlowQueryImage,
    /// Sends a head that does not end.
    HugeHead,
    /// Sends a body without login as fast as possible.
    HugeBody,
}

impl AttackClient {
    const ALL: [Self; 7] = [
        Self::Pipelining,
        Self::Silent,
        Self::HalfHead,
        Self::SlowUpload,
        Self::SlowQueryImage,
        Self::HugeHead,
        Self::HugeBody,
    ];

    /// Returns clients whose kinds follow from a seed.
    pub(super) fn random_mixture(seed: u64, count: usize) -> Vec<Self> {
        let mut state = seed;
        let mut next = || {
            // The multiplier of a linear congruential generator by Knuth.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap()
        };
        (0..count).map(|_| Self::ALL[next() % Self::ALL.len()]).collect()
    }

    /// Connects and misbehaves until the service closes the connection.
    async fn attack(self, target: &Target) -> io::Result<()> {
        let mut stream = TcpStream::connect(target.address).await?;
        target.connections.fetch_add(1, Ordering::Relaxed);
        match self {
            Self::Pipelining => {
                flood(stream, target.request("GET", "/healthz", "").repeat(100)).await
            }
            Self::Silent => stream.read_to_end(&mut Vec::new()).await.map(drop),
            Self::HalfHead => {
                stream.write_all(b"GET / HTTP/1.1\r\nX: ").await?;
                stream.read_to_end(&mut Vec::new()).await.map(drop)
            }
            Self::SlowUpload => drip(stream, target.form("add_media", "files")).await,
            Self::SlowQueryImage => {
                let path = "search-image-similarity?entity_type=IMAGES";
                drip(stream, target.form(path, "file")).await
            }
            Self::HugeHead => {
                stream.write_all(b"GET / HTTP/1.1\r\nX: ").await?;
                flood(stream, "x".repeat(64 << 10)).await
            }
            Self::HugeBody => {
                let path = format!("/api/v1/dataset/{}/add_media", target.dataset);
                let head = target.request("POST", &path, "Content-Length: 10000000000\r\n");
                stream.write_all(head.as_bytes()).await?;
                flood(stream, "x".repeat(64 << 10)).await
            }
        }
    }
}

/// Sends a text again and again.
async fn flood(mut stream: TcpStream, text: String) -> io::Result<()> {
    loop {
        stream.write_all(text.as_bytes()).await?;
    }
}

/// Sends the beginning of a request, and then 1,200 bytes a second.
async fn drip(mut stream: TcpStream, beginning: String) -> io::Result<()> {
    stream.write_all(beginning.as_bytes()).await?;
    let mut pace = interval(Duration::from_millis(100));
    loop {
        pace.tick().await;
        stream.write_all(&[b'x'; 120]).await?;
    }
}

struct Target {
    address: SocketAddr,
    dataset: String,
    token: String,
    /// The number of connections that were opened.
    connections: AtomicUsize,
}

impl Target {
    fn request(&self, method: &str, path: &str, headers: &str) -> String {
        format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", self.address)
    }

    /// Returns the beginning of a form with a login.
    fn form(&self, path: &str, field: &str) -> String {
        let headers = format!(
            "Authorization: Bearer {}\r\nContent-Length: 30000000\r\n\
             Content-Type: multipart/form-data; boundary=X\r\n",
            self.token
        );
        let path = format!("/api/v1/dataset/{}/{path}", self.dataset);
        self.request("POST", &path, &headers)
            + &format!(
                "--X\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"a.png\"\r\n\r\n"
            )
    }
}

/// Clients that attack in a thread of their own.
pub(super) struct Attack {
    runtime: Runtime,
    target: Arc<Target>,
}

impl Attack {
    pub(super) fn start(service: &Service, clients: Vec<AttackClient>) -> Self {
        allow_open_files();
        let target = Arc::new(Target {
            address: service.address,
            dataset: service.dataset.clone(),
            token: service.token(),
            connections: AtomicUsize::new(0),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        for client in clients {
            let target = target.clone();
            runtime.spawn(async move {
                loop {
                    // The service may close the connection at any time.
                    let _ = client.attack(&target).await;
                    // The pause bounds the number of connections that the test opens.
                    sleep(Duration::from_millis(20)).await;
                }
            });
        }
        Self { runtime, target }
    }

    /// Stops the attack. Returns the number of connections that were opened.
    pub(super) fn stop(self) -> usize {
        self.runtime.shutdown_background();
        self.target.connections.load(Ordering::Relaxed)
    }
}

/// Raises the number of files that this process may open, because each connection is one.
fn allow_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}
