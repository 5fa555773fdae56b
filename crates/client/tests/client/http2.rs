//! HTTP/2: closing connections, refused streams, and frames without content.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use h2::{Reason, server::SendResponse};
use tessera_client::{Client, ClientPolicy};
use tessera_model::{DatasetList, FailureKind};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use tessera_testing::tls_service::{TlsService, client_trusting};
use tessera_testing::{
    certificates::Authority,
    clients::{dataset, without_pauses},
};

/// What a service does with its first request on its first connection. It answers all others.
#[derive(Clone, Copy, PartialEq)]
enum Trick {
    /// Announces the end of the connection after its response.
    GoAway,
    RefuseStream,
    /// Neither responds nor reads.
    Silence,
    /// Sends frames without content until the client gives up.
    EmptyFrames,
}

/// A service, a client of it, and how many requests it received.
async fn tricky(trick: Trick) -> (TlsService, Client, Arc<AtomicUsize>) {
    let authority = Authority::new("authority");
    let mut config = authority.server("localhost", false);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let requests = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&requests);
    let service = TlsService::start_tls(config, move |stream: TlsStream<TcpStream>, number| {
        let count = Arc::clone(&count);
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let mut first = number == 0;
            while let Some(Ok((_, reply))) = connection.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let trick = std::mem::take(&mut first).then_some(trick);
                if trick == Some(Trick::GoAway) {
                    connection.graceful_shutdown();
                }
                if trick == Some(Trick::Silence) {
                    std::future::pending::<()>().await;
                }
                tokio::spawn(respond(reply, trick));
            }
        }
    })
    .await;
    let client = client_trusting(&authority, service.port);
    (service, client, requests)
}

async fn respond(mut reply: SendResponse<Bytes>, trick: Option<Trick>) {
    if trick == Some(Trick::RefuseStream) {
        reply.send_reset(Reason::REFUSED_STREAM);
        return;
    }
    // A client that has gone needs no response.
    let Ok(mut body) = reply.send_response(http::Response::new(()), false) else { return };
    if trick == Some(Trick::EmptyFrames) {
        while body.send_data(Bytes::new(), false).is_ok() {
            tokio::task::yield_now().await;
        }
    }
    let _ = body.send_data(Bytes::from_static(b"[]"), true);
}

#[tokio::test]
async fn after_a_goaway_the_next_request_uses_a_new_connection() {
    let (service, client, requests) = tricky(Trick::GoAway).await;
    for _ in 0..3 {
        assert_eq!(client.list_datasets().await, Ok(DatasetList::default()));
    }
    assert_eq!((service.accepted(), requests.load(Ordering::SeqCst)), (2, 3));
}

#[tokio::test]
async fn a_refused_read_is_repeated_and_a_refused_change_is_not() {
    let (_service, client, requests) = tricky(Trick::RefuseStream).await;
    assert_eq!(client.list_datasets().await, Ok(DatasetList::default()));
    assert_eq!(requests.load(Ordering::SeqCst), 2);

    let (_service, client, requests) = tricky(Trick::RefuseStream).await;
    let failure = client.reindex(dataset()).await.unwrap_err();
    assert_eq!((failure.kind, requests.load(Ordering::SeqCst)), (FailureKind::NoResponse, 1));
}

#[tokio::test]
async fn a_connection_that_answers_no_pings_is_replaced() {
    let (service, client, requests) = tricky(Trick::Silence).await;
    let (ping, never) = (Duration::from_millis(500), Duration::from_hours(1));
    let policy = ClientPolicy {
        ping_interval: ping,
        ping_timeout: ping,
        header_timeout: never,
        idle_timeout: never,
        total_timeout: never,
        ..without_pauses()
    };
    let client = Client::with_policy(client.service().clone(), policy).unwrap();
    assert_eq!(client.list_datasets().await, Ok(DatasetList::default()));
    assert_eq!((service.accepted(), requests.load(Ordering::SeqCst)), (2, 2));
}

#[tokio::test]
async fn frames_without_content_end_with_the_deadline() {
    let (_service, client, requests) = tricky(Trick::EmptyFrames).await;
    let policy = ClientPolicy { total_timeout: Duration::from_millis(300), ..without_pauses() };
    let client = Client::with_policy(client.service().clone(), policy).unwrap();
    // The deadline ends the first attempt, unless the connection has ended it; the second succeeds.
    assert_eq!(client.list_datasets().await, Ok(DatasetList::default()));
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}
