//! Refuses requests from web pages of other sites. Such a page can make a browser send requests to loopback, either by
//! a host name that resolves to this machine or directly, for example with an image tag. A foreign host name is refused
//! because the Host must be ours, and a direct request because the browser's fetch metadata must not name another site.
//! Three GETs of the API have side effects, so this check precedes all routes, in both access modes. Old browsers send
//! no fetch metadata, so without login these GETs need a header that a page cannot send.

use std::net::{IpAddr, SocketAddr};

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{AppState, connections::ClientConnection, problem::Problem};
use tessera_wire::endpoints::REQUESTED_WITH;

const FETCH_SITE: header::HeaderName = header::HeaderName::from_static("sec-fetch-site");

/// The scheme, host and port that the client used. Every absolute link starts with it.
#[derive(Clone, Debug)]
pub(crate) struct RequestOrigin(pub String);

/// Middleware that refuses requests of other sites with 403.
pub(crate) async fn check_origin(
    State(state): State<AppState>,
    Extension(ClientConnection { local, .. }): Extension<ClientConnection>,
    mut request: Request,
    next: Next,
) -> Response {
    let origin_of = |host: &Authority| {
        let own = is_own_host(local, host).then(|| format!("http://{host}"));
        let mut allowed = state.allowed_hosts.iter();
        own.or_else(|| allowed.find_map(|allowed| allowed.origin(host, local.port())))
    };
    match trusted_origin(origin_of, request.uri(), request.headers()) {
        Some(origin) => {
            request.extensions_mut().insert(RequestOrigin(origin));
            next.run(request).await
        }
        None => Problem::forbidden("This service answers only its own machine").into_response(),
    }
}

/// Middleware that adds the headers that keep a browser from rendering a response as a page.
pub(crate) async fn add_security_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Middleware for GETs with side effects. Refuses with 403 what a page of another site may have sent.
pub(crate) async fn check_unsafe_get(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    // Requests whose fetch metadata names another site were refused earlier.
    let proven = headers.contains_key(REQUESTED_WITH) || headers.contains_key(FETCH_SITE);
    if proven || state.compat || state.authenticator.requires_login() {
        return next.run(request).await;
    }
    let message = "Without login, this request needs the header X-Requested-With, with any value";
    Problem::forbidden(message).into_response()
}

/// Returns the origin of an accepted request. `origin_of` returns the origin of an accepted host.
fn trusted_origin(
    origin_of: impl Fn(&Authority) -> Option<String>,
    uri: &Uri,
    headers: &HeaderMap,
) -> Option<String> {
    let host: Authority = single_header(headers, header::HOST)??.parse().ok()?;
    let origin = origin_of(&host)?;
    if uri.authority().is_some_and(|target| origin_of(target).is_none()) {
        return None;
    }
    let foreign = single_header(headers, header::ORIGIN)?.is_some_and(|from| from != origin);
    let site = single_header(headers, FETCH_SITE)?;
    let cross = site.is_some_and(|site| site != "none" && site != "same-origin");
    (!foreign && !cross).then_some(origin)
}

/// Returns the value of a header that may occur once. The outer `None` means that the header is repeated or not
/// printable.
#[expect(clippy::option_option, reason = "absent and refused are different")]
fn single_header(headers: &HeaderMap, name: header::HeaderName) -> Option<Option<&str>> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(None),
        (Some(value), None) => Some(Some(value.to_str().ok()?)),
        (Some(_), Some(_)) => None,
    }
}

/// Whether a host is the address to which the client connected. On a loopback connection, `localhost` and every
/// loopback address count as that address. No other name counts.
fn is_own_host(local: SocketAddr, host: &Authority) -> bool {
    if host.as_str().contains('@') || host.port_u16().unwrap_or(80) != local.port() {
        return false;
    }
    let name = host.host().trim_matches(['[', ']']);
    let at = local.ip().to_canonical();
    match name.parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address == at || (address.is_loopback() && at.is_loopback())
        }
        Err(_) => at.is_loopback() && name.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_loopback_only_the_address_itself_is_a_host() {
        let local = "192.168.0.7:4000".parse().unwrap();
        let ours = |host: &str| is_own_host(local, &host.parse().unwrap());
        assert!(ours("192.168.0.7:4000"));
        assert!(!ours("localhost:4000") && !ours("127.0.0.1:4000") && !ours("my.host:4000"));
    }
}
