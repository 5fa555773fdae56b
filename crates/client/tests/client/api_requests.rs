//! The exact requests of the client, byte by byte, as the API document gives them.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tessera_client::{
    AuthMethod, BaseUrl, Client, QueryImageUpload, RawBody, RawPart, RawRequest, ServiceConfig,
};
use tessera_model::{
    Anchor, AnchorKind, ArchiveName, EntityType, ExportFormat, ExportSelection, ExportSpec, Filter,
    Granularity, MediaAddition, MediaId, MediaSource, Query, Region, Search, SelectionItem,
};
use tessera_testing::clients::{
    API_KEY, API_SECRET, dataset, hosted, on_premises, task, without_pauses,
};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};
use tessera_wire::selection::MAX_ITEMS;

use crate::api_bytes::{ANCHOR, EXPLORE, RECORD, TASK};

const OF_DATASET: &str = "/api/v1/dataset/ad48d250-0000-11f1-bfca-000000000001";

/// A service with one of everything.
async fn service() -> ScriptedServer {
    ScriptedServer::start(|seen: &ReceivedRequest| {
        let path = seen.path();
        Reply::json(match path.rsplit('/').next().unwrap() {
            "datasets" => format!("[{RECORD}]"),
            "search-image-similarity" => ANCHOR.to_owned(),
            "export_context_async" | "export_entities_async" | "export_status" => TASK.to_owned(),
            _ if path.contains("/explore/") => EXPLORE.to_owned(),
            _ => RECORD.to_owned(),
        })
    })
    .await
}

/// A query image: the client checks only the first bytes.
const JPEG: &[u8] = b"\xff\xd8\xff\xe0 the rest is for the service";

/// Sends every request that needs no file.
async fn ask_for_everything(client: &tessera_client::Client) {
    let search = Search::browse(dataset());
    let anchored = Search {
        query: Query::Similar(Anchor {
            media: "31ae21e5-0000-46f6-85a3-000000000001".parse().unwrap(),
            kind: AnchorKind::Media,
        }),
        entity: EntityType::Objects,
        granularity: Granularity::new(4).unwrap(),
        page: 7,
        ..search.clone()
    };
    let spec = ExportSpec {
        file_name: ArchiveName::new("my photos & more.zip"),
        format: ExportFormat::Parquet,
        include_images: true,
    };
    assert_eq!(client.list_datasets().await.unwrap().datasets.len(), 1);
    assert_eq!(client.dataset(dataset()).await.unwrap().id, dataset());
    assert_eq!(client.explore(&search).await.unwrap().clusters.len(), 1);
    assert_eq!(client.explore(&anchored).await.unwrap().clusters.len(), 1);
    assert_eq!(client.start_export(dataset(), &spec).await.unwrap().id, task());
    assert_eq!(client.export_status(dataset(), task()).await.unwrap().id, task());
}

