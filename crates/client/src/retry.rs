//! Timeouts and retries. Applies the retry table with full jitter, `Retry-After`, and a budget per origin, so that
//! retries do not make an outage worse.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use parking_lot::Mutex;
use reqwest::header::RETRY_AFTER;

use crate::errors::{AttemptError, ErrorResponse};
use tessera_model::{
    ExportTask,
    pseudorandom::{SPLITMIX64_INCREMENT, splitmix64},
};
use tessera_wire::endpoints::{Endpoint, MAX_UNSENT_ATTEMPTS, RetryRule};

/// Timeouts and limits. The default suits an interactive program.
#[derive(Clone, Debug)]
pub struct ClientPolicy {
    /// The number of retries of requests that have no side effects or were not sent. `None` uses the retry table.
    pub retries: Option<u32>,
    /// The upper bound of the first pause, which doubles with each retry.
    pub initial_backoff: Duration,
    /// The longest `Retry-After` that is waited for. If the service requests a longer pause, the client gives up.
    pub max_retry_after: Duration,
    /// The time limit for one connection, over all addresses of its host.
    pub connect_timeout: Duration,
    pub header_timeout: Duration,
    /// The time after which a response counts as slow, which is only reported.
    pub slow_response: Duration,
    /// The interval between two pings of an HTTP/2 connection with open requests. `ping_timeout` limits the wait for
    /// the response to a ping.
    pub ping_interval: Duration,
    pub ping_timeout: Duration,
    /// The time limit between two chunks of a response.
    pub idle_timeout: Duration,
    /// The time limit between two parts of an upload that the service accepts.
    pub upload_idle_timeout: Duration,
    /// The time limit for a complete JSON response.
    pub total_timeout: Duration,
    /// The time limit until a finished export has a link.
    pub link_timeout: Duration,
    pub link_poll_interval: Duration,
    /// The pauses before the reads of a dataset that may show that a request was accepted whose response was lost.
    pub acceptance_check_delays: [Duration; 3],
    /// The seed of the jitter. `None` uses a random seed.
    pub jitter_seed: Option<u64>,
}

impl Default for ClientPolicy {
    fn default() -> Self {
        Self {
            retries: None,
            initial_backoff: Duration::from_millis(250),
            max_retry_after: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(5),
            header_timeout: Duration::from_secs(30),
            slow_response: Duration::from_secs(3),
            ping_interval: Duration::from_secs(20),
            ping_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            upload_idle_timeout: Duration::from_mins(1),
            total_timeout: Duration::from_mins(1),
            link_timeout: ExportTask::LINK_TIMEOUT,
            link_poll_interval: Duration::from_secs(5),
            acceptance_check_delays: [1, 3, 5].map(Duration::from_secs),
            jitter_seed: None,
        }
    }
}

/// Decides about retries. All requests of one client share one engine.
pub(super) struct RetryEngine {
    policy: ClientPolicy,
    budgets: Mutex<HashMap<String, u32>>,
    jitter: AtomicU64,
}

pub(super) struct RetryState {
    rule: RetryRule,
    origin: String,
    failed: u32,
    last_cost: u32,
}

impl RetryState {
    pub(super) fn new(endpoint: Endpoint, origin: String) -> Self {
        Self { rule: endpoint.retry_rule(), origin, failed: 0, last_cost: 0 }
    }

    /// Returns the number of the next attempt, counted from 1.
    pub(super) fn number(&self) -> u32 {
        self.failed + 1
    }
}

/// The retry budget per origin, and the costs of retries, as in the AWS SDKs.
const RETRY_BUDGET: u32 = 500;
const ERROR_RETRY_COST: u32 = 14;
const BUSY_RETRY_COST: u32 = 5;
const MAX_BACKOFF: Duration = Duration::from_secs(20);

