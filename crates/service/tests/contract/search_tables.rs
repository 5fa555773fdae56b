//! Datasets that the database searches, compared with the index files of the same generation. A store in a file has
//! no such datasets, so these tests run where `TESSERA_TEST_STORE` names a server with pgvector.

use std::{collections::BTreeSet, sync::atomic::AtomicBool};

use half::f16;
use serde_json::{Value, json};
use tessera_model::pseudorandom::{SPLITMIX64_INCREMENT, splitmix64};
use tessera_service::{DeploymentSettings, ModelChoice};
use tessera_store::{
    QueryError, StatementBatch, params, query,
    search_table::{self, SearchTableLimits, VectorSupport},
};

use tessera_testing::tiny_model::ModelFolder;

use crate::{
    change::uploads,
    described::{self, vql},
    support::{Place, Service, pictures},
    user_model::with_model,
};

const MEDIA: u32 = 5_000;
const GROUPS: u32 = 100;
const SHOWN: usize = 50;

/// Every dataset is searched by the database.
fn limits() -> SearchTableLimits {
    SearchTableLimits { min_media: 1, ..SearchTableLimits::default() }
}

fn with(search_tables: SearchTableLimits) -> DeploymentSettings {
    DeploymentSettings { search_tables, ..DeploymentSettings::default() }
}

/// Whether the place has a store on a server with pgvector.
fn has_vectors(place: &Place) -> bool {
    place.store.address().is_some()
        && search_table::support(&place.database())
            .is_ok_and(|support| matches!(support, VectorSupport::Installed { .. }))
}

/// A ranking that is allowed in every status.
fn similar(media: &str) -> Value {
    json!({"similarity": {"op": "media", "value": media}})
}

fn similar_to(media: &str) -> String {
    vql(&json!([similar(media)]))
}

/// Lets searches use the index files, or the tables again.
fn swap(place: &Place) {
    place.change("UPDATE search_table SET generation = -generation");
}

fn tables(place: &Place) -> i64 {
    let current =
        "dataset.id = search_table.dataset AND dataset.generation = search_table.generation";
    place.count(&format!("search_table JOIN dataset ON {current}"))
}

/// Equal, except for links, and for digits of scores that depend on the order of additions.
fn assert_alike(found: &Value, expected: &Value, context: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            let names: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
            for name in names.into_iter().filter(|name| !name.ends_with("_uri")) {
                let field = |object: &serde_json::Map<String, Value>| object.get(name).cloned();
                let context = format!("{context} {name}");
                assert_alike(&field(found).into(), &field(expected).into(), &context);
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{context}");
            for (found, expected) in found.iter().zip(expected) {
                assert_alike(found, expected, context);
            }
        }
        (Value::Number(found), Value::Number(expected)) => {
            let difference = found.as_f64().unwrap() - expected.as_f64().unwrap();
            assert!(difference.abs() < 1e-5, "{context}: {found}, {expected}");
        }
        _ => assert_eq!(found, expected, "{context}"),
    }
}

async fn queries(service: &Service) -> Vec<String> {
    let night = service.media("night.png").await;
    let anchor = format!("anchor_type=MEDIA&anchor_media_id={night}");
    let text = |op: &str, value: &str| json!({"text": {"op": op, "value": value}});
    let duplicates = json!([{"duplicates": {"op": "duplicates", "value": 0.5}}]);
    let mut queries: Vec<String> = filters(service).await.iter().map(vql).collect();
    queries.extend([
        anchor.clone(),
        format!("{anchor}&textual_similarity_threshold=0.5"),
        vql(&json!([{"similarity": {"op": "media", "value": night, "threshold": 0.4}}])),
        vql(&json!([similar(&night), text("semantic", "boats at sea")])),
        format!("{anchor}&caption=green%20hills"),
        format!("{anchor}&{}", vql(&json!([text("fts", "-boat")]))),
        format!("{anchor}&{}", vql(&json!([text("fts", "boat OR wall")]))),
        "caption=boat%20sea".to_owned(),
        "caption=boat%20sea&textual_similarity_threshold=0.6".to_owned(),
        "caption=boat%20sea&page_number=1".to_owned(),
        "caption=twins".to_owned(),
        // A name contains the second of these words, and only the characters of the first.
        "caption=%E9%BB%91%E7%8C%AB".to_owned(),
        "caption=%E9%BB%91%E7%8B%97".to_owned(),
        "caption=A%20dark%20night%20by%20the%20sea".to_owned(),
        "caption=a%20green%20hill&textual_similarity_threshold=0.5".to_owned(),
        format!("{anchor}&caption=twin"),
        format!("{anchor}&{}", vql(&duplicates)),
        vql(&json!([{"text": {"op": "semantic", "value": "a bright floor", "threshold": 0.5}}])),
    ]);
    queries
}

