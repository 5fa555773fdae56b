//! The request log: every request and its outcome, without secrets.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tessera_client::{
    AuthMethod, BaseUrl, Client, ClientPolicy, Credentials, DryRun, Endpoint, RequestRecorder,
    ServiceConfig,
};
use tessera_model::{Link, Query, QueryText, RequestOutcome, RequestRecord, Search};

use tessera_testing::clients::{dataset, hosted, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

fn recorded(client: Client) -> (Client, Arc<Mutex<Vec<RequestRecord>>>) {
    let log = Arc::<Mutex<Vec<RequestRecord>>>::default();
    let records = Arc::clone(&log);
    let recorder = RequestRecorder::new(move |record| records.lock().unwrap().push(record));
    (client.with_recorder(recorder), log)
}

#[tokio::test]
async fn every_attempt_is_recorded_with_error_and_pause() {
    let tries = std::sync::atomic::AtomicUsize::new(0);
    let server = ScriptedServer::start(move |_: &ReceivedRequest| {
        match tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Reply::new(429, &[("retry-after", "0")], r#"{"detail":"slowly"}"#),
            1 => Reply::disconnect(),
            _ => Reply::json("[]"),
        }
    })
    .await;
    let (client, log) = recorded(hosted(&server.url(), without_pauses()));
    client.list_datasets().await.unwrap();
    let log = log.lock().unwrap();
    let [busy, cut, good] = log.as_slice() else { panic!("{log:?}") };
    let RequestOutcome::Rejected { status: 429, message: Some(words) } = &busy.outcome else {
        panic!("{busy:?}")
    };
    assert_eq!(words.as_str(), "slowly");
    assert_eq!(busy.retry_in, Some(Duration::ZERO));
    assert!(matches!(cut.outcome, RequestOutcome::Failed(_)) && cut.attempt == 2, "{cut:?}");
    assert_eq!(good.outcome, RequestOutcome::Succeeded { status: 200, bytes: 2 });
    assert_eq!((good.method, good.target.as_str()), ("GET", "/api/v1/datasets"));
    assert_eq!(good.retry_in, None);
}

#[tokio::test]
async fn no_secret_reaches_the_log() {
    const CANARY: &str = "canary-of-at-least-thirty-two-bytes";
    let server = ScriptedServer::start(|seen: &ReceivedRequest| match seen.path() {
        path if path.starts_with("/api") => Reply::new(401, &[], "{}"),
        _ => Reply::new(403, &[], "expired"),
    })
    .await;
    let credentials = Credentials { api_key: "key".into(), api_secret: CANARY.into() };
    let url = BaseUrl::parse(&server.url()).unwrap();
    let service = ServiceConfig::new(url, AuthMethod::Hosted(credentials)).unwrap();
    let (client, log) = recorded(Client::with_policy(service, without_pauses()).unwrap());
    client.dataset(dataset()).await.unwrap_err();
    let link = Link::new(format!("/a.jpg?X-Amz-Signature={CANARY}&Policy={CANARY}"));
    client.fetch_picture(&link, 1_000).await.unwrap_err();
    let tokens: Vec<String> = server
        .requests()
        .iter()
        .filter_map(|seen| seen.header("authorization").map(str::to_owned))
        .collect();
    let log = format!("{:?}", log.lock().unwrap());
    assert!(tokens.len() == 2 && log.contains("X-Amz-Signature=…"), "{log}");
    for secret in tokens.iter().map(|token| token.trim_start_matches("Bearer ")).chain([CANARY]) {
        assert!(!log.contains(secret), "{log}");
    }
}

/// A gateway may send back the headers that it received.
#[tokio::test]
async fn a_login_that_a_response_contains_is_masked() {
    let credentials = || Credentials {
        api_key: "ak_of_a_user".into(),
        api_secret: "a secret of at least thirty-two bytes".into(),
    };
    for (status, key) in [(400, "detail"), (401, "detail"), (200, "error"), (200, "unknown")] {
        let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
            let login = [seen.header("authorization"), seen.header("cookie")];
            let login = login.into_iter().flatten().collect::<String>();
            let echo = format!(r#"{{"{key}":"bad header {login} of ak_of_a_user"}}"#);
            Reply::new(status, &[("content-type", "application/json")], &echo)
        })
        .await;
        for (auth, shown) in [
            (AuthMethod::Hosted(credentials()), "bad header Bearer … of …"),
            (AuthMethod::Token("token-of-a-user".into()), "bad header Bearer … of ak_of_a_user"),
            (
                AuthMethod::Session("session-of-a-user".into()),
                "bad header SESSION=… of ak_of_a_user",
            ),
        ] {
            let url = BaseUrl::parse(&server.url()).unwrap();
            let service = ServiceConfig::new(url, auth).unwrap();
            let client = Client::with_policy(service, without_pauses()).unwrap();
            let (client, log) = recorded(client);
            let failure = client.dataset(dataset()).await.unwrap_err();
            assert!(failure.to_string().contains(shown), "{failure}");
            let log = format!("{:?}", log.lock().unwrap());
            for sent in server.requests() {
                let login = sent.header("authorization").or(sent.header("cookie")).unwrap();
                let (_, secret) = login.split_once([' ', '=']).unwrap();
                assert!(!format!("{failure:?}{log}").contains(secret), "{failure:?} {log}");
            }
        }
    }
}