impl RetryEngine {
    pub(super) fn new(policy: ClientPolicy) -> Self {
        let seed =
            policy.jitter_seed.unwrap_or_else(|| RandomState::new().hash_one(std::process::id()));
        Self { policy, budgets: Mutex::default(), jitter: AtomicU64::new(seed) }
    }

    pub(super) fn policy(&self) -> &ClientPolicy {
        &self.policy
    }

    /// Returns the pause before the next attempt, or `None` to give up.
    pub(super) fn next_pause(
        &self,
        attempts: &mut RetryState,
        error: &AttemptError,
    ) -> Option<Duration> {
        attempts.failed += 1;
        let requested = requested_pause(error).unwrap_or_default();
        if requested > self.policy.max_retry_after {
            return None;
        }
        let (allowed, cost) = attempt_limit_and_cost(attempts.rule, error, self.policy.retries);
        if attempts.failed >= allowed || !self.spend_budget(&attempts.origin, cost) {
            return None;
        }
        attempts.last_cost = cost;
        Some(self.backoff(attempts.failed).max(requested))
    }

    /// Records a success, which refunds the cost of the latest retry, or 1 if there was no retry.
    pub(super) fn succeeded(&self, attempts: &mut RetryState) {
        let mut budgets = self.budgets.lock();
        if let Some(budget) = budgets.get_mut(&attempts.origin) {
            *budget = RETRY_BUDGET.min(*budget + attempts.last_cost.max(1));
        }
        attempts.failed = 0;
        attempts.last_cost = 0;
    }

    fn spend_budget(&self, origin: &str, cost: u32) -> bool {
        let mut budgets = self.budgets.lock();
        let budget = budgets.entry(origin.to_owned()).or_insert(RETRY_BUDGET);
        let rest = budget.checked_sub(cost);
        *budget = rest.unwrap_or(*budget);
        rest.is_some()
    }

    /// Returns a random pause up to the limit (full jitter).
    fn backoff(&self, failed: u32) -> Duration {
        let doubled = self.policy.initial_backoff.saturating_mul(1 << (failed - 1).min(16));
        doubled.min(MAX_BACKOFF).mul_f64(self.next_fraction())
    }

    /// Returns the next number in [0, 1).
    fn next_fraction(&self) -> f64 {
        let number = splitmix64(self.jitter.fetch_add(SPLITMIX64_INCREMENT, Ordering::Relaxed));
        let high = u32::try_from(number >> 32).unwrap_or(u32::MAX);
        f64::from(high) / (f64::from(u32::MAX) + 1.0)
    }
}

/// Returns the maximum number of attempts and the cost of a retry. Requests with possible side effects are never
/// retried, whatever the number of retries is.
fn attempt_limit_and_cost(
    rule: RetryRule,
    error: &AttemptError,
    retries: Option<u32>,
) -> (u32, u32) {
    let with_retries = |table: u32| retries.map_or(table, |retries| retries.saturating_add(1));
    let if_repeatable = |table: u32| if table == 1 { 1 } else { with_retries(table) };
    match error {
        AttemptError::NoConnection(_) => {
            (with_retries(MAX_UNSENT_ATTEMPTS.max(rule.max_attempts)), ERROR_RETRY_COST)
        }
        AttemptError::NoResponse(_) => (if_repeatable(rule.max_attempts), ERROR_RETRY_COST),
        AttemptError::Rejected(rejection) => match rejection.status.as_u16() {
            429 => (if_repeatable(rule.max_attempts), BUSY_RETRY_COST),
            500 | 502 | 503 | 504 => (if_repeatable(rule.max_attempts), ERROR_RETRY_COST),
            _ => (1, 0),
        },
        AttemptError::Fatal(_) => (1, 0),
    }
}

fn requested_pause(error: &AttemptError) -> Option<Duration> {
    match error {
        AttemptError::Rejected(rejection) => retry_after(rejection),
        _ => None,
    }
}

