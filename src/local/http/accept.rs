//! The accept loop. `axum::serve` has no timeout for headers, so connections are served here:
//! at most 256 at a time, ten seconds for the first byte and for a whole head, no Nagle delay.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{sleep, timeout},
};

/// Connections served at a time; more wait in the queue of the system.
const CONNECTIONS: usize = 256;
/// Time for the head of a request, from the opening of the connection or the last answer.
const HEAD: Duration = Duration::from_secs(10);
/// Time for open answers after the shutdown.
const GRACE: Duration = Duration::from_secs(5);

/// The address of this machine that a client connected to.
#[derive(Clone, Copy, Debug)]
pub struct Local(pub SocketAddr);

/// Serves connections until `shutdown` completes, then finishes what is open.
pub async fn accept(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            Some((stream, permit)) = next(&listener, &room) => {
                let Ok(local) = stream.local_addr() else { continue };
                let router = router.clone().layer(Extension(Local(local)));
                let connection = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD)
                    .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
                let connection = graceful.watch(connection);
                connections.spawn(async move {
                    // How a connection ends is the client's affair.
                    let _ = connection.await;
                    drop(permit);
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    // Whoever is not done in time is cut off.
    let _ = timeout(GRACE, graceful.shutdown()).await;
    connections.shutdown().await;
}

/// The next connection, when there is room for one.
async fn next(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let permit = room.clone().acquire_owned().await.ok()?;
    let Ok((stream, _)) = listener.accept().await else {
        // Out of file descriptors: the connection stays in the queue, so asking again at once
        // would only spin.
        sleep(Duration::from_millis(100)).await;
        return None;
    };
    // A page goes out in two writes: with Nagle the second would wait for an acknowledgement.
    stream.set_nodelay(true).ok()?;
    Some((stream, permit))
}
