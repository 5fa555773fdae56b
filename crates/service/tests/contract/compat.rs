//! What public clients send and call beyond the API document: accepted by a lenient service,
//! rejected by a strict one.

use reqwest::multipart::{Form, Part};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_service::{DeploymentSettings, ServerOptions};

use crate::support::{Place, Service, answer, assert_no_path, encoded, picture, pictures};

/// Serves a folder, strictly or leniently.
pub async fn served(place: Place, compat: bool) -> Service {
    Service::compatible(place, compat, true).await
}

async fn lenient() -> Service {
    served(Place::new(&pictures(12)), true).await
}

async fn get(service: &Service, path: &str) -> Value {
    let body = service.good(&format!("/api/v1{path}")).await;
    assert_no_path(&body, &service.place);
    body
}

#[tokio::test]
async fn strict_services_reject_compatibility_calls() {
    let service = served(Place::new(&pictures(4)), false).await;
    let (id, other) = (service.dataset, "00000000-0000-0000-0000-000000000000");
    for path in [
        "/healthcheck".to_owned(),
        "/user_config".to_owned(),
        "/datasets/sample_data".to_owned(),
        format!("/dataset/{id}/stats"),
        format!("/dataset/{id}/export?export_format=json"),
        format!("/dataset/{id}/export_media_id"),
        format!("/image/{other}"),
        format!("/explore/{id}/similarity_cluster/{other}"),
        format!("/explore/{id}/exploration_metadata"),
    ] {
        let (status, body) = service.json(&format!("/api/v1{path}")).await;
        assert_eq!((status.as_u16(), body), (404, json!({"detail": "Not Found"})), "{path}");
    }
    let process = service.post("/api/v1/process/add_media").send().await.unwrap();
    assert_eq!(process.status(), 405);
    assert_eq!(service.json(&format!("/api/v1/explore/{id}")).await.0, 422);
    let nameless = service.of_dataset("/export_context_async?export_format=json");
    assert_eq!(service.json(&nameless).await.0, 422);
    assert_eq!(service.json(&service.explore("labels=[dog,cat]")).await.0, 422);
    assert_eq!(register(&service, "bounding_box=0,0,20,20&entity_type=IMAGES").await.0, 400);
}

#[tokio::test]
async fn health_needs_no_login() {
    let service = lenient().await;
    let (status, body) = answer(service.client.get(service.url("/api/v1/healthcheck"))).await;
    assert_eq!(status, 200);
    let version = env!("CARGO_PKG_VERSION");
    let expected = json!({"status": "Green", "service-health-message": "none", "version": version});
    assert_eq!(body, expected);
    let others = service.client.get(service.url("/api/v1/user_config"));
    assert_eq!(answer(others).await.0, 401);
}

#[tokio::test]
async fn user_config_lists_the_available_searches() {
    let service = served(Place::new(&pictures(4)), true).await;
    let options = async |query: &str| {
        let body = get(&service, &format!("/user_config{query}")).await;
        let [feature] = body["features"].as_array().unwrap().as_slice() else { panic!("{body}") };
        assert_eq!(feature["feature_key"], "TEXTUAL_SEARCH_IMAGE");
        feature["feature_options"].clone()
    };
    let all = |is: bool| json!({"labels_search": is, "captions_search": is, "semantic_search": is});
    assert_eq!(options("").await, all(true));
    assert_eq!(options(&format!("?dataset_id={}", service.dataset)).await, all(false));
}

