//! Short-lived tokens: signed locally, renewed before they expire, dated by the service's clock.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::header::HeaderMap;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use crate::{
    clock::{measure_skew, unix_seconds},
    endpoint::{Credentials, SecretReloader},
};
use tessera_model::{Failure, FailureKind, NO_SECRET, Timestamp};

/// The issuer that the interface requires.
const ISSUER: &str = "sdk";

pub(super) struct TokenSource {
    lifetime: Duration,
    state: Mutex<TokenState>,
    /// Held while a rejected token is renewed; other requests wait for it.
    renewal: tokio::sync::Mutex<()>,
}

struct TokenState {
    credentials: Credentials,
    secret_reloader: Option<SecretReloader>,
    current: Option<AccessToken>,
    minted: u64,
    /// Seconds by which the service's clock is ahead of the local one.
    skew: i64,
    /// Whether the reloaded secret differed from the first one.
    replaced: bool,
}

#[derive(Clone)]
pub(super) struct AccessToken {
    pub text: SecretString,
    /// By the local clock.
    expires_at: Timestamp,
    number: u64,
    renew_at: Instant,
}

impl Credentials {
    /// Signs a token that starts now, by the local clock, and is valid for `life`.
    pub fn sign_token(&self, life: Duration) -> Result<SecretString, Failure> {
        sign_jwt(self, unix_seconds(SystemTime::now()), life)
    }
}

impl TokenSource {
    pub(super) fn new(
        credentials: &Credentials,
        lifetime: Duration,
        secret_reloader: Option<SecretReloader>,
    ) -> Self {
        let state = TokenState {
            credentials: credentials.clone(),
            secret_reloader,
            current: None,
            minted: 0,
            skew: 0,
            replaced: false,
        };
        Self { lifetime, state: Mutex::new(state), renewal: tokio::sync::Mutex::default() }
    }

    /// Signs all further tokens with another key pair.
    pub(super) fn replace(&self, credentials: Credentials) {
        let mut state = self.lock_state();
        // It would read the secret of the former key.
        state.secret_reloader = None;
        state.credentials = credentials;
        state.current = None;
    }

    pub(super) fn api_key(&self) -> String {
        self.lock_state().credentials.api_key.clone()
    }

    /// When the current token expires, by the local clock.
    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        self.lock_state().current.as_ref().map(|token| token.expires_at)
    }

    /// Returns the token to send. A new one is signed after four fifths of the lifetime.
    pub(super) fn current(&self) -> Result<AccessToken, Failure> {
        let mut state = self.lock_state();
        let now = Instant::now();
        if let Some(token) = state.current.as_ref().filter(|token| now < token.renew_at) {
            return Ok(token.clone());
        }
        if state.credentials.api_secret.expose_secret().is_empty() {
            let failure =
                Failure::new(FailureKind::Unauthorized, "no secret is stored for the login")
                    .with_remedy("Import a key pair with the cookie of your browser, or enter one");
            return Err(Failure { code: Some(NO_SECRET), ..failure });
        }
        let started = SystemTime::now();
        let issued = unix_seconds(started) + state.skew;
        let token = AccessToken {
            text: sign_jwt(&state.credentials, issued, self.lifetime)?,
            expires_at: started.duration_since(UNIX_EPOCH).unwrap_or_default() + self.lifetime,
            number: state.minted,
            renew_at: now + self.lifetime * 4 / 5,
        };
        state.minted += 1;
        state.current = Some(token.clone());
        Ok(token)
    }

    /// Concurrent callers with the same rejected token receive the same new one.
    pub(super) async fn renew(&self, token: &AccessToken) -> Result<AccessToken, Failure> {
        let _turn = self.renewal.lock().await;
        let is_current =
            self.lock_state().current.as_ref().is_none_or(|current| current.number == token.number);
        if is_current {
            let kept = self.reload_secret().await;
            let mut state = self.lock_state();
            if let Some(secret) = kept {
                let known = &mut state.credentials.api_secret;
                let replaced = secret.expose_secret() != known.expose_secret();
                *known = secret;
                state.replaced |= replaced;
            }
            state.current = None;
        }
        self.current()
    }

    /// Reads the secret again. A keyring may block.
    async fn reload_secret(&self) -> Option<SecretString> {
        let reload = self.lock_state().secret_reloader.clone()?;
        tokio::task::spawn_blocking(move || (reload.0)()).await.ok().flatten()
    }

    pub(super) fn update_clock_skew(
        &self,
        headers: &HeaderMap,
        sent: SystemTime,
        received: SystemTime,
    ) {
        if let Some(skew) = measure_skew(headers, sent, received) {
            self.lock_state().skew = skew;
        }
    }

    pub(super) fn clock_skew(&self) -> i64 {
        self.lock_state().skew
    }

    pub(super) fn is_secret_replaced(&self) -> bool {
        self.lock_state().replaced
    }

    fn lock_state(&self) -> MutexGuard<'_, TokenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The expiry of a token that was signed elsewhere, if it can be read.
