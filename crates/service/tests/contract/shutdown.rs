//! Stopping: a service first reports that it is not ready, then refuses further requests, and finishes
//! those that it has begun.

use std::{net::SocketAddr, time::Duration};

use reqwest::{Client, RequestBuilder, StatusCode};
use tessera_service::{AccessMode, ServerLimits, ServerOptions};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use crate::support::{Place, pictures};

/// Longer than any test: what it would end does not end.
const LONG: Duration = Duration::from_hours(1);
/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);

/// A service without login that can be stopped while it is used.
struct StoppableService {
    _place: Place,
    address: SocketAddr,
    client: Client,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

impl StoppableService {
    async fn start(change: impl FnOnce(&mut ServerLimits)) -> Self {
        let place = Place::new(&pictures(4));
        let deployment = place.open();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let mut options = ServerOptions::from(AccessMode::Open);
        change(&mut options.limits);
        let served = tokio::spawn(async move {
            let shutdown = async {
                let _ = stopped.await;
            };
            deployment.serve(listener, options, shutdown).await.unwrap();
        });
        // A connection for each request.
        let client =
            tessera_testing::clients::raw_client().pool_max_idle_per_host(0).build().unwrap();
        Self { _place: place, address, client, stop: Some(stop), served }
    }

    fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("http://{}{path}", self.address))
    }

    async fn status(&self, path: &str) -> StatusCode {
        self.get(path).send().await.unwrap().status()
    }

    /// Waits until a path responds 503, with the time after which to try again.
    async fn wait_until_unavailable(&self, path: &str) {
        let unavailable = async {
            loop {
                // A connection that had no request yet is closed.
                if let Ok(response) = self.get(path).send().await
                    && response.status() == 503
                {
                    assert!(response.headers().contains_key("retry-after"), "{path}");
                    return;
                }
            }
        };
        timeout(GUARD, unavailable).await.unwrap();
    }
}

#[tokio::test]
async fn a_draining_service_is_not_ready_and_still_serves() {
    let mut service = StoppableService::start(|limits| limits.drain = LONG).await;
    assert_eq!(service.status("/readyz").await, 200);
    service.stop();
    service.wait_until_unavailable("/readyz").await;
    assert_eq!(service.status("/healthz").await, 200);
    assert_eq!(service.status("/api/v1/datasets").await, 200);
    assert!(!service.served.is_finished());
}

#[tokio::test]
async fn a_closing_service_finishes_what_it_began_and_refuses_the_rest() {
    let mut service = StoppableService::start(|limits| limits.shutdown_grace = LONG).await;
    let body = "{\"media_selection\":[]}";
    let head = format!(
        "POST /api/v1/dataset/00000000-0000-4000-8000-000000000000/export_entities_async\
         ?export_format=json HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        service.address,
        body.len()
    );
    let mut begun = TcpStream::connect(service.address).await.unwrap();
    begun.write_all(head.as_bytes()).await.unwrap();
    let mut interim = [0; 25];
    timeout(GUARD, begun.read_exact(&mut interim)).await.unwrap().unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n", "its body is awaited");
    service.stop();
    service.wait_until_unavailable("/api/v1/datasets").await;
    assert_eq!(service.status("/readyz").await, 503);
    assert_eq!(service.status("/healthz").await, 200);
    begun.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(GUARD, begun.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    timeout(GUARD, service.served).await.unwrap().unwrap();
}
