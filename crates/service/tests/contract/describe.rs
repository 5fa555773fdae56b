//! The `OpenAPI` description, compared with the service and the API document.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::{Method, StatusCode, Url};
use serde_json::{Value, json};
use tessera_client::QueryImageUpload;
use tessera_model::vql::{IssueKind, MAX_FILTERS};
use tessera_service::{OPENAPI_PATH, ServerLimits};
use tessera_wire::{preview::read_region, vql};

use crate::{
    compat,
    support::{Place, Service, answer, assert_no_path, pictures},
};

/// Every call of the API document: method, path, and parameters outside the body, `*` after
/// required ones.
const DOCUMENT: &[(&str, &str, &str)] = &[
    ("get", "/api/v1/api_credentials", ""),
    ("get", "/api/v1/dataset/{dataset_id}", "dataset_id*"),
    ("get", "/api/v1/datasets", ""),
    (
        "get",
        "/api/v1/dataset/{dataset_id}/export_context_async",
        "dataset_id* file_name* export_format* include_images",
    ),
    ("get", "/api/v1/dataset/{dataset_id}/export_status", "dataset_id* export_task_id*"),
    (
        "post",
        "/api/v1/dataset/{dataset_id}/export_entities_async",
        "dataset_id* export_format* include_images",
    ),
    ("post", "/api/v1/dataset/{dataset_id}/add_media", "dataset_id*"),
    ("post", "/api/v1/dataset/{dataset_id}/reindex", "dataset_id*"),
    ("get", "/api/v1/process/add_media", "dataset_id* path*"),
    (
        "post",
        "/api/v1/dataset/{dataset_id}/search-image-similarity",
        "dataset_id* entity_type* threshold bounding_box",
    ),
    (
        "get",
        "/api/v1/explore/{dataset_id}",
        "dataset_id* anchor_media_id anchor_type entity_type* threshold page_number caption \
         image_caption textual_similarity_threshold labels tags vql",
    ),
    ("get", "/api/v1/enrichment/{dataset_id}/context", "dataset_id*"),
];

/// Further calls of public clients.
const EXTRA: [(&str, &str); 11] = [
    ("get", "/api/v1/healthcheck"),
    ("get", "/api/v1/user_config"),
    ("get", "/api/v1/datasets/sample_data"),
    ("get", "/api/v1/dataset/{dataset_id}/stats"),
    ("get", "/api/v1/dataset/{dataset_id}/export"),
    ("get", "/api/v1/dataset/{dataset_id}/export_media_id"),
    ("get", "/api/v1/image/{media_id}"),
    ("get", "/api/v1/explore/{dataset_id}/similarity_cluster/{cluster_id}"),
    ("get", "/api/v1/explore/{dataset_id}/exploration_metadata"),
    ("get", "/api/v1/enrichment/{dataset_id}/list_models"),
    ("post", "/api/v1/process/add_media"),
];

/// What the service does where the API document is silent.
const CHOICES: &str = include_str!("../../../../docs/choices.md");
/// How a lenient service differs.
const COMPATIBILITY: &str = include_str!("../../../../docs/compatibility.md");

/// Returns the section of a page with this heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

async fn served(compat: bool) -> (Service, Value) {
    let service = compat::served(Place::new(&pictures(4)), compat).await;
    let (status, description) = answer(service.client.get(service.url(OPENAPI_PATH))).await;
    assert_eq!(status, 200, "no login is needed");
    (service, description)
}

/// Each call with its description.
fn calls(description: &Value) -> BTreeMap<(String, String), Value> {
    let mut calls = BTreeMap::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for (method, call) in item.as_object().unwrap() {
            calls.insert((method.clone(), path.clone()), call.clone());
        }
    }
    calls
}

fn parameters(call: &Value) -> BTreeMap<String, Value> {
    let all = call["parameters"].as_array().into_iter().flatten();
    all.map(|one| (one["name"].as_str().unwrap().to_owned(), one.clone())).collect()
}

/// The values of all `$ref` below a value.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|inner| references(inner, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_call_of_the_document_is_described_with_its_parameters() {
    let (_, description) = served(false).await;
    let calls = calls(&description);
    for (method, path, names) in DOCUMENT {
        let call = &calls[&((*method).to_owned(), (*path).to_owned())];
        let described = parameters(call);
        for name in names.split_whitespace() {
            let (name, needed) = (name.trim_end_matches('*'), name.ends_with('*'));
            assert_eq!(described[name]["required"], needed, "{path} {name}");
        }
        let needed = described.values().filter(|one| one["required"] == true).count();
        assert_eq!(needed, names.matches('*').count(), "{path} needs more than documented");
    }
}

