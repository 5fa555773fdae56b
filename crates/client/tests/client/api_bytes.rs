//! The bytes of the API, written by hand from its document and from recorded responses:
//! bodies in both directions. The client and the local deployment share `wire`; an error they share
//! is caught here.

#![expect(clippy::unwrap_used, reason = "a test that fails here fails rightly")]

use serde_json::{Value, json};
use tessera_model::{AnchorKind, EntityType, ExportState, ScoreKind, Status};
use tessera_wire::{
    dataset::{DatasetBody, DatasetExtras, legacy_status, read_dataset, read_datasets},
    error_body::{ProblemBody, read_error_message},
    explore::{ClusterBody, ExploreBody, MetadataBody, read_page},
    export::{ExportTaskBody, read_started, read_status},
    fields::Fields,
    preview::{BoundingBoxBody, PreviewBody},
    query_image::{AnchorBody, read_anchor},
};

use tessera_testing::clients::{dataset, task};

/// A recorded dataset record.
pub const RECORD: &str = r#"{"id":"ad48d250-0000-11f1-bfca-000000000001","display_name":"demo",
 "description":"","source_type":"BUCKET","source_uri":"","source_dataset_id":null,"owned_by":"VL",
 "created_by":"d92cf865-0000-404d-8250-000000000001","created_at":"2025-04-24T07:44:46.136915",
 "updated_at":null,"preview_uri":"","filename":null,"sample":null,"status":"READY",
 "status_new":"READY","progress":100,"n_images":26,"n_videos":0,"n_objects":0,
 "fatal_error_msg":null}"#;

/// The same dataset while media are being added.
const UPDATING: &str = r#"{"id":"ad48d250-0000-11f1-bfca-000000000001","display_name":"demo",
 "status":"UPDATING","status_new":"READ ONLY","n_images":17,"n_videos":31,"progress":100}"#;

/// A recorded page of clusters: no metadata, counts of -1, objects instead of lists.
pub const EXPLORE: &str = r#"{"clusters":[{"cluster_id":"9a205a5e-0000-46be-83a3-000000000001",
 "type":"IMAGES","n_images":85,"n_objects":-1,"n_videos":-1,"n_frames":-1,
 "size_display_value":"0B","similarity_threshold":"0",
 "previews":[{"type":"IMAGE","media_id":"31ae21e5-0000-46f6-85a3-000000000001",
   "media_uri":"https://cdn.example/ds/11/31ae21e5.jpg",
   "media_thumb_uri":"https://cdn.example/ds/11/thumbs_31ae21e5.jpg.webp",
   "caption":"A parked orange car.","image_id":"31ae21e5-0000-46f6-85a3-000000000001",
   "image_uri":"https://cdn.example/ds/11/31ae21e5.jpg","bounding_box":null,
   "file_name":"a_00004.jpg","original_uri":"a_00004.jpg","video_uri":"","frame_timestamp":null,
   "labels":null,"user_tags":null,"relevance_score":0.0,
   "relevance_score_type":"cosine_distance"}],
 "labels":{},"user_tags":{},"captions":["A parked orange car."],
 "relevance_score":0.0,"relevance_score_type":"cosine_distance","formed_by":"SIMILARITY"}]}"#;

pub const TASK: &str = r#"{"id":"cf8b3e78-0000-4954-a782-000000000001",
 "dataset_id":"4cd4d9a2-0000-11ef-80a1-000000000001","created_at":"2025-02-10T14:41:14.390429",
 "download_uri":null,"progress":0.0,"status":"INIT","entities_count":4203,"result_message":null}"#;

pub const ANCHOR: &str =
    r#"{"anchor_media_id":"ad195246-0000-11ef-9529-000000000001","anchor_type":"UPLOAD"}"#;

pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn dataset_records_are_read() {
    let ready = read_dataset(Fields::from(&parse(RECORD))).unwrap();
    assert_eq!((ready.id, ready.name.as_str()), (dataset(), "demo"));
    assert_eq!((ready.status, ready.status_is_legacy), (Status::Ready, false));
    assert_eq!((ready.n_images, ready.progress), (Some(26), Some(100)));
    assert_eq!(ready.created_at.unwrap().as_str(), "2025-04-24T07:44:46.136915");
    let updating = read_dataset(Fields::from(&parse(UPDATING))).unwrap();
    assert_eq!((updating.status, updating.n_videos), (Status::ReadOnly, Some(31)));
    let list = parse(&format!("[{RECORD},{UPDATING}]"));
    let list = read_datasets(Fields::from(&list)).unwrap();
    assert_eq!((list.datasets.len(), list.unreadable), (2, 0));
}

#[test]
fn dataset_records_are_written() {
    let body = DatasetBody {
        id: dataset(),
        display_name: "demo".into(),
        status: Some(legacy_status(&Status::ReadOnly).into()),
        status_new: Status::ReadOnly.as_str().into(),
        progress: Some(40),
        owned_by: Some("local".into()),
        created_at: Some("2026-01-02T03:04:05.000006".into()),
        n_images: Some(17),
        n_videos: Some(31),
        n_frames: None,
        n_objects: Some(0),
        fatal_error_msg: None,
        folder_missing: false,
        extras: Some(DatasetExtras::default()),
    };
    let expected = json!({
        "id": "ad48d250-0000-11f1-bfca-000000000001", "display_name": "demo",
        "status": "UPDATING", "status_new": "READ ONLY", "progress": 40, "owned_by": "local",
        "created_at": "2026-01-02T03:04:05.000006", "n_images": 17, "n_videos": 31,
        "n_objects": 0, "fatal_error_msg": null, "description": "", "source_type": "LOCAL",
        "source_uri": "", "source_dataset_id": null,
        "created_by": "00000000-0000-0000-0000-000000000000", "updated_at": null,
        "preview_uri": "", "filename": null, "sample": null
    });
    assert_eq!(serde_json::to_value(body).unwrap(), expected);
}

#[test]
fn a_recorded_page_is_read() {
    let page = read_page(Fields::from(&parse(EXPLORE))).unwrap();
    let [cluster] = page.clusters.as_slice() else { panic!("{page:?}") };
    assert_eq!((cluster.n_images, cluster.n_objects), (Some(85), None));
    assert_eq!(cluster.similarity_threshold.as_ref().unwrap().as_str(), "0");
    assert_eq!((cluster.labels.len(), cluster.captions.len()), (0, 1));
    let preview = &cluster.previews[0];
    assert_eq!(preview.file_name.as_str(), "a_00004.jpg");
    assert_eq!(
        preview.thumbnail.as_ref().unwrap().expose(),
        "https://cdn.example/ds/11/thumbs_31ae21e5.jpg.webp"
    );
    let relevance = preview.relevance.as_ref().unwrap();
    assert_eq!((relevance.score, &relevance.kind), (0.0, &ScoreKind::CosineDistance));
    assert_eq!((preview.dimensions, preview.region), (None, None));
}

fn preview_body() -> PreviewBody {
    PreviewBody {
        r#type: "IMAGE".into(),
        media_id: "31ae21e5-0000-46f6-85a3-000000000001".parse().unwrap(),
        image_id: None,
        image_uri: None,
        media_uri: Some("/media/1".into()),
        media_thumb_uri: Some("/thumb/1".into()),
        caption: None,
        file_name: "a.jpg".into(),
        original_uri: Some("p/a.jpg".into()),
        original_path: None,
        video_uri: Some(String::new()),
        frame_timestamp: None,
        bounding_box: Some(BoundingBoxBody { x: 0.5, y: 0.25, width: 0.5, height: 0.75 }),
        relevance_score: Some(0.25),
        relevance_score_type: Some("cosine_distance".into()),
        matched_by: None,
        labels: None,
        user_tags: None,
        rating: None,
        width: Some(640),
        height: Some(480),
        bytes: None,
        date: None,
        camera: None,
        columns: serde_json::Map::new(),
    }
}