#[tokio::test]
async fn values_of_signed_links_are_masked() {
    let run = DryRun::new(&[Endpoint::Picture, Endpoint::Explore]);
    let (client, log) = recorded(hosted("https://h.example", without_pauses()).with_dry_run(run));
    let link = "https://me:canary@cdn.example/a.zip?X-Amz-Signature=canary&Expires=canary";
    client.fetch_picture(&Link::new(link), 1_000).await.unwrap_err();
    let query = Query::Caption { text: QueryText::new("a van\u{1b}").unwrap(), max_score: None };
    let search = Search { query, ..Search::browse(dataset()) };
    client.explore(&search).await.unwrap_err();
    let log = log.lock().unwrap();
    let targets: Vec<_> = log.iter().map(|record| record.target.as_str()).collect();
    assert_eq!(targets[0], "https://cdn.example/a.zip?X-Amz-Signature=…&Expires=…");
    let path = format!("/api/v1/explore/{}?caption=a van␛&entity_type=IMAGES", dataset());
    assert!(targets[1].starts_with(&path), "{}", targets[1]);
}

#[tokio::test]
async fn a_requested_pause_is_respected_and_announced() {
    let pause = async |wait: &str| {
        let wait = wait.to_owned();
        let busy = move |_: &ReceivedRequest| Reply::new(429, &[("retry-after", &wait)], "{}");
        let server = ScriptedServer::start(busy).await;
        let (sender, mut records) = tokio::sync::mpsc::unbounded_channel();
        let recorder = RequestRecorder::new(move |record| sender.send(record).unwrap());
        let policy = ClientPolicy { jitter_seed: Some(7), ..ClientPolicy::default() };
        let said = Arc::new(Mutex::new(String::new()));
        let heard = said.clone();
        let client = hosted(&server.url(), policy)
            .with_recorder(recorder)
            .with_slow_listener(move |sentence| *heard.lock().unwrap() = sentence);
        let pause = tokio::select! {
            biased;
            result = client.list_datasets() => panic!("{result:?}"),
            record = records.recv() => record.unwrap().retry_in.unwrap(),
        };
        let said = said.lock().unwrap().clone();
        (pause, said)
    };
    let said = "the service responded with 429; trying again in 5 s";
    assert_eq!(pause("5").await, (Duration::from_secs(5), said.to_owned()));
    for none in ["0", "-3", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT", "1e9"] {
        let (pause, said) = pause(none).await;
        assert!(pause <= Duration::from_millis(250) && said.is_empty(), "{none}: {said}");
    }
}

#[tokio::test]
async fn a_pause_above_the_limit_ends_the_request_at_once_and_is_stated() {
    for (status, wait, remedy, hours) in [
        (429, "3600", ". Try again in 1 h", Some(1)),
        (503, "7200", ". Try again in 2 h", Some(2)),
        (429, "1000000000000", ". Try again later", None),
        (429, "99999999999999999999999999", ". Try again later", None),
        (429, "Fri, 01 Jan 2100 00:00:00 GMT", ". Try again later", None),
    ] {
        let busy = move |_: &ReceivedRequest| Reply::new(status, &[("retry-after", wait)], "{}");
        let server = ScriptedServer::start(busy).await;
        let client = hosted(&server.url(), ClientPolicy::default());
        let failure = client.list_datasets().await.unwrap_err();
        assert!(failure.to_string().ends_with(remedy), "{failure}");
        assert_eq!(failure.retry_after, hours.map(Duration::from_hours), "{wait}");
        assert_eq!(server.count(), 1, "{wait}");
    }
}
