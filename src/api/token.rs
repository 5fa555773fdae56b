//! Short-lived tokens: minted here, renewed before they expire, and dated by the service's clock.
//!
//! Minting takes microseconds and happens under one lock, so requests that find the token expired
//! together share the one that the first of them makes.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::header::{AGE, DATE, HeaderMap, HeaderValue};
use secrecy::ExposeSecret as _;
use serde::Serialize;

use crate::{
    api::endpoint::Credentials,
    model::{Failure, FailureKind},
};

/// Life of a token (rule: interface, Authentication 4).
const LIFE: Duration = Duration::from_mins(10);
/// A token is not used beyond four fifths of its life.
const USED: Duration = Duration::from_mins(8);
/// The issuer the interface fixes.
const ISSUER: &str = "sdk";
/// Exchanges longer than this say nothing about the clocks.
const LONGEST_EXCHANGE: Duration = Duration::from_mins(15);
/// A `Date` before 2020 is a clock that was never set.
const EARLIEST_DATE: i64 = 1_577_836_800;

/// The tokens of one pair of credentials.
pub(super) struct Tokens {
    api_key: String,
    key: EncodingKey,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Token>,
    minted: u64,
    /// Seconds the service's clock is ahead of ours.
    skew: i64,
}

/// One token, as the value of the header `Authorization`.
#[derive(Clone)]
pub(super) struct Token {
    header: HeaderValue,
    number: u64,
    renew_at: Instant,
}

#[derive(Serialize)]
struct Claims<'a> {
    sub: &'a str,
    iat: i64,
    exp: i64,
    iss: &'static str,
}

impl Token {
    /// `Bearer ...`, marked sensitive.
    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }
}

impl Tokens {
    pub(super) fn new(credentials: &Credentials) -> Self {
        Self {
            api_key: credentials.api_key.clone(),
            key: EncodingKey::from_secret(credentials.api_secret.expose_secret().as_bytes()),
            state: Mutex::default(),
        }
    }

    /// The token to send now; a new one when the current one nears its end.
    ///
    /// # Errors
    /// [`FailureKind::Local`] when signing fails.
    pub(super) fn current(&self) -> Result<Token, Failure> {
        let mut state = self.state();
        let now = Instant::now();
        if let Some(token) = state.current.as_ref().filter(|token| now < token.renew_at) {
            return Ok(token.clone());
        }
        let token = Token {
            header: self.mint(unix_seconds(SystemTime::now()) + state.skew)?,
            number: state.minted,
            renew_at: now + USED,
        };
        state.minted += 1;
        state.current = Some(token.clone());
        Ok(token)
    }

    /// The service refused `token`: the next one is new, unless somebody renewed it meanwhile.
    pub(super) fn reject(&self, token: &Token) {
        let mut state = self.state();
        if state.current.as_ref().is_some_and(|current| current.number == token.number) {
            state.current = None;
        }
    }

    /// Learns the service's clock from an answer, for the tokens minted from now on.
    pub(super) fn learn(&self, headers: &HeaderMap, sent: SystemTime, received: SystemTime) {
        if let Some(skew) = measure_skew(headers, sent, received) {
            self.state().skew = skew;
        }
    }

    fn mint(&self, issued: i64) -> Result<HeaderValue, Failure> {
        let mut header = Header::new(Algorithm::HS256);
        header.kid = Some(self.api_key.clone());
        let claims = Claims {
            sub: &self.api_key,
            iat: issued,
            exp: issued.saturating_add_unsigned(LIFE.as_secs()),
            iss: ISSUER,
        };
        let failed = || Failure::new(FailureKind::Local, "cannot sign a token");
        let token = jsonwebtoken::encode(&header, &claims, &self.key).map_err(|_| failed())?;
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| failed())?;
        value.set_sensitive(true);
        Ok(value)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Seconds the service's clock is ahead, taken at the middle of the exchange. `None` when the
/// answer does not tell: no date, a cached answer, an exchange of more than 15 minutes.
fn measure_skew(headers: &HeaderMap, sent: SystemTime, received: SystemTime) -> Option<i64> {
    let took = received.duration_since(sent).ok()?;
    if headers.contains_key(AGE) || took > LONGEST_EXCHANGE {
        return None;
    }
    let date = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let date = unix_seconds(date);
    (date >= EARLIEST_DATE).then(|| date - unix_seconds(sent + took / 2))
}

fn unix_seconds(time: SystemTime) -> i64 {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()),
        Err(before) => i64::try_from(before.duration().as_secs()).map(|seconds| -seconds),
    };
    seconds.unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-01T00:00:00Z.
    const NEW_YEAR: u64 = 1_767_225_600;

    fn tokens() -> Tokens {
        Tokens::new(&Credentials { api_key: "key".into(), api_secret: "secret".into() })
    }

    fn skew(date: Option<&str>, age: bool, took: u64) -> Option<i64> {
        let mut headers = HeaderMap::new();
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        if age {
            headers.insert(AGE, HeaderValue::from_static("17000"));
        }
        let sent = UNIX_EPOCH + Duration::from_secs(NEW_YEAR);
        measure_skew(&headers, sent, sent + Duration::from_secs(took))
    }

    #[test]
    fn n13_n35_what_an_answer_tells_about_the_clock() {
        let at = |time: &str| format!("Thu, 01 Jan 2026 {time} GMT");
        assert_eq!(skew(Some(&at("00:00:01")), false, 2), Some(0));
        assert_eq!(skew(Some(&at("00:05:01")), false, 2), Some(300));
        assert_eq!(skew(Some(&at("00:05:05")), false, 10), Some(300));
        assert_eq!(skew(Some("Wed, 31 Dec 2025 23:00:01 GMT"), false, 2), Some(-3_600));
        assert_eq!(skew(Some("Fri, 02 Jan 2026 01:00:01 GMT"), false, 2), Some(90_000));
        assert_eq!(skew(Some(&at("00:07:30")), false, 900), Some(0));
        assert_eq!(skew(Some(&at("00:10:00")), false, 960), None);
        assert_eq!(skew(Some(&at("00:05:01")), true, 2), None);
        assert_eq!(skew(Some("Thu, 01 Jan 1970 00:00:00 GMT"), false, 2), None);
        assert_eq!(skew(Some("yesterday"), false, 2), None);
        assert_eq!(skew(None, false, 2), None);
    }

    #[test]
    fn m04_n12_a_rejected_token_is_renewed_once() {
        let tokens = tokens();
        let old = tokens.current().unwrap();
        for _ in 0..64 {
            tokens.reject(&old);
            assert_eq!(tokens.current().unwrap().number, 1);
        }
        assert_eq!(tokens.state().minted, 2);
    }

    #[test]
    fn s01_a_token_is_not_printed() {
        let token = tokens().current().unwrap();
        assert_eq!(format!("{:?}", token.header()), "Sensitive");
    }
}
