//! The login, which is a JWT as in the API document. Tokens are checked strictly, and every refusal is the same 401.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use parking_lot::{Mutex, RwLock};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, de::Error as _};
use tokio::{
    sync::Mutex as AsyncMutex,
    task::spawn_blocking,
    time::{Instant, sleep_until, timeout},
};

use super::{
    options::{AccessMode, KeyPair, ServiceCredentials},
    problem::Problem,
};
use crate::usecase::ServiceError;
use tessera_store::now_micros;
use tessera_wire::credentials::CredentialsBody;

const MAX_TOKEN_BYTES: usize = 4 << 10;
/// The number of seconds by which the issue time of a token may be ahead of our clock.
const MAX_CLOCK_SKEW: u64 = 60;
/// The maximum lifetime in seconds.
const MAX_TOKEN_LIFETIME: u64 = 24 * 3600;
/// The number of seconds for which a token remains valid after it expires.
const EXPIRY_LEEWAY: u64 = 30;
/// The minimum time between two lookups of a key pair of another process, so that many wrong tokens cost little.
const LOOKUP_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct Authenticator(Option<Login>);

struct Login {
    /// The accepted key pairs, which a command may revoke while the service runs.
    key_pairs: Refreshed<Arc<KeyPairs>>,
    /// The time of the latest lookup of a key pair of another process.
    last_lookup: AsyncMutex<Option<Instant>>,
}

/// The accepted key pairs, and the session with which a client may request the second pair.
struct KeyPairs {
    configured: TokenVerifier,
    session: SecretString,
    issued: OnceLock<TokenVerifier>,
    /// Whether other processes may issue key pairs for this login.
    is_shared: bool,
    /// Locked while a key pair is issued, which blocks on the storage of the login. Async functions do not lock it.
    credentials: Mutex<ServiceCredentials>,
}

struct TokenVerifier {
    api_key: String,
    key: DecodingKey,
    validation: Validation,
}

#[derive(Deserialize)]
struct TokenClaims {
    #[serde(deserialize_with = "numeric_date")]
    iat: u64,
    #[serde(deserialize_with = "numeric_date")]
    exp: u64,
    /// The library also accepts a list of issuers, but the API has one.
    #[serde(rename = "iss")]
    _issuer: String,
    #[serde(default, deserialize_with = "numeric_date")]
    nbf: u64,
}

/// Reads a time in seconds since 1970, which may have a fraction (RFC 7519, section 2).
fn numeric_date<'de, D: Deserializer<'de>>(value: D) -> Result<u64, D::Error> {
    let time = Duration::try_from_secs_f64(f64::deserialize(value)?);
    time.map(|time| time.as_secs()).map_err(D::Error::custom)
}

impl Authenticator {
    pub fn new(access: AccessMode) -> Self {
        match access {
            AccessMode::Open => Self(None),
            AccessMode::Token(credentials) => Self(Some(Login {
                key_pairs: Refreshed::new(Arc::new(KeyPairs::new(credentials))),
                last_lookup: AsyncMutex::default(),
            })),
        }
    }