#[tokio::test]
async fn the_description_is_valid() {
    for compat in [false, true] {
        let (_, description) = served(compat).await;
        assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
        let mut targets = BTreeSet::new();
        references(&description, &mut targets);
        for target in targets {
            let place = target.trim_start_matches('#');
            assert!(description.pointer(place).is_some(), "{target} leads nowhere");
        }
        let calls = calls(&description);
        let names: BTreeSet<&str> =
            calls.values().map(|call| call["operationId"].as_str().unwrap()).collect();
        assert_eq!(names.len(), calls.len(), "operation identifiers are unique");
        for ((method, path), call) in &calls {
            assert!(call["summary"].is_string(), "{method} {path} says nothing");
            let described = parameters(call);
            let mut inside = path.split('{').skip(1).map(|part| part.split('}').next().unwrap());
            assert!(inside.all(|name| described[name]["in"] == "path"), "{path}");
        }
    }
}

#[tokio::test]
async fn what_is_described_is_routed_and_nothing_else() {
    for compat in [false, true] {
        let (service, description) = served(compat).await;
        let calls = calls(&description);
        let paths: BTreeSet<&String> = calls.keys().map(|(_, path)| path).collect();
        for path in paths {
            let url = service.url(&filled(path, &service));
            for method in METHODS {
                let word: Method = method.to_uppercase().parse().unwrap();
                let request = service.client.request(word, &url).bearer_auth(service.token());
                let status = request.send().await.unwrap().status();
                let described = calls.contains_key(&(method.to_owned(), path.clone()));
                assert_eq!(status != 405, described, "{method} {path}: {status}");
            }
        }
    }
}

#[tokio::test]
async fn further_calls_are_described_only_where_they_are_served() {
    let (strict, lenient) = (served(false).await.1, served(true).await.1);
    let (strict, lenient) = (calls(&strict), calls(&lenient));
    let more: BTreeSet<_> = lenient.keys().filter(|call| !strict.contains_key(*call)).collect();
    // These two are also there without --compat, but below the prefix of the additions.
    let elsewhere: Vec<_> = strict.keys().filter(|call| !lenient.contains_key(*call)).collect();
    let paths = elsewhere.iter().map(|(_, path)| path.replacen("/local", "/api/v1", 1));
    let [overview, members] = [EXTRA[8].1, EXTRA[7].1];
    assert_eq!(paths.collect::<Vec<_>>(), [overview, members]);
    let extra = EXTRA.map(|(method, path)| (method.to_owned(), path.to_owned()));
    assert_eq!(more, extra.iter().collect());
    let documented = section(COMPATIBILITY, "Further endpoints with --compat");
    for (method, path) in EXTRA {
        let row = format!("| `{} {path}` |", method.to_uppercase());
        assert!(documented.contains(&row), "{row} is not documented");
    }
    assert_eq!(documented.matches("\n| `").count(), EXTRA.len(), "one row each");
    for (call, name) in [("explore", "entity_type"), ("export_context_async", "file_name")] {
        let needed = |calls: &BTreeMap<_, Value>| {
            let call = calls.values().find(|one| one["operationId"] == call).unwrap();
            parameters(call)[name]["required"].clone()
        };
        assert_eq!((needed(&strict), needed(&lenient)), (json!(true), json!(false)), "{call}");
    }
}

#[tokio::test]
async fn every_difference_of_the_descriptions_is_documented() {
    let documented = section(COMPATIBILITY, "What differs with --compat");
    let (strict, lenient) = (calls(&served(false).await.1), calls(&served(true).await.1));
    let mut different = BTreeSet::new();
    for (call, strict) in &strict {
        let Some(lenient) = lenient.get(call) else { continue };
        let (strict, lenient) = (parameters(strict), parameters(lenient));
        different.extend(
            strict
                .keys()
                .chain(lenient.keys())
                .filter(|name| strict.get(*name) != lenient.get(*name))
                .cloned(),
        );
    }
    assert!(different.contains("caption_only_filter"), "{different:?}");
    for name in different {
        assert!(documented.contains(&format!("`{name}`")), "{name} is not documented");
    }
}