#[test]
fn a_page_is_written_as_the_document_says() {
    let cluster = ClusterBody {
        cluster_id: "9a205a5e-0000-46be-83a3-000000000001".parse().unwrap(),
        r#type: "IMAGES",
        n_images: Some(85),
        n_objects: Some(0),
        n_videos: Some(0),
        n_frames: Some(0),
        similarity_threshold: Some("0".into()),
        relevance_score: None,
        relevance_score_type: None,
        matched_by: None,
        previews: vec![preview_body()],
        labels: Some(vec!["car".into()]),
        user_tags: None,
        captions: None,
    };
    let body = ExploreBody {
        clusters: vec![cluster],
        metadata: MetadataBody { used_duckdb: false, bounded: false },
    };
    let expected = json!({
        "clusters": [{
            "cluster_id": "9a205a5e-0000-46be-83a3-000000000001", "type": "IMAGES",
            "n_images": 85, "n_objects": 0, "n_videos": 0, "n_frames": 0,
            "similarity_threshold": "0",
            "relevance_score": null, "relevance_score_type": null,
            "previews": [{
                "type": "IMAGE", "media_id": "31ae21e5-0000-46f6-85a3-000000000001",
                "media_uri": "/media/1", "media_thumb_uri": "/thumb/1", "caption": null,
                "file_name": "a.jpg", "original_uri": "p/a.jpg", "video_uri": "",
                "frame_timestamp": null,
                "bounding_box": {"x": 0.5, "y": 0.25, "width": 0.5, "height": 0.75},
                "relevance_score": 0.25, "relevance_score_type": "cosine_distance",
                "width": 640, "height": 480
            }],
            "labels": ["car"], "user_tags": null, "captions": null
        }],
        "metadata": {"used_duckdb": false}
    });
    assert_eq!(serde_json::to_value(body).unwrap(), expected);
}

#[test]
fn export_tasks_both_ways() {
    let running = read_started(Fields::from(&parse(TASK))).unwrap();
    assert_eq!((running.id, running.state.as_str()), (task(), "INIT"));
    assert_eq!((running.progress, running.download), (Some(0), None));
    let started = read_started(Fields::from(&json!({"id": task()}))).unwrap();
    assert_eq!((started.id, started.state.as_str()), (task(), "PENDING"));
    let done = json!({"status": "COMPLETED", "download_uri": "/cdn/x/y.zip"});
    let done = read_status(Fields::from(&done), task()).unwrap();
    assert_eq!(done.state, ExportState::Completed);
    assert_eq!(done.download.unwrap().expose(), "/cdn/x/y.zip");
    let body = ExportTaskBody {
        id: task(),
        dataset_id: dataset(),
        status: "COMPLETED".into(),
        progress: 1.0,
        download_uri: Some("/cdn/x/y.zip".into()),
        entities_count: 26,
        result_message: None,
        created_at: "2026-01-02T03:04:05.000006".into(),
    };
    let expected = json!({
        "id": "cf8b3e78-0000-4954-a782-000000000001",
        "dataset_id": "ad48d250-0000-11f1-bfca-000000000001", "status": "COMPLETED",
        "progress": 1.0, "download_uri": "/cdn/x/y.zip", "entities_count": 26,
        "result_message": null, "created_at": "2026-01-02T03:04:05.000006"
    });
    assert_eq!(serde_json::to_value(body).unwrap(), expected);
}

#[test]
fn anchors_and_problems_both_ways() {
    let anchor = read_anchor(Fields::from(&parse(ANCHOR))).unwrap();
    assert_eq!(anchor.kind, AnchorKind::Upload);
    let body =
        AnchorBody { anchor_media_id: anchor.media, anchor_type: AnchorKind::Upload.as_str() };
    assert_eq!(serde_json::to_value(body).unwrap(), parse(ANCHOR));
    let missing = br#"{"detail":[{"type":"missing","loc":["query","entity_type"],
        "msg":"Field required","input":null}]}"#;
    assert_eq!(
        read_error_message(missing, None).unwrap().as_str(),
        "query.entity_type: Field required"
    );
    let detail = "Dataset not found".to_owned();
    let body = serde_json::to_string(&ProblemBody { detail }).unwrap();
    assert_eq!(body, r#"{"detail":"Dataset not found"}"#);
}

