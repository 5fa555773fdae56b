//! Requests as the API document spells them.

use tessera_model::*;
use tessera_wire::endpoints::*;

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";

fn dataset_id() -> DatasetId {
    ID.parse().unwrap()
}

#[test]
fn every_path_is_the_one_of_the_interface() {
    let id = dataset_id();
    let of_dataset = |rest: &str| format!("/api/v1/dataset/{ID}{rest}");
    for (path, expected) in [
        (datasets(), "/api/v1/datasets".to_owned()),
        (api_credentials(), "/api/v1/api_credentials".to_owned()),
        (dataset(id), of_dataset("")),
        (explore(id), format!("/api/v1/explore/{ID}")),
        (search_image_similarity(id), of_dataset("/search-image-similarity")),
        (export_context_async(id), of_dataset("/export_context_async")),
        (export_entities_async(id), of_dataset("/export_entities_async")),
        (export_status(id), of_dataset("/export_status")),
        (reindex(id), of_dataset("/reindex")),
        (add_media(id), of_dataset("/add_media")),
        (enrichment_context(id), format!("/api/v1/enrichment/{ID}/context")),
        (exploration_metadata(id), format!("/api/v1/explore/{ID}/exploration_metadata")),
        (local_exploration_metadata(id), format!("/local/explore/{ID}/exploration_metadata")),
        (
            local_similarity_cluster(id, ID.parse().unwrap()),
            format!("/local/explore/{ID}/similarity_cluster/{ID}"),
        ),
        (
            similarity_cluster(id, ID.parse().unwrap()),
            format!("/api/v1/explore/{ID}/similarity_cluster/{ID}"),
        ),
    ] {
        assert_eq!(path, expected);
    }
}

#[test]
fn the_paths_of_local_services_are_beside_those_of_the_interface() {
    let id = dataset_id();
    for (path, last) in [
        (local_dataset(id), ""),
        (remove_dataset(id), "/remove"),
        (rename_dataset(id), "/rename"),
        (rescan(id), "/rescan"),
        (cancel_indexing(id), "/cancel"),
        (cancel_export(id), "/cancel_export"),
        (tags(id), "/tags"),
        (map(id), "/map"),
        (export_preview(id), "/export_preview"),
    ] {
        assert_eq!(path, format!("/local/dataset/{ID}{last}"));
    }
}

#[test]
fn what_changes_something_is_never_repeated() {
    use Endpoint::*;
    for endpoint in [StartExport, Reindex, AddMedia, ProcessMedia, ChangeTags, Credentials, Raw] {
        assert!(endpoint.retry_rule().has_side_effect(), "{endpoint:?}");
    }
    for endpoint in [Datasets, Explore, RegisterAnchor, ExportStatus, Map, Picture, Download] {
        assert!(!endpoint.retry_rule().has_side_effect(), "{endpoint:?}");
    }
}

#[test]
fn endpoints_differ_in_login_and_purpose() {
    use Endpoint::*;
    let endpoints = [
        Datasets,
        LocalDataset,
        RemoveDataset,
        RenameDataset,
        Rescan,
        CancelIndexing,
        Tags,
        AddMedia,
        ProcessMedia,
        Picture,
        Download,
    ];
    let those = |property: fn(Endpoint) -> bool| -> Vec<Endpoint> {
        endpoints.into_iter().filter(|endpoint| property(*endpoint)).collect()
    };
    let managing = [LocalDataset, RemoveDataset, RenameDataset, Rescan, CancelIndexing];
    assert_eq!(those(Endpoint::manages_local_dataset), managing);
    assert_eq!(those(Endpoint::adds_media), [AddMedia, ProcessMedia]);
    assert_eq!(those(Endpoint::uses_pipeline), [ProcessMedia]);
    assert_eq!(those(Endpoint::follows_link), [Picture, Download]);
}

/// The parameters as they are in a URL, not encoded.
fn query_of(parameters: &Parameters) -> String {
    let pairs: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

#[test]
fn a_search_sends_only_the_parameters_of_its_query() {
    let anchor = |kind| Query::Similar(Anchor { media: ID.parse().unwrap(), kind });
    let caption = |max_score: Option<f64>| Query::Caption {
        text: QueryText::new("red van").unwrap(),
        max_score: max_score.and_then(Fraction::new),
    };
    let filter = vec![Filter::uniqueness(0.5).unwrap()];
    for (query, filters, sent) in [
        (Query::Browse, vec![], String::new()),
        (
            Query::Browse,
            filter.clone(),
            r#"vql=[{"uniqueness":{"op":"uniqueness","value":0.5}}]&"#.to_owned(),
        ),
        (anchor(AnchorKind::Upload), vec![], format!("anchor_media_id={ID}&anchor_type=UPLOAD&")),
        (
            anchor(AnchorKind::Media),
            filter,
            format!(
                "anchor_media_id={ID}&anchor_type=MEDIA&\
                 vql=[{{\"uniqueness\":{{\"op\":\"uniqueness\",\"value\":0.5}}}}]&"
            ),
        ),
        (caption(None), vec![], "caption=red van&".to_owned()),
        (
            caption(Some(0.25)),
            vec![],
            "caption=red van&textual_similarity_threshold=0.25&".to_owned(),
        ),
    ] {
        let search = Search {
            query,
            filters,
            entity: EntityType::Objects,
            granularity: Granularity::new(4).unwrap(),
            order: None,
            page: 3,
            dataset: dataset_id(),
        };
        let always = "entity_type=OBJECTS&threshold=4&page_number=3";
        assert_eq!(query_of(&explore_parameters(&search)), format!("{sent}{always}"));
    }
    let order = Some("-date".parse().unwrap());
    let sorted = Search { order, ..Search::browse(dataset_id()) };
    let sent = "entity_type=IMAGES&threshold=2&sort=-date&page_number=0";
    assert_eq!(query_of(&explore_parameters(&sorted)), sent);
}

#[test]
fn only_an_export_of_a_whole_dataset_has_a_file_name() {
    for (format, include_images, sent) in [
        (ExportFormat::Json, true, "export_format=json&include_images=true"),
        (ExportFormat::Parquet, false, "export_format=parquet&include_images=false"),
    ] {
        let spec = ExportSpec { file_name: ArchiveName::new("vans"), format, include_images };
        assert_eq!(query_of(&export_parameters(&spec)), format!("file_name=vans.zip&{sent}"));
        assert_eq!(query_of(&selection_parameters(format, include_images)), sent);
    }
}