async fn filters(service: &Service) -> Vec<Value> {
    let names = |op: &str, names: Value| json!({"labels": {"op": op, "value": names}});
    let text = |op: &str, value: &str| json!({"text": {"op": op, "value": value}});
    let issue = |kind, mode| json!({"issues": {"op": "issue", "value": kind, "mode": mode}});
    let duplicates = |value: f64| json!({"duplicates": {"op": "duplicates", "value": value}});
    let mut filters = vec![
        json!([names("one_of", json!(["sea", "door"]))]),
        json!([names("is", json!(["sea", "boat"]))]),
        json!([names("is_not", json!(["sea", "boat"]))]),
        json!([names("not_one_of", json!(["sea", "unknown"]))]),
        json!([text("fts", "red OR boat")]),
        json!([text("fts", "boat -hill"), names("is_not", json!(["sea"]))]),
        json!([text("fts", "wall"), text("fts", "red")]),
        json!([text("semantic", "boats at sea")]),
        json!([{"text": {"op": "semantic", "value": "boats at sea", "threshold": 0.3}}]),
        json!([text("semantic", "xylophone")]),
    ];
    filters.extend([0.0, 0.9, 1.0].map(|value| json!([duplicates(value)])));
    filters.push(json!([duplicates(0.5), text("fts", "red OR boat")]));
    for mode in ["in", "out"] {
        filters.extend(
            ["dark", "bright", "duplicates", "normal", "unheard"]
                .map(|kind| json!([issue(kind, mode)])),
        );
    }
    let tags = service.good(&format!("/local/dataset/{}/tags", service.dataset)).await;
    let tags = tags["tags"].as_array().unwrap().iter().map(|tag| tag["id"].clone());
    let unknown = json!("00000000-0000-4000-8000-000000000000");
    for tag in tags.chain([unknown]) {
        let tagged = json!({"tags": {"op": "is", "value": [tag]}});
        filters.extend([json!([tagged]), json!([{"not": tagged}])]);
    }
    filters
}

/// The responses to all queries, of both entity types at three levels.
async fn responses(service: &Service, queries: &[String]) -> Vec<(String, Value)> {
    let mut responses = Vec::new();
    for query in queries {
        for (entity, level) in [("IMAGES", 0), ("IMAGES", 2), ("OBJECTS", 0), ("OBJECTS", 4)] {
            let query = format!("entity_type={entity}&threshold={level}&{query}");
            let (status, body) = service.json(&service.explore(&query)).await;
            responses.push((query, json!({"status": status.as_u16(), "body": body})));
        }
    }
    responses
}

#[tokio::test]
async fn tables_and_index_files_give_the_same_results() {
    for model in [None, Some(ModelFolder::clip()), Some(ModelFolder::tokens())] {
        let place = described::place();
        let folder = place.pictures.path();
        std::fs::copy(folder.join("floor.png"), folder.join("猫和黑狗.png")).unwrap();
        if has_vectors(&place) {
            compare(place, model.as_ref()).await;
        }
    }
}

/// Compares the results of tables with those of index files, with the vectors of a model if there is one.
async fn compare(place: Place, model: Option<&ModelFolder>) {
    let model = model.map_or(ModelChoice::Keep, |folder| with_model(folder).model);
    let service = Service::at_with(place, DeploymentSettings { model, ..with(limits()) }).await;
    assert_eq!(tables(&service.place), 2, "of images and of objects");
    let queries = queries(&service).await;
    let found = responses(&service, &queries).await;
    assert_eq!(service.place.count("search_table"), 2);
    swap(&service.place);
    for ((query, found), (_, expected)) in found.iter().zip(responses(&service, &queries).await) {
        assert_alike(found, &expected, query);
    }
    let some = |found: &&(String, Value)| found.1["body"]["clusters"] != json!([]);
    let refused = found.iter().filter(|(_, found)| found["status"] != 200).count();
    let matching = found.iter().filter(some).count();
    assert!(matching - refused > found.len() / 3, "{matching} of {} matched", found.len());
}

/// Pseudorandom numbers.
struct Sequence(u64);

impl Sequence {
    /// From -0.5 to 0.5.
    fn next(&mut self) -> f32 {
        let bits = splitmix64(self.0) >> 48;
        self.0 = self.0.wrapping_add(SPLITMIX64_INCREMENT);
        f32::from(u16::try_from(bits).unwrap()) / 65_536.0 - 0.5
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..256).map(|_| self.next()).collect()
    }
}

/// A unit vector near a center, as it is stored.
fn descriptor(center: &[f32], numbers: &mut Sequence) -> Vec<u8> {
    let sum: Vec<f32> = center.iter().map(|value| value + 0.6 * numbers.next()).collect();
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.iter().flat_map(|value| f16::from_f32(value / length).to_le_bytes()).collect()
}