    pub(crate) fn requires_login(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a request has a token that was signed with an accepted key pair.
    pub(crate) async fn authorizes(&self, headers: &HeaderMap) -> bool {
        let Some(login) = &self.0 else { return true };
        let Some(token) = bearer_token(headers) else { return false };
        let key_pairs = login.current().await;
        if key_pairs.verify(token) {
            return true;
        }
        if !key_pairs.may_be_from_elsewhere(token) {
            return false;
        }
        login.look_up().await;
        login.key_pairs.latest().verify(token)
    }

    pub(crate) async fn has_session(&self, headers: &HeaderMap) -> bool {
        let Some(login) = &self.0 else { return false };
        login.current().await.has_session(headers)
    }

    /// Issues the second key pair to a session. Only the call that creates the pair returns the secret. Returns `None`
    /// if the service has no login.
    pub(crate) async fn issue_credentials(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<CredentialsBody>, Problem> {
        let Some(login) = &self.0 else { return Ok(None) };
        let key_pairs = login.current().await;
        if !key_pairs.has_session(headers) {
            return Err(Problem::unauthorized());
        }
        let issued = spawn_blocking(move || key_pairs.issue()).await;
        let (api_key, api_secret) =
            issued.unwrap_or_else(|_| Err(ServiceError::internal().into()))?;
        Ok(Some(CredentialsBody { api_key, api_secret, message: String::new() }))
    }
}

impl Login {
    /// Returns the accepted key pairs. A login that was revoked is accepted until they are read again, which happens
    /// once a second while the store responds.
    async fn current(&self) -> Arc<KeyPairs> {
        let known = self.key_pairs.latest();
        self.key_pairs.get(move || known.replacement()).await
    }

    /// Looks for key pairs that another process stored. Requests that arrive meanwhile share the lookup.
    async fn look_up(&self) {
        let arrived = Instant::now();
        let mut last = self.last_lookup.lock().await;
        if let Some(last) = *last {
            if last >= arrived {
                return;
            }
            sleep_until(last + LOOKUP_INTERVAL).await;
        }
        *last = Some(Instant::now());
        let known = self.key_pairs.latest();
        if let Ok(Some(replacement)) = spawn_blocking(move || known.replacement()).await {
            self.key_pairs.set(replacement);
        }
    }
}

impl KeyPairs {
    fn new(credentials: ServiceCredentials) -> Self {
        let ServiceCredentials { api_key, api_secret, session, issued, .. } = &credentials;
        let issued = issued.as_ref().map(|it| TokenVerifier::new(&it.api_key, &it.api_secret));
        Self {
            configured: TokenVerifier::new(api_key, api_secret),
            session: session.clone(),
            issued: issued.map_or_else(OnceLock::new, OnceLock::from),
            is_shared: credentials.is_shared(),
            credentials: Mutex::new(credentials),
        }
    }

    fn verify(&self, token: &str) -> bool {
        let now = unix_seconds();
        // Both pairs are always tried, so that the response time reveals nothing.
        let second = self.issued.get().is_some_and(|verifier| verifier.verifies(token, now));
        self.configured.verifies(token, now) || second
    }

    /// Whether a token may belong to a key pair that another process stored.
    fn may_be_from_elsewhere(&self, token: &str) -> bool {
        let Some(kid) = decode_header(token).ok().and_then(|head| head.kid) else { return false };
        let is_known = self.configured.api_key == kid
            || self.issued.get().is_some_and(|verifier| verifier.api_key == kid);
        !is_known && self.is_shared
    }

    fn has_session(&self, headers: &HeaderMap) -> bool {
        let session = self.session.expose_secret();
        session_cookie(headers).is_some_and(|cookie| equals_secret(cookie, session))
    }

    /// Reads the stored login. Returns the key pairs of a login that has replaced this one. A key pair that another
    /// process issued for this login is accepted at once.
    fn replacement(&self) -> Option<Arc<Self>> {
        let known = self.credentials.lock().clone();
        let stored = known.stored()?;
        if stored.api_key != known.api_key {
            return Some(Arc::new(Self::new(stored)));
        }
        if let Some(pair) = stored.issued {
            self.accept(pair);
        }
        None
    }

    /// Returns the key of the second pair, and its secret if this call creates the pair. The pair is stored before its
    /// secret is shown, because the secret is shown only once, by the process that creates the pair. Blocks on the
    /// storage of the login.
    fn issue(&self) -> Result<(String, Option<String>), Problem> {
        let mut credentials = self.credentials.lock();
        if let Some(known) = &credentials.issued {
            return Ok((known.api_key.clone(), None));
        }
        let new = KeyPair::generate();
        let kept = credentials.keep_issued(new.clone()).map_err(|_| {
            let message = "The key pair could not be stored, so none was created";
            Problem::plain(StatusCode::INTERNAL_SERVER_ERROR, message)
        })?;
        let is_new = kept.api_key == new.api_key;
        credentials.issued = Some(kept.clone());
        self.accept(kept.clone());
        Ok((kept.api_key, is_new.then(|| kept.api_secret.expose_secret().to_owned())))
    }

    fn accept(&self, KeyPair { api_key, api_secret }: KeyPair) {
        self.issued.get_or_init(|| TokenVerifier::new(&api_key, &api_secret));
    }
}

impl TokenVerifier {
    fn new(api_key: &str, api_secret: &SecretString) -> Self {
        tessera_crypto::install();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = EXPIRY_LEEWAY;
        validation.set_issuer(&["sdk"]);
        validation.sub = Some(api_key.to_owned());
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        Self {
            key: DecodingKey::from_secret(api_secret.expose_secret().as_bytes()),
            api_key: api_key.to_owned(),
            validation,
        }
    }

    fn verifies(&self, token: &str, now: u64) -> bool {
        // The signature is checked first, whatever the kid is, so that both refusals take the same time.
        let Ok(signed) = decode::<TokenClaims>(token, &self.key, &self.validation) else {
            return false;
        };
        // A critical extension must be understood, and this service understands none (RFC 7515, section 4.1.11).
        let is_accepted_header = decode_header(token).is_ok_and(|header| {
            header.kid.as_ref() == Some(&self.api_key) && header.crit.is_none()
        });
        let TokenClaims { iat, exp, nbf, .. } = signed.claims;
        is_accepted_header
            && iat.max(nbf) <= now + MAX_CLOCK_SKEW
            && exp >= iat
            && exp - iat <= MAX_TOKEN_LIFETIME
    }
}

fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find_map(|(name, value)| (name == "SESSION").then_some(value))
}

/// Returns the token of a request, if the request has exactly one.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && token.len() <= MAX_TOKEN_BYTES).then_some(token)
}

