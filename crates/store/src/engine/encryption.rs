//! TLS for connections to PostgreSQL.

use std::{
    convert::Infallible,
    fmt, io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream as PostgresTlsStream},
};
use tokio_rustls::{TlsConnector, client::TlsStream, rustls::pki_types::ServerName};

use super::server_certificate::ServerVerification;

/// Encrypts connections if the server does so.
#[derive(Clone)]
pub(super) struct Encryption(TlsConnector);

impl Encryption {
    pub fn new(verification: &ServerVerification) -> Result<Self, String> {
        Ok(Self(TlsConnector::from(Arc::new(verification.client_config()?))))
    }
}

/// Without the authorities.
impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encryption")
    }
}

impl MakeTlsConnect<Socket> for Encryption {
    type Stream = EncryptedStream;
    type TlsConnect = Handshake;
    type Error = Infallible;

    /// It is also called for connections that are not encrypted.
    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, Infallible> {
        Ok(Handshake { connector: self.0.clone(), host: host.to_owned() })
    }
}

/// A handshake that has not begun.
pub(super) struct Handshake {
    connector: TlsConnector,
    host: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let host = ServerName::try_from(self.host).map_err(io::Error::other)?;
            Ok(EncryptedStream(self.connector.connect(host, socket).await?))
        })
    }
}

pub(super) struct EncryptedStream(TlsStream<Socket>);

impl PostgresTlsStream for EncryptedStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
