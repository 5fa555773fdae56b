//! The login: a JWT as the interface document builds it (Authentication, 3), checked strictly.
//! Whatever is wrong with it, the answer is the same 401.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use secrecy::ExposeSecret as _;
use serde::Deserialize;

use super::{Access, Site, problem::Problem};
use crate::local::store::now;

/// Longest token looked at, in bytes.
const LONGEST: usize = 4 << 10;
/// How far the issue time may be ahead of our clock, in seconds.
const AHEAD: u64 = 60;
/// Longest life of a token, in seconds.
const LIFE: u64 = 24 * 3600;
/// How long after its end a token is still good, in seconds.
const LEEWAY: u64 = 30;

/// Decides who comes in.
pub struct Gate(Option<Lock>);

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
        let Access::Token(credentials) = access else {
            return Self(None);
        };
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = LEEWAY;
        validation.set_issuer(&["sdk"]);
        validation.sub = Some(credentials.api_key.clone());
        validation.set_required_spec_claims(&["exp", "iss", "sub"]);
        Self(Some(Lock {
            key: DecodingKey::from_secret(credentials.api_secret.expose_secret().as_bytes()),
            api_key: credentials.api_key,
            validation,
        }))
    }

    /// Whether a request with these headers may come in.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let now = now().unsigned_abs() / 1_000_000;
        self.0
            .as_ref()
            .is_none_or(|lock| bearer(headers).is_some_and(|token| lock.fits(token, now)))
    }
}

impl Lock {
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

/// The token of a request that carries exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && token.len() <= LONGEST).then_some(token)
}

/// Refuses requests without a good token.
pub async fn login(State(site): State<Site>, request: Request, next: Next) -> Response {
    if site.gate.admits(request.headers()) {
        next.run(request).await
    } else {
        Problem::unauthorized().into_response()
    }
}