#[tokio::test]
async fn dataset_counts_are_served() {
    let service = lenient().await;
    let id = service.dataset;
    let stats = get(&service, &format!("/dataset/{id}/stats")).await;
    assert_eq!((&stats["n_images"], &stats["n_objects"]), (&json!(12), &json!(0)));
    let clusters = service.good(&service.explore("")).await["clusters"].as_array().unwrap().len();
    assert_eq!(stats["n_clusters"], clusters);
    let overview = get(&service, &format!("/explore/{id}/exploration_metadata")).await;
    assert_eq!(overview["dataset_name"], "demo");
    assert_eq!(
        (&overview["clusters_count"], &overview["media_count"]),
        (&json!(clusters), &json!(12))
    );
    let labels = r#"UPDATE media SET labels = CASE WHEN row = 1 THEN '["sea","sun"]' ELSE '["sun"]' END
           WHERE row < 4"#;
    service.place.change(labels);
    assert_eq!(service.place.count("media WHERE labels <> '[]'"), 3);
    let overview = get(&service, &format!("/explore/{id}/exploration_metadata")).await;
    let expected = json!([{"name": "sun", "count": 3}, {"name": "sea", "count": 1}]);
    assert_eq!(overview["labels"], expected);
    service
        .place
        .change(r#"UPDATE media SET tags = '["checked"]', caption = 'A red van' WHERE row < 3"#);
    let overview = get(&service, &format!("/explore/{id}/exploration_metadata")).await;
    assert_eq!(overview["user_tags"][0]["name"], "checked");
    assert_eq!(overview["user_tags"][0]["count"], 2);
    let red = overview["caption_words"].as_array().unwrap().iter().find(|it| it["name"] == "red");
    assert!(red.is_some_and(|red| red["count"].as_u64() >= Some(2)), "{overview}");
    assert_eq!(get(&service, "/datasets/sample_data").await, json!([]));
}

#[tokio::test]
async fn metadata_is_exported_immediately() {
    let service = lenient().await;
    let path = format!("/dataset/{}/export?export_format=json", service.dataset);
    let document = get(&service, &path).await;
    assert_eq!(document["info"]["total_media_items"], 12);
    let items = document["media_items"].as_array().unwrap();
    assert_eq!(items.len(), 12);
    assert!(items.iter().all(|item| item["file_name"].is_string()), "{document}");
    let other = path.replace("json", "parquet");
    assert_eq!(service.json(&format!("/api/v1{other}")).await.0, 422);
    service.set_status("READ ONLY");
    assert_eq!(service.json(&format!("/api/v1{path}")).await.0, 409);
}

#[tokio::test]
async fn a_disk_that_fills_while_metadata_is_written_is_503() {
    let place = Place::new(&pictures(40));
    // The first write finds no space, although there was some before.
    let disk = DiskQuota::new(0, |_| Some(1));
    let deployment = place.open_with(DeploymentSettings { disk, ..DeploymentSettings::default() });
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let options = |access| ServerOptions { compat: true, ..ServerOptions::from(access) };
    let service = Service::serve_as(place, deployment, dataset, true, options).await;
    for path in ["export?export_format=json", "export_media_id"] {
        let path = format!("/api/v1/dataset/{dataset}/{path}");
        let (status, body) = service.json(&path).await;
        let expected = "There is not enough free disk space for an export";
        assert_eq!((status.as_u16(), &body["detail"]), (503, &json!(expected)), "{path}");
    }
}

#[tokio::test]
async fn media_identifiers_are_served_as_a_table() {
    let service = lenient().await;
    let path = format!("/api/v1/dataset/{}/export_media_id", service.dataset);
    let response = service.get(&path).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/csv");
    let text = response.text().await.unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!((rows.len(), rows[0]), (13, "filename,media_id"));
    let (name, media) = rows[1].split_once(',').unwrap();
    let image = get(&service, &format!("/image/{media}")).await;
    assert_eq!(image["file_name"], name);
}

#[tokio::test]
async fn no_file_name_in_the_table_is_a_formula() {
    let names = ["=1+1.png", "+1.png", "-1.png", "@SUM(A1).png", "\t=1.png", "a=1.png"];
    let files: Vec<(&str, Vec<u8>)> =
        (0..).zip(names).map(|(n, name)| (name, crate::support::picture(n))).collect();
    let service = Service::compatible(Place::new(&files), true, true).await;
    let path = format!("/api/v1/dataset/{}/export_media_id", service.dataset);
    let text = service.get(&path).send().await.unwrap().text().await.unwrap();
    let cells = text.lines().skip(1).map(|row| row.rsplit_once(',').unwrap().0.trim_matches('"'));
    let mut cells: Vec<&str> = cells.collect();
    cells.sort_unstable();
    let expected = ["'\t=1.png", "'+1.png", "'-1.png", "'=1+1.png", "'@SUM(A1).png", "a=1.png"];
    assert_eq!(cells, expected);
}

#[tokio::test]
async fn images_are_served_by_identifier() {
    let service = lenient().await;
    let body = service.good(&service.explore("")).await;
    let preview = &body["clusters"][0]["previews"][0];
    let media = preview["media_id"].as_str().unwrap();
    let image = get(&service, &format!("/image/{media}")).await;
    assert_eq!(
        (&image["image_id"], &image["image_uri"]),
        (&preview["media_id"], &preview["media_uri"])
    );
    let original = service.client.get(image["image_uri"].as_str().unwrap());
    assert_eq!(original.send().await.unwrap().status(), 200);
    let other = "/api/v1/image/00000000-0000-0000-0000-000000000000";
    assert_eq!(service.json(other).await.0, 404);
}

#[tokio::test]
async fn a_cluster_is_paged_to_its_end() {
    let same: Vec<(&'static str, Vec<u8>)> =
        (0..120).map(|n| (&*format!("s{n:03}.png").leak(), picture(4 * n))).collect();
    let service = served(Place::new(&same), true).await;
    let body = service.good(&service.explore("threshold=4")).await;
    let cluster = &body["clusters"][0];
    let count = usize::try_from(cluster["n_images"].as_u64().unwrap()).unwrap();
    assert!(count > 100, "one cluster of look-alikes: {count}");
    let id = cluster["cluster_id"].as_str().unwrap();
    let page = async |number: usize| {
        let path = format!("/explore/{}/similarity_cluster/{id}", service.dataset);
        get(&service, &format!("{path}?page_number={number}&verbose=true")).await
    };
    let (first, second) = (page(0).await, page(1).await);
    assert_eq!((&first["cluster_id"], &first["n_images"]), (&cluster["cluster_id"], &json!(count)));
    let members = |page: &Value| page["previews"].as_array().unwrap().len();
    assert_eq!((members(&first), members(&second)), (100, count - 100));
    assert_ne!(first["previews"][0], second["previews"][0]);
    assert_eq!(page(2).await, Value::Null);
}

#[tokio::test]
async fn parameters_may_be_missing() {
    let service = lenient().await;
    let all = get(&service, &format!("/explore/{}", service.dataset)).await;
    assert_eq!(all, service.good(&service.explore("")).await);
    let task = "/export_context_async?export_format=json&include_images=False";
    let task = service.good(&service.of_dataset(task)).await;
    assert_eq!((&task["status"], &task["entities_count"]), (&json!("INIT"), &json!(12)));
    service.good(&service.explore("labels=[dog,cat]")).await;
}

#[tokio::test]
async fn cluster_identifiers_are_discovered_page_by_page() {
    let service = lenient().await;
    let path =
        format!("/explore/{}/exploration_metadata?threshold=0&entity_type=IMAGES", service.dataset);
    let body = get(&service, &format!("{path}&page_number=0")).await;
    let ids = |body: &Value| -> Vec<Value> {
        let clusters = body["clusters"].as_array().unwrap().iter();
        clusters.map(|cluster| cluster["cluster_id"].clone()).collect()
    };
    let explored = service.good(&service.explore("threshold=0")).await;
    assert_eq!(ids(&body), ids(&explored));
    assert_eq!(body["clusters_count"], ids(&body).len());
    assert_eq!(get(&service, &format!("{path}&page_number=1")).await["clusters"], json!([]));
    let first = &body["clusters"][0];
    let export = format!(
        "/export_context_async?file_name=a&export_format=json&entity_type=IMAGES&threshold=0&cluster_id={}",
        first["cluster_id"].as_str().unwrap()
    );
    let task = service.good(&service.of_dataset(&export)).await;
    assert_eq!(task["entities_count"], first["n_images"]);
}

#[tokio::test]
async fn models_are_listed() {
    let service = lenient().await;
    let id = service.dataset;
    let models = get(&service, &format!("/enrichment/{id}/list_models")).await;
    let types: Vec<&str> =
        models.as_array().unwrap().iter().map(|model| model["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["CAPTION_IMAGES", "IMAGE_TAGGING", "OBJECT_DETECTION"]);
    for field in ["id", "name", "status", "vendor", "description"] {
        assert!(models[0][field].is_string(), "{field}");
    }
    assert_eq!(models[0]["dependencies"], json!(null));
}

#[tokio::test]
async fn an_export_of_nothing_is_rejected_with_the_reason() {
    let service = lenient().await;
    let path = service.of_dataset("/export_context_async?export_format=json&labels=[nothing]");
    let task = service.good(&path).await;
    assert_eq!((&task["status"], &task["entities_count"]), (&json!("REJECTED"), &json!(0)));
    assert!(task["result_message"].as_str().unwrap().contains("nothing"), "{task}");
    let id = task["id"].as_str().unwrap();
    let status = service
        .of_dataset(&format!("/export_status?export_task_id={id}&dataset_id={}", service.dataset));
    assert_eq!(service.good(&status).await["status"], "REJECTED");
}

#[tokio::test]
async fn links_of_archives_are_relative_on_premises_and_absolute_elsewhere() {
    for login in [false, true] {
        let service = Service::compatible(Place::new(&pictures(4)), true, login).await;
        let task =
            service.good(&service.of_dataset("/export_context_async?export_format=json")).await;
        service.deployment.wait_until_idle().await;
        let status = format!("/export_status?export_task_id={}", task["id"].as_str().unwrap());
        let task = service.good(&service.of_dataset(&status)).await;
        let link = task["download_uri"].as_str().unwrap();
        let url = if login { link.to_owned() } else { service.url(link) };
        assert_eq!(link.starts_with("/exports/"), !login, "{link}");
        assert_eq!(service.client.get(url).send().await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn an_anchor_needs_no_type() {
    let service = lenient().await;
    let (_, body) = register(&service, "threshold=1").await;
    let upload = body["anchor_media_id"].as_str().unwrap().to_owned();
    let clusters = service.clusters("").await;
    let media = clusters[0]["previews"][0]["media_id"].as_str().unwrap().to_owned();
    for anchor in [upload, media] {
        let path = format!("/explore/{}?anchor_media_id={anchor}", service.dataset);
        let body = get(&service, &path).await;
        assert_eq!(body["clusters"][0]["relevance_score_type"], "cosine_distance");
    }
    let path = format!("/api/v1/explore/{}?anchor_media_id={}", service.dataset, service.dataset);
    assert_eq!(service.json(&path).await.0, 404);
}

#[tokio::test]
async fn previews_repeat_the_names_that_public_clients_read() {
    let preview = async |compat| {
        let service = served(Place::new(&pictures(4)), compat).await;
        service.clusters("").await[0]["previews"][0].clone()
    };
    let lenient = preview(true).await;
    assert_eq!(lenient["image_id"], lenient["media_id"]);
    assert_eq!(lenient["image_uri"], lenient["media_uri"]);
    assert_eq!(preview(false).await.get("image_id"), None);
}

async fn register(service: &Service, query: &str) -> (u16, Value) {
    let picture = image::load_from_memory(&picture(1)).unwrap().to_rgb8();
    let file = Part::bytes(encoded(&picture, image::ImageFormat::Png)).file_name("q.png");
    let path = service.of_dataset(&format!("/search-image-similarity?{query}"));
    let (status, body) =
        answer(service.post(&path).multipart(Form::new().part("file", file))).await;
    (status.as_u16(), body)
}

#[tokio::test]
async fn bounding_boxes_may_be_in_pixels() {
    let service = lenient().await;
    for query in ["allow_deleted=False", "bounding_box=0,0,96,64", "bounding_box=10,%2010,20,2048"]
    {
        let (status, body) = register(&service, query).await;
        assert_eq!((status, &body["anchor_type"]), (200, &json!("UPLOAD")), "{query}: {body}");
    }
    for region in ["0,0,96", "0,0,0,0", "0,0,0,9", "-1,0,9,9", "a,b,c,d"] {
        let query = format!("bounding_box={region}");
        assert_eq!(register(&service, &query).await.0, 400, "{query}");
    }
}

#[tokio::test]
async fn media_can_be_added_by_post() {
    let service = lenient().await;
    let folder = service.place.pictures.path().join("more");
    service.place.put("more/new.png", &picture(7));
    let query = format!("dataset_id={}&path={}", service.dataset, folder.display());
    let request = service.post(&format!("/api/v1/process/add_media?{query}"));
    let (status, body) = answer(request).await;
    assert_eq!((status.as_u16(), &body["status"]), (200, &json!("success")), "{body}");
    service.deployment.wait_until_idle().await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!(record["status_new"], "PARTIAL INDEX");
}

#[tokio::test]
async fn sessions_open_only_the_documented_form() {
    let service = lenient().await;
    let session = format!("SESSION={}", service.credentials.session.expose_secret());
    let status = async |path: &str| {
        let request = service.client.post(service.url(path)).header("cookie", &session);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(&service.of_dataset("/add_media")).await, 400, "no form");
    assert_eq!(status("/api/v1/process/add_media").await, 401);
    assert_eq!(status(&service.of_dataset("/reindex")).await, 401);
}
