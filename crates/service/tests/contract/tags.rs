//! Tags and ratings below `/local`: what changes, where tags are found, and the file beside the dataset.

use std::fs;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tessera_model::{Filter, Search, TagId, TagTarget};

use crate::{
    annotation_formats::{files_of, opened, preview},
    round_trip::{Description, descriptions},
    support::{Place, Service, answer, picture},
};

const FILE: &str = ".tessera/tags.jsonl";

impl Service {
    async fn tags(&self) -> Value {
        self.good(&format!("/local/dataset/{}/tags", self.dataset)).await
    }

    async fn tag(&self, request: &str, body: Value) -> (StatusCode, Value) {
        let path = format!("/local/dataset/{}/tags/{request}", self.dataset);
        answer(self.post(&path).json(&body)).await
    }

    async fn change(&self, request: &str, body: Value) -> Value {
        let (status, change) = self.tag(request, body).await;
        assert_eq!(status, 200, "{change}");
        change
    }

    /// Returns the identifier of the tag with this name.
    async fn tag_id(&self, name: &str) -> String {
        let tags = self.tags().await;
        let found = tags["tags"].as_array().unwrap().iter().find(|tag| tag["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {tags}"))["id"].as_str().unwrap().to_owned()
    }

    /// Returns the names of the files that a search finds, in their order.
    async fn found(&self, query: &str) -> Vec<String> {
        let found =
            self.good(&self.explore(&format!("threshold=4&entity_type=IMAGES{query}"))).await;
        let clusters = found["clusters"].as_array().unwrap().iter();
        let previews = clusters.flat_map(|cluster| cluster["previews"].as_array().unwrap());
        let name = |preview: &Value| preview["file_name"].as_str().unwrap().to_owned();
        let mut names: Vec<String> = previews.map(name).collect();
        names.sort();
        names
    }

    async fn with_tag(&self, name: &str) -> Vec<String> {
        let id = self.tag_id(name).await;
        self.found(&format!("&vql=[{{\"tags\":{{\"op\":\"is\",\"value\":[\"{id}\"]}}}}]")).await
    }

    /// Returns the preview of a file.
    async fn preview(&self, file: &str) -> Value {
        let found = self.good(&self.explore("threshold=0&entity_type=IMAGES")).await;
        let clusters = found["clusters"].as_array().unwrap().iter();
        let mut previews = clusters.flat_map(|cluster| cluster["previews"].as_array().unwrap());
        previews.find(|preview| preview["file_name"] == file).unwrap().clone()
    }

    async fn selection(&self, files: &[&str]) -> Value {
        let mut ids = Vec::new();
        for file in files {
            ids.push(self.preview(file).await["media_id"].clone());
        }
        json!([{"type": "media", "payload": {"media_ids": ids}}])
    }
}

/// Returns the lines of the file but its first one, which says who wrote it.
fn text(place: &Place) -> String {
    let text = fs::read_to_string(place.picture(FILE)).unwrap();
    text.split_once('\n').unwrap().1.to_owned()
}

