//! A TCP proxy before a service on loopback that damages connections, by a seed.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tessera_model::pseudorandom::splitmix64;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::{AbortHandle, JoinSet},
    time::sleep,
};

/// A connection that is kept open without sending ends after this time, or when the proxy ends.
const LONGEST_CONNECTION: Duration = Duration::from_secs(30);

/// What happens to one connection. Positions count the bytes of the response from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Passes everything on.
    None,
    /// Closes the connection before anything is read.
    Refuse,
    /// Passes on this many bytes of the request, then closes.
    CutRequest(usize),
    /// Passes the request on, and closes at this position.
    CutResponse(usize),
    /// As [`Fault::CutResponse`], but with a reset.
    Reset(usize),
    /// Stops sending at this position and keeps the connection open.
    Stall(usize),
    /// Waits before the first byte of the response.
    Delay(Duration),
    /// Sends the response in pieces of this size.
    Slice(usize),
    /// Sends this many bytes at this position of an archive twice.
    Duplicate(usize, usize),
    /// Exchanges two pieces of this many bytes at this position of an archive.
    Reorder(usize, usize),
    /// Changes the first digit of the response's length.
    WrongLength,
}

/// The proxy. Ends all connections when dropped.
pub struct FaultProxy {
    pub address: SocketAddr,
    connections: Arc<AtomicU64>,
    listener: AbortHandle,
}

impl FaultProxy {
    /// Listens before the service at `upstream`; three of four connections have a fault.
    pub async fn start(upstream: SocketAddr, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&connections);
        let listening = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let number = counter.fetch_add(1, Ordering::Relaxed);
                let fault = Fault::choose(splitmix64(seed ^ splitmix64(number)));
                open.spawn(forward(client, upstream, address, fault));
            }
        });
        Self { address, connections, listener: listening.abort_handle() }
    }

    /// Number of accepted connections.
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl Fault {
    fn choose(random: u64) -> Self {
        // Most responses have a head of 200 to 400 bytes; archives have some thousand bytes more.
        let position = usize::try_from((random >> 16) % 1_500).unwrap();
        let length = usize::try_from((random >> 32) % 40).unwrap() + 1;
        match random % 13 {
            0 => Self::Refuse,
            1 => Self::CutRequest(position),
            2 => Self::CutResponse(position),
            3 => Self::Reset(position),
            4 => Self::Stall(position),
            5 => Self::Delay(Duration::from_millis(random >> 48 & 0x7F)),
            6 => Self::Slice(length),
            7 => Self::Duplicate(position, length),
            8 => Self::Reorder(position, length),
            9 => Self::WrongLength,
            _ => Self::None,
        }
    }

    /// The pieces in which `chunk`, which begins at `position`, is sent.
    fn apply(self, position: usize, chunk: &[u8]) -> Vec<Vec<u8>> {
        let inside = |at: usize| at.checked_sub(position).filter(|at| *at < chunk.len());
        match self {
            Self::Slice(size) => chunk.chunks(size).map(<[u8]>::to_vec).collect(),
            Self::Duplicate(at, length) => match inside(at) {
                Some(at) => {
                    let end = chunk.len().min(at + length);
                    vec![chunk[..end].to_vec(), chunk[at..].to_vec()]
                }
                None => vec![chunk.to_vec()],
            },
            Self::Reorder(at, length) => match inside(at + 2 * length).and(inside(at)) {
                Some(at) => {
                    let mut chunk = chunk.to_vec();
                    chunk[at..at + 2 * length].rotate_left(length);
                    vec![chunk]
                }
                None => vec![chunk.to_vec()],
            },
            Self::WrongLength if position == 0 => vec![with_wrong_length(chunk)],
            _ => vec![chunk.to_vec()],
        }
    }

    /// The position at which the response ends.
    fn end(self) -> Option<usize> {
        match self {
            Self::CutResponse(end) | Self::Reset(end) | Self::Stall(end) => Some(end),
            _ => None,
        }
    }
}

async fn forward(client: TcpStream, upstream: SocketAddr, proxy: SocketAddr, fault: Fault) {
    if fault == Fault::Refuse {
        return;
    }
    let Ok(service) = TcpStream::connect(upstream).await else { return };
    // The service accepts its own address only, and its links name it. Both have five digits.
    let [proxy, upstream] = [proxy, upstream].map(|address| address.to_string().into_bytes());
    if let Fault::Reset(_) = fault {
        client.set_zero_linger().unwrap();
    }
    let (from_client, to_client) = client.into_split();
    let (from_service, to_service) = service.into_split();
    let requests = pass_requests(from_client, to_service, fault, (&proxy, &upstream));
    let responses = pass_responses(from_service, to_client, fault, (&upstream, &proxy));
    // The connection ends with its first half.
    tokio::select! {
        () = requests => {}
        () = responses => {}
    }
}

async fn pass_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    fault: Fault,
    (old, new): (&[u8], &[u8]),
) {
    let mut left = if let Fault::CutRequest(limit) = fault { limit } else { usize::MAX };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        replace(&mut buffer[..length], old, new);
        let passed = length.min(left);
        if to.write_all(&buffer[..passed]).await.is_err() || passed < length {
            return;
        }
        left -= passed;
    }
    // The client has finished sending; the response may still come.
    let _ = to.shutdown().await;
    sleep(LONGEST_CONNECTION).await;
}

async fn pass_responses(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut fault: Fault,
    (old, new): (&[u8], &[u8]),
) {
    let mut position = 0;
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        // Without TLS, only an archive has checksums that show changed bytes.
        let changes = matches!(fault, Fault::Duplicate(..) | Fault::Reorder(..));
        if position == 0 && changes && !contains(&buffer[..length], b"application/zip") {
            fault = Fault::None;
        }
        if let (0, Fault::Delay(pause)) = (position, fault) {
            sleep(pause).await;
        }
        let chunk = &mut buffer[..length];
        replace(chunk, old, new);
        let kept = fault.end().map_or(length, |end| end.saturating_sub(position).min(length));
        for piece in fault.apply(position, &chunk[..kept]) {
            if to.write_all(&piece).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
        if kept < length {
            if let Fault::Stall(_) = fault {
                sleep(LONGEST_CONNECTION).await;
            }
            return;
        }
        position += length;
    }
}

/// Replaces `old` by `new`, which has the same length.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len(), "ports of five digits");
    let mut start = 0;
    while let Some(at) = bytes[start..].windows(old.len()).position(|window| window == old) {
        start += at;
        bytes[start..start + old.len()].copy_from_slice(new);
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn with_wrong_length(head: &[u8]) -> Vec<u8> {
    let mut head = head.to_vec();
    let name = b"content-length: ";
    let found = head.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name));
    if let Some(digit) = found.and_then(|at| head.get_mut(at + name.len())) {
        *digit = if *digit == b'9' { b'1' } else { *digit + 1 };
    }
    head
}
