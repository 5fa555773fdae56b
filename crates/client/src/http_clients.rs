//! The HTTP clients, and reading bodies within limits.
//!
//! The API client sends the login and follows no redirects. The blob client follows links to any
//! host that stores pictures and archives, and so sends no login, cookie or referrer. Neither
//! retries by itself. Both bypass the proxy for a local service, because a proxy would see the
//! token.

use std::{
    error::Error as _,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use reqwest::{ClientBuilder, Response, Url, redirect};

use crate::{
    attempt_error::AttemptError,
    base_url::BaseUrl,
    endpoint::Endpoint,
    policy::ClientPolicy,
    reach::{LinkResolver, target_error},
};
use tessera_model::Failure;

const MAX_REDIRECTS: usize = 5;
/// Transfer rate below which a transfer counts as stalled.
const MIN_BYTES_PER_SECOND: f64 = 1_024.0;

/// Shorter than servers keep idle connections, so that a request that must not be sent twice never
/// meets a closing connection.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(8);

pub(super) fn api_client(
    endpoint: &Endpoint,
    policy: &ClientPolicy,
) -> Result<reqwest::Client, Failure> {
    build_client(endpoint, || client_builder(endpoint, policy).redirect(redirect::Policy::none()))
}

/// The client for the local pipeline. It uses no proxy, because a proxy could send a request twice.
pub(super) fn pipeline_client(
    endpoint: &Endpoint,
    policy: &ClientPolicy,
) -> Result<reqwest::Client, Failure> {
    build_client(endpoint, || {
        client_builder(endpoint, policy).redirect(redirect::Policy::none()).no_proxy()
    })
}

pub(super) fn blob_client(
    endpoint: &Endpoint,
    policy: &ClientPolicy,
) -> Result<reqwest::Client, Failure> {
    build_client(endpoint, || {
        let base = endpoint.base_url().clone();
        let follow = redirect::Policy::custom(move |attempt| {
            match redirect_error(&base, attempt.previous(), attempt.url()) {
                Some(reason) => attempt.error(reason),
                None => attempt.follow(),
            }
        });
        // Byte ranges count the bytes of the file: a compressed response could not be resumed.
        let resolver = LinkResolver::new(endpoint.base_url().as_url().clone());
        let builder = client_builder(endpoint, policy).redirect(follow).no_gzip();
        builder.dns_resolver(Arc::new(resolver))
    })
}

fn client_builder(endpoint: &Endpoint, policy: &ClientPolicy) -> ClientBuilder {
    tessera_crypto::install();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("tessera/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(policy.connect_timeout)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .pool_max_idle_per_host(8)
        .http2_keep_alive_interval(policy.ping_interval)
        .http2_keep_alive_timeout(policy.ping_timeout)
        .tcp_nodelay(true)
        .referer(false)
        .retry(reqwest::retry::never())
        .tls_certs_merge(endpoint.authorities.certificates());
    if endpoint.base_url().is_loopback() { builder.no_proxy() } else { builder }
}

/// Builds a client. On a system without certificate authorities, such as a minimal container, an unencrypted
/// service is reached nevertheless: the client then trusts only the authorities of the endpoint, usually none.
fn build_client(
    endpoint: &Endpoint,
    builder: impl Fn() -> ClientBuilder,
) -> Result<reqwest::Client, Failure> {
    let client = builder().build();
    let client = match client {
        Err(_) if endpoint.base_url().as_url().scheme() == "http" => {
            builder().tls_certs_only([]).build()
        }
        client => client,
    };
    client.map_err(|error| {
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        Failure::local(format!(
            "cannot create the HTTP client: {cause}; encrypted services need the certificate authorities of \
             the system (package ca-certificates), or `ca_file` in the profile"
        ))
    })
}

/// Returns why a redirect to `next` is not followed.
fn redirect_error(base: &BaseUrl, previous: &[Url], next: &Url) -> Option<&'static str> {
    if previous.len() > MAX_REDIRECTS {
        return Some("more than 5 redirects");
    }
    // A link of an unencrypted service may be encrypted: that must last, too.
    let since_last = previous.last().and_then(|last| target_error(last, next));
    base.target_error(next).or(since_last)
}

/// A response body, read in chunks and checked for stalls.
pub(super) struct BodyReader {
    response: Response,
    idle: Duration,
    /// Start of the current measurement window, and the bytes received in it.
    window: (Instant, u64),
    min_bytes_per_second: f64,
}

impl BodyReader {
    /// A body of any rate, as long as something arrives within `idle`.
    pub(super) fn new(response: Response, idle: Duration) -> Self {
        Self { response, idle, window: (Instant::now(), 0), min_bytes_per_second: 0.0 }
    }

    /// A long transfer with a minimum rate.
    pub(super) fn transfer(response: Response, idle: Duration) -> Self {
        Self { min_bytes_per_second: MIN_BYTES_PER_SECOND, ..Self::new(response, idle) }
    }

    /// Returns the next decoded chunk, or `None` at the end.
    pub(super) async fn next_chunk(&mut self) -> Result<Option<Bytes>, AttemptError> {
        let stalled = || AttemptError::NoResponse("the response stalled".to_owned());
        let chunk = tokio::time::timeout(self.idle, self.response.chunk())
            .await
            .map_err(|_| stalled())??;
        let (since, arrived) = &mut self.window;
        *arrived += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if since.elapsed() >= self.idle {
            #[expect(clippy::cast_precision_loss, reason = "a rate, not a count")]
            if (*arrived as f64) < self.min_bytes_per_second * since.elapsed().as_secs_f64()
                && chunk.is_some()
            {
                return Err(stalled());
            }
            self.window = (Instant::now(), 0);
        }
        Ok(chunk)
    }

    /// Returns the whole body, or `None` if it exceeds `limit` decoded bytes.
    pub(super) async fn collect(mut self, limit: usize) -> Result<Option<Bytes>, AttemptError> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.next_chunk().await? {
            if whole.len() + chunk.len() > limit {
                return Ok(None);
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(Some(whole.freeze()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_redirects_are_not_followed() {
        let url = |raw: &str| Url::parse(raw).unwrap();
        let refuses = |base: &str, from: &str, to: &str| {
            redirect_error(&BaseUrl::parse(base).unwrap(), &[url(from)], &url(to)).is_some()
        };
        let service = "https://vl.example";
        for to in [
            "http://cdn.example/x",
            "https://127.0.0.1/x",
            "https://169.254.169.254/latest",
            "https://localhost/x",
            "file:///etc/passwd",
        ] {
            assert!(refuses(service, "https://vl.example/x", to), "{to}");
        }
        let local = "http://127.0.0.1:8080";
        for (base, from, to, refused) in [
            (service, "https://vl.example/x", "https://cdn.example/x", false),
            (local, "http://127.0.0.1/x", "http://127.0.0.1:81/x", false),
            (local, "http://127.0.0.1/x", "http://169.254.169.254/", true),
            (local, "https://cdn.example/x", "https://127.0.0.1/x", true),
            ("http://lab.example", "https://cdn.example/x", "http://cdn.example/x", true),
        ] {
            assert_eq!(refuses(base, from, to), refused, "{base}: {from} to {to}");
        }
        let loop_of_six = vec![url("https://vl.example/"); 6];
        let base = BaseUrl::parse(service).unwrap();
        assert!(redirect_error(&base, &loop_of_six, &url("https://vl.example/")).is_some());
    }
}
