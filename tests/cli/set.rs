//! Tests `tessera set`: operations on saved results, and the selections made from them.

use std::path::Path;

use serde_json::{Value, json};

use super::{piped, run};

const DATASET: &str = "95233006-eddc-11ef-b303-000000000001";
pub const ONPREM: [&str; 4] = ["--base-url", "http://127.0.0.1:9", "--kind", "onprem"];

pub fn id(number: u32) -> String {
    format!("9a205a5e-0000-46be-83a3-{number:012}")
}

/// Returns the document of a search: clusters with their previews.
fn answer(clusters: &[(u32, &[u32])], last: bool, vql: &Value) -> Value {
    let rows: Vec<Value> = clusters
        .iter()
        .map(|(cluster, media)| {
            let previews: Vec<Value> = media
                .iter()
                .map(|medium| json!({ "media_id": id(*medium), "file_name": format!("{medium}.jpg") }))
                .collect();
            json!({ "cluster_id": id(*cluster), "type": "IMAGES", "n_images": 9, "_members": 9,
                    "previews": previews })
        })
        .collect();
    json!({ "schema": "tessera.clusters/1", "kind": "vql", "dataset_id": DATASET,
            "query": { "entity_type": "IMAGES", "granularity": 1, "vql": vql },
            "page_number": 0, "last_page": last, "truncated": !last, "clusters": rows })
}

/// Writes two results to files: clusters 1 (media 11, 12) and 2 (21), and clusters 3 (12, 31) and 2
/// (21).
fn saved(home: &Path, last: bool) -> (String, String) {
    let write = |name: &str, value: Value| {
        std::fs::write(home.join(name), value.to_string()).unwrap();
        home.join(name).to_str().unwrap().to_owned()
    };
    let blur = json!([{ "issues": { "op": "issue", "value": "blur", "mode": "in" } }]);
    (
        write("a.json", answer(&[(1, &[11, 12]), (2, &[21])], true, &blur)),
        write("b.json", answer(&[(3, &[12, 31]), (2, &[21])], last, &json!([]))),
    )
}

/// Returns the clusters with their media.
fn content(answer: &Value) -> Vec<(String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = answer["clusters"].as_array().unwrap().iter();
    let media = |row: &Value| {
        row["previews"].as_array().unwrap().iter().map(|it| text(&it["media_id"])).collect()
    };
    rows.map(|row| (text(&row["cluster_id"]), media(row))).collect()
}

