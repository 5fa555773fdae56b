//! The catalog in `tests/recorded`: bodies that services send, and how the client reads each.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tessera_client::{AuthMethod, BaseUrl, Client, Endpoint, QueryImageUpload};
use tessera_model::{
    ArchiveName, EntityType, ExportFormat, ExportSpec, Failure, Granularity, MediaAddition,
    MediaId, MediaSource, Search, SelectionItem,
};
use tessera_testing::clients::{dataset, hosted, task, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use crate::recorded_readings::{dataset_line, list_lines, page_lines, task_line};

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
    image: QueryImageUpload,
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
        let url = BaseUrl::parse(&server.url()).unwrap();
        let endpoint = match name {
            "api_credentials" => Endpoint::new(url, AuthMethod::Session("a session".into())),
            _ => Ok(hosted(&server.url(), without_pauses()).endpoint().clone().with_pipeline(url)),
        };
        let client = Client::with_policy(endpoint.unwrap(), without_pauses()).unwrap();
        let image = QueryImageUpload::new(b"\xff\xd8\xff\xe0 a picture"[..].into(), "a.jpg").await;
        let (name, client) = (name.to_owned(), client.with_retries(0));
        Self { name, request, case, client, image: image.unwrap(), _server: server }
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
        let result = self.call(&client).await;
        let warns = std::mem::take(&mut *warnings.lock().unwrap());
        match result {
            Ok(lines) => (ExpectedReading { reads: Some(lines), fails: None, warns }, None),
            Err(failure) => {
                let fails = Some(format!("{:?}: {failure}", failure.kind));
                (ExpectedReading { reads: None, fails, warns }, Some(failure))
            }
        }
    }

    async fn call(&self, client: &Client) -> Result<Vec<String>, Failure> {
        let format = ExportFormat::Json;
        let file_name = ArchiveName::new("demo");
        let line = |line: String| vec![line];
        match self.name.as_str() {
            "datasets" => client.list_datasets().await.map(|list| list_lines(&list)),
            "dataset" => client.dataset(dataset()).await.map(|read| line(dataset_line(&read))),
            "explore" => {
                client.explore(&Search::browse(dataset())).await.map(|page| page_lines(&page))
            }
            "search_image_similarity" => {
                let (entity, granularity) = (EntityType::Images, Granularity::DEFAULT);
                let image = self.image.clone();
                let anchor = client.register_anchor(dataset(), image, entity, granularity, None);
                let anchor = anchor.await?;
                Ok(line(format!("anchor {} {}", anchor.media, anchor.kind.as_str())))
            }
            "export_context_async" => {
                let spec = ExportSpec { file_name, format, include_images: false };
                client.start_export(dataset(), &spec).await.map(|it| line(task_line(&it)))
            }
            "export_entities_async" => {
                let items = [SelectionItem::Media(vec![MediaId(task().0)])];
                let start = client.start_selective_export(dataset(), format, false, &items);
                start.await.map(|it| line(task_line(&it)))
            }
            "export_status" => {
                client.export_status(dataset(), task()).await.map(|it| line(task_line(&it)))
            }
            "add_media" => self.add(client, MediaSource::Storage("s3://bucket/new/".into())).await,
            "process_add_media" => self.add(client, MediaSource::ServerPath("/data".into())).await,
            "reindex" => client.reindex(dataset()).await.map(|_| line("accepted".to_owned())),
            "enrichment_context" => client.enrichment(dataset()).await.map(|enrichment| {
                line(enrichment.statuses.map(|status| format!("{status:?}")).join(" "))
            }),
            "api_credentials" => client.create_credentials().await.map(|issued| {
                let secret = if issued.api_secret.is_some() { "a secret" } else { "no secret" };
                let message = issued.message.map(|it| it.to_string()).unwrap_or_default();
                line(format!("key {} with {secret}: {message}", issued.api_key))
            }),
            other => unreachable!("no request for {other}.json"),
        }
    }

    async fn add(&self, client: &Client, source: MediaSource) -> Result<Vec<String>, Failure> {
        let addition = MediaAddition::new(source);
        client.add_media(dataset(), &addition, &mut |_, _| {}).await?;
        Ok(vec!["accepted".to_owned()])
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
