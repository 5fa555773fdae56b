//! Authenticates requests with signed tokens, with a fixed header, or not at all. Tokens are signed locally and renewed
//! before they expire. Tokens are dated by the clock of the service, whose difference from the local clock is measured
//! from responses.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use parking_lot::Mutex;
use reqwest::header::{AGE, AUTHORIZATION, COOKIE, DATE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use crate::{
    errors::SentLogin,
    service_config::{AuthMethod, Credentials, SecretReloader, ServiceConfig},
};
use tessera_model::{Failure, FailureKind, NO_SECRET, SafeText, Timestamp};
use tessera_wire::credentials::SESSION_COOKIE;

#[derive(Clone)]
pub(super) enum AuthProvider {
    Anonymous,
    Tokens(Arc<TokenSource>),
    /// One header for all requests, and the time of its expiry if known.
    Fixed(AuthHeader, Option<Timestamp>),
}

/// The authentication header of one request. A token and a cookie are never combined.
#[derive(Clone)]
pub(super) struct AuthHeader {
    pub name: HeaderName,
    /// The value, which is marked as sensitive.
    pub value: HeaderValue,
    /// The token from which the header was made, if the token can be renewed.
    token: Option<AccessToken>,
}

impl AuthProvider {
    pub(super) fn new(service: &ServiceConfig) -> Result<Self, Failure> {
        Ok(match service.auth() {
            AuthMethod::Hosted(credentials) => {
                let reloader = service.secret_reloader.clone();
                let source = TokenSource::new(credentials, service.token_lifetime, reloader);
                Self::Tokens(Arc::new(source))
            }
            AuthMethod::Token(token) => {
                let value = bearer_header(token)?;
                let header = AuthHeader { name: AUTHORIZATION, value, token: None };
                Self::Fixed(header, expiry_of(token))
            }
            AuthMethod::Session(session) => Self::Fixed(AuthHeader::from_session(session)?, None),
            AuthMethod::OnPremises => Self::Anonymous,
        })
    }

    pub(super) fn sent_login(&self) -> SentLogin {
        match self {
            Self::Anonymous => SentLogin::None,
            Self::Tokens(_) => SentLogin::KeyPair,
            Self::Fixed(..) => SentLogin::Token,
        }
    }

    pub(super) fn current_header(&self) -> Result<Option<AuthHeader>, Failure> {
        match self {
            Self::Anonymous => Ok(None),
            Self::Tokens(tokens) => tokens.current().and_then(AuthHeader::from_token).map(Some),
            Self::Fixed(header, _) => Ok(Some(header.clone())),
        }
    }

    pub(super) async fn renew_header(
        &self,
        rejected: &AuthHeader,
    ) -> Result<Option<AuthHeader>, Failure> {
        match (self, &rejected.token) {
            (Self::Tokens(tokens), Some(token)) => {
                tokens.renew(token).await.and_then(AuthHeader::from_token).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns what the login consists of, and what is sent of it.
    fn secrets(&self) -> Vec<SecretString> {
        match self {
            Self::Anonymous => Vec::new(),
            Self::Tokens(tokens) => tokens.secrets(),
            Self::Fixed(header, _) => header.secret().into_iter().collect(),
        }
    }

    /// Returns the source of the tokens, if tokens are signed here.
    pub(super) fn tokens(&self) -> Option<&TokenSource> {
        match self {
            Self::Tokens(tokens) => Some(tokens),
            Self::Anonymous | Self::Fixed(..) => None,
        }
    }

    /// Returns when the current token expires, by the local clock.
    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        match self {
            Self::Tokens(tokens) => tokens.expires_at(),
            Self::Fixed(_, expires_at) => *expires_at,
            Self::Anonymous => None,
        }
    }
}

impl AuthHeader {
    fn from_token(token: AccessToken) -> Result<Self, Failure> {
        let value = bearer_header(&token.text)?;
        Ok(Self { name: AUTHORIZATION, value, token: Some(token) })
    }

    /// Returns the token or the session in the header.
    fn secret(&self) -> Option<SecretString> {
        let (_, secret) = self.value.to_str().ok()?.split_once([' ', '='])?;
        Some(secret.into())
    }

    pub(super) fn from_session(session: &SecretString) -> Result<Self, Failure> {
        let cookie = SecretString::from(format!("{SESSION_COOKIE}={}", session.expose_secret()));
        Ok(Self { name: COOKIE, value: sensitive_header(&cookie)?, token: None })
    }
}

/// The login of a client, which no text of a response may show, because gateways echo requests in their errors.
#[derive(Clone)]
pub(super) struct LoginMask(Vec<SecretString>);

impl LoginMask {
    /// The length from which a part of the login is masked. A shorter one could be a word of the text.
    const MIN_LENGTH: usize = 8;

    /// Masks the login of a client, and the headers that a request has sent.
    pub(super) fn new<'a>(
        auth: &AuthProvider,
        sent: impl IntoIterator<Item = &'a AuthHeader>,
    ) -> Self {
        let sent = sent.into_iter().filter_map(AuthHeader::secret);
        let mut secrets: Vec<_> = auth.secrets().into_iter().chain(sent).collect();
        secrets.retain(|secret| secret.expose_secret().len() >= Self::MIN_LENGTH);
        Self(secrets)
    }

    pub(super) fn apply(&self, text: &SafeText) -> SafeText {
        let hide = |text: String, secret: &SecretString| text.replace(secret.expose_secret(), "…");
        SafeText::detail(&self.0.iter().fold(text.received().to_owned(), hide))
    }
}

fn bearer_header(token: &SecretString) -> Result<HeaderValue, Failure> {
    sensitive_header(&SecretString::from(format!("Bearer {}", token.expose_secret())))
}

fn sensitive_header(text: &SecretString) -> Result<HeaderValue, Failure> {
    let to_failure = |_| {
        let sentence = "the login contains characters that a header cannot carry";
        Failure::local(sentence).with_remedy("Enter it again, on one line")
    };
    let mut value = HeaderValue::try_from(text.expose_secret()).map_err(to_failure)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The issuer that the API requires.
const ISSUER: &str = "sdk";

pub(super) struct TokenSource {
    lifetime: Duration,
    state: Mutex<TokenState>,
    /// Locked while a rejected token is renewed, so that other requests wait for the new token.
    renewal: tokio::sync::Mutex<()>,
}

struct TokenState {
    credentials: Credentials,
    secret_reloader: Option<SecretReloader>,
    current: Option<AccessToken>,
    minted: u64,
    /// The number of seconds by which the clock of the service is ahead of the local clock.
    skew: i64,
    /// Whether the secret was reloaded and differed from the first one.
    replaced: bool,
}

#[derive(Clone)]
pub(super) struct AccessToken {
    pub text: SecretString,
    /// The expiry by the local clock.
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
        let mut state = self.state.lock();
        // The reloader is removed, because it would read the secret of the previous key.
        state.secret_reloader = None;
        state.credentials = credentials;
        state.current = None;
    }

    fn secrets(&self) -> Vec<SecretString> {
        let state = self.state.lock();
        let Credentials { api_key, api_secret } = &state.credentials;
        let token = state.current.as_ref().map(|token| token.text.clone());
        [api_key.as_str().into(), api_secret.clone()].into_iter().chain(token).collect()
    }

    pub(super) fn api_key(&self) -> String {
        self.state.lock().credentials.api_key.clone()
    }

    /// Returns when the current token expires, by the local clock.
    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        self.state.lock().current.as_ref().map(|token| token.expires_at)
    }

    /// Returns the token to send. A new token is signed after four fifths of the lifetime.
    pub(super) fn current(&self) -> Result<AccessToken, Failure> {
        let mut state = self.state.lock();
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

    /// Renews a rejected token. Concurrent callers with the same rejected token receive the same new one.
    pub(super) async fn renew(&self, token: &AccessToken) -> Result<AccessToken, Failure> {
        let _turn = self.renewal.lock().await;
        let is_current =
            self.state.lock().current.as_ref().is_none_or(|current| current.number == token.number);
        if is_current {
            let reloaded = self.reload_secret().await;
            let mut state = self.state.lock();
            // If `replace` was called meanwhile, it removed the reloader, and the secret that was read belongs to the
            // previous key.
            if let Some(secret) = reloaded.filter(|_| state.secret_reloader.is_some()) {
                let known = &mut state.credentials.api_secret;
                let replaced = secret.expose_secret() != known.expose_secret();
                *known = secret;
                state.replaced |= replaced;
            }
            state.current = None;
        }
        self.current()
    }

    /// Reads the secret again, on a blocking thread because a keyring may block.
    async fn reload_secret(&self) -> Option<SecretString> {
        let reload = self.state.lock().secret_reloader.clone()?;
        tokio::task::spawn_blocking(move || (reload.0)()).await.ok().flatten()
    }

    pub(super) fn update_clock_skew(
        &self,
        headers: &HeaderMap,
        sent: SystemTime,
        received: SystemTime,
    ) {
        if let Some(skew) = measure_skew(headers, sent, received) {
            self.state.lock().skew = skew;
        }
    }

    pub(super) fn clock_skew(&self) -> i64 {
        self.state.lock().skew
    }

    pub(super) fn is_secret_replaced(&self) -> bool {
        self.state.lock().replaced
    }
}

/// Returns the expiry of a token that was signed elsewhere, if it can be read.
pub(super) fn expiry_of(token: &SecretString) -> Option<Timestamp> {
    // Skipping the verification is safe, because the expiry is only displayed and the service verifies the token.
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

const MAX_ROUND_TRIP: Duration = Duration::from_mins(15);
/// A `Date` header before 2020 comes from a clock that was never set.
const EARLIEST_DATE: i64 = 1_577_836_800;

/// Returns the clock skew at the middle of the exchange. Returns `None` if the response has no date, was cached, or
/// took too long.
pub(super) fn measure_skew(
    headers: &HeaderMap,
    sent: SystemTime,
    received: SystemTime,
) -> Option<i64> {
    let took = received.duration_since(sent).ok()?;
    if headers.contains_key(AGE) || took > MAX_ROUND_TRIP {
        return None;
    }
    let date = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let date = unix_seconds(date);
    (date >= EARLIEST_DATE).then(|| date - unix_seconds(sent + took / 2))
}

/// Returns the number of seconds since 1970, which is negative for earlier times.
pub(super) fn unix_seconds(time: SystemTime) -> i64 {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()),
        Err(before) => i64::try_from(before.duration().as_secs()).map(|seconds| -seconds),
    };
    seconds.unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use reqwest::header::HeaderValue;

    use super::*;
    use crate::{BaseUrl, service_config::TOKEN_LIFETIME};

    fn login(access: AuthMethod) -> Result<AuthProvider, Failure> {
        let base_url = BaseUrl::parse("https://vl.example").unwrap();
        AuthProvider::new(&ServiceConfig::new(base_url, access).unwrap())
    }

    #[test]
    fn at_most_one_auth_header_is_sent_and_never_printed() {
        assert!(login(AuthMethod::OnPremises).unwrap().current_header().unwrap().is_none());
        for (access, name) in [
            (AuthMethod::Session("canary".into()), COOKIE),
            (AuthMethod::Token("canary".into()), AUTHORIZATION),
        ] {
            let auth_header = login(access).unwrap().current_header().unwrap().unwrap();
            assert_eq!(auth_header.name, name);
            assert_eq!(format!("{:?}", auth_header.value), "Sensitive");
        }
        let failure = login(AuthMethod::Token("can\nary".into())).err().unwrap();
        assert!(!failure.to_string().contains("ary"), "{failure}");
    }

    fn credentials() -> Credentials {
        Credentials { api_key: "key".into(), api_secret: "secret".into() }
    }

    #[tokio::test]
    async fn a_rejected_token_is_renewed_once() {
        let tokens = TokenSource::new(&credentials(), TOKEN_LIFETIME, None);
        let old = tokens.current().unwrap();
        let all = futures_util::future::join_all((0..64).map(|_| tokens.renew(&old))).await;
        assert!(all.iter().all(|token| token.as_ref().unwrap().number == 1));
        assert_eq!(tokens.state.lock().minted, 2);
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

    #[tokio::test]
    async fn a_secret_that_was_read_for_the_previous_key_is_dropped() {
        let replaced: Arc<OnceLock<Arc<TokenSource>>> = Arc::default();
        let source = Arc::clone(&replaced);
        let reloader = SecretReloader(Arc::new(move || {
            let other = Credentials { api_key: "other".into(), api_secret: "secret-2".into() };
            source.get().unwrap().replace(other);
            Some("previous".into())
        }));
        let tokens = Arc::new(TokenSource::new(&credentials(), TOKEN_LIFETIME, Some(reloader)));
        replaced.set(Arc::clone(&tokens)).ok().unwrap();
        tokens.renew(&tokens.current().unwrap()).await.unwrap();
        assert_eq!(tokens.state.lock().credentials.api_secret.expose_secret(), "secret-2");
        assert!(!tokens.is_secret_replaced());
    }

    #[test]
    fn tokens_are_renewed_after_four_fifths_of_their_lifetime() {
        let tokens = TokenSource::new(&credentials(), Duration::from_mins(1), None);
        let started = Instant::now();
        let left = tokens.current().unwrap().renew_at - started;
        assert!((47..=48).contains(&left.as_secs()), "{left:?}");
    }

    /// A response of a test case: the initial skew (only at the first response of a case), the times of day at which
    /// the response was sent, received and dated, whether it was cached, and the resulting skew.
    type ClockSample = (Option<i64>, &'static str, &'static str, Option<&'static str>, bool, i64);

    /// The ten published test cases for clock skew correction in the AWS SDKs (aws-runtime,
    /// `test-data/clock-skew-test-cases.json`), in their order. In the SDKs, status and error code decide about
    /// retries. Here only a 401 causes a retry, so the cases contain only the clocks.
    const SAMPLES: [ClockSample; 16] = [
        (Some(0), "00:00:00", "00:00:02", Some("00:00:01"), false, 0),
        (Some(0), "00:00:00", "00:00:02", Some("00:05:01"), false, 300),
        (None, "00:00:02", "00:00:04", Some("00:05:03"), false, 300),
        (None, "00:01:00", "00:01:02", Some("00:06:01"), false, 300),
        (Some(0), "00:00:00", "00:00:02", Some("00:05:01"), false, 300),
        (Some(0), "00:00:00", "00:16:00", Some("00:10:00"), false, 0),
        (None, "00:17:00", "00:17:02", Some("00:22:01"), false, 300),
        (Some(300), "00:00:00", "00:00:02", Some("00:00:01"), false, 0),
        (Some(0), "00:00:00", "00:00:02", Some("00:02:01"), false, 120),
        (Some(0), "00:00:00", "00:00:02", Some("00:05:01"), false, 300),
        (None, "00:00:02", "00:00:04", Some("00:05:03"), false, 300),
        (Some(0), "00:00:00", "00:00:02", None, false, 0),
        (Some(0), "16:51:00", "16:51:02", Some("12:03:01"), true, 0),
        (None, "16:51:10", "16:51:12", Some("16:56:11"), false, 300),
        (Some(0), "16:51:00", "16:51:02", Some("12:03:01"), true, 0),
        (None, "16:51:10", "16:51:12", Some("16:51:11"), false, 0),
    ];

    fn moment(time: &str) -> SystemTime {
        httpdate::parse_http_date(&format!("Thu, 01 Jan 2026 {time} GMT")).unwrap()
    }

    fn headers(date: Option<&str>, cached: bool) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        if cached {
            headers.insert(AGE, HeaderValue::from_static("17280"));
        }
        headers
    }

    #[test]
    fn published_clock_skew_cases() {
        let mut skew = 0;
        for (index, (initial, sent, received, date, cached, expected)) in
            SAMPLES.into_iter().enumerate()
        {
            let date = date.map(|time| format!("Thu, 01 Jan 2026 {time} GMT"));
            let headers = headers(date.as_deref(), cached);
            skew = initial.unwrap_or(skew);
            skew = measure_skew(&headers, moment(sent), moment(received)).unwrap_or(skew);
            assert_eq!(skew, expected, "response {index} at {sent}");
        }
    }

    #[test]
    fn any_skew_is_measured_and_invalid_dates_are_ignored() {
        let (sent, received) = (moment("12:00:00"), moment("12:00:02"));
        let skew = |date: &str| measure_skew(&headers(Some(date), false), sent, received);
        assert_eq!(skew("Fri, 02 Jan 2026 13:00:01 GMT"), Some(90_000));
        assert_eq!(skew("Wed, 31 Dec 2025 11:00:01 GMT"), Some(-90_000));
        assert_eq!(skew("Thu, 01 Jan 1970 00:00:00 GMT"), None);
        assert_eq!(skew("yesterday"), None);
        assert_eq!(measure_skew(&headers(None, false), received, sent), None, "a clock set back");
    }

    #[test]
    fn an_exchange_of_up_to_15_minutes_measures_a_clock_that_was_set() {
        let sent = moment("12:00:00");
        let skew = |took: u64, date: &str| {
            measure_skew(&headers(Some(date), false), sent, sent + Duration::from_secs(took))
        };
        let at_half = "Thu, 01 Jan 2026 12:07:30 GMT";
        assert_eq!(skew(900, at_half), Some(0));
        assert_eq!(skew(901, at_half), None);
        let received_at_once = |date: &str| skew(0, date).map(|skew| skew + unix_seconds(sent));
        assert_eq!(received_at_once("Wed, 01 Jan 2020 00:00:00 GMT"), Some(EARLIEST_DATE));
        assert_eq!(received_at_once("Tue, 31 Dec 2019 23:59:59 GMT"), None);
    }

    #[test]
    fn seconds_before_1970_are_negative() {
        let at = Duration::from_secs(90);
        assert_eq!(unix_seconds(UNIX_EPOCH + at), 90);
        assert_eq!(unix_seconds(UNIX_EPOCH - at), -90);
    }
}