#[tokio::test]
async fn request_lines_are_those_of_the_document() {
    let server = service().await;
    ask_for_everything(&on_premises(&server.url(), without_pauses())).await;
    let lines: Vec<String> =
        server.requests().iter().map(|seen| format!("{} {}", seen.method, seen.target)).collect();
    let id = "ad48d250-0000-11f1-bfca-000000000001";
    let expected = [
        "GET /api/v1/datasets".to_owned(),
        format!("GET /api/v1/dataset/{id}"),
        format!("GET /api/v1/explore/{id}?entity_type=IMAGES&threshold=2&page_number=0"),
        format!(
            "GET /api/v1/explore/{id}?anchor_media_id=31ae21e5-0000-46f6-85a3-000000000001\
             &anchor_type=MEDIA&entity_type=OBJECTS&threshold=4&page_number=7"
        ),
        format!(
            "GET /api/v1/dataset/{id}/export_context_async?file_name=my+photos+%26+more.zip\
             &export_format=parquet&include_images=true"
        ),
        format!(
            "GET /api/v1/dataset/{id}/export_status?\
             export_task_id=cf8b3e78-0000-4954-a782-000000000001"
        ),
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn on_premises_requests_carry_no_login_at_all() {
    let server = service().await;
    ask_for_everything(&on_premises(&server.url(), without_pauses())).await;
    for seen in server.requests() {
        let names: Vec<&str> = seen.headers.iter().map(|(name, _)| name.as_str()).collect();
        for forbidden in ["authorization", "cookie", "referer", "proxy-authorization"] {
            assert!(!names.contains(&forbidden), "{names:?}");
        }
    }
}

#[tokio::test]
async fn hosted_requests_carry_the_token_of_the_document() {
    let server = service().await;
    let before = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    ask_for_everything(&hosted(&server.url(), without_pauses())).await;
    let requests = server.requests();
    let login = requests[0].header("authorization").unwrap();
    assert!(requests.iter().all(|seen| seen.header("authorization") == Some(login)));
    let token = login.strip_prefix("Bearer ").unwrap();
    let [header, payload, _] = token.split('.').collect::<Vec<_>>()[..] else {
        panic!("not a token")
    };
    let part = |part: &str| -> Value {
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    assert_eq!(part(header), json!({"alg": "HS256", "typ": "JWT", "kid": API_KEY}));
    let payload = part(payload);
    let issued = payload["iat"].as_u64().unwrap();
    assert!((before..before + 60).contains(&issued));
    assert_eq!(payload, json!({"sub": API_KEY, "iat": issued, "exp": issued + 600, "iss": "sdk"}));
    let key = jsonwebtoken::DecodingKey::from_secret(API_SECRET.as_bytes());
    let rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::HS256);
    assert!(jsonwebtoken::decode::<Value>(token, &key, &rules).is_ok());
}

#[tokio::test]
async fn the_form_of_a_query_image() {
    let server = service().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a\"b\r\nX-Evil: 1.jpg");
    std::fs::write(&file, JPEG).unwrap();
    let client = hosted(&server.url(), without_pauses());
    let granularity = Granularity::new(1).unwrap();
    let image = QueryImageUpload::read(&file).await.unwrap();
    let anchor = client.register_anchor(dataset(), image, EntityType::Objects, granularity, None);
    assert_eq!(anchor.await.unwrap().kind, AnchorKind::Upload);
    let seen = server.requests().remove(0);
    assert_eq!(
        format!("{} {}", seen.method, seen.target),
        "POST /api/v1/dataset/ad48d250-0000-11f1-bfca-000000000001/search-image-similarity\
         ?entity_type=OBJECTS&threshold=1"
    );
    let content_type = seen.header("content-type").unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let mut expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"query.jpg\"\r\n\
         Content-Type: image/jpeg\r\n\r\n"
    )
    .into_bytes();
    expected.extend(JPEG);
    expected.extend(format!("\r\n--{boundary}--\r\n").as_bytes());
    assert_eq!(seen.body, expected);
}

#[tokio::test]
async fn custom_form_fields_cannot_break_out_of_their_part() {
    let server = service().await;
    let part = |name: &str, file: Option<&str>, content: &'static str| RawPart {
        name: name.to_owned(),
        file: file.map(Into::into),
        content: content.into(),
    };
    let parts =
        vec![part("a\"\r\nX-Evil: 1", Some("b\"\r\n\r\n--x.png"), "c"), part("d", None, "e")];
    let request = RawRequest {
        path: "datasets".to_owned(),
        parameters: Vec::new(),
        body: RawBody::Form(parts),
    };
    hosted(&server.url(), without_pauses()).send_raw(request).await.unwrap();
    let seen = server.requests().remove(0);
    let content_type = seen.header("content-type").unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let expected = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"a%22%0D%0AX-Evil: 1\"; \
         filename=\"b%22%0D%0A%0D%0A--x.png\"\r\n\
         Content-Type: application/octet-stream\r\n\r\nc\r\n--{boundary}\r\n\
         Content-Disposition: form-data; name=\"d\"\r\n\r\ne\r\n--{boundary}--\r\n"
    );
    assert_eq!(String::from_utf8(seen.body).unwrap(), expected);
}

