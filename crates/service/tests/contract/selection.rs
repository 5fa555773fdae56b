//! `POST export_entities_async`, and `export_context_async` narrowed by the parameters of explore.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};
use tessera_model::{MediaId, SelectionItem};

use crate::{
    change::{detail, plain},
    described::{ALL, served, set, vql},
    export::{finished_archive, metadata},
    support::{Service, answer, assert_no_path},
};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// Requests the export of a selection; returns status code and task or error.
async fn ask(service: &Service, query: &str, items: Value) -> (u16, Value) {
    let path = service.of_dataset(&format!("/export_entities_async?{query}"));
    let body = json!({"media_selection": items});
    let (status, body) = answer(service.post(&path).json(&body)).await;
    (status.as_u16(), body)
}

/// Waits for an export; returns its task and the names in its metadata.
async fn finished(service: &Service, task: &Value) -> (Value, BTreeSet<String>) {
    let (task, mut zip) = finished_archive(service, task).await;
    let metadata = metadata(&mut zip);
    assert_no_path(&metadata, &service.place);
    let items = metadata["media_items"].as_array().unwrap();
    let names: BTreeSet<String> =
        items.iter().map(|item| item["file_name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), items.len(), "none comes twice");
    assert_eq!(task["entities_count"], items.len());
    assert_eq!(metadata["info"]["total_media_items"], items.len());
    let images: BTreeSet<String> = items
        .iter()
        .filter_map(|item| Some(format!("images/{}", item["image_filename"].as_str()?)))
        .collect();
    let inside = zip.file_names().map(|name| name.unwrap().into_owned());
    let inside: BTreeSet<String> = inside.filter(|name| name != "metadata.json").collect();
    assert_eq!(inside, images, "exactly the images that the metadata names");
    (task, names)
}

pub async fn exported(service: &Service, items: Value) -> BTreeSet<String> {
    let (status, task) = ask(service, "export_format=json&include_images=true", items).await;
    assert_eq!(status, 200, "{task}");
    finished(service, &task).await.1
}

/// The cluster of an image, and all names in it.
async fn cluster_of(service: &Service, query: &str, name: &str) -> (String, BTreeSet<String>) {
    for cluster in service.clusters(query).await {
        let previews = cluster["previews"].as_array().unwrap();
        let names: BTreeSet<String> =
            previews.iter().map(|p| p["file_name"].as_str().unwrap().to_owned()).collect();
        if names.contains(name) {
            return (cluster["cluster_id"].as_str().unwrap().to_owned(), names);
        }
    }
    panic!("{name} is in no cluster");
}

fn media(ids: &[&str]) -> Value {
    json!({"type": "media", "payload": {"media_ids": ids}})
}

fn cluster(id: &str, entity: &str, exclude: &[&str]) -> Value {
    json!({"type": "cluster", "payload": {"cluster_id": id,
           "cluster_filters": {"entity_type": entity}, "exclude_media_ids": exclude}})
}

#[tokio::test]
async fn media_by_themselves() {
    let service = served().await;
    let (wall, floor) = (service.media("wall.png").await, service.media("floor.png").await);
    let names = exported(&service, json!([media(&[&wall])])).await;
    assert_eq!(names, set(&["wall.png"]));
    let names = exported(&service, json!([media(&[&wall, &floor, &wall]), media(&[&floor])])).await;
    assert_eq!(names, set(&["floor.png", "wall.png"]), "each once");
    let (status, task) = ask(&service, "export_format=parquet", json!([media(&[&wall])])).await;
    assert_eq!((status, &task["entities_count"]), (200, &json!(1)));
    for key in ["id", "status", "progress", "download_uri", "created_at"] {
        assert!(task.get(key).is_some(), "{key}");
    }
}

#[tokio::test]
async fn clusters_are_exported_without_excluded_items() {
    let service = served().await;
    for threshold in [0, 4] {
        let query = format!("threshold={threshold}");
        let (id, names) = cluster_of(&service, &query, "wall.png").await;
        assert_eq!(exported(&service, json!([cluster(&id, "IMAGES", &[])])).await, names);
    }
    let (id, mut names) = cluster_of(&service, "threshold=4", "twin.png").await;
    let (twin, wall) = (service.media("twin.png").await, service.media("wall.png").await);
    let without = exported(&service, json!([cluster(&id, "IMAGES", &[&twin])])).await;
    names.remove("twin.png");
    assert_eq!(without, names);
    let both = json!([cluster(&id, "IMAGES", &[&twin]), media(&[&twin, &wall])]);
    names.extend(["twin.png".to_owned(), "wall.png".to_owned()]);
    assert_eq!(exported(&service, both).await, names, "an exclusion is of its item only");
    let elsewhere = json!([cluster(&id, "IMAGES", &[&wall])]);
    assert!(exported(&service, elsewhere).await.contains("twin.png"), "no member: no matter");
}

#[tokio::test]
async fn rows_of_a_selected_cluster_name_it() {
    let service = served().await;
    for (entity, threshold) in [("IMAGES", 0), ("IMAGES", 4), ("OBJECTS", 4)] {
        let query = format!("entity_type={entity}&threshold={threshold}");
        let clusters = service.clusters(&query).await;
        let id = clusters[0]["cluster_id"].as_str().unwrap();
        let items = json!([cluster(id, entity, &[])]);
        let (status, task) = ask(&service, "export_format=json", items).await;
        assert_eq!(status, 200, "{task}");
        let (_, mut zip) = finished_archive(&service, &task).await;
        let document = metadata(&mut zip);
        let rows = document["media_items"].as_array().unwrap();
        assert!(!rows.is_empty(), "{entity} {threshold}");
        assert!(rows.iter().all(|row| row["cluster_id"] == id), "{entity} {threshold}: {rows:?}");
    }
}

#[tokio::test]
async fn filters_narrow_a_cluster() {
    let service = served().await;
    let (id, names) = cluster_of(&service, "threshold=4", "wall.png").await;
    assert!(names.contains("doors.png"), "{names:?}");
    let narrowed = |filters: Value| {
        let mut item = cluster(&id, "IMAGES", &[]);
        item["payload"]["cluster_filters"]
            .as_object_mut()
            .unwrap()
            .extend(filters.as_object().unwrap().clone());
        json!([item])
    };
    let fts = json!([{"text": {"op": "fts", "value": "old"}}]);
    for filters in [
        json!({"labels": ["door"]}),
        json!({ "vql": fts }),
        json!({"vql": fts.to_string()}),
        json!({"vql": fts, "labels": ["wall"]}),
    ] {
        let names = exported(&service, narrowed(filters.clone())).await;
        assert_eq!(names, set(&["doors.png"]), "{filters}");
    }
}

#[tokio::test]
async fn selected_objects_export_their_images() {
    let service = served().await;
    let (id, _) = cluster_of(&service, "entity_type=OBJECTS&threshold=0", "night.png").await;
    let names = exported(&service, json!([cluster(&id, "OBJECTS", &[])])).await;
    assert!(names.contains("night.png") && !names.contains("floor.png"), "{names:?}");
    let clusters = service.clusters("entity_type=OBJECTS&threshold=0").await;
    let all: Vec<Value> = clusters
        .iter()
        .map(|each| cluster(each["cluster_id"].as_str().unwrap(), "OBJECTS", &[]))
        .collect();
    let names = exported(&service, json!(all)).await;
    assert_eq!(names, set(&["doors.png", "night.png", "wall.png"]));
    let object = clusters[0]["previews"][0]["media_id"].as_str().unwrap();
    assert_eq!(exported(&service, json!([media(&[object])])).await.len(), 1);
    let (status, body) =
        ask(&service, "export_format=json", json!([cluster(&id, "IMAGES", &[])])).await;
    assert_eq!((status, body["detail"].clone()), (404, json!(format!("Cluster {id} not found"))));
}

#[tokio::test]
async fn unknown_items_are_404_with_their_identifier() {
    let service = served().await;
    let wall = service.media("wall.png").await;
    let (id, _) = cluster_of(&service, "threshold=0", "wall.png").await;
    for (items, what) in [
        (json!([media(&[NOBODY])]), "Media"),
        (json!([media(&[&wall, NOBODY])]), "Media"),
        (json!([cluster(NOBODY, "IMAGES", &[])]), "Cluster"),
    ] {
        let answer = ask(&service, "export_format=json", items).await;
        assert_eq!(answer, (404, json!({"detail": format!("{what} {NOBODY} not found")})));
    }
    let other = Service::of_pictures().await;
    let answer = ask(&other, "export_format=json", json!([media(&[&wall])])).await.0;
    assert_eq!(answer, 404, "a media of another dataset");
    assert_eq!(service.place.count("export"), 0);
    let without = json!([cluster(&id, "IMAGES", &[NOBODY])]);
    let answer = ask(&service, "export_format=json", without).await.0;
    assert_eq!(answer, 200, "what is gone need not be excluded");
}

#[tokio::test]
async fn bodies_that_are_not_selections_are_422_with_a_reason() {
    let service = served().await;
    let item = |item: Value| json!({"media_selection": [item]}).to_string();
    for (body, words) in [
        (String::new(), "no JSON"),
        ("{".to_owned(), "no JSON"),
        ("\u{feff}{}".to_owned(), "no JSON"),
        ("[]".to_owned(), "must be an array"),
        ("{}".to_owned(), "must be an array"),
        (json!({"media_selection": {}}).to_string(), "must be an array"),
        (json!({"media_selection": []}).to_string(), "1 to 10000 items"),
        (item(json!(1)), "item 0, payload"),
        (item(json!({"type": "images", "payload": {}})), "item 0, type"),
        (item(media(&[])), "item 0, payload.media_ids"),
        (item(media(&["x"])), "item 0, payload.media_ids"),
        (item(cluster("x", "IMAGES", &[])), "item 0, payload.cluster_id"),
        (item(cluster(NOBODY, "VIDEOS", &[])), "item 0, payload.cluster_filters.entity_type"),
        (item(cluster(NOBODY, "IMAGES", &["x"])), "item 0, payload.exclude_media_ids"),
    ] {
        let path = service.of_dataset("/export_entities_async?export_format=json");
        let request = service.post(&path).header("content-type", "application/json");
        let (status, answer) = plain(request.body(body.clone())).await;
        assert_eq!(status, 422, "{body}: {answer}");
        let detail = detail(&answer);
        assert_eq!(detail[0]["loc"], json!(["body", "media_selection"]));
        assert!(detail[0]["msg"].as_str().unwrap().contains(words), "{body}: {detail}");
    }
}

#[tokio::test]
async fn only_json_is_a_selection() {
    let service = served().await;
    let wall = service.media("wall.png").await;
    let body = json!({"media_selection": [media(&[&wall])]}).to_string();
    let send = async |kind: &str| {
        let path = service.of_dataset("/export_entities_async?export_format=json");
        let request = service.post(&path).header("content-type", kind).body(body.clone());
        plain(request).await.0
    };
    for right in ["application/json", "Application/JSON", "application/json; charset=utf-8"] {
        assert_eq!(send(right).await, 200, "{right}");
    }
    for wrong in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "",
        "application/jsonx",
    ] {
        assert_eq!(send(wrong).await, 422, "{wrong}");
    }
}

#[tokio::test]
async fn parameters_of_a_selective_export() {
    let service = served().await;
    let wall = service.media("wall.png").await;
    for (query, name) in [
        ("", "export_format"),
        ("export_format=docx", "export_format"),
        ("export_format=json&include_images=perhaps", "include_images"),
    ] {
        let (status, body) = ask(&service, query, json!([media(&[&wall])])).await;
        assert_eq!((status, &body["detail"][0]["loc"]), (422, &json!(["query", name])), "{query}");
    }
    let (_, task) = ask(&service, "export_format=json", json!([media(&[&wall])])).await;
    let (task, _) = finished(&service, &task).await;
    let link = task["download_uri"].as_str().unwrap();
    let answer = service.client.get(link).send().await.unwrap();
    let name = answer.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert_eq!(name, "attachment; filename*=UTF-8''selection.zip");
}

/// The names in an export of the whole dataset with these parameters.
async fn narrowed(service: &Service, query: &str) -> BTreeSet<String> {
    let path = format!("/export_context_async?file_name=a&export_format=json&{query}");
    let task = service.good(&service.of_dataset(&path)).await;
    finished(service, &task).await.1
}

#[tokio::test]
async fn the_parameters_of_explore_narrow_a_full_export() {
    let service = served().await;
    assert_eq!(narrowed(&service, "").await, set(&ALL));
    let boats = set(&["night.png", "shore.png"]);
    assert_eq!(narrowed(&service, "labels=[%22boat%22]").await, boats);
    let fts = vql(&json!([{"text": {"op": "fts", "value": "boat"}}]));
    assert_eq!(narrowed(&service, &fts).await, boats);
    assert_eq!(narrowed(&service, &format!("{fts}&labels=[%22sea%22]")).await, set(&["night.png"]));
    let doors = "entity_type=OBJECTS&labels=[%22door%22]";
    assert_eq!(narrowed(&service, doors).await, set(&["doors.png", "wall.png"]));
    let below = "caption=checkered+floor&textual_similarity_threshold=0.3";
    assert_eq!(narrowed(&service, below).await, set(&["floor.png"]));
    let (id, names) = cluster_of(&service, "threshold=4", "wall.png").await;
    assert_eq!(narrowed(&service, &format!("cluster_id={id}")).await, names);
    let (status, body) = service
        .json(&service.of_dataset(&format!(
            "/export_context_async?file_name=a&export_format=json&cluster_id={NOBODY}"
        )))
        .await;
    assert_eq!(status, 404, "{body}");
}

/// The names in an export of the rest of a search.
async fn rest(service: &Service, search: &str, items: Value) -> BTreeSet<String> {
    let query = format!("export_format=json&rest=true{search}");
    let preview = format!("/local/dataset/{}/export_preview?{query}", service.dataset);
    let body = json!({"media_selection": items});
    let (status, preview) = answer(service.post(&preview).json(&body)).await;
    let (started, task) = ask(service, &query, items).await;
    assert_eq!((status.as_u16(), started), (200, 200), "{preview} {task}");
    assert_eq!(preview["media_count"], task["entities_count"]);
    finished(service, &task).await.1
}

#[tokio::test]
async fn the_rest_of_a_dataset_or_a_search_is_everything_that_is_not_selected() {
    let service = served().await;
    let (wall, night) = (service.media("wall.png").await, service.media("night.png").await);
    let mut all = set(&ALL);
    all.remove("wall.png");
    assert_eq!(rest(&service, "", json!([media(&[&wall])])).await, all);
    // A cluster is omitted except for its excluded member.
    let (id, names) = cluster_of(&service, "threshold=4", "wall.png").await;
    let mut expected: BTreeSet<String> = set(&ALL).difference(&names).cloned().collect();
    expected.insert("wall.png".to_owned());
    assert_eq!(rest(&service, "", json!([cluster(&id, "IMAGES", &[&wall])])).await, expected);
    // The rest of a search contains only what the search finds.
    let boats = "&labels=[%22boat%22]";
    assert_eq!(rest(&service, boats, json!([media(&[&night])])).await, set(&["shore.png"]));
    let both = set(&["night.png", "shore.png"]);
    assert_eq!(rest(&service, boats, json!([media(&[&wall])])).await, both);
}

#[tokio::test]
async fn an_object_stands_for_its_picture_where_a_dataset_is_divided() {
    let service = served().await;
    let clusters = service.clusters("entity_type=OBJECTS&threshold=0").await;
    let mut objects = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let door = objects.find(|object| object["file_name"] == "doors.png").unwrap();
    let door = door["media_id"].as_str().unwrap();
    let mut others = set(&ALL);
    others.remove("doors.png");
    assert_eq!(rest(&service, "", json!([media(&[door])])).await, others);
    let objects = "&entity_type=OBJECTS";
    let others = set(&["night.png", "wall.png"]);
    assert_eq!(rest(&service, objects, json!([media(&[door])])).await, others);
    let picture = service.media("doors.png").await;
    assert_eq!(rest(&service, objects, json!([media(&[&picture])])).await, others);
    let [door, picture] = [door, &picture].map(|id| id.parse::<MediaId>().unwrap());
    let selected = [SelectionItem::Media(vec![door])];
    let chosen = service.deployment.diverse_media(service.dataset, Some(&selected), 5).unwrap();
    assert_eq!(chosen, [(picture, "doors.png".into())]);
    let pictures = service.deployment.pictures_of_objects(service.dataset, &[door, picture]);
    assert_eq!(pictures.unwrap(), HashMap::from([(door, picture)]));
}

#[tokio::test]
async fn a_rest_needs_a_selection_and_a_search_needs_a_rest() {
    let service = served().await;
    let (status, body) = ask(&service, "export_format=json&rest=true", json!([])).await;
    assert_eq!(status, 422, "{body}");
    let wall = service.media("wall.png").await;
    let search = "export_format=json&labels=[%22boat%22]";
    let (status, body) = ask(&service, search, json!([media(&[&wall])])).await;
    assert_eq!((status, &body["detail"][0]["loc"]), (422, &json!(["query", "rest"])), "{body}");
    let preview = service.post(&format!(
        "/local/dataset/{}/export_preview?export_format=json&rest=true",
        service.dataset
    ));
    assert_eq!(answer(preview).await.0, 422, "a rest without a body");
}

#[tokio::test]
async fn an_export_of_nothing_has_failed_with_a_reason() {
    let service = served().await;
    let path = "/export_context_async?file_name=a&export_format=json&labels=[%22nothing%22]";
    let task = service.good(&service.of_dataset(path)).await;
    assert_eq!((&task["status"], &task["download_uri"]), (&json!("FAILED"), &json!(null)));
    assert!(task["result_message"].as_str().unwrap().contains("nothing"), "{task}");
    let id = task["id"].as_str().unwrap();
    let status = service.of_dataset(&format!("/export_status?export_task_id={id}"));
    assert_eq!(service.good(&status).await["status"], "FAILED");
}

#[tokio::test]
async fn an_injected_failure_fails_the_export() {
    let service = Service::failing(tessera_service::InjectedFailure::Export).await;
    let path = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let task = service.good(&path).await;
    service.deployment.wait_until_idle().await;
    let id = task["id"].as_str().unwrap();
    let status = service.of_dataset(&format!("/export_status?export_task_id={id}"));
    let task = service.good(&status).await;
    assert_eq!((&task["status"], &task["download_uri"]), (&json!("FAILED"), &json!(null)));
    assert!(task["result_message"].is_string(), "{task}");
    assert_eq!(service.record().await["status_new"], "READY", "the dataset is well");
}
