//! The login: a JWT as the interface document builds it (Authentication, 3), checked strictly.
//! Whatever is wrong with it, the answer is the same 401.

use std::sync::OnceLock;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::{Access, Credentials, Site, links::same, problem::Problem};
use crate::store::now;
use tessera_wire::credentials::CredentialsBody;

/// Longest token looked at, in bytes.
const LONGEST: usize = 4 << 10;
/// How far the issue time may be ahead of our clock, in seconds.
const AHEAD: u64 = 60;
/// Longest life of a token, in seconds.
const LIFE: u64 = 24 * 3600;
/// How long after its end a token is still good, in seconds.
const LEEWAY: u64 = 30;

/// Decides who comes in.
pub struct Gate(Option<Locks>);

/// The key pairs that open, and the session that hands out the second.
struct Locks {
    first: Lock,
    session: SecretString,
    issued: OnceLock<Lock>,
}

struct Lock {
    api_key: String,
    key: DecodingKey,
    validation: Validation,
}

#[derive(Deserialize)]
struct Claims {
    iat: u64,
    exp: u64,
}

impl Gate {
    /// A gate for an access mode.
    pub fn new(access: Access) -> Self {
        match access {
            Access::Open => Self(None),
            Access::Token(credentials) => Self(Some(Locks {
                first: Lock::new(&credentials),
                session: credentials.session,
                issued: OnceLock::new(),
            })),
        }
    }

    /// Whether anybody needs a token at all.
    pub fn is_closed(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a request with these headers may come in.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let now = now().unsigned_abs() / 1_000_000;
        self.0.as_ref().is_none_or(|locks| {
            bearer(headers).is_some_and(|token| {
                // All are tried, whichever fits: who is refused learns nothing from the time.
                let second = locks.issued.get().is_some_and(|lock| lock.fits(token, now));
                locks.first.fits(token, now) || second
            })
        })
    }

    /// Whether a request carries the session cookie of this deployment.
    pub fn knows_session(&self, headers: &HeaderMap) -> bool {
        self.0.as_ref().is_some_and(|locks| {
            session(headers).is_some_and(|given| same(locks.session.expose_secret(), given))
        })
    }

    /// The key pair of the session, the secret only when it is made by this call. `None` where nobody
    /// needs one.
    ///
    /// # Errors
    /// 401: the session is not ours.
    pub fn issue(&self, headers: &HeaderMap) -> Result<Option<CredentialsBody>, Problem> {
        let Some(locks) = &self.0 else {
            return Ok(None);
        };
        if !self.knows_session(headers) {
            return Err(Problem::unauthorized());
        }
        let mut api_secret = None;
        let lock = locks.issued.get_or_init(|| {
            let pair = Credentials::generate();
            api_secret = Some(pair.api_secret.expose_secret().to_owned());
            Lock::new(&pair)
        });
        let (api_key, message) = (lock.api_key.clone(), String::new());
        Ok(Some(CredentialsBody { api_key, api_secret, message }))
    }
}

impl Lock {
    fn new(credentials: &Credentials) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = LEEWAY;
        validation.set_issuer(&["sdk"]);
        validation.sub = Some(credentials.api_key.clone());
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        Self {
            key: DecodingKey::from_secret(credentials.api_secret.expose_secret().as_bytes()),
            api_key: credentials.api_key.clone(),
            validation,
        }
    }

    fn fits(&self, token: &str, now: u64) -> bool {
        // The signature is checked first, whatever the kid: both refusals take the same time.
        let Ok(signed) = decode::<Claims>(token, &self.key, &self.validation) else {
            return false;
        };
        let named = decode_header(token).is_ok_and(|head| head.kid.as_ref() == Some(&self.api_key));
        let Claims { iat, exp } = signed.claims;
        named && iat <= now + AHEAD && exp >= iat && exp - iat <= LIFE
    }
}

/// The value of the cookie `SESSION`.
fn session(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find_map(|(name, value)| (name == "SESSION").then_some(value))
}

/// The token of a request that carries exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && token.len() <= LONGEST).then_some(token)
}

/// Refuses requests without a good token. Adding media is also open to a signed-in browser (rule:
/// interface, Authentication 1).
pub async fn login(State(site): State<Site>, request: Request, next: Next) -> Response {
    let mut path = request.uri().path().rsplit('/');
    let of_dataset = (path.next(), path.nth(1)) == (Some("add_media"), Some("dataset"));
    let adding = of_dataset && request.method() == Method::POST;
    let headers = request.headers();
    if site.gate.admits(headers) || (adding && site.gate.knows_session(headers)) {
        next.run(request).await
    } else {
        Problem::unauthorized().into_response()
    }
}