/// Adds media in groups of similar ones, each in a cluster of its own, as an indexing task would have left them.
fn fill(place: &Place) {
    place.change(&format!(
        "INSERT INTO media (id, dataset, source, kind, path, size, modified, content, width, height,
                            hash, sharpness, brightness, labels)
         SELECT gen_random_uuid(), dataset, source, kind, convert_to('q' || number || '.png', 'UTF8'), size,
                modified, content, width, height, hash, sharpness, brightness,
                '[\"group' || number % {GROUPS} || '\"]'
         FROM (SELECT * FROM media ORDER BY row LIMIT 1) AS first, generate_series(1, {MEDIA}) AS number"
    ));
    let database = place.database();
    let sql =
        "SELECT row FROM media WHERE row NOT IN (SELECT media FROM picture_features) ORDER BY row";
    let rows: Vec<i64> = query::all(&database, sql, params![], |row| row.get(0)).unwrap();
    let mut numbers = Sequence(7);
    let centers: Vec<Vec<f32>> = (0..GROUPS).map(|_| numbers.vector()).collect();
    let mut inserts =
        StatementBatch::new(&database, "INSERT INTO picture_features VALUES (?1, ?2, ?3)");
    for (number, row) in (1..).zip(rows) {
        let center = &centers[number % centers.len()];
        inserts.add(params![row, descriptor(center, &mut numbers), Vec::<u8>::new()]).unwrap();
    }
    inserts.finish().unwrap();
    let rank = "(SELECT max(rank) FROM cluster WHERE level = 0) + row_number() OVER (ORDER BY row)";
    place.change(&format!(
        "INSERT INTO place SELECT row, 0.5, 0, 0, 0, 0, 0, 0, {rank}, {rank}, {rank}, {rank}, {rank}, NULL, 0
         FROM media WHERE row NOT IN (SELECT media FROM place);
         INSERT INTO cluster SELECT dataset, 'IMAGES', level, rank_0, gen_random_uuid(), 1, 0, 0, 0,
                                    '[]', '[]', '[]'
         FROM place JOIN media ON media.row = media, generate_series(0, 4) AS level
         WHERE convert_from(path, 'UTF8') LIKE 'q%'"
    ));
}

/// The names and scores of the first results, and whether the search was bounded.
async fn nearest(service: &Service, query: &str) -> (Vec<(String, f64)>, bool) {
    let body = service.good(&service.explore(&format!("threshold=0&{query}"))).await;
    let previews =
        body["clusters"].as_array().unwrap().iter().map(|cluster| &cluster["previews"][0]);
    let name = |preview: &Value| preview["file_name"].as_str().unwrap().to_owned();
    let found =
        previews.map(|preview| (name(preview), preview["relevance_score"].as_f64().unwrap()));
    (found.take(SHOWN).collect(), body["metadata"]["bounded"] == true)
}

async fn all_nearest(service: &Service, anchors: &[String]) -> Vec<(Vec<(String, f64)>, bool)> {
    let mut found = Vec::new();
    for anchor in anchors {
        found.push(nearest(service, anchor).await);
    }
    found
}

/// The share of expected names that were found.
#[expect(clippy::cast_precision_loss, reason = "counts of a few thousand")]
fn recall(found: &[(Vec<(String, f64)>, bool)], expected: &[(Vec<(String, f64)>, bool)]) -> f64 {
    let names = |found: &Vec<(String, f64)>| -> BTreeSet<String> {
        found.iter().map(|(name, _)| name.clone()).collect()
    };
    let both = found.iter().zip(expected);
    let common =
        both.map(|((found, _), (expected, _))| names(found).intersection(&names(expected)).count());
    common.sum::<usize>() as f64 / (expected.len() * SHOWN) as f64
}

