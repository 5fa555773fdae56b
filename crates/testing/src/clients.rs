//! Creates clients for tests, hosted and on-premises, which by default do not pause between attempts.

use std::time::Duration;

use tessera_client::{
    AuthMethod, BaseUrl, Client, ClientPolicy, Credentials, RequestRecorder, ServiceConfig,
};
use tessera_model::{DatasetId, ExportTaskId};

use crate::canaries;

pub const API_KEY: &str = "key-7";
pub const API_SECRET: &str = "a secret of at least thirty-two bytes";

pub fn dataset() -> DatasetId {
    "ad48d250-0000-11f1-bfca-000000000001".parse().unwrap()
}

pub fn task() -> ExportTaskId {
    "cf8b3e78-0000-4954-a782-000000000001".parse().unwrap()
}

/// Returns a policy without pauses between attempts. Timeouts stay long, so that only timeouts that a test shortens
/// apply.
pub fn without_pauses() -> ClientPolicy {
    ClientPolicy {
        initial_backoff: Duration::ZERO,
        max_retry_after: Duration::ZERO,
        link_timeout: Duration::ZERO,
        link_poll_interval: Duration::ZERO,
        acceptance_check_delays: [Duration::ZERO; 3],
        jitter_seed: Some(1),
        ..ClientPolicy::default()
    }
}

/// Returns a builder of clients for raw requests, which use no proxy.
pub fn raw_client() -> reqwest::ClientBuilder {
    tessera_crypto::install();
    reqwest::Client::builder().no_proxy()
}

pub fn hosted(url: &str, policy: ClientPolicy) -> Client {
    let credentials = Credentials { api_key: API_KEY.into(), api_secret: API_SECRET.into() };
    canaries::register_secret(API_SECRET, false);
    // Whatever happens, no record may contain a secret.
    client(url, AuthMethod::Hosted(credentials), policy).with_recorder(RequestRecorder::new(
        |exchange| {
            let text = format!("{exchange:?}{}", RequestRecorder::exchange_json(&exchange));
            canaries::assert_clean(&[text.as_bytes()], None);
        },
    ))
}

pub fn on_premises(url: &str, policy: ClientPolicy) -> Client {
    client(url, AuthMethod::OnPremises, policy)
}

fn client(url: &str, access: AuthMethod, policy: ClientPolicy) -> Client {
    let service = ServiceConfig::new(BaseUrl::parse(url).unwrap(), access).unwrap();
    Client::with_policy(service, policy).unwrap()
}