fn lines(place: &Place) -> Vec<Value> {
    text(place).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the lines of the file about pictures, with what is stable in them.
fn tagged_files(place: &Place) -> Vec<String> {
    let lines = lines(place);
    let files = lines.iter().filter(|line| line.get("path").is_some());
    let line = |line: &Value| format!("{} {} {}", line["path"], line["tags"], line["rating"]);
    files.map(line).collect()
}

fn named() -> [(&'static str, Vec<u8>); 3] {
    [("a.png", picture(1)), ("b.png", picture(2)), ("sub/c.png", picture(3))]
}

#[tokio::test]
async fn a_tag_is_found_counted_shown_and_exported_at_once() {
    let row = br#"{"file_name": "a.png", "tags": ["old"]}"#.to_vec();
    let place = Place::new(&[&named()[..], &[("metadata.jsonl", row)]].concat());
    let service = Service::compatible(place, true, false).await;
    let both = service.selection(&["a.png", "b.png"]).await;
    let body = json!({"add": ["night"], "rating": 4, "media_selection": both});
    let change = service.change("change", body.clone()).await;
    assert_eq!((&change["changed"], &change["kept"]), (&2.into(), &0.into()), "{change}");
    assert_eq!(change["file_problems"], json!([]));
    assert_eq!(service.change("change", body).await["change_id"], Value::Null);
    assert_eq!(service.with_tag("night").await, ["a.png", "b.png"]);
    assert_eq!(service.with_tag("old").await, ["a.png"]);
    let ids = [service.tag_id("old").await, service.tag_id("night").await];
    let found = service.found(&format!("&tags={}", json!(ids))).await;
    assert_eq!(found, ["a.png"], "tags of a sidecar and of a user are one set");
    let preview = service.preview("a.png").await;
    assert_eq!((&preview["user_tags"], &preview["rating"]), (&json!(["old", "night"]), &4.into()));
    assert_eq!(service.preview("c.png").await.get("rating"), None);
    let clusters = service.good(&service.explore("threshold=4&entity_type=IMAGES")).await;
    let tags: Vec<&Value> =
        clusters["clusters"].as_array().unwrap().iter().map(|one| &one["user_tags"]).collect();
    assert!(tags.iter().any(|tags| tags[0]["name"] == "night"), "{tags:?}");
    let list = service.tags().await;
    assert_eq!(list["tags"][0]["count"], 2);
    assert_eq!(
        (&list["tags"][1]["name"], &list["tags"][1]["color"]),
        (&"old".into(), &Value::Null)
    );
    let metadata = service.good(&service.of_dataset("/export?export_format=json")).await;
    assert!(metadata.to_string().contains(r#"{"tag_name":"night"}"#), "{metadata}");
    let place = service.stop().await;
    assert_eq!(tagged_files(&place), [r#""a.png" ["night"] 4"#, r#""b.png" ["night"] 4"#]);
}

#[tokio::test]
async fn a_rating_is_exported_and_read_again_as_a_label() {
    let service = Service::of(&named()).await;
    let two = service.selection(&["a.png", "b.png"]).await;
    let body = json!({"add": ["night"], "rating": 4, "media_selection": two});
    service.change("change", body).await;
    for format in ["json", "parquet", "csv", "imagefolder", "webdataset", "hf-parquet"] {
        let again = opened(&files_of(&service, format).await).await;
        let found = descriptions(&again, "file_name").await;
        let is_rated = |it: &&Description| it.labels.contains(&"rating:4".to_owned());
        assert_eq!(found.values().filter(is_rated).count(), 2, "{format}: {found:?}");
    }
    let (_, preview) = preview(&service, "coco", None).await;
    for lost in ["images without your ratings: 2", "images without their user tags: 2"] {
        assert!(preview.to_string().contains(lost), "{preview}");
    }
}

#[tokio::test]
async fn the_whole_search_is_tagged_and_the_change_is_undone() {
    let service = Service::of(&named()).await;
    let path = format!("/local/dataset/{}/tags/change?entity_type=IMAGES", service.dataset);
    let pick = json!({"add": ["picked"]});
    let (status, all) = answer(service.post(&path).json(&pick)).await;
    assert_eq!((status.as_u16(), &all["changed"]), (200, &3.into()), "{all}");
    let one = service.selection(&["b.png"]).await;
    let reject = json!({"add": ["rejected"], "media_selection": one});
    let rejected = service.change("change", reject).await;
    assert_eq!(service.with_tag("picked").await, ["a.png", "c.png"]);
    assert_eq!(service.with_tag("rejected").await, ["b.png"]);
    let undone = service.change("undo", json!({"change_id": all["change_id"]})).await;
    assert_eq!((&undone["changed"], &undone["kept"]), (&2.into(), &1.into()));
    assert_eq!(service.with_tag("rejected").await, ["b.png"], "it was changed again");
    let undone = service.change("undo", json!({})).await;
    assert_eq!(undone["changed"], 1, "{rejected} is the last change");
    assert_eq!(service.with_tag("picked").await, ["b.png"]);
    assert_eq!(service.tag("undo", json!({})).await.0, 404);
}

#[tokio::test]
async fn the_media_items_that_a_search_with_a_filter_would_change_are_counted() {
    let service = Service::of(&named()).await;
    let both = service.selection(&["a.png", "b.png"]).await;
    service.change("change", json!({"add": ["x"], "media_selection": both})).await;
    let tag = TagId(service.tag_id("x").await.parse().unwrap());
    let filters = vec![Filter::tags(vec![tag]).unwrap()];
    let search = Search { filters, ..Search::browse(service.dataset) };
    let target = TagTarget::Search(Box::new(search));
    assert_eq!(service.deployment.count_tagged(service.dataset, &target).unwrap(), 2);
}

#[tokio::test]
async fn tags_are_renamed_merged_recolored_and_deleted() {
    let service = Service::of(&named()).await;
    for (name, files) in [("day", &["a.png"][..]), ("night", &["a.png", "b.png"])] {
        let selection = service.selection(files).await;
        service.change("change", json!({"add": [name], "media_selection": selection})).await;
    }
    service.change("define", json!({"name": "empty", "color": "cyan"})).await;
    service.change("define", json!({"name": "day", "color": "red"})).await;
    let renamed = service.change("define", json!({"name": "night", "new_name": "dark"})).await;
    assert_eq!(renamed["changed"], 2);
    assert_eq!(service.with_tag("dark").await, ["a.png", "b.png"]);
    let merged = service.change("define", json!({"name": "day", "new_name": "dark"})).await;
    assert_eq!(merged["changed"], 1);
    service.change("undo", json!({})).await;
    assert_eq!(service.with_tag("day").await, ["a.png"]);
    let deleted = service.change("define", json!({"name": "dark", "delete": true})).await;
    assert_eq!(deleted["changed"], 2);
    let names = |list: &Value| -> Vec<String> {
        let tags = list["tags"].as_array().unwrap().iter();
        tags.map(|tag| format!("{} {} {}", tag["name"], tag["color"], tag["count"])).collect()
    };
    let list = service.tags().await;
    assert_eq!(names(&list), [r#""day" "red" 1"#, r#""empty" "cyan" 0"#]);
    assert_eq!(list["last_change"], "delete dark");
    service.change("undo", json!({})).await;
    assert_eq!(service.with_tag("dark").await, ["a.png", "b.png"]);
    assert_eq!(service.tag("define", json!({"name": "no", "delete": true})).await.0, 404);
}

#[tokio::test]
async fn a_renamed_tag_keeps_its_identifier_also_after_the_loss_of_the_index() {
    let service = Service::of(&named()).await;
    let two = service.selection(&["a.png", "b.png"]).await;
    service.change("change", json!({"add": ["keep"], "media_selection": two})).await;
    let id = service.tag_id("keep").await;
    service.change("define", json!({"name": "keep", "new_name": "keeper"})).await;
    let one = service.selection(&["c.png"]).await;
    service.change("change", json!({"add": ["keep"], "media_selection": one})).await;
    let again = service.tag_id("keep").await;
    let tag = |id: &str| json!({"tags": {"op": "is", "value": [id]}});
    let found = async |service: &Service, filter: Value| {
        service.found(&format!("&vql={}", json!([filter]))).await
    };
    assert_eq!(found(&service, tag(&id)).await, ["a.png", "b.png"]);
    assert_eq!(found(&service, json!({"not": tag(&id)})).await, ["c.png"]);
    assert_eq!(found(&service, tag(&again)).await, ["c.png"]);
    let clusters = service.good(&service.explore("threshold=4&entity_type=IMAGES")).await;
    assert!(clusters.to_string().contains(&id) && clusters.to_string().contains(&again));
    let place = service.stop().await;
    let other = Place::new(&named());
    other.put(FILE, &fs::read(place.picture(FILE)).unwrap());
    let service = Service::at(other, true).await;
    assert_eq!([service.tag_id("keeper").await, service.tag_id("keep").await], [id, again]);
}

#[tokio::test]
async fn a_created_and_a_recolored_tag_are_undone_and_tags_keep_their_order() {
    let service = Service::of(&named()).await;
    let one = service.selection(&["a.png"]).await;
    service.change("change", json!({"add": ["keep", "draft"], "media_selection": one})).await;
    let before = service.tags().await["tags"].clone();
    for (define, description) in [
        (json!({"name": "keep", "color": "blue"}), "color keep blue"),
        (json!({"name": "new"}), "create new"),
        (json!({"name": "keep", "delete": true}), "delete keep"),
        (json!({"name": "keep", "new_name": "draft"}), "rename keep to draft"),
    ] {
        service.change("define", define).await;
        assert_ne!(service.tags().await["tags"], before, "{description}");
        let undone = service.change("undo", json!({})).await;
        assert_eq!(undone["undone"], description);
        assert_eq!(service.tags().await["tags"], before, "{description}");
    }
    let same = service.change("define", json!({"name": "keep"})).await;
    assert_eq!(same["change_id"], Value::Null);
    let created = service.change("define", json!({"name": "new"})).await;
    service.change("change", json!({"add": ["new"], "media_selection": one})).await;
    service.change("undo", json!({"change_id": created["change_id"]})).await;
    assert_eq!(service.with_tag("new").await, ["a.png"], "a tag that is used stays");
}

#[tokio::test]
async fn an_undo_deletes_the_tags_that_the_change_created_unless_they_are_used() {
    let service = Service::of(&named()).await;
    let [one, two] = [&["a.png"][..], &["a.png", "b.png"]];
    let [one, two] = [service.selection(one).await, service.selection(two).await];
    service.change("change", json!({"add": ["typoo", "night"], "media_selection": one})).await;
    let undone = service.change("undo", json!({})).await;
    assert_eq!(undone["undone"], "add typoo, add night (1 media item)");
    assert_eq!(service.tags().await["tags"], json!([]));
    let first = json!({"add": ["night"], "media_selection": one});
    let first = service.change("change", first).await;
    service.change("change", json!({"add": ["night"], "media_selection": two})).await;
    service.change("undo", json!({"change_id": first["change_id"]})).await;
    assert_eq!(service.with_tag("night").await, ["b.png"]);
    assert_eq!(service.tags().await["last_change"], "add night (1 media item)");
}

#[tokio::test]
async fn a_tag_that_is_renamed_to_picked_removes_the_rejection_until_the_rename_is_undone() {
    let service = Service::of(&named()).await;
    let both = service.selection(&["a.png", "b.png"]).await;
    let one = service.selection(&["a.png"]).await;
    service.change("change", json!({"add": ["keep"], "media_selection": both})).await;
    service.change("change", json!({"add": ["rejected"], "media_selection": one})).await;
    service.change("define", json!({"name": "keep", "new_name": "picked"})).await;
    assert_eq!(service.preview("a.png").await["user_tags"], json!(["picked"]));
    service.change("define", json!({"name": "picked", "new_name": "rejected"})).await;
    assert_eq!(service.with_tag("rejected").await, ["a.png", "b.png"]);
    service.change("undo", json!({})).await;
    service.change("undo", json!({})).await;
    assert_eq!(service.preview("a.png").await["user_tags"], json!(["keep", "rejected"]));
    assert_eq!(service.with_tag("keep").await, ["a.png", "b.png"]);
}

#[tokio::test]
async fn an_undo_follows_moved_files() {
    let service = Service::of(&named()).await;
    let all = service.selection(&["a.png", "b.png", "c.png"]).await;
    service.change("change", json!({"add": ["wrong"], "media_selection": all})).await;
    let place = service.stop().await;
    for name in ["b.png", "a.png"] {
        fs::rename(place.picture(name), place.picture(&format!("sub/{name}"))).unwrap();
    }
    let service = Service::at(place, true).await;
    let undone = service.change("undo", json!({})).await;
    assert_eq!((&undone["changed"], &undone["kept"]), (&3.into(), &0.into()), "{undone}");
    assert_eq!(service.tags().await["tags"], json!([]));
    let all = service.selection(&["a.png", "b.png", "c.png"]).await;
    service.change("change", json!({"add": ["right"], "media_selection": all})).await;
    service.change("change", json!({"remove": ["right"], "media_selection": all})).await;
    let place = service.stop().await;
    fs::remove_file(place.picture("sub/c.png")).unwrap();
    let service = Service::at(place, true).await;
    let undone = service.change("undo", json!({})).await;
    assert_eq!((&undone["changed"], &undone["kept"]), (&2.into(), &1.into()), "one is missing");
}

#[tokio::test]
async fn a_change_that_names_a_renamed_tag_can_be_refused() {
    let service = Service::of(&named()).await;
    let one = service.selection(&["a.png"]).await;
    let body = json!({"add": ["alpha"], "only_existing": true, "media_selection": one});
    let (status, problem) = service.tag("change", body.clone()).await;
    assert_eq!(status, 400, "{problem}");
    assert!(problem.to_string().contains("no tag"), "{problem}");
    service.change("define", json!({"name": "alpha"})).await;
    assert_eq!(service.change("change", body).await["changed"], 1);
}

#[tokio::test]
async fn a_rename_is_undone_although_the_former_name_was_created_again() {
    let service = Service::of(&named()).await;
    let tag = async |name: &str, files: &[&str]| {
        let selection = service.selection(files).await;
        service.change("change", json!({"add": [name], "media_selection": selection})).await
    };
    tag("cat", &["a.png", "b.png"]).await;
    let id = service.tag_id("cat").await;
    service.change("define", json!({"name": "cat", "new_name": "cats"})).await;
    tag("cats", &["c.png"]).await;
    tag("cat", &["c.png"]).await;
    for _ in ["cat", "cats"] {
        service.change("undo", json!({})).await;
    }
    let undone = service.change("undo", json!({})).await;
    assert_eq!((&undone["changed"], &undone["kept"]), (&2.into(), &0.into()));
    assert_eq!(service.with_tag("cat").await, ["a.png", "b.png"]);
    assert_eq!(service.tag_id("cat").await, id);
    let tags = service.tags().await["tags"].as_array().unwrap().clone();
    let names: Vec<&Value> = tags.iter().map(|tag| &tag["name"]).collect();
    assert_eq!(names, ["cat"]);

    let renamed = service.change("define", json!({"name": "cat", "new_name": "cats"})).await;
    tag("cats", &["c.png"]).await;
    service.change("undo", json!({"change_id": renamed["change_id"]})).await;
    assert_eq!(service.with_tag("cat").await, ["a.png", "b.png"]);
    let deleted = service.change("define", json!({"name": "cats", "delete": true})).await;
    assert_eq!(deleted["changed"], 1, "a tag that media items still have stays defined");
}

#[tokio::test]
async fn undo_restores_the_identifier_of_a_tag_whose_name_was_created_again() {
    let service = Service::of(&named()).await;
    let tag = async |files: &[&str]| {
        let selection = service.selection(files).await;
        service.change("change", json!({"add": ["keep"], "media_selection": selection})).await
    };
    tag(&["a.png", "b.png"]).await;
    service.change("define", json!({"name": "keep", "new_name": "first"})).await;
    service.change("define", json!({"name": "first", "color": "blue"})).await;
    let id = service.tag_id("first").await;
    for define in [json!({"new_name": "keep"}), json!({"delete": true})] {
        let mut define = define;
        define["name"] = "first".into();
        service.change("define", define.clone()).await;
        let body =
            json!({"add": ["first"], "media_selection": service.selection(&["c.png"]).await});
        service.change("change", body).await;
        for _ in 0..2 {
            service.change("undo", json!({})).await;
        }
        assert_eq!(service.tag_id("first").await, id, "{define}");
        assert_eq!(service.with_tag("first").await, ["a.png", "b.png"], "{define}");
        assert_eq!(service.tags().await["tags"].as_array().unwrap().len(), 1, "{define}");
    }
}

#[tokio::test]
async fn searches_still_find_the_tags_of_sidecars_after_a_tag_with_their_name_is_renamed() {
    let row = br#"{"file_name": "a.png", "tags": ["night"]}"#.to_vec();
    let service = Service::of(&[&named()[..], &[("metadata.jsonl", row)]].concat()).await;
    let night = service.tag_id("night").await;
    let found = async |id: &str| service.found(&format!("&tags=[\"{id}\"]")).await;
    let one = service.selection(&["b.png"]).await;
    service.change("change", json!({"add": ["nite"], "media_selection": one})).await;
    let nite = service.tag_id("nite").await;
    service.change("define", json!({"name": "nite", "new_name": "night"})).await;
    assert_eq!(found(&night).await, ["a.png", "b.png"]);
    service.change("define", json!({"name": "night", "new_name": "dark"})).await;
    assert_eq!(found(&night).await, ["a.png"]);
    assert_eq!(service.with_tag("dark").await, ["b.png"]);
    for _ in 0..2 {
        service.change("undo", json!({})).await;
    }
    assert_eq!([service.tag_id("nite").await, service.tag_id("night").await], [nite, night]);
}

#[tokio::test]
async fn tags_survive_moves_edits_and_the_loss_of_the_index() {
    let service = Service::of(&named()).await;
    let all = service.selection(&["a.png", "b.png", "c.png"]).await;
    service.change("change", json!({"add": ["all"], "media_selection": all})).await;
    let one = service.selection(&["c.png"]).await;
    service.change("change", json!({"rating": 5, "media_selection": one})).await;
    let place = service.stop().await;
    assert_eq!(
        tagged_files(&place),
        [r#""a.png" ["all"] null"#, r#""b.png" ["all"] null"#, r#""sub/c.png" ["all"] 5"#],
        "the end of the service writes what is not written"
    );
    fs::rename(place.picture("sub/c.png"), place.picture("moved.png")).unwrap();
    place.put("b.png", &picture(40));
    let service = Service::at(place, true).await;
    assert_eq!(service.with_tag("all").await, ["a.png", "b.png", "moved.png"]);
    assert_eq!(service.preview("moved.png").await["rating"], 5);
    let place = service.stop().await;
    fs::rename(place.picture("moved.png"), place.picture("again.png")).unwrap();
    let files: Vec<(&str, Vec<u8>)> = Vec::new();
    let other = Place::new(&files);
    for file in ["a.png", "b.png", "again.png"] {
        other.put(file, &fs::read(place.picture(file)).unwrap());
    }
    other.put(FILE, &fs::read(place.picture(FILE)).unwrap());
    let service = Service::at(other, true).await;
    assert_eq!(service.with_tag("all").await, ["a.png", "again.png", "b.png"]);
    assert_eq!(service.preview("again.png").await["rating"], 5);
    assert_eq!(service.tags().await["tags"][0]["name"], "all");
}

#[tokio::test]
async fn tags_that_only_the_index_has_survive_its_damage_unless_they_are_damaged() {
    let service = Service::at(Place::new(&named()).with_store_file(), true).await;
    let one = service.selection(&["c.png"]).await;
    let body = json!({"add": ["night"], "rating": 4, "media_selection": one});
    service.change("change", body).await;
    let mut place = service.stop().await;
    let database = place.data.path().join("tessera.db");
    let intact = fs::read(&database).unwrap();
    for (text, is_restored) in [(&b"\xFF\xD8\xFF"[..], true), (b"night", false)] {
        fs::remove_dir_all(place.picture(".tessera")).unwrap();
        let mut damaged = intact.clone();
        for at in 0..damaged.len() - text.len() {
            if damaged[at..].starts_with(text) {
                damaged[at + text.len()] ^= 1;
                damaged[at + text.len() - 1] ^= u8::from(!is_restored);
            }
        }
        fs::write(&database, damaged).unwrap();
        let service = Service::at(place, true).await;
        let notice = service.deployment.recovery_notice().unwrap();
        assert_eq!(notice.contains("Tags and ratings"), !is_restored, "{notice}");
        if is_restored {
            assert_eq!(service.with_tag("night").await, ["c.png"]);
            assert_eq!(service.preview("c.png").await["rating"], 4);
        }
        place = service.stop().await;
    }
}

#[tokio::test]
async fn a_copy_that_stays_never_gets_the_tags_of_a_removed_file() {
    let place = Place::new(&[("a/doe.png", picture(1)), ("b/copy.png", picture(1))]);
    let service = Service::at(place, true).await;
    let copy = service.selection(&["copy.png"]).await;
    service.change("change", json!({"add": ["rejected"], "media_selection": copy})).await;
    let place = service.stop().await;
    let removed = fs::read(place.picture("b/copy.png")).unwrap();
    fs::remove_file(place.picture("b/copy.png")).unwrap();
    let service = Service::at(place, true).await;
    assert!(service.with_tag("rejected").await.is_empty());
    let place = service.stop().await;
    let line = lines(&place).into_iter().find(|line| line["path"] == "b/copy.png").unwrap();
    assert_eq!((&line["content"], &line["tags"]), (&Value::Null, &json!(["rejected"])));
    let other = Place::new(&[("a/doe.png", removed.clone())]);
    other.put(FILE, &fs::read(place.picture(FILE)).unwrap());
    let service = Service::at(other, true).await;
    assert!(service.with_tag("rejected").await.is_empty(), "nor in another index");
    service.stop().await;
    place.put("b/copy.png", &removed);
    let service = Service::at(place, true).await;
    assert_eq!(service.with_tag("rejected").await, ["copy.png"], "the file is back");
}

#[tokio::test]
async fn identical_files_that_are_moved_together_keep_their_own_tags() {
    let paths = ["b/x.png", "a/x.png", "c/x.png"];
    let place = Place::new(&paths.map(|path| (path, picture(1))));
    let line = |path: &str| format!("{{\"path\":\"{path}\",\"tags\":[\"of {path}\"]}}\n");
    place.put(FILE, paths.map(line).concat().as_bytes());
    let mut place = Service::at(place, true).await.stop().await;
    for (from, to) in [("", "moved/"), ("moved/", "")] {
        for path in paths {
            let target = place.picture(&format!("{to}{path}"));
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::rename(place.picture(&format!("{from}{path}")), target).unwrap();
        }
        place = Service::at(place, true).await.stop().await;
        let expected =
            ["a", "b", "c"].map(|name| format!("\"{to}{name}/x.png\" [\"of {name}/x.png\"] null"));
        assert_eq!(tagged_files(&place), expected);
    }
}

#[tokio::test]
async fn an_edited_file_is_read_and_a_bad_line_loses_only_itself() {
    let service = Service::of(&named()).await;
    let both = service.selection(&["a.png", "b.png"]).await;
    service.change("change", json!({"add": ["x"], "media_selection": both})).await;
    let place = service.stop().await;
    let text = text(&place);
    let edited: Vec<&str> = text.lines().filter(|line| !line.contains("b.png")).collect();
    place.put(FILE, format!("{}\n", edited.join("\n")).as_bytes());
    let service = Service::at(place, true).await;
    assert_eq!(service.with_tag("x").await, ["a.png"], "whoever edits the file decides");
    let problems = service.tags().await["file_problems"].to_string();
    assert!(problems.contains("kept as .tessera/tags.replaced.jsonl"), "{problems}");
    let place = service.stop().await;
    let former = fs::read_to_string(place.picture(".tessera/tags.replaced.jsonl")).unwrap();
    assert_eq!(former, text, "the edit can be undone");
    let added = "{\"path\":\"sub/c.png\",\"tags\":[\"y\"]}\n{\"path\":\n";
    place.put(FILE, format!("{added}{}\n", edited[0]).as_bytes());
    let service = Service::at(place, true).await;
    assert_eq!(service.with_tag("x").await, ["a.png"], "the damaged file lost this line");
    assert_eq!(service.with_tag("y").await, ["c.png"]);
    let problems = service.tags().await["file_problems"].to_string();
    assert!(problems.contains("tags.jsonl, line 2: it is not an entry in JSON"), "{problems}");
    assert!(service.place.picture(".tessera/tags.damaged.jsonl").exists());
    assert_eq!(tagged_files(&service.place).len(), 2);
    let place = service.stop().await;
    place.put(FILE, b"{\"path\":\n");
    let service = Service::at(place, true).await;
    let problems = service.tags().await["file_problems"].to_string();
    assert!(problems.contains("tags.damaged-2.jsonl"), "{problems}");
    let first = fs::read_to_string(service.place.picture(".tessera/tags.damaged.jsonl")).unwrap();
    assert!(first.starts_with(added), "the earlier damaged file stays");
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    assert_eq!(skipped, [], "the folder of the tags is neither media nor skipped");
}

/// Each of several machines can have a copy of the folder, whose file is older than that of the machine that wrote last.
/// On a single machine, the user has put the file back.
#[tokio::test]
async fn an_outdated_file_replaces_tags_only_on_a_single_machine() {
    let service = Service::of(&named()).await;
    let one = service.selection(&["a.png"]).await;
    service.change("change", json!({"add": ["x"], "media_selection": one})).await;
    let place = service.stop().await;
    let outdated = fs::read(place.picture(FILE)).unwrap();
    let service = Service::at(place, true).await;
    let two = service.selection(&["b.png", "c.png"]).await;
    service.change("change", json!({"add": ["x"], "media_selection": two})).await;
    let place = service.stop().await;
    let current = fs::read(place.picture(FILE)).unwrap();
    place.put(FILE, &outdated);
    let is_on_server = place.store.address().is_some();
    let service = Service::at(place, true).await;
    let (tagged, file): (&[_], _) = if is_on_server {
        (&["a.png", "b.png", "c.png"], &current)
    } else {
        (&["a.png"], &outdated)
    };
    assert_eq!(service.with_tag("x").await, tagged);
    assert_eq!(&fs::read(service.place.picture(FILE)).unwrap(), file);
}

#[tokio::test]
async fn tags_outlive_a_removal_at_once_an_emptied_file_and_an_editor() {
    let service = Service::of(&named()).await;
    let one = service.selection(&["a.png"]).await;
    service.change("change", json!({"add": ["x"], "media_selection": one})).await;
    let path = format!("/local/dataset/{}/remove", service.dataset);
    assert_eq!(answer(service.post(&path)).await.0, 200);
    let mut place = service.stop().await;
    let (file, lines) = (fs::read_to_string(place.picture(FILE)).unwrap(), text(&place));
    for content in [&*file, "", "\n"] {
        place.put(FILE, content.as_bytes());
        let service = Service::at(place, true).await;
        assert_eq!(service.with_tag("x").await, ["a.png"]);
        assert_eq!(service.tags().await["file_problems"], json!([]));
        place = service.stop().await;
        assert_eq!(text(&place), lines);
    }
    place.put(FILE, format!("\u{feff}{lines}").as_bytes());
    let service = Service::at(place, true).await;
    assert_eq!(service.tags().await["file_problems"], json!([]), "its first line is read");
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_said_and_the_index_keeps_the_tags() {
    let place = Place::new(&named());
    // A file in the place of the folder cannot be written, whatever the user is allowed.
    place.put(".tessera", b"");
    let service = Service::at(place, true).await;
    let one = service.selection(&["a.png"]).await;
    let change = service.change("change", json!({"add": ["x"], "media_selection": one})).await;
    let problem = change["file_problems"][0].as_str().unwrap();
    assert!(problem.starts_with("the tags are kept only in the index, because"), "{problem}");
    assert_eq!(service.with_tag("x").await, ["a.png"]);
    let place = service.stop().await;
    fs::remove_file(place.picture(".tessera")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let secret = elsewhere.path().join("tags.jsonl");
    fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), place.picture(".tessera")).unwrap();
    let service = Service::at(place, true).await;
    service.change("define", json!({"name": "y"})).await;
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret", "a link leads nowhere");
}

#[tokio::test]
async fn objects_and_frames_keep_their_tags_in_the_file() {
    let row = json!({"file_name": "a.png", "objects": {"bbox": [[0, 0, 20, 20]], "categories": ["door"]}});
    let files = [&named()[..], &[("metadata.jsonl", row.to_string().into_bytes())]].concat();
    let service = Service::of(&files).await;
    let path = format!("/local/dataset/{}/tags/change?entity_type=OBJECTS", service.dataset);
    let edit = json!({"add": ["wood"], "rating": 4});
    let (_, change) = answer(service.post(&path).json(&edit)).await;
    assert_eq!(change["changed"], 1, "{change}");
    for (format, tag) in
        [("json", r#""tag_name":"wood""#), ("imagefolder", r#""user_tags":["wood"]"#)]
    {
        let files = files_of(&service, format).await;
        let (_, table) = files.iter().find(|(name, _)| name.starts_with("metadata")).unwrap();
        let table = String::from_utf8_lossy(table);
        assert!(table.contains(tag) && table.contains(r#""user_rating":4"#), "{format}: {table}");
    }
    let (_, preview) = preview(&service, "coco", None).await;
    for lost in ["objects without your ratings: 1", "objects without their user tags: 1"] {
        assert!(preview.to_string().contains(lost), "{preview}");
    }
    let place = service.stop().await;
    let line = &lines(&place)[1];
    assert_eq!((&line["path"], line["region"].is_array()), (&"a.png".into(), true), "{line}");
    let other = Place::new(&files);
    other.put(FILE, &fs::read(place.picture(FILE)).unwrap());
    let service = Service::at(other, true).await;
    let id = service.tag_id("wood").await;
    let query = format!("threshold=4&entity_type=OBJECTS&tags=[\"{id}\"]");
    let found = service.good(&service.explore(&query)).await;
    assert_eq!(found["clusters"].as_array().unwrap().len(), 1, "{found}");
}

#[tokio::test]
async fn wrong_changes_are_refused() {
    let service = Service::of(&named()).await;
    let one = service.selection(&["a.png"]).await;
    for body in [
        json!({"media_selection": one}),
        json!({"add": ["a"], "remove": ["a"], "media_selection": one}),
        json!({"add": ["picked", "rejected"], "media_selection": one}),
        json!({"add": ["a\u{1b}b"], "media_selection": one}),
        json!({"rating": 6, "media_selection": one}),
        json!({"rating": 300, "media_selection": one}),
        json!({"add": ["a"], "media_selection": []}),
        json!({"add": ["a"], "media_selection": null}),
        json!({"add": ["a"], "files": null}),
        json!({"add": ["a"]}),
        json!({"add": ["a"], "media_selection": one, "other": 1}),
        json!([["a"]]),
    ] {
        let (status, problem) = service.tag("change", body.clone()).await;
        assert_eq!(status, 422, "{body}: {problem}");
        assert!(!problem.to_string().contains("u8"), "{body}: {problem}");
    }
    for body in [
        json!({}),
        json!({"name": " "}),
        json!({"name": "a", "color": "mauve"}),
        json!({"name": "a", "new_name": "b", "delete": true}),
    ] {
        assert_eq!(service.tag("define", body.clone()).await.0, 422, "{body}");
    }
    assert_eq!(service.tag("undo", json!({"change_id": null})).await.0, 422);
    let unknown = json!([{"type": "media", "payload": {"media_ids": [uuid::Uuid::nil()]}}]);
    let body = json!({"add": ["a"], "media_selection": unknown});
    assert_eq!(service.tag("change", body).await.0, 404);
    assert_eq!(service.tags().await["tags"], json!([]));
    assert!(!service.place.picture(".tessera").exists());
}

#[tokio::test]
async fn a_request_with_a_selection_and_a_search_is_refused() {
    let service = Service::of(&named()).await;
    let one = service.selection(&["a.png"]).await;
    let path = format!("/local/dataset/{}/tags/change?entity_type=IMAGES", service.dataset);
    let body = json!({"add": ["a"], "media_selection": one});
    assert_eq!(answer(service.post(&path).json(&body)).await.0, 422);
}