/// Returns the pause that a response requests before the next request.
pub(super) fn retry_after(rejection: &ErrorResponse) -> Option<Duration> {
    let value = rejection.headers.get(RETRY_AFTER)?.to_str().ok()?;
    parse_retry_after(value, SystemTime::now())
}

/// Parses `Retry-After`, which is a number of seconds or a date. A past date means now; an invalid value is ignored.
fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.parse().map_or(Duration::MAX, Duration::from_secs));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::{StatusCode, header::HeaderValue};

    use super::*;

    fn rejected(status: StatusCode, retry_after: Option<HeaderValue>) -> AttemptError {
        let headers = retry_after.into_iter().map(|value| (RETRY_AFTER, value)).collect();
        let (body, detail) = (bytes::Bytes::new(), None);
        AttemptError::Rejected(Box::new(ErrorResponse { status, headers, body, detail }))
    }

    fn unavailable() -> AttemptError {
        rejected(StatusCode::SERVICE_UNAVAILABLE, None)
    }

    fn engine(seed: u64) -> RetryEngine {
        RetryEngine::new(ClientPolicy { jitter_seed: Some(seed), ..ClientPolicy::default() })
    }

    #[test]
    fn pauses_fill_the_doubling_bound() {
        let bounds = [250, 500, 1_000, 2_000].map(Duration::from_millis);
        let mut longest = [Duration::ZERO; 4];
        for seed in 0..10_000 {
            let engine = engine(seed);
            let mut attempts = RetryState::new(Endpoint::Download, "o".to_owned());
            for longest in &mut longest {
                let pause = engine.next_pause(&mut attempts, &unavailable()).unwrap();
                *longest = pause.max(*longest);
            }
            assert_eq!(engine.next_pause(&mut attempts, &unavailable()), None);
        }
        for (longest, bound) in longest.into_iter().zip(bounds) {
            assert!(longest <= bound && longest > bound.mul_f64(0.99), "{longest:?} of {bound:?}");
        }
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sat, 01 Aug 2026 00:00:00 GMT").unwrap();
        for (value, expected) in [
            (" 7 ", Some(Duration::from_secs(7))),
            ("99999999999999999999999", Some(Duration::MAX)),
            ("Sat, 01 Aug 2026 00:00:10 GMT", Some(Duration::from_secs(10))),
            ("Fri, 31 Jul 2026 00:00:00 GMT", Some(Duration::ZERO)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse_retry_after(value, now), expected, "{value:?}");
        }
    }

    #[test]
    fn an_outage_uses_up_only_the_budget_of_its_origin() {
        let engine = engine(3);
        let fails = |origin: &str| {
            let mut attempts = RetryState::new(Endpoint::Explore, origin.to_owned());
            engine.next_pause(&mut attempts, &unavailable()).is_some()
        };
        let granted = (0..1_000).filter(|_| fails("https://a")).count();
        assert_eq!(granted, 500 / 14);
        assert!(fails("https://b"));
        let mut attempts = RetryState::new(Endpoint::Explore, "https://a".to_owned());
        for _ in 0..14 {
            engine.succeeded(&mut attempts);
        }
        assert!(fails("https://a"));
        assert!(!fails("https://a"));
    }

    #[test]
    fn retries_of_many_clients_are_spread_out() {
        let mut slots = [0_u32; 50];
        for seed in 0..1_000 {
            let policy = ClientPolicy {
                initial_backoff: Duration::from_secs(5),
                jitter_seed: Some(seed),
                ..ClientPolicy::default()
            };
            let pause = RetryEngine::new(policy).backoff(1);
            slots[usize::try_from(pause.as_millis() / 100).unwrap()] += 1;
        }
        assert!(slots.iter().all(|&slot| slot <= 50), "{slots:?}");
    }

    #[test]
    fn attempts_depend_on_the_fault_and_on_what_a_second_one_could_change() {
        let rejected = |status: u16| rejected(StatusCode::from_u16(status).unwrap(), None);
        let limits = |error: &AttemptError, retries| {
            [Endpoint::Reindex, Endpoint::RegisterAnchor, Endpoint::Download]
                .map(|endpoint| attempt_limit_and_cost(endpoint.retry_rule(), error, retries).0)
        };
        let text = String::new;
        for (error, by_table, with_six_retries) in [
            (AttemptError::NoConnection(text().into()), [3, 3, 5], [7, 7, 7]),
            (AttemptError::NoResponse(text().into()), [1, 2, 5], [1, 7, 7]),
            (rejected(429), [1, 2, 5], [1, 7, 7]),
            (rejected(500), [1, 2, 5], [1, 7, 7]),
            (rejected(502), [1, 2, 5], [1, 7, 7]),
            (rejected(503), [1, 2, 5], [1, 7, 7]),
            (rejected(504), [1, 2, 5], [1, 7, 7]),
            (rejected(501), [1, 1, 1], [1, 1, 1]),
            (rejected(404), [1, 1, 1], [1, 1, 1]),
            (AttemptError::Fatal(tessera_model::Failure::local("x")), [1, 1, 1], [1, 1, 1]),
        ] {
            assert_eq!(limits(&error, None), by_table, "{error:?}");
            assert_eq!(limits(&error, Some(6)), with_six_retries, "{error:?}");
        }
    }

    #[test]
    fn attempts_are_numbered_from_1_and_again_after_a_success() {
        let engine = engine(5);
        let mut attempts = RetryState::new(Endpoint::Download, "o".to_owned());
        for number in 1..=4 {
            assert_eq!(attempts.number(), number);
            engine.next_pause(&mut attempts, &unavailable()).unwrap();
        }
        engine.succeeded(&mut attempts);
        assert_eq!(attempts.number(), 1);
    }

    #[test]
    fn a_busy_service_costs_less_of_the_budget_than_a_broken_one() {
        let granted = |status: StatusCode| {
            let engine = engine(7);
            let fails = || {
                let mut attempts = RetryState::new(Endpoint::Explore, "o".to_owned());
                engine.next_pause(&mut attempts, &rejected(status, None)).is_some()
            };
            std::iter::repeat_with(fails).take(1_000).filter(|granted| *granted).count()
        };
        assert_eq!(granted(StatusCode::TOO_MANY_REQUESTS), 500 / 5);
        assert_eq!(granted(StatusCode::BAD_GATEWAY), 500 / 14);
    }

    #[test]
    fn no_pause_is_longer_than_20_seconds_without_being_requested() {
        let policy = ClientPolicy {
            initial_backoff: Duration::from_secs(1),
            jitter_seed: Some(9),
            ..ClientPolicy::default()
        };
        let engine = RetryEngine::new(policy);
        let longest = (0..1_000).map(|_| engine.backoff(30)).max().unwrap();
        assert!(longest <= MAX_BACKOFF && longest > MAX_BACKOFF.mul_f64(0.99), "{longest:?}");
        let first = (0..1_000).map(|_| engine.backoff(1)).max().unwrap();
        assert!(first <= Duration::from_secs(1) && first.as_secs_f64() > 0.99, "{first:?}");
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic_or_shortens_the_requested_pause(value in "\\PC*|[0-9]{1,30}") {
            let wait = parse_retry_after(&value, SystemTime::now()).unwrap_or_default();
            let engine = engine(1);
            let mut attempts = RetryState::new(Endpoint::Explore, "o".to_owned());
            if let Ok(header) = value.parse::<HeaderValue>() {
                let error = rejected(StatusCode::TOO_MANY_REQUESTS, Some(header));
                let pause = engine.next_pause(&mut attempts, &error);
                prop_assert_eq!(pause.is_some(), wait <= Duration::from_mins(1));
                prop_assert!(pause.is_none_or(|it| it >= wait && it <= Duration::from_mins(1)));
            }
        }
    }
}