/// A status that a page names, such as "422 with the name".
fn named_statuses(page: &str) -> BTreeSet<&str> {
    let words = page.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let is_status = |word: &&str| {
        word.len() == 3 && word.parse().is_ok_and(|status: u16| (400..=503).contains(&status))
    };
    words.filter(is_status).collect()
}

#[tokio::test]
async fn every_status_that_the_pages_name_is_described() {
    // Routing and shutting down are not part of an endpoint.
    let mut described = BTreeSet::from(["404".to_owned(), "405".to_owned(), "503".to_owned()]);
    for compat in [false, true] {
        let (_, description) = served(compat).await;
        for call in calls(&description).values() {
            described.extend(call["responses"].as_object().unwrap().keys().cloned());
        }
    }
    for status in named_statuses(CHOICES).union(&named_statuses(COMPATIBILITY)) {
        assert!(described.contains(*status), "{status} is not described: {described:?}");
    }
}

#[test]
fn the_documented_limits_are_those_of_the_service() {
    let limits = ServerLimits::default();
    let seconds = |time: std::time::Duration| format!("{} s", time.as_secs());
    let documented = section(CHOICES, "Limits");
    for (subject, limits) in [
        (
            "connections",
            vec![
                limits.max_connections.to_string(),
                format!("{} until the first byte", seconds(limits.head_timeout)),
                format!("{} between requests", seconds(limits.idle_timeout)),
                format!("{} for the next part of a body", seconds(limits.body_timeout)),
            ],
        ),
        (
            "expensive requests",
            vec![
                format!("{} at a time", limits.max_expensive),
                format!("{} of waiting", seconds(limits.queue_timeout)),
            ],
        ),
        ("vql", vec![format!("{} KiB", vql::MAX_BYTES >> 10), format!("{MAX_FILTERS} filters")]),
        ("query image", vec![format!("{} MiB", QueryImageUpload::MAX_BYTES >> 20)]),
    ] {
        let row = documented.lines().find(|line| line.starts_with(&format!("| {subject} |")));
        for limit in limits {
            assert!(row.unwrap().contains(&limit), "{subject}: {limit} is not documented");
        }
    }
}

#[test]
fn every_issue_is_documented() {
    let row = CHOICES.lines().find(|line| line.starts_with("| issue values |")).unwrap();
    let searching = include_str!("../../../../docs/searching.md");
    for kind in IssueKind::ALL.map(|kind| format!("`{}`", kind.as_str())) {
        assert!(
            row.contains(&kind) && section(searching, "The query language").contains(&kind),
            "{kind}"
        );
    }
}

/// A value that a schema forbids; `None` if any text is valid.
fn wrong(parameter: &Value) -> Option<&'static str> {
    let schema = &parameter["schema"];
    let free = schema["type"] == "string"
        && ["format", "enum", "contentMediaType"].iter().all(|rule| schema[*rule].is_null());
    if free { None } else { Some("wrong") }
}

/// A value that a schema allows.
fn right(name: &str, parameter: &Value, service: &Service) -> String {
    let schema = &parameter["schema"];
    match name {
        "dataset_id" => service.dataset.to_string(),
        _ if schema["enum"].is_array() => schema["enum"][0].as_str().unwrap().to_owned(),
        _ if schema["format"] == "uuid" => service.dataset.to_string(),
        _ => "/x".to_owned(),
    }
}