pub(super) fn expiry_of(token: &SecretString) -> Option<Timestamp> {
    // Only shown: the service verifies the token.
    let claims: Value =
        jsonwebtoken::dangerous::insecure_decode_claims(token.expose_secret()).ok()?;
    claims["exp"].as_u64().map(Duration::from_secs)
}

fn sign_jwt(
    credentials: &Credentials,
    issued: i64,
    life: Duration,
) -> Result<SecretString, Failure> {
    tessera_crypto::install();
    let Credentials { api_key, api_secret } = credentials;
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some(api_key.clone());
    let exp = issued.saturating_add_unsigned(life.as_secs());
    let claims = json!({ "sub": api_key, "iat": issued, "exp": exp, "iss": ISSUER });
    let key = EncodingKey::from_secret(api_secret.expose_secret().as_bytes());
    jsonwebtoken::encode(&header, &claims, &key)
        .map(SecretString::from)
        .map_err(|_| Failure::local("cannot sign a token"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::TOKEN_LIFETIME;

    fn credentials() -> Credentials {
        Credentials { api_key: "key".into(), api_secret: "secret".into() }
    }

    #[tokio::test]
    async fn a_rejected_token_is_renewed_once() {
        let tokens = TokenSource::new(&credentials(), TOKEN_LIFETIME, None);
        let old = tokens.current().unwrap();
        let all = futures_util::future::join_all((0..64).map(|_| tokens.renew(&old))).await;
        assert!(all.iter().all(|token| token.as_ref().unwrap().number == 1));
        assert_eq!(tokens.lock_state().minted, 2);
    }

    #[test]
    fn without_a_secret_no_token_is_signed() {
        let missing = Credentials { api_secret: "".into(), ..credentials() };
        let failure = TokenSource::new(&missing, TOKEN_LIFETIME, None).current().err().unwrap();
        assert_eq!((failure.kind, failure.code), (FailureKind::Unauthorized, Some(NO_SECRET)));
    }

    #[test]
    fn a_replaced_key_pair_signs_the_next_token() {
        let tokens = TokenSource::new(&credentials(), TOKEN_LIFETIME, None);
        assert_eq!(tokens.expires_at(), None, "no token yet");
        let old = tokens.current().unwrap();
        tokens.replace(Credentials { api_key: "other".into(), api_secret: "secret-2".into() });
        let new = tokens.current().unwrap();
        assert_ne!(old.text.expose_secret(), new.text.expose_secret());
        assert_eq!((tokens.api_key().as_str(), new.number), ("other", 1));
        assert!(tokens.expires_at() >= Some(old.expires_at));
        let shown = expiry_of(&new.text).unwrap();
        assert!(shown.abs_diff(new.expires_at) <= Duration::from_secs(1));
        assert_eq!(expiry_of(&"not.a.token".into()), None);
    }

    #[test]
    fn tokens_are_renewed_after_four_fifths_of_their_lifetime() {
        let tokens = TokenSource::new(&credentials(), Duration::from_mins(1), None);
        let started = Instant::now();
        let left = tokens.current().unwrap().renew_at - started;
        assert!((47..=48).contains(&left.as_secs()), "{left:?}");
    }
}
