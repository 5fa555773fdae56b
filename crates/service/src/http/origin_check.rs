//! Refuses requests from web pages. A page of another site can make a browser send requests to
//! loopback, by a host name that resolves here (so the Host must be ours) or directly, for example
//! by an image tag (so the browser's fetch metadata must not name another site). Three GETs of the
//! interface have side effects, so this check precedes all routes, in both access modes.

use std::net::{IpAddr, SocketAddr};

use axum::{
    Extension,
    extract::Request,
    http::{HeaderMap, HeaderValue, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{connection_monitor::ClientConnection, problem::Problem};

/// Scheme, host and port that the client used: the start of every absolute link.
#[derive(Clone, Debug)]
pub struct RequestOrigin(pub String);

/// Refuses with 403, and adds the headers that keep a browser from rendering a response as a page.
pub async fn check_origin(
    Extension(ClientConnection { local, .. }): Extension<ClientConnection>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut response = match trusted_origin(local, request.uri(), request.headers()) {
        Some(origin) => {
            request.extensions_mut().insert(RequestOrigin(origin));
            next.run(request).await
        }
        None => Problem::forbidden("This service answers only its own machine").into_response(),
    };
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

/// The origin of an accepted request.
fn trusted_origin(local: SocketAddr, uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let host: Authority = single_header(headers, header::HOST)??.parse().ok()?;
    if !is_own_host(local, &host)
        || uri.authority().is_some_and(|target| !is_own_host(local, target))
    {
        return None;
    }
    let origin = format!("http://{host}");
    let foreign = single_header(headers, header::ORIGIN)?.is_some_and(|from| from != origin);
    let site = single_header(headers, header::HeaderName::from_static("sec-fetch-site"))?;
    let cross = site.is_some_and(|site| site != "none" && site != "same-origin");
    (!foreign && !cross).then_some(origin)
}

/// The value of a header that may occur once; the outer `None` if it is repeated or not printable.
#[expect(clippy::option_option, reason = "absent and refused are different")]
fn single_header(headers: &HeaderMap, name: header::HeaderName) -> Option<Option<&str>> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(None),
        (Some(value), None) => Some(Some(value.to_str().ok()?)),
        (Some(_), Some(_)) => None,
    }
}

/// Whether a host names the address that the client connected to: any loopback name or address for
/// a loopback connection, otherwise exactly that address. A DNS name never does.
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