#[tokio::test]
async fn searches_of_many_media_are_exact_or_bounded() {
    let place = Place::new(&pictures(12));
    if !has_vectors(&place) {
        return;
    }
    let limits = SearchTableLimits { min_media: 1_000, ..limits() };
    let service = Service::at_with(place, with(limits)).await;
    assert_eq!(service.place.count("search_table"), 0, "twelve are few");
    fill(&service.place);
    service.added(uploads(12..14)).await;
    assert_eq!(tables(&service.place), 1);

    let sql = "SELECT id FROM media WHERE convert_from(path, 'UTF8') IN ('q17.png', 'q170.png', 'q1717.png')";
    let read = |row: &tessera_store::Row| row.get::<uuid::Uuid>(0);
    let ids: Vec<uuid::Uuid> = query::all(&service.place.database(), sql, params![], read).unwrap();
    let anchors: Vec<String> = ids.iter().map(|id| similar_to(&id.to_string())).collect();
    let exact = all_nearest(&service, &anchors).await;
    swap(&service.place);
    let expected = all_nearest(&service, &anchors).await;
    swap(&service.place);
    for ((found, is_bounded), (expected, _)) in exact.iter().zip(&expected) {
        assert!(!is_bounded);
        assert_eq!(found.len(), SHOWN);
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 1e-5, "{found:?}, {expected:?}");
        }
    }

    let few = SearchTableLimits { max_exact: 100, horizon: 200, ..limits };
    let service = service.again(with(few)).await;
    let bounded = all_nearest(&service, &anchors).await;
    assert!(bounded.iter().all(|(_, is_bounded)| *is_bounded));
    let recall = recall(&bounded, &expected);
    assert!(recall >= 0.98, "{recall}");
    let of_label = json!({"labels": {"op": "is", "value": ["group17"]}});
    let group = vql(&json!([similar(&ids[0].to_string()), of_label]));
    let (of_group, is_bounded) = nearest(&service, &group).await;
    assert_eq!((of_group.len(), is_bounded), (SHOWN, false), "filters leave few");
    let pages = service.clusters(&format!("threshold=0&{}&page_number=2", anchors[0])).await;
    assert_eq!(pages.len(), 0, "the horizon ends after two pages");
}

#[tokio::test]
async fn operations_replace_what_searches_see() {
    let place = Place::new(&pictures(12));
    if !has_vectors(&place) {
        return;
    }
    let service = Service::at_with(place, with(limits())).await;
    let number = "SELECT max(number) FROM search_table";
    let number = |place: &Place| place.row(number, |row| row.get::<i64>(0));
    let first = number(&service.place);
    let members = |place: &Place| {
        let table = format!("search_{}", number(place));
        (
            place.count(&table),
            place.row("SELECT members FROM search_table", |row| row.get::<i64>(0)),
        )
    };
    assert_eq!(members(&service.place), (12, 12));
    let anchor = similar_to(&service.media("p001.png").await);

    service.added(uploads(12..16)).await;
    assert_eq!((number(&service.place), members(&service.place)), (first, (16, 16)), "it grew");
    assert_eq!(service.names(&anchor).await.len(), 16);

    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    assert!(number(&service.place) > first);
    assert_eq!((service.place.count("search_table"), members(&service.place)), (1, (16, 16)));
    let gone = format!(
        "pg_class WHERE relname = 'search_{first}' AND relnamespace = current_schema()::regnamespace"
    );
    assert_eq!(service.place.count(&gone), 0, "tables end with their generation");

    // An indexing task that did not end leaves rows behind that no search sees.
    let table = format!("search_{}", number(&service.place));
    service
        .place
        .change(&format!("UPDATE {table} SET version = 2 WHERE kind = 0 AND media % 2 = 0"));
    assert!(service.names(&anchor).await.len() < 16);
    service.added(uploads(16..18)).await;
    assert_eq!(
        usize::try_from(members(&service.place).0).unwrap(),
        service.names(&anchor).await.len()
    );

    std::fs::remove_file(service.place.picture("p003.png")).unwrap();
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    let names = service.names(&anchor).await;
    assert_eq!((names.len(), members(&service.place)), (17, (17, 17)));
    assert!(!names.contains(&"p003.png".to_owned()));
}

#[tokio::test]
async fn searches_see_one_generation_while_an_operation_ends() {
    let place = Place::new(&pictures(12));
    if !has_vectors(&place) {
        return;
    }
    let service = Service::at_with(place, with(limits())).await;
    let anchor = similar_to(&service.media("p001.png").await);
    let mut counts = BTreeSet::new();
    for last in [14, 16, 18] {
        assert_eq!(service.add(uploads(last - 2..last)).await.0, 202);
        while service.record().await["status_new"] == "READ ONLY" {
            counts.insert(service.names(&anchor).await.len());
        }
        counts.insert(service.names(&anchor).await.len());
        assert_eq!(service.reindex().await.0, 202);
        while service.record().await["status_new"] != "READY" {
            counts.insert(service.names(&anchor).await.len());
        }
    }
    assert!(counts.is_subset(&[12, 14, 16, 18].into()), "{counts:?}");
    assert!(counts.contains(&18), "{counts:?}");
}

#[test]
fn a_long_statement_ends_with_its_task() {
    let place = Place::new(&[]);
    if place.store.address().is_none() {
        return;
    }
    let database = place.database();
    let stopped = database.execute_batch_until("SELECT pg_sleep(600)", &AtomicBool::new(true));
    assert!(matches!(stopped, Err(QueryError::Stopped)), "{stopped:?}");
    database.execute_batch_until("SELECT 1", &AtomicBool::new(false)).unwrap();
}
