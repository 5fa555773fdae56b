//! Refuses requests from web pages of other sites. Such a page can make a browser send requests to loopback, either by
//! a host name that resolves to this machine or directly, for example with an image tag. A foreign host name is refused
//! because the Host must be ours, and a direct request because the browser's fetch metadata must not name another site.
//! Three GETs of the API have side effects, so this check precedes all routes, in both access modes. A browser without
//! fetch metadata is recognized by its user agent, and by the page that it names as the referrer. Without login, these
//! GETs refuse such a browser. A program that is not a browser needs no header that the API document does not list.

use std::net::{IpAddr, SocketAddr};

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{AppState, connections::ClientConnection, problem::Problem};

const FETCH_SITE: header::HeaderName = header::HeaderName::from_static("sec-fetch-site");

/// What the user agent of every browser contains, for historical reasons.
const BROWSER_AGENT: &[u8] = b"Mozilla";

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
        let local_origin = is_own_host(local, host).then(|| format!("http://{host}"));
        let mut allowed = state.allowed_hosts.iter();
        local_origin.or_else(|| allowed.find_map(|allowed| allowed.origin(host)))
    };
    match trusted_origin(origin_of, request.uri(), request.headers()) {
        Ok(origin) => {
            request.extensions_mut().insert(RequestOrigin(origin));
            next.run(request).await
        }
        Err(message) => Problem::forbidden(message).into_response(),
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

/// Middleware for GETs with side effects. Without login, refuses with 403 what a page of another site may have sent.
pub(crate) async fn check_unsafe_get(
    State(state): State<AppState>,
    Extension(RequestOrigin(origin)): Extension<RequestOrigin>,
    request: Request,
    next: Next,
) -> Response {
    if state.authenticator.requires_login() || !may_come_from_page(&origin, request.headers()) {
        return next.run(request).await;
    }
    let message = "Without login, this request is refused from a web browser, because any page \
                   could send it; send it with a program such as curl";
    Problem::forbidden(message).into_response()
}

/// Middleware for GETs that need a session. Refuses with 403 what a page of another site may have sent.
pub(crate) async fn check_session_get(
    Extension(RequestOrigin(origin)): Extension<RequestOrigin>,
    request: Request,
    next: Next,
) -> Response {
    if !may_come_from_page(&origin, request.headers()) {
        return next.run(request).await;
    }
    let message = "This request is refused from a web browser that does not say which page sent it, because any page \
                   could send it; send it with a program such as curl";
    Problem::forbidden(message).into_response()
}

/// Whether a page of another site may have sent a request that [`check_origin`] has accepted. Requests whose fetch
/// metadata names another site were refused there. A browser sends no fetch metadata if it is old, or if the name of
/// the service is neither loopback nor behind TLS.
fn may_come_from_page(origin: &str, headers: &HeaderMap) -> bool {
    let any = |name, matches: &dyn Fn(&[u8]) -> bool| {
        headers.get_all(name).iter().any(|value| matches(value.as_bytes()))
    };
    let is_foreign = |page: &[u8]| {
        page.strip_prefix(origin.as_bytes())
            .is_none_or(|path| !path.is_empty() && !path.starts_with(b"/"))
    };
    let is_browser = |agent: &[u8]| {
        agent.windows(BROWSER_AGENT.len()).any(|part| part.eq_ignore_ascii_case(BROWSER_AGENT))
    };
    !headers.contains_key(FETCH_SITE)
        && (any(header::REFERER, &is_foreign) || any(header::USER_AGENT, &is_browser))
}

const FOREIGN_HOST: &str =
    "This service does not serve this Host header; --allow-host adds other addresses";
const FOREIGN_ORIGIN: &str = "The Origin header names a web page of another site; only pages of this service may send \
                              requests";
const FOREIGN_SITE: &str = "The Sec-Fetch-Site header names a web page of another site; only pages of this service may \
                            send requests";

/// Returns the origin of an accepted request, or why the request is refused. `origin_of` returns the origin of an
/// accepted host.
fn trusted_origin(
    origin_of: impl Fn(&Authority) -> Option<String>,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<String, &'static str> {
    let host = single_header(headers, header::HOST).flatten();
    let host: Option<Authority> = host.and_then(|host| host.parse().ok());
    let origin = host.and_then(|host| origin_of(&host)).ok_or(FOREIGN_HOST)?;
    if uri.authority().is_some_and(|target| origin_of(target).is_none()) {
        return Err(FOREIGN_HOST);
    }
    let from = single_header(headers, header::ORIGIN).ok_or(FOREIGN_ORIGIN)?;
    if from.is_some_and(|from| from != origin) {
        return Err(FOREIGN_ORIGIN);
    }
    let site = single_header(headers, FETCH_SITE).ok_or(FOREIGN_SITE)?;
    if site.is_some_and(|site| site != "none" && site != "same-origin") {
        return Err(FOREIGN_SITE);
    }
    Ok(origin)
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