/// Middleware that requires the login. A signed-in browser may add media without a token, because the API document says
/// so.
pub(crate) async fn require_login(
    State(authenticator): State<Arc<Authenticator>>,
    request: Request,
    next: Next,
) -> Response {
    let mut path = request.uri().path().rsplit('/');
    let of_dataset = (path.next(), path.nth(1)) == (Some("add_media"), Some("dataset"));
    let adding = of_dataset && request.method() == Method::POST;
    let headers = request.headers();
    if (adding && authenticator.has_session(headers).await)
        || authenticator.authorizes(headers).await
    {
        next.run(request).await
    } else {
        Problem::unauthorized().into_response()
    }
}

/// Compares two secrets in a time that does not depend on their content.
pub(crate) fn equals_secret(other: &str, secret: &str) -> bool {
    let differing = secret.bytes().zip(other.bytes()).fold(0, |bits, (a, b)| bits | (a ^ b));
    secret.len() == other.len() && differing == 0
}

pub(crate) fn unix_seconds() -> u64 {
    now_micros().unsigned_abs() / 1_000_000
}

// Caches a value that another process may replace, such as the login and the key of links. It is read again at most
// once a second, so that many requests need only one read.

/// The time for which a value is used without being read again.
const LIFETIME: Duration = Duration::from_secs(1);
/// The maximum time that a request waits for a read. After this time, the request uses the previous value.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct Refreshed<T> {
    value: RwLock<T>,
    /// The time of the latest read. Locked while the value is read.
    last_read: AsyncMutex<Option<Instant>>,
}

impl<T: Clone + Send + 'static> Refreshed<T> {
    pub fn new(value: T) -> Self {
        Self { value: RwLock::new(value), last_read: AsyncMutex::new(Some(Instant::now())) }
    }

    /// Returns the value. If it was not read recently, `read` reads it first; while that takes, other requests use the
    /// previous value. If `read` returns `None` or takes too long, the previous value stays.
    pub async fn get(&self, read: impl FnOnce() -> Option<T> + Send + 'static) -> T {
        if let Ok(mut last) = self.last_read.try_lock()
            && last.is_none_or(|last| last.elapsed() >= LIFETIME)
        {
            if let Ok(Ok(Some(value))) = timeout(READ_TIMEOUT, spawn_blocking(read)).await {
                self.set(value);
            }
            *last = Some(Instant::now());
        }
        self.latest()
    }

    /// Returns the value that was read last.
    pub fn latest(&self) -> T {
        // A panic cannot leave the value inconsistent.
        self.value.read().clone()
    }

    pub fn set(&self, value: T) {
        *self.value.write() = value;
    }
}