/// A path of the description with identifiers in it.
fn filled(path: &str, service: &Service) -> String {
    let id = service.dataset.to_string();
    path.split('/')
        .map(|part| if part.starts_with('{') { id.as_str() } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

#[tokio::test]
async fn invalid_values_of_described_parameters_are_rejected_by_name() {
    let (service, description) = served(true).await;
    for ((method, path), call) in calls(&description) {
        let described = parameters(&call);
        let queries = described.iter().filter(|(_, one)| one["in"] == "query");
        for (name, parameter) in queries.filter(|_| path.starts_with("/api/v1/")) {
            let Some(wrong) = wrong(parameter) else { continue };
            let mut query = format!("{name}={wrong}");
            // An anchor is read when it has both halves.
            for (other, one) in &described {
                let half = name.starts_with("anchor_") && other.starts_with("anchor_");
                if one["in"] == "query" && other != name && (one["required"] == true || half) {
                    query = format!("{query}&{other}={}", right(other, one, &service));
                }
            }
            let word: Method = method.to_uppercase().parse().unwrap();
            let url = service.url(&format!("{}?{query}", filled(&path, &service)));
            let request = service.client.request(word, url).bearer_auth(service.token());
            let (status, body) = answer(request).await;
            assert!([400, 422].contains(&status.as_u16()), "{path} {name}: {status} {body}");
            assert!(body.to_string().contains(name.as_str()), "{path} {name}: {body}");
        }
    }
}

/// Generated clients ignore parameters without a schema.
#[tokio::test]
async fn every_parameter_has_a_schema_and_json_has_an_example_that_is_accepted() {
    let (service, description) = served(false).await;
    let mut examples = BTreeSet::new();
    for ((_, path), call) in calls(&description) {
        for (name, parameter) in parameters(&call) {
            assert!(parameter["schema"].is_object(), "{path} {name}");
            if parameter["schema"]["contentMediaType"] == "application/json" {
                let example = parameter["example"].as_str().unwrap().to_owned();
                examples.insert((name, example));
            }
        }
    }
    let names: Vec<&str> = examples.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["bounding_box", "labels", "tags", "vql"]);
    for (name, example) in examples.iter().filter(|(name, _)| name != "bounding_box") {
        let mut url: Url = service.url(&service.explore("")).parse().unwrap();
        url.query_pairs_mut().append_pair(name, example);
        let request = service.client.get(url).bearer_auth(service.token());
        let (status, page) = answer(request).await;
        // The identifier in the example is well-formed, but no tag of this dataset has it.
        let is_unknown_tag =
            name == "tags" && page.to_string().contains("the dataset has no tag with the ID");
        assert!(status == 200 || is_unknown_tag, "{name}: {status} {page}");
    }
    let (_, region) = examples.first().unwrap();
    assert!(read_region(&serde_json::from_str(region).unwrap()).is_some(), "{region}");
}

#[tokio::test]
async fn the_root_names_the_description() {
    let service = Service::of(&pictures(4)).await;
    let (status, root) = answer(service.client.get(service.url("/"))).await;
    assert_eq!(status, 200, "no login is needed");
    let address = root["openapi"].as_str().unwrap();
    assert_eq!(address, service.url(OPENAPI_PATH));
    let (status, description) = answer(service.client.get(address)).await;
    assert_eq!((status, &description["info"]["title"]), (StatusCode::OK, &root["name"]));
    assert_eq!(description["info"]["version"], root["version"]);
}

#[tokio::test]
async fn all_parameter_names_are_described() {
    let (_, description) = served(true).await;
    let calls = calls(&description);
    let described: BTreeSet<String> =
        calls.values().flat_map(|call| parameters(call).into_keys()).collect();
    let names = include_str!("../../../wire/src/endpoints.rs");
    let names = names.split("pub mod query {").nth(1).unwrap().split("\n}").next().unwrap();
    let names = names.split("&str = \"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 15, "the names were not found");
    for name in names {
        assert!(described.contains(name), "{name} is read and not described");
    }
}

#[tokio::test]
async fn no_response_contains_local_paths() {
    let (service, description) = served(true).await;
    assert_no_path(&description, &service.place);
    for ((method, path), call) in calls(&description) {
        let word: Method = method.to_uppercase().parse().unwrap();
        let url = service.url(&filled(&path, &service));
        let described = parameters(&call);
        let with = |values: &[(&str, &str)]| {
            let known = values.iter().filter(|(name, _)| described.contains_key(*name));
            known.fold(String::new(), |query, (name, value)| query + name + "=" + value + "&")
        };
        let inside = [("entity_type", "IMAGES"), ("file_name", "a"), ("export_format", "json")];
        let dataset = service.dataset.to_string();
        let outside = [("dataset_id", dataset.as_str()), ("path", "/tmp/x"), ("auto_reindex", "0")];
        for query in [String::new(), with(&inside), with(&inside) + &with(&outside)] {
            let query = query.trim_end_matches('&');
            let request = service.client.request(word.clone(), format!("{url}?{query}"));
            let body = request.bearer_auth(service.token()).send().await.unwrap();
            let body = String::from_utf8_lossy(&body.bytes().await.unwrap()).into_owned();
            assert_no_path(&json!(body), &service.place);
        }
    }
}