#[test]
fn set_operations_combine_media_items_and_clusters() {
    let home = tempfile::tempdir().unwrap();
    let (a, b) = saved(home.path(), true);
    for (operation, expected) in [
        ("minus", vec![(id(1), vec![id(11)])]),
        ("intersect", vec![(id(1), vec![id(12)]), (id(2), vec![id(21)])]),
        (
            "union",
            vec![(id(1), vec![id(11), id(12)]), (id(2), vec![id(21)]), (id(3), vec![id(31)])],
        ),
    ] {
        let (code, out, err) = run(home.path(), &["set", operation, &a, &b, "--json", "--strict"]);
        let is_union = operation == "union";
        assert_eq!(code, if is_union { 0 } else { 9 }, "{err}");
        assert_ne!(err.contains("without a preview were not compared"), is_union, "{err}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(content(&answer), expected, "{operation}");
        assert_eq!(
            (&answer["_of_loaded_pages"], &answer["truncated"]),
            (&json!(true), &json!(false))
        );
        assert!(err.contains("only loaded pages"), "{err}");
    }
}

#[test]
fn a_set_of_incomplete_results_warns_and_fails_when_strict() {
    let home = tempfile::tempdir().unwrap();
    let (a, b) = saved(home.path(), false);
    let (code, out, err) = run(home.path(), &["set", "minus", &a, &b, "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["truncated"]), (0, &json!(true)));
    assert!(err.contains("warning") && err.contains("--all"), "{err}");
    assert_eq!(run(home.path(), &["set", "minus", &a, &b, "--strict"]).0, 9);

    let other = std::fs::read_to_string(&b).unwrap().replace(DATASET, &id(9));
    let (code, _, err) = piped(home.path(), &["set", "union", &a, "-"], &other);
    assert_eq!(code, 2);
    assert!(err.contains("different datasets"), "{err}");
    let (code, _, err) = piped(home.path(), &["set", "union", &a, "-"], "{}");
    assert_eq!(code, 2);
    assert!(err.contains("not a search result"), "{err}");
}

#[test]
fn a_reduced_cluster_is_selected_without_removed_items() {
    let home = tempfile::tempdir().unwrap();
    let (a, b) = saved(home.path(), true);
    let (_, union, _) = run(home.path(), &["set", "union", &a, &b, "--json"]);
    let add = ["selection", "add", DATASET, "--from-results", "-", "--name", "mix"];
    let (code, _, err) = piped(home.path(), &[&add[..], &ONPREM].concat(), &union);
    assert_eq!(code, 9, "{err}");
    assert!(err.contains("7 members without a preview were not selected"), "{err}");
    let show = ["selection", "show", DATASET, "--name", "mix", "--json"];
    let (_, out, _) = run(home.path(), &[&show[..], &ONPREM].concat());
    let shown: Value = serde_json::from_str(&out).unwrap();
    let items = shown["media_selection"].as_array().unwrap();
    assert_eq!(items[0]["payload"]["media_ids"], json!([id(31)]), "12 was omitted from cluster 3");
    let filters = |item: &Value| item["payload"]["cluster_filters"]["vql"].is_string();
    assert_eq!(items.len(), 3);
    let filtered = [&items[1], &items[2]].map(filters);
    assert_eq!(filtered, [true, false], "the filters that found cluster 1, and all of 2: {shown}");
}

/// Writes the results of two filters, which find one member each of cluster 1.
fn saved_parts(home: &Path) -> [String; 2] {
    [("x", 11), ("y", 12)].map(|(label, media)| {
        let vql = json!([{ "labels": { "op": "one_of", "value": [label] } }]);
        let mut found = answer(&[(1, &[media])], true, &vql);
        for field in ["n_images", "_members"] {
            found["clusters"][0][field] = 1.into();
        }
        let file = home.join(format!("{label}.json"));
        std::fs::write(&file, found.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    })
}

#[test]
fn parts_of_a_cluster_are_combined_and_selected_as_parts() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let [x, y] = &saved_parts(home);
    let combine = |operation: &str, a: &str, b: &str| {
        let (code, out, err) = run(home, &["set", operation, a, b, "--json", "--strict"]);
        assert_eq!(code, 0, "{err}");
        let document: Value = serde_json::from_str(&out).unwrap();
        let file = home.join(format!("{operation}.json"));
        std::fs::write(&file, out).unwrap();
        let media = content(&document).into_iter().flat_map(|(_, media)| media).collect::<Vec<_>>();
        (file.to_str().unwrap().to_owned(), media)
    };
    assert_eq!(combine("minus", x, y).1, [id(11)]);
    assert_eq!(combine("intersect", x, y).1, [""; 0]);
    let (both, media) = combine("union", x, y);
    assert_eq!(media, [id(11), id(12)]);
    assert_eq!(combine("intersect", &both, y).1, [id(12)], "a result of an operation");
    assert_eq!(combine("minus", &both, x).1, [id(12)]);
    let add = |name: &str, files: &[&String]| -> Value {
        for file in files {
            let add = ["selection", "add", DATASET, "--from-results", file, "--name", name];
            let (code, _, err) = run(home, &[&add[..], &ONPREM].concat());
            assert!(
                code == 0 && err.contains(" more; now 2 entries") || *file == x,
                "{code} {err}"
            );
        }
        let show = ["selection", "show", DATASET, "--name", name, "--json"];
        let (_, out, _) = run(home, &[&show[..], &ONPREM].concat());
        serde_json::from_str::<Value>(&out).unwrap()["media_selection"].clone()
    };
    let parts = add("parts", &[x, y]);
    let filters = [0, 1].map(|index| parts[index]["payload"]["cluster_filters"]["vql"].clone());
    assert!(filters[0] != filters[1] && filters[1].is_string(), "{parts}");
    assert_eq!(add("both", &[&both])[0]["payload"]["media_ids"], json!([id(11), id(12)]));
}

#[test]
fn counts_that_no_dataset_has_are_no_reason_to_fail() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let mut found = answer(&[(1, &[11]), (2, &[21])], true, &json!([]));
    for row in found["clusters"].as_array_mut().unwrap() {
        for field in ["_excluded", "_unlisted", "n_images"] {
            row[field] = u64::MAX.into();
        }
    }
    let (file, text) = (home.join("a.json"), found.to_string());
    std::fs::write(&file, &text).unwrap();
    for operation in ["minus", "union", "intersect"] {
        let (code, _, err) = piped(home, &["set", operation, file.to_str().unwrap(), "-"], &text);
        assert_eq!(code, 0, "{operation}: {err}");
    }
    let add = ["selection", "add", DATASET, "--from-results", file.to_str().unwrap()];
    let (code, _, err) = run(home, &[&add[..], &ONPREM].concat());
    assert_eq!(code, 0, "{err}");
}
