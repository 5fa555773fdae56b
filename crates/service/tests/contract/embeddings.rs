//! Embeddings that were computed elsewhere: they rank look-alikes, cluster and choose diverse media in the place of a
//! model, survive whatever happens to the dataset, and go out as they came in.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_model::{ClusterId, Coverage, DatasetId, EntityType, MediaId, Search, SelectionItem};
use tessera_service::DeploymentSettings;
use tessera_testing::tiny_model::ModelFolder;
use tessera_wire::vql;
use uuid::Uuid;

use crate::{
    change::uploads,
    support::{Place, Service, picture, pictures},
    user_model::{with_model, without_model},
};

/// Writes an array of `NumPy` with the list of its names, and returns the array.
fn write_array(folder: &TempDir, rows: &[(&str, &[f32])]) -> PathBuf {
    let dimension = rows[0].1.len();
    let count = rows.len();
    let text =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, {dimension}), }}\n");
    let length = u16::try_from(text.len()).unwrap().to_le_bytes();
    let mut bytes = [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat();
    bytes.extend(rows.iter().flat_map(|(_, row)| row.iter()).flat_map(|it| it.to_le_bytes()));
    let array = folder.path().join("embeddings.npy");
    fs::write(&array, bytes).unwrap();
    let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    fs::write(array.with_extension("txt"), names.join("\n")).unwrap();
    array
}

fn place(count: u32) -> Place {
    Place::new(&pictures(count)).with_store_file()
}

const EAST: &[f32] = &[3.0, 0.0, 0.1];
const NORTH: &[f32] = &[0.0, 3.0, 0.1];
/// Embeddings by which four pictures are two pairs: `p000.png` and the one that looks least like it, and the others.
fn pairs(similar: &[String]) -> Vec<(&str, &[f32])> {
    let [first, near, far, last] = similar else { panic!("{similar:?}") };
    vec![(first, EAST), (near, NORTH), (far, NORTH), (last, EAST)]
}

async fn import(service: &Service, array: &Path) -> Coverage {
    let imported = service.deployment.import_embeddings(service.dataset, array, None, false);
    service.deployment.wait_until_idle().await;
    imported.unwrap().coverage
}

/// The names of the pictures in the order in which they are similar to `p000.png`.
async fn neighbors(service: &Service) -> Vec<String> {
    let media = service.media("p000.png").await;
    service.names(&format!("anchor_type=MEDIA&anchor_media_id={media}")).await
}

async fn listed(service: &Service) -> Value {
    let context = format!("/api/v1/enrichment/{}/context", service.dataset);
    let body = service.good(&context).await;
    body["dataset_enrichment_models"]["enrichment_models"]["IMAGE_ENCODING"].clone()
}

#[tokio::test]
async fn imported_embeddings_rank_cluster_and_survive() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::at(place(4), true).await;
    let by_descriptor = neighbors(&service).await;
    let (near, last) = (&by_descriptor[1], &by_descriptor[3]);
    let array = write_array(&folder, &pairs(&by_descriptor));
    assert_eq!(import(&service, &array).await, Coverage { covered: 4, all: 4 });
    assert_eq!(neighbors(&service).await[..2], ["p000.png", last]);
    let model = listed(&service).await;
    assert_eq!(model["id"], "imported-embeddings");
    let (name, covered) = (&model["metadata"]["name"], &model["metadata"]["covered_media"]);
    assert_eq!((name, covered), (&json!("embeddings.npy"), &json!(4)));
    let clusters = service.clusters("threshold=1").await;
    let names = |cluster: &Value| cluster["previews"].to_string();
    let pair = clusters.iter().map(names).find(|names| names.contains("p000.png")).unwrap();
    assert!(pair.contains(last) && !pair.contains(near), "{pair}");
    // A reindex, a restart without a model, and new and changed pictures.
    service.added(uploads(13..14)).await;
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    assert_eq!(neighbors(&service).await[..2], ["p000.png", last]);
    let service = Service::at_with(service.stop().await, without_model()).await;
    assert_eq!(service.place.count("model_vector"), 4);
    assert_eq!(neighbors(&service).await[..2], ["p000.png", last]);
    service.place.put(near, &picture(9));
    let service = Service::at(service.stop().await, true).await;
    let similar = neighbors(&service).await;
    assert!(similar.iter().take(3).any(|name| name == last), "{similar:?}");
    let metadata = listed(&service).await["metadata"].clone();
    assert_eq!((&metadata["covered_media"], &metadata["all_media"]), (&json!(3), &json!(5)));
    assert_eq!(service.deployment.remove_embeddings(service.dataset).unwrap(), "embeddings.npy");
    service.deployment.wait_until_idle().await;
    assert_eq!(listed(&service).await, Value::Null);
    assert_eq!(service.place.count("model_vector"), 0);
    assert!(service.deployment.remove_embeddings(service.dataset).is_err());
}

