//! The catalog in `tests/recorded`: bodies that services send, and how the client reads each.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tessera_client::Client;
use tessera_model::Failure;
use tessera_testing::clients::dataset;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use crate::requests::{client_for, perform};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/recorded");

/// The bodies of one endpoint.
#[derive(Deserialize)]
pub(crate) struct RecordedEndpoint {
    /// Method and path, with `{dataset_id}` in place of the dataset.
    pub endpoint: String,
    pub cases: Vec<RecordedCase>,
}

#[derive(Clone, Deserialize)]
pub(crate) struct RecordedCase {
    pub name: String,
    /// HTTP status.
    pub status: u16,
    #[serde(rename = "type", default = "json_type")]
    pub media_type: String,
    #[serde(default)]
    pub body: Value,
    /// In place of `body`: a body that is not JSON.
    pub text: Option<String>,
    #[serde(flatten)]
    pub expected: ExpectedReading,
}

/// What the client makes of a body, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct ExpectedReading {
    pub reads: Option<Vec<String>>,
    /// Kind and text of the failure.
    pub fails: Option<String>,
    /// The fields that the client warns about.
    #[serde(default)]
    pub warns: Vec<String>,
}

fn json_type() -> String {
    "application/json".to_owned()
}

/// All endpoints, by the names of their files.
pub(crate) fn catalog() -> BTreeMap<String, RecordedEndpoint> {
    let files = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
    let json = files.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let read = |path: &Path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    json.map(|path| (name(&path), read(&path))).collect()
}

/// A service that sends one body from one endpoint, and a ready dataset from all others.
pub(crate) struct RecordedService {
    name: String,
    /// Method and path of the endpoint.
    pub request: String,
    case: Arc<Mutex<RecordedCase>>,
    client: Client,
    /// Stops when it is dropped.
    _server: ScriptedServer,
}

impl RecordedService {
    pub(crate) async fn start(name: &str, of: &RecordedEndpoint) -> Self {
        let request = of.endpoint.replace("{dataset_id}", &dataset().to_string());
        let case = Arc::new(Mutex::new(of.cases[0].clone()));
        let (sent, endpoint) = (Arc::clone(&case), request.clone());
        let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
            if format!("{} {}", seen.method, seen.path()) != endpoint {
                let ready = json!({"id": dataset(), "status_new": "READY", "n_images": 3});
                return Reply::json(ready.to_string());
            }
            let case = sent.lock().unwrap();
            let body = case.text.clone().unwrap_or_else(|| case.body.to_string());
            Reply::new(case.status, &[("content-type", &case.media_type)], body)
        })
        .await;
        let client = client_for(name, &server.url()).with_retries(0);
        Self { name: name.to_owned(), request, case, client, _server: server }
    }

    /// Sends the request of the endpoint; the response is that of `case`.
    pub(crate) async fn read(&self, case: &RecordedCase) -> (ExpectedReading, Option<Failure>) {
        self.case.lock().unwrap().clone_from(case);
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&warnings);
        let client = self.client.clone();
        let client = client.with_field_warnings(move |sentence| {
            let sentence = sentence.to_string();
            let fields = sentence.split_once(" cannot be read: ").unwrap().1;
            heard.lock().unwrap().extend(fields.split(", ").map(str::to_owned));
        });
        let result = perform(&self.name, &client, "").await;
        let warns = std::mem::take(&mut *warnings.lock().unwrap());
        match result {
            Ok(lines) => (ExpectedReading { reads: Some(lines), fails: None, warns }, None),
            Err(failure) => {
                let fails = Some(format!("{:?}: {failure}", failure.kind));
                (ExpectedReading { reads: None, fails, warns }, Some(failure))
            }
        }
    }
}

#[tokio::test]
async fn every_recorded_body_is_read_as_the_catalog_says() {
    let mut different = BTreeMap::<String, BTreeMap<String, Value>>::new();
    for (name, endpoint) in &catalog() {
        let service = RecordedService::start(name, endpoint).await;
        for case in &endpoint.cases {
            let (reading, failure) = service.read(case).await;
            let request = failure.and_then(|failure| failure.request);
            assert!(
                request.is_none_or(|it| it.as_str() == service.request),
                "{name}: {}",
                case.name
            );
            if reading != case.expected {
                let ExpectedReading { reads, fails, warns } = reading;
                let reading = match fails {
                    Some(fails) => json!({ "fails": fails, "warns": warns }),
                    None => json!({ "reads": reads, "warns": warns }),
                };
                different.entry(name.clone()).or_default().insert(case.name.clone(), reading);
            }
        }
    }
    assert!(different.is_empty(), "{}", json!(different));
}