#[test]
fn a_get_with_a_side_effect_may_change_something() {
    let may_change = |path: &str, body| {
        RawRequest { path: path.to_owned(), parameters: Vec::new(), body }.may_change()
    };
    for path in [
        "process/add_media",
        "/api/v1/process/add_media?dataset_id=1",
        "process//x/../add%5fmedia/",
        "/media/api/v1/process/add_media",
        "dataset/1/export_context_async",
        "api_credentials",
    ] {
        assert!(may_change(path, RawBody::Get), "{path}");
    }
    for path in ["datasets", "dataset/1/export_status?x=/api_credentials", "explore/1", "../../x"] {
        assert!(!may_change(path, RawBody::Get), "{path}");
        assert!(may_change(path, RawBody::Post), "{path}");
    }
}

#[tokio::test]
async fn the_start_of_an_export_is_never_cached() {
    let server = service().await;
    ask_for_everything(&on_premises(&server.url(), without_pauses())).await;
    let requests = server.requests();
    let start = requests.iter().find(|seen| seen.path().ends_with("export_context_async"));
    assert_eq!(start.unwrap().header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn a_selective_export_is_a_post_of_items() {
    let server = service().await;
    let media = "31ae21e5-0000-46f6-85a3-000000000001";
    let cluster = "9a205a5e-0000-46be-83a3-000000000001";
    let items = vec![
        SelectionItem::Media(vec![media.parse().unwrap()]),
        SelectionItem::Cluster {
            cluster: cluster.parse().unwrap(),
            entity: EntityType::Images,
            filters: Vec::new(),
            exclude: Vec::new(),
        },
    ];
    let client = hosted(&server.url(), without_pauses());
    let selection = items.clone().into();
    let start = client.start_selective_export(dataset(), ExportFormat::Parquet, true, &selection);
    assert_eq!(start.await.unwrap().id, task());
    // The document has no rest, so a service that follows it would export the selection.
    let rest = ExportSelection { items, rest_of: Some(Search::browse(dataset())) };
    let refused = client.start_selective_export(dataset(), ExportFormat::Parquet, true, &rest);
    assert!(refused.await.unwrap_err().to_string().contains("addition of local services"));
    let sorted = Search { order: Some("-date".parse().unwrap()), ..Search::browse(dataset()) };
    let refused = client.explore(&sorted).await.unwrap_err().to_string();
    assert!(refused.contains("sorting a whole result by date is an addition"), "{refused}");
    let in_folder =
        Search { filters: vec![Filter::in_folder("train").unwrap()], ..Search::browse(dataset()) };
    let refused = client.explore(&in_folder).await.unwrap_err().to_string();
    assert!(refused.contains("the filter `path` is an addition"), "{refused}");
    let mut seen = server.requests();
    let asked = seen.extract_if(.., |it| it.target.starts_with("/local/dataset/"));
    assert_eq!(asked.count(), 3, "the service is asked whether it is a local one");
    assert_eq!(seen.len(), 1);
    let seen = seen.remove(0);
    let line = format!("{} {}", seen.method, seen.target);
    let query = "export_format=parquet&include_images=true";
    assert_eq!(line, format!("POST {OF_DATASET}/export_entities_async?{query}"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    let expected = json!({"media_selection": [
        {"type": "media", "payload": {"media_ids": [media]}},
        {"type": "cluster", "payload": {"cluster_id": cluster,
         "cluster_filters": {"entity_type": "IMAGES"}, "exclude_media_ids": []}}]});
    assert_eq!(body, expected);
}

#[tokio::test]
async fn only_local_services_are_known_to_limit_a_selection() {
    let server = service().await;
    let many = vec![SelectionItem::Media(vec![MediaId(task().0)]); MAX_ITEMS + 1].into();
    let client = hosted(&server.url(), without_pauses());
    let start = client.start_selective_export(dataset(), ExportFormat::Json, true, &many);
    assert_eq!(start.await.unwrap().id, task());
    let url = BaseUrl::parse(&server.url()).unwrap();
    let service = ServiceConfig::new(url, AuthMethod::OnPremises).unwrap().as_local_service();
    let local = Client::new(service).unwrap();
    let refused = local.start_selective_export(dataset(), ExportFormat::Json, true, &many);
    let refused = refused.await.unwrap_err().to_string();
    let limit = format!("at most {} items", tessera_model::text::group_digits(10_000));
    assert!(refused.contains(&limit), "{refused}");
}

#[tokio::test]
async fn a_reindex_has_no_body_and_its_response_may_have_any() {
    let server =
        ScriptedServer::start(|_: &ReceivedRequest| Reply::new(202, &[], "anything")).await;
    hosted(&server.url(), without_pauses()).reindex(dataset()).await.unwrap();
    let seen = server.requests().remove(0);
    assert_eq!(format!("{} {}", seen.method, seen.target), format!("POST {OF_DATASET}/reindex"));
    assert_eq!((seen.body.len(), seen.header("content-length")), (0, Some("0")));
}

#[tokio::test]
async fn a_box_is_json_in_the_query() {
    let server = service().await;
    let client = hosted(&server.url(), without_pauses());
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(2, 2).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let image = QueryImageUpload::new(png.into_inner().into(), "a.png").await.unwrap();
    let region = Region::new(0.1, 0.25, 1.0 / 3.0, 0.5);
    let (entity, granularity) = (EntityType::Images, Granularity::new(0).unwrap());
    client.register_anchor(dataset(), image, entity, granularity, region).await.unwrap();
    let expected = "?entity_type=IMAGES&threshold=0&bounding_box=%7B%22x%22%3A0.1%2C%22y%22%3A0.25\
                    %2C%22width%22%3A0.333333%2C%22height%22%3A0.5%7D";
    let target = server.requests().remove(0).target;
    assert_eq!(target, format!("{OF_DATASET}/search-image-similarity{expected}"));
}

#[tokio::test]
async fn the_form_of_an_addition() {
    let server = ScriptedServer::start(|seen: &ReceivedRequest| match seen.method.as_str() {
        "POST" => Reply::new(202, &[], ""),
        _ => Reply::json(RECORD),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a\"b\r\nX-Evil: 1.png");
    image::RgbImage::new(2, 2).save_with_format(&file, image::ImageFormat::Png).unwrap();
    let addition = MediaAddition {
        auto_reindex: true,
        batch_images: Some(1),
        ..MediaAddition::new(MediaSource::Files(vec![file.clone()]))
    };
    let client = hosted(&server.url(), without_pauses());
    client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap();
    let seen = server.requests().remove(1);
    assert_eq!(format!("{} {}", seen.method, seen.target), format!("POST {OF_DATASET}/add_media"));
    let content_type = seen.header("content-type").unwrap();
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=").unwrap();
    let text = |name: &str, value: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        )
    };
    let mut expected = text("auto_reindex", "true") + &text("batch_n_images", "1");
    let part = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"files\"; \
         filename=\"a%22b%0D%0AX-Evil: 1.png\"\r\nContent-Type: application/octet-stream\r\n\r\n"
    );
    expected += &part;
    let mut expected = expected.into_bytes();
    expected.extend(std::fs::read(&file).unwrap());
    expected.extend(format!("\r\n--{boundary}--\r\n").as_bytes());
    assert_eq!(String::from_utf8_lossy(&seen.body), String::from_utf8_lossy(&expected));
}

#[tokio::test]
async fn the_pipeline_gets_no_login() {
    // The dataset is read first from the service itself, so that a lost response can be explained.
    let record = format!(r#"{{"id":"{}","status_new":"READY"}}"#, dataset());
    let service = ScriptedServer::start(move |_: &ReceivedRequest| Reply::json(&record)).await;
    let done = |_: &ReceivedRequest| Reply::json(r#"{"status":"success","message":""}"#);
    let pipeline = ScriptedServer::start(done).await;
    let service_config = hosted(&service.url(), without_pauses()).service().clone();
    let url = BaseUrl::parse(&pipeline.url()).unwrap();
    let client = Client::with_policy(service_config.with_pipeline(url), without_pauses()).unwrap();
    let addition = MediaAddition::new(MediaSource::ServerPath("/data/new photos".into()));
    client.add_media(dataset(), &addition, &mut |_, _| {}).await.unwrap();
    let seen = pipeline.requests().remove(0);
    let query = format!("dataset_id={}&path=%2Fdata%2Fnew+photos", dataset());
    let line = format!("{} {}", seen.method, seen.target);
    assert_eq!(line, format!("GET /api/v1/process/add_media?{query}"));
    assert_eq!(seen.header("authorization"), None);
}