#[test]
fn credentials_are_written_as_the_document_says() {
    use tessera_wire::credentials::CredentialsBody;
    let body = |secret: Option<&str>| CredentialsBody {
        api_key: "key-1".into(),
        api_secret: secret.map(str::to_owned),
        message: "Keep it.".into(),
    };
    let bytes = |body: CredentialsBody| serde_json::to_string(&body).unwrap();
    assert_eq!(
        bytes(body(Some("s3cr3t"))),
        r#"{"api_key":"key-1","api_secret":"s3cr3t","message":"Keep it."}"#
    );
    let later = r#"{"api_key":"key-1","api_secret":null,"message":"Keep it."}"#;
    assert_eq!(bytes(body(None)), later, "the secret is shown only once");
}

#[test]
fn a_selection_both_ways() {
    use tessera_model::{Filter, SelectionItem, vql::LabelRule};
    use tessera_wire::selection;
    let by_hand = r#"{"media_selection":[
        {"type":"media","payload":{"media_ids":["31ae21e5-0000-46f6-85a3-000000000001"]}},
        {"type":"cluster","payload":{"cluster_id":"9a205a5e-0000-46be-83a3-000000000001",
         "cluster_filters":{"entity_type":"IMAGES"},"exclude_media_ids":[]}},
        {"type":"cluster","payload":{"cluster_id":"9a205a5e-0000-46be-83a3-000000000001",
         "cluster_filters":{"entity_type":"OBJECTS",
          "vql":"[{\"labels\":{\"op\":\"one_of\",\"value\":[\"car\"]}}]"},
         "exclude_media_ids":["31ae21e5-0000-46f6-85a3-000000000001"]}}]}"#;
    let media = "31ae21e5-0000-46f6-85a3-000000000001".parse().unwrap();
    let cluster = |entity, filters, exclude| SelectionItem::Cluster {
        cluster: "9a205a5e-0000-46be-83a3-000000000001".parse().unwrap(),
        entity,
        filters,
        exclude,
    };
    let labels = Filter::labels(LabelRule::OneOf, ["car"]).unwrap();
    let items = [
        SelectionItem::Media(vec![media]),
        cluster(EntityType::Images, vec![], vec![]),
        cluster(EntityType::Objects, vec![labels], vec![media]),
    ];
    assert_eq!(selection::read(by_hand.as_bytes()).unwrap(), items);
    assert_eq!(selection::write(&items), parse(by_hand));
}

#[test]
fn every_filter_of_the_document_both_ways() {
    use tessera_wire::vql;
    let by_hand = r#"[{"text":{"op":"fts","value":"red AND van"}},
        {"text":{"op":"semantic","value":"a red van","threshold":0.5}},
        {"labels":{"op":"one_of","value":["truck","van"]}},
        {"tags":{"op":"is","value":["31ae21e5-0000-46f6-85a3-000000000001"]}},
        {"issues":{"op":"issue","value":"blur","mode":"in"}},
        {"duplicates":{"op":"duplicates","value":0.95}},
        {"uniqueness":{"op":"uniqueness","value":0.5}}]"#;
    let filters = vql::read(by_hand).unwrap();
    assert_eq!(filters.len(), 7);
    assert_eq!(parse(&vql::write(&filters)), parse(by_hand));
}

#[test]
fn validation_errors_have_the_usual_format() {
    use tessera_wire::error_body::{InvalidBody, InvalidParameter};
    let parameter = InvalidParameter {
        r#type: "value_error",
        loc: ["query".into(), "threshold".into()],
        msg: "Input should be an integer from 0 to 4".into(),
        input: Some("5".into()),
    };
    let body = serde_json::to_string(&InvalidBody { detail: vec![parameter] }).unwrap();
    assert_eq!(
        body,
        r#"{"detail":[{"type":"value_error","loc":["query","threshold"],"msg":"Input should be an integer from 0 to 4","input":"5"}]}"#
    );
    assert_eq!(
        read_error_message(body.as_bytes(), None).unwrap().as_str(),
        "query.threshold: Input should be an integer from 0 to 4"
    );
}
