//! OBJECTS: labeled regions of images are clustered, searched and exported like images.

use image::{ImageFormat, Rgb, RgbImage};
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::{
    change::plain,
    described::{found, served, set, vql},
    support::{Service, assert_no_path, encoded, picture},
};

const OBJECTS: &str = "entity_type=OBJECTS";

fn previews(clusters: &[Value]) -> Vec<&Value> {
    clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap()).collect()
}

#[tokio::test]
async fn objects_are_clustered_with_their_boxes() {
    let service = served().await;
    assert_eq!(service.record().await["n_objects"], 4);
    for threshold in 0..5 {
        let clusters = service.clusters(&format!("{OBJECTS}&threshold={threshold}")).await;
        let sum = |key: &str| clusters.iter().map(|c| c[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("n_objects"), 4, "{threshold}");
        assert!((3..=4).contains(&sum("n_images")), "the pictures they are in");
        for cluster in &clusters {
            assert_eq!(cluster["type"], "OBJECTS");
            assert!(cluster["n_images"].as_u64() <= cluster["n_objects"].as_u64(), "{cluster}");
        }
        let boxes: Vec<&Value> =
            previews(&clusters).iter().map(|preview| &preview["bounding_box"]).collect();
        assert_eq!(boxes.len(), 4);
        let boat = json!({"x": 0.25, "y": 0.25, "width": 0.5, "height": 0.5});
        assert!(boxes.contains(&&boat), "{boxes:?}");
        assert!(previews(&clusters).iter().all(|preview| preview["type"] == "OBJECT"));
        assert_no_path(&json!(clusters), &service.place);
    }
    let labels: Vec<Value> =
        service.clusters(OBJECTS).await.iter().map(|cluster| cluster["labels"].clone()).collect();
    assert!(
        labels.iter().all(|labels| *labels == json!(["door"])
            || *labels == json!(["boat"])
            || *labels == json!(["door", "boat"])),
        "{labels:?}"
    );
    let images = service.clusters("threshold=0").await;
    assert!(images.iter().all(|cluster| cluster["n_objects"] == 0), "no objects among images");
}

#[tokio::test]
async fn an_object_is_an_anchor_and_so_is_an_upload() {
    let service = served().await;
    let clusters = service.clusters(OBJECTS).await;
    let object = previews(&clusters)[0]["media_id"].as_str().unwrap().to_owned();
    let query = format!("{OBJECTS}&anchor_media_id={object}&anchor_type=MEDIA");
    let ranked = service.clusters(&query).await;
    let first = previews(&ranked)[0];
    assert!(first["relevance_score"].as_f64().unwrap() < 0.001, "{first}");
    assert_eq!(first["relevance_score_type"], "cosine_distance");
    let among = service.clusters(&query.replace("OBJECTS", "IMAGES")).await;
    assert_eq!(among[0]["type"], "IMAGES", "an object among images");

    let path = service.of_dataset("/search-image-similarity?entity_type=OBJECTS&threshold=1");
    let form = Form::new().part("file", Part::bytes(picture(4)).file_name("a.png"));
    let (status, body) = plain(service.post(&path).multipart(form)).await;
    assert_eq!(status, 200, "{body}");
    let anchor: Value = serde_json::from_str(&body).unwrap();
    let id = anchor["anchor_media_id"].as_str().unwrap();
    let query = format!("{OBJECTS}&threshold=1&anchor_media_id={id}&anchor_type=UPLOAD");
    assert_eq!(previews(&service.clusters(&query).await).len(), 4);
    let (status, _) = service.json(&service.explore(&query.replace("OBJECTS", "IMAGES"))).await;
    assert_eq!(status, 400, "entity_type must equal that of the registration");
}

#[tokio::test]
async fn objects_are_found_by_their_labels_and_the_words_of_their_pictures() {
    let service = served().await;
    let ask = async |filters: Value| {
        let clusters = service.clusters(&format!("{OBJECTS}&{}", vql(&filters))).await;
        clusters.iter().map(|cluster| cluster["n_objects"].as_u64().unwrap()).sum::<u64>()
    };
    let labels = |name: &str| json!([{"labels": {"op": "one_of", "value": [name]}}]);
    assert_eq!(ask(labels("door")).await, 3);
    assert_eq!(ask(labels("boat")).await, 1);
    assert_eq!(ask(labels("wall")).await, 0, "that is the picture's");
    assert_eq!(ask(json!([{"text": {"op": "fts", "value": "old"}}])).await, 2);
    assert_eq!(ask(json!([{"text": {"op": "fts", "value": "floor"}}])).await, 0);
    let images = found(&service, &vql(&labels("door"))).await;
    assert_eq!(images, set(&["doors.png"]), "an object's label is not its picture's");
}

#[tokio::test]
async fn the_picture_of_an_object_is_served() {
    let service = served().await;
    let clusters = service.clusters(OBJECTS).await;
    for preview in previews(&clusters) {
        let name = preview["file_name"].as_str().unwrap();
        let bytes = service.client.get(preview["media_uri"].as_str().unwrap()).send().await;
        let original = std::fs::read(service.place.picture(name)).unwrap();
        assert_eq!(bytes.unwrap().bytes().await.unwrap(), original, "the whole picture");
        let thumb = service.client.get(preview["media_thumb_uri"].as_str().unwrap()).send().await;
        let thumb = thumb.unwrap().bytes().await.unwrap();
        assert!(image::load_from_memory(&thumb).is_ok(), "{name}");
    }
}

#[tokio::test]
async fn datasets_without_objects_support_all_object_requests() {
    let service = Service::of_pictures().await;
    let image = service.media("p001.png").await;
    for query in [
        OBJECTS.to_owned(),
        format!("{OBJECTS}&anchor_media_id={image}&anchor_type=MEDIA"),
        format!("{OBJECTS}&{}", vql(&json!([{"uniqueness": {"op": "uniqueness", "value": 0}}]))),
    ] {
        assert_eq!(service.clusters(&query).await, Vec::<Value>::new(), "{query}");
    }
}

/// Exif with orientation 6: stored pixels are turned by a quarter to the right.
const TURNED: &[u8] =
    b"\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";

/// Stored as 96 x 64 pixels, red at the left; upright, 64 x 96 pixels, red above.
fn turned_jpeg() -> Vec<u8> {
    let color = |x| if x < 48 { Rgb([220, 20, 20]) } else { Rgb([20, 20, 220]) };
    let jpeg = encoded(&RgbImage::from_fn(96, 64, |x, _| color(x)), ImageFormat::Jpeg);
    [&jpeg[..2], TURNED, &jpeg[2..]].concat()
}

#[tokio::test]
async fn boxes_are_in_the_upright_picture() {
    // The same box in each format: the upper half.
    let coco = json!({
        "images": [{"id": 1, "file_name": "coco.jpg", "width": 64, "height": 96}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 64, 48]}],
        "categories": [{"id": 1, "name": "sky"}],
    });
    let voc = "<annotation><filename>voc.jpg</filename><object><name>sky</name><bndbox><xmin>0</xmin>\
               <ymin>0</ymin><xmax>64</xmax><ymax>48</ymax></bndbox></object></annotation>";
    let service = Service::of(&[
        ("coco.jpg", turned_jpeg()),
        ("voc.jpg", turned_jpeg()),
        ("yolo.jpg", turned_jpeg()),
        ("instances.json", coco.to_string().into_bytes()),
        ("voc.xml", voc.as_bytes().to_vec()),
        ("classes.txt", b"sky".to_vec()),
        ("yolo.txt", b"0 0.5 0.25 1 0.5".to_vec()),
    ])
    .await;
    let clusters = service.clusters(&format!("{OBJECTS}&threshold=0")).await;
    let objects = previews(&clusters);
    let mut names: Vec<_> = objects.iter().map(|o| o["file_name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["coco.jpg", "voc.jpg", "yolo.jpg"]);
    for object in objects {
        let upper = json!({"x": 0.0, "y": 0.0, "width": 1.0, "height": 0.5});
        assert_eq!(object["bounding_box"], upper, "{object}");
        let shown = service.client.get(object["media_thumb_uri"].as_str().unwrap()).send().await;
        let shown = image::load_from_memory(&shown.unwrap().bytes().await.unwrap()).unwrap();
        assert!(shown.into_rgb8().pixels().all(|color| color[0] > 150), "only what is red");
    }
}
