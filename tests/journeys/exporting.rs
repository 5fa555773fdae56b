//! Tests the way from a selection, or from a whole dataset, to a verified archive on disk that contains exactly what was
//! selected.

use std::{collections::BTreeSet, fs::File, io::Read};

use tessera::{
    state::{StateFolder, save_selection},
    usecase::file_actions::selection_of_media,
    worker::WorkerOptions,
};
use tessera_interface::app::JobState;
use tessera_model::Search;

use crate::journeys::harness::{Service, UserHarness};

#[tokio::test(flavor = "multi_thread")]
async fn export_download_and_look_inside() {
    let service = Service::over_paintings(30).await;
    let mut user = UserHarness::at(&service).await;
    // The third field is the format. JSON is chosen, because the test can read it back.
    user.press("e tab tab left enter").await;
    user.follow_job(&service).await;
    user.sees("downloaded");
    user.sees("31 entries verified, including 30 images");

    let mut archive =
        zip::ZipArchive::new(File::open(service.folder.path().join("paintings.zip")).unwrap())
            .unwrap();
    let mut text = String::new();
    archive.by_name("metadata.json").unwrap().read_to_string(&mut text).unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let items = metadata["media_items"].as_array().unwrap();
    assert_eq!(items.len(), 30);
    assert_eq!(metadata["info"]["total_media_items"], 30);
    let named: BTreeSet<&str> =
        items.iter().map(|item| item["image_filename"].as_str().unwrap()).collect();
    for name in named {
        let mut bytes = Vec::new();
        archive.by_name(&format!("images/{name}")).unwrap().read_to_end(&mut bytes).unwrap();
        assert!(bytes.starts_with(&[0xFF, 0xD8]), "{name} is a whole JPEG");
    }
    for item in items {
        let score = item["uniqueness_score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_is_never_overwritten() {
    let service = Service::over_paintings(12).await;
    let mut user = UserHarness::at(&service).await;
    let target = service.folder.path().join("paintings.zip");
    std::fs::write(&target, "precious").unwrap();
    user.press("e enter").await;
    user.sees("already exists");
    assert!(user.session.app.jobs().iter().next().is_none(), "nothing was exported");
    std::fs::remove_file(&target).unwrap();
    user.press("enter").await;
    std::fs::write(&target, "precious").unwrap();
    user.follow_job(&service).await;
    user.sees("✖");
    assert_eq!(std::fs::read(&target).unwrap(), b"precious");
    let job = user.session.app.jobs().iter().next().unwrap();
    assert!(
        matches!(job.state(), JobState::ExportReady(_)),
        "it can still be fetched to another place"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_was_deleted_is_left_out_of_the_exported_selection() {
    let service = Service::over_noise(6).await;
    let mut user = UserHarness::with_worker(&service, service.local_worker()).await;
    let finder = service.local_worker().originals.unwrap();
    let all = finder.rest(&Search::browse(service.dataset), &[]).unwrap();
    let file = service.folder.path().join("all.json");
    save_selection(file.clone(), service.dataset, &selection_of_media(&all)).unwrap();
    std::fs::remove_file(&service.pictures()[0]).unwrap();
    service.client().rescan(service.dataset, None).await.unwrap();
    service.deployment.wait_until_idle().await;
    user.press("M o ctrl-u").await;
    user.paste(file.to_str().unwrap());
    user.press("enter E").await;
    user.sees("6 media items");
    user.press("tab tab tab left enter").await;
    user.follow_job(&service).await;
    user.sees("including 5 images");
}

// The test has one thread, so the worker does nothing until the end of the program waits for it.
#[tokio::test]
async fn tags_that_wait_for_another_change_are_saved_at_the_end() {
    let service = Service::over_paintings(4).await;
    let mut user = UserHarness::with_worker(&service, WorkerOptions::default()).await;
    user.press("2 ;").await;
    user.press_and_quit("p x").await;
    let tags = service.client().tags(service.dataset).await.unwrap().tags;
    let is_used: Vec<_> = tags.iter().map(|tag| (tag.name.as_str(), tag.count > 0)).collect();
    assert_eq!(is_used, [("picked", false), ("rejected", true)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn mark_clusters_leave_one_out_export_and_find_exactly_that() {
    let service = Service::over_paintings(40).await;
    let mut user = UserHarness::at(&service).await;
    // Each of the first two clusters has several pictures. One preview of the second cluster is
    // excluded.
    user.press("space l space enter l x esc").await;
    user.sees("selected 2 here");
    let selection =
        user.session.app.baskets().selection(user.session.app.results()).unwrap().clone();
    let totals = selection.totals();
    let left_out = user.session.app.results().preview().unwrap().file_name.clone();
    assert_eq!((totals.clusters, totals.excluded), (2, 1));
    let rows = usize::try_from(totals.export_rows()).unwrap();
    assert!(rows < 39, "not everything is marked");

    user.press("E").await;
    user.sees(&format!("2 clusters of {} members − 1 excluded: ≈{rows} rows", rows + 1));
    user.press("tab tab tab left enter").await;
    for _ in 0..20 {
        service.deployment.wait_until_idle().await;
        user.wait(2).await;
    }
    let job = user.session.app.jobs().iter().next_back().unwrap();
    assert!(matches!(job.state(), JobState::Downloaded(..)), "{}", user.screen());

    let path = service.folder.path().join("paintings selection.zip");
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let mut text = String::new();
    archive.by_name("metadata.json").unwrap().read_to_string(&mut text).unwrap();
    let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
    let items = metadata["media_items"].as_array().unwrap();
    assert_eq!(items.len(), rows, "as many rows as the form reported");
    assert_eq!(archive.len(), rows + 1, "a picture for each, and the metadata");
    let reported: BTreeSet<&str> =
        items.iter().map(|item| item["image_filename"].as_str().unwrap()).collect();
    assert_eq!(reported.len(), rows);
    assert!(!reported.contains(left_out.as_str()), "{left_out} was omitted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_is_saved_and_opened_again() {
    let service = Service::over_paintings(24).await;
    let mut user = UserHarness::at(&service).await;
    user.press("V u U M w enter").await;
    let marked = user.session.app.baskets().selection(user.session.app.results()).unwrap().clone();
    user.sees("saved the selection to");
    user.press("D").await;
    assert!(user.session.app.baskets().selection(user.session.app.results()).unwrap().is_empty());
    user.press("w").await;
    user.sees("nothing is selected");
    user.press("o enter").await;
    assert_eq!(user.session.app.baskets().selection(user.session.app.results()), Some(&marked));
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_of_a_local_service_behind_an_address_are_kept_by_the_service() {
    let service = Service::over_paintings(24).await;
    let folder = tempfile::tempdir().unwrap();
    let state = || StateFolder::in_dir(folder.path().to_owned());
    let mut user = UserHarness::keeping(&service, state()).await;
    user.press("; p").await;
    user.sees("picked: ");
    user.sees("✔");
    user.press("esc q").await;
    let tags = service.client().tags(service.dataset).await.unwrap().tags;
    let picked = tags.iter().find(|tag| tag.name.as_str() == "picked").unwrap();
    assert!(picked.count > 0);
    assert_eq!(state().load_named_selection("tag:picked", service.dataset).unwrap(), None);
    let mut user = UserHarness::keeping(&service, state()).await;
    user.sees("✔");
    user.press("; u").await;
    user.sees("no tag was changed since the start");
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_of_a_hosted_service_are_kept_on_this_machine_and_exported() {
    let service = Service::over_paintings(24).await.with_documented_operations().await;
    let folder = tempfile::tempdir().unwrap();
    let state = || StateFolder::in_dir(folder.path().to_owned());
    let mut user = UserHarness::keeping(&service, state()).await;
    user.press("; p").await;
    user.sees("tagged picked: 1 entry; on this machine, as the selection tag:picked");
    user.sees("✔");
    user.press("esc q").await;
    let picked = state().load_named_selection("tag:picked", service.dataset).unwrap().unwrap();
    assert_eq!(picked.totals().clusters, 1);

    let mut user = UserHarness::keeping(&service, state()).await;
    user.sees("✔");
    user.press("M o ctrl-u").await;
    user.paste("tag:picked");
    user.press("enter").await;
    user.sees("loaded 1 entry");
    user.press("E").await;
    user.sees("1 cluster of");
}