#[tokio::test]
async fn embeddings_and_a_model_replace_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let model = ModelFolder::clip();
    let service = Service::at_with(place(4), with_model(&model)).await;
    let by_descriptor = neighbors(&service).await;
    let array = write_array(&folder, &pairs(&by_descriptor));
    let refused = service.deployment.import_embeddings(service.dataset, &array, None, false);
    assert!(refused.unwrap_err().to_string().contains("tessera config unset model"));
    let service = Service::at_with(service.stop().await, DeploymentSettings::default()).await;
    import(&service, &array).await;
    assert_eq!(neighbors(&service).await[1], by_descriptor[3]);
    assert!(service.clusters("caption=xylophone").await.is_empty(), "no text encoder is left");
    let other =
        write_array(&folder, &[("p000.png", &[1.0, 0.0]), (&by_descriptor[2], &[1.0, 0.1])]);
    assert_eq!(import(&service, &other).await.covered, 2);
    assert_eq!(neighbors(&service).await[1], by_descriptor[2]);
    let service = Service::at_with(service.stop().await, with_model(&model)).await;
    assert_eq!(service.place.count("model_vector"), 4);
    assert_eq!(service.names("caption=red").await.len(), 4, "the model ranks every picture");
}

#[tokio::test]
async fn what_goes_out_comes_in_with_the_same_neighbors() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::at(place(4), true).await;
    let by_descriptor = neighbors(&service).await;
    let embeddings = write_array(&folder, &pairs(&by_descriptor));
    for (name, is_imported) in [("own.npy", false), ("own.parquet", false), ("other.parquet", true)]
    {
        if is_imported {
            import(&service, &embeddings).await;
        }
        let target = folder.path().join(name);
        let exported = service.deployment.export_embeddings(service.dataset, &target).unwrap();
        assert_eq!(exported.model.as_deref(), is_imported.then_some("embeddings.npy"));
        assert_eq!(exported.coverage, Coverage { covered: 4, all: 4 });
        let again = service.deployment.export_embeddings(service.dataset, &target);
        assert!(again.unwrap_err().to_string().contains("already exists"));
        // The other dataset has the same pictures in another folder, and in other spellings.
        let files: Vec<(String, Vec<u8>)> =
            (0..4).map(|number| (format!("Elsewhere/P00{number}.PNG"), picture(number))).collect();
        let files: Vec<_> = files.iter().map(|(name, bytes)| (&**name, bytes.clone())).collect();
        let elsewhere = Service::at(Place::new(&files).with_store_file(), true).await;
        import(&elsewhere, &target).await;
        let media = elsewhere.media("P000.PNG").await;
        let found = elsewhere.names(&format!("anchor_type=MEDIA&anchor_media_id={media}")).await;
        let found: Vec<String> = found.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(found, neighbors(&service).await, "{name}");
    }
    assert_ne!(neighbors(&service).await, by_descriptor);
}

