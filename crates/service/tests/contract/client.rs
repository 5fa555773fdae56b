//! Our own client against the local deployment: tasks from start to end.

use tessera_client::{AuthMethod, BaseUrl, Client, Credentials, ExistingFile, ServiceConfig};
use tessera_model::{
    ArchiveName, EnrichmentModel, ExportFormat, ExportSpec, ExportState, MediaAddition,
    MediaSource, ModelStatus, Search, SelectionItem, Status,
};

use crate::{
    change::new,
    support::{Place, Service, pictures},
};

fn client(service: &Service) -> Client {
    let credentials = Credentials {
        api_key: service.credentials.api_key.clone(),
        api_secret: service.credentials.api_secret.clone(),
    };
    let url = BaseUrl::parse(&service.url("")).unwrap();
    Client::new(ServiceConfig::new(url, AuthMethod::Hosted(credentials)).unwrap()).unwrap()
}

#[tokio::test]
async fn files_are_added_and_clustered_by_our_own_client() {
    let service = Service::of_pictures().await;
    let client = client(&service);
    let before = client.dataset(service.dataset).await.unwrap().n_images.unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in new(12..15) {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("broken.png"), "no picture").unwrap();
    let addition = MediaAddition::new(MediaSource::Files(vec![folder.path().to_owned()]));
    let mut reports = Vec::new();
    let mut report = |done, total| reports.push((done, total));
    client.add_media(service.dataset, &addition, &mut report).await.unwrap();
    assert!(reports.is_sorted() && reports.iter().all(|(_, total)| total.is_some()));
    service.deployment.wait_until_idle().await;
    let record = client.dataset(service.dataset).await.unwrap();
    assert_eq!((record.status, record.n_images), (Status::PartialIndex, Some(before + 3)));

    client.reindex(service.dataset).await.unwrap();
    service.deployment.wait_until_idle().await;
    assert_eq!(client.dataset(service.dataset).await.unwrap().status, Status::Ready);
    let refused = client.reindex(service.dataset).await.unwrap_err();
    assert!(refused.to_string().contains("409"), "{refused}");
}

#[tokio::test]
async fn a_selection_is_exported_downloaded_and_inspected() {
    let service = Service::of_pictures().await;
    let client = client(&service);
    let page = client.explore(&Search::browse(service.dataset)).await.unwrap();
    let media = page.clusters[0].previews[0].media;
    let items = vec![SelectionItem::Media(vec![media])].into();
    for format in [ExportFormat::Json, ExportFormat::Parquet] {
        let started =
            client.start_selective_export(service.dataset, format, true, &items).await.unwrap();
        service.deployment.wait_until_idle().await;
        let task = client.export_status(service.dataset, started.id).await.unwrap();
        assert_eq!(task.state, ExportState::Completed);
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.zip");
        let mut report = |_, _| {};
        client
            .download(service.dataset, task.id, &target, ExistingFile::Keep, &mut report)
            .await
            .unwrap();
        let found = tessera_client::inspect_archive(&target).unwrap();
        assert_eq!((found.rows, found.images, found.unscored), (1, 1, 0), "{format:?}");
        assert_eq!((found.rows_without_file.count, found.files_without_row.count), (0, 0));
        assert_eq!(found.uniqueness.iter().sum::<u64>(), 1);
    }
}

#[tokio::test]
async fn an_archive_is_downloaded_by_its_relative_link() {
    let service = Service::compatible(Place::new(&pictures(4)), true, false).await;
    let url = BaseUrl::parse(&service.url("")).unwrap();
    let client = Client::new(ServiceConfig::new(url, AuthMethod::OnPremises).unwrap()).unwrap();
    let spec = ExportSpec {
        file_name: ArchiveName::new("all"),
        format: ExportFormat::Json,
        include_images: true,
    };
    let started = client.start_export(service.dataset, &spec).await.unwrap();
    service.deployment.wait_until_idle().await;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("all.zip");
    client
        .download(service.dataset, started.id, &target, ExistingFile::Keep, &mut |_, _| {})
        .await
        .unwrap();
    let found = tessera_client::inspect_archive(&target).unwrap();
    assert_eq!((found.rows, found.images), (4, 4));
}

#[tokio::test]
async fn the_whole_record_and_the_enrichments_are_read() {
    let service = Service::of_pictures().await;
    let client = client(&service);
    let fields = client.dataset_fields(service.dataset).await.unwrap();
    let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
    assert!(names.starts_with(&["id", "display_name", "status_new"]), "{names:?}");
    assert!(names.contains(&"source_type"), "{names:?}");
    let enrichment = client.enrichment(service.dataset).await.unwrap();
    assert_eq!(enrichment.status_of(EnrichmentModel::CaptionImages), ModelStatus::NotApplied);
}