#[tokio::test]
async fn rows_that_do_not_fit_are_left_out_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.png", "train/b.png", "val/b.png", "caf\u{e9}.png", "d.png"];
    let files: Vec<_> = (0..).zip(files).map(|(number, name)| (name, picture(number))).collect();
    let service = Service::at(Place::new(&files).with_store_file(), true).await;
    let (deployment, dataset) = (&service.deployment, service.dataset);
    let array = write_array(
        &folder,
        &[
            ("a.png", &[f32::NAN, 1.0]),
            ("a.png", &[0.0, 0.0]),
            ("b.png", EAST[..2].into()),
            ("/data/train/b.png", &[1.0, 2.0]),
            ("B.PNG", &[1.0, 2.0]),
            ("cafe\u{301}.png", &[1.0, 2.0]),
            ("Café.png", &[5.0, 2.0]),
            ("missing.png", &[1.0, 2.0]),
        ],
    );
    let checked = deployment.import_embeddings(dataset, &array, None, true).unwrap();
    assert_eq!(service.place.count("model_vector"), 0, "a dry run changes nothing");
    let imported = deployment.import_embeddings(dataset, &array, None, false).unwrap();
    assert_eq!(checked, imported);
    assert_eq!((imported.coverage, imported.refused), (Coverage { covered: 2, all: 5 }, 6));
    let [nan, zero, several] = &imported.examples[..] else { panic!("{:?}", imported.examples) };
    assert!(nan.contains("row 1 (a.png): it has a number that is not finite"), "{nan}");
    assert!(zero.contains("row 2 (a.png): all its numbers are zero"), "{zero}");
    assert!(several.contains("train/b.png and val/b.png"), "{several}");
    // Nothing is replaced by a file without any embedding of this dataset.
    service.deployment.wait_until_idle().await;
    let array = write_array(&folder, &[("missing.png", &[1.0])]);
    let refused = deployment.import_embeddings(dataset, &array, None, false).unwrap_err();
    assert!(refused.to_string().contains("for example row 1 (missing.png)"), "{refused}");
    fs::write(array.with_extension("txt"), "a.png\nd.png").unwrap();
    let refused = deployment.import_embeddings(dataset, &array, None, false).unwrap_err();
    assert!(refused.to_string().contains("has 2 names"), "{refused}");
    assert_eq!(service.place.count("model_vector"), 2);
}

#[tokio::test]
async fn diverse_media_are_chosen_by_imported_embeddings() {
    let folder = tempfile::tempdir().unwrap();
    let array = write_array(
        &folder,
        &[("p000.png", EAST), ("p001.png", EAST), ("p002.png", EAST), ("p003.png", NORTH)],
    );
    let service = Service::at(place(4), true).await;
    import(&service, &array).await;
    let chosen = service.deployment.diverse_media(service.dataset, None, 2).unwrap();
    assert_eq!(chosen[1].1, Path::new("p003.png"), "{chosen:?}");
    let whole = Search::browse(service.dataset);
    assert_eq!(service.deployment.diverse_media_found(&whole, 2).unwrap(), chosen);
    let filters = vql::read(r#"[{"path": {"op": "is_not", "value": "p003.png"}}]"#).unwrap();
    let found = Search { filters, ..whole };
    let chosen = service.deployment.diverse_media_found(&found, 9).unwrap();
    let files: BTreeSet<&Path> = chosen.iter().map(|(_, file)| file.as_path()).collect();
    assert_eq!(files, ["p000.png", "p001.png", "p002.png"].map(Path::new).into());
    let unknown = Search::browse(DatasetId(Uuid::nil()));
    assert!(service.deployment.diverse_media_found(&unknown, 2).is_err());
}

#[tokio::test]
async fn the_rest_of_a_search_has_what_is_not_selected_even_without_a_preview() {
    let service = Service::at(place(12), true).await;
    let whole = Search::browse(service.dataset);
    let files = |media: &[(MediaId, PathBuf)]| -> BTreeSet<PathBuf> {
        media.iter().map(|(_, file)| file.clone()).collect()
    };
    let all = service.deployment.rest_of_search(&whole, &[]).unwrap();
    assert_eq!(all.len(), 12);
    let (kept, others) = all.split_at(5);
    let kept = SelectionItem::Media(kept.iter().map(|(media, _)| *media).collect());
    let rest = service.deployment.rest_of_search(&whole, &[kept]).unwrap();
    assert_eq!(files(&rest), files(others));
    let clusters = service.clusters("threshold=0").await;
    let cluster = SelectionItem::Cluster {
        cluster: ClusterId(clusters[0]["cluster_id"].as_str().unwrap().parse().unwrap()),
        entity: EntityType::Images,
        filters: Vec::new(),
        exclude: Vec::new(),
    };
    let rest = service.deployment.rest_of_search(&whole, std::slice::from_ref(&cluster)).unwrap();
    let filters = vql::read(r#"[{"path": {"op": "is_not", "value": "p003.png"}}]"#).unwrap();
    let found = Search { filters, ..whole };
    let narrower = service.deployment.rest_of_search(&found, &[cluster]).unwrap();
    let mut expected = files(&rest);
    expected.remove(Path::new("p003.png"));
    assert_eq!(files(&narrower), expected);
}
