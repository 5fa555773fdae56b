//! Managing datasets below `/local`: removing, renaming and rescanning them, cancelling their indexing, patterns, and
//! folders that are missing.

use std::{fs, path::Path, time::Duration};

use reqwest::{
    StatusCode,
    multipart::{Form, Part},
};
use serde_json::{Value, json};
use tessera_service::{Deployment, DeploymentSettings};

use crate::support::{Place, Service, answer, assert_no_path, encoded, picture, pictures};

impl Service {
    fn local(&self, rest: &str) -> String {
        format!("/local/dataset/{}{rest}", self.dataset)
    }

    pub(crate) async fn manage(&self, change: &str) -> (StatusCode, Value) {
        answer(self.post(&self.local(change))).await
    }

    async fn rename(&self, body: Value) -> (StatusCode, Value) {
        answer(self.post(&self.local("/rename")).json(&body)).await
    }

    async fn rescan(&self) -> Value {
        let (status, body) = self.manage("/rescan").await;
        assert_eq!(status, 200, "{body}");
        self.deployment.wait_until_indexed(self.dataset).await.unwrap();
        body
    }

    async fn upload(&self, name: &str) {
        let part = Part::bytes(picture(9)).file_name(name.to_owned());
        let form = Form::new().text("auto_reindex", "true").part("files", part);
        let sent = self.post(&self.of_dataset("/add_media")).multipart(form);
        assert_eq!(sent.send().await.unwrap().status(), 202);
        self.deployment.wait_until_indexed(self.dataset).await.unwrap();
    }
}

fn files(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.pictures.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn removing_keeps_the_originals_and_the_uploads() {
    let service = Service::of_pictures().await;
    service.upload("added.png").await;
    let before = files(&service.place);
    assert_eq!(service.good(&service.local("")).await["uploads"], 1);
    assert_eq!(service.manage("/remove").await, (StatusCode::OK, json!({"uploads": 1})));
    assert_eq!(service.good("/api/v1/datasets").await, json!([]));
    assert_eq!(service.json(&service.of_dataset("")).await.0, 404);
    assert_eq!(service.json(&service.explore("threshold=0")).await.0, 404);
    for table in
        ["media", "cluster", "source", "picture_features", "thumbnail", "export", "skipped"]
    {
        assert_eq!(service.place.count(table), 0, "{table}");
    }
    assert_eq!(files(&service.place), before);
    let (id, again) = (service.dataset, service.place.add(&service.deployment));
    assert_eq!(again, id, "the same folder is the same dataset");
    service.deployment.wait_until_indexed(id).await.unwrap();
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!(record["n_images"], 13, "the upload came back: {record}");
}

#[tokio::test]
async fn uploads_of_a_removed_dataset_survive_a_restart() {
    let service = Service::of_pictures().await;
    service.upload("added.png").await;
    assert_eq!(service.manage("/remove").await.0, 200);
    let place = service.stop().await;
    let deployment = place.open();
    assert_eq!(deployment.datasets().unwrap().len(), 0);
    let id = place.add(&deployment);
    deployment.wait_until_indexed(id).await.unwrap();
    assert_eq!(deployment.datasets().unwrap()[0].n_images, 13);
}

#[tokio::test]
async fn a_name_survives_a_restart() {
    let service = Service::of_pictures().await;
    let (status, record) =
        service.rename(json!({"display_name": " Holidays 2026 \u{1f30a} "})).await;
    assert_eq!(
        (status.as_u16(), &record["display_name"]),
        (200, &"Holidays 2026 \u{1f30a}".into())
    );
    assert_no_path(&record, &service.place);
    let place = service.stop().await;
    let deployment = place.open();
    let id = deployment.add_folder(place.pictures.path(), None).unwrap();
    assert_eq!(deployment.datasets().unwrap()[0].name, "Holidays 2026 \u{1f30a}");
    deployment.wait_until_indexed(id).await.unwrap();
}

#[tokio::test]
async fn wrong_names_are_refused() {
    let service = Service::of_pictures().await;
    for body in [
        json!({}),
        json!({"display_name": "  "}),
        json!({"display_name": "a\nb"}),
        json!({"display_name": 7}),
        json!({"display_name": "x".repeat(201)}),
        json!({"display_name": "x", "name": "y"}),
    ] {
        let (status, problem) = service.rename(body).await;
        assert_eq!(
            (status.as_u16(), &problem["detail"][0]["loc"][1]),
            (422, &"display_name".into())
        );
    }
    let (status, _) = answer(service.post(&service.local("/rename")).body("name")).await;
    assert_eq!(status, 422, "a page of another site can send text");
    assert_eq!(service.good(&service.of_dataset("")).await["display_name"], "demo");
}

#[tokio::test]
async fn a_rescan_finds_added_changed_and_removed_files() {
    let service = Service::of_pictures().await;
    let nothing = json!({"added": 0, "changed": 0, "removed": 0, "indexing": false});
    assert_eq!(service.rescan().await, nothing);
    service.place.put("new/a.png", &picture(21));
    service.place.put("new/b.png", &picture(22));
    let larger = image::RgbImage::new(200, 100);
    service.place.put("p000.png", &encoded(&larger, image::ImageFormat::Png));
    for gone in ["p001.png", "p002.png", "p003.png"] {
        fs::remove_file(service.place.picture(gone)).unwrap();
    }
    let found = json!({"added": 2, "changed": 1, "removed": 3, "indexing": true});
    assert_eq!(service.rescan().await, found);
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&"READY".into(), &11.into()));
    let names = service.names("").await;
    assert!(names.contains(&"a.png".to_owned()) && !names.contains(&"p001.png".to_owned()));
    assert_eq!(service.rescan().await, nothing);
}

#[tokio::test]
async fn patterns_apply_at_the_next_rescan() {
    let service = Service::of_pictures().await;
    service.place.put("drafts/a.png", &picture(21));
    service.place.put(
        ".tessera.toml",
        b"[folder]\ninclude = ['*.png']\nexclude = ['drafts/', 'p00[0-3].png']\n",
    );
    service.place.put("b.jpg", &encoded(&image::RgbImage::new(9, 9), image::ImageFormat::Jpeg));
    let rescan = service.rescan().await;
    assert_eq!(rescan, json!({"added": 0, "changed": 0, "removed": 4, "indexing": true}));
    assert_eq!(service.good(&service.of_dataset("")).await["n_images"], 8);
    let local = service.good(&service.local("")).await;
    assert_eq!(
        local,
        json!({"folder_missing": false, "uploads": 0, "excluded": 6, "patterns": no_patterns(),
               "encoding": null})
    );
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let folder = skipped.iter().find(|it| it.file.as_str() == "drafts").unwrap();
    assert_eq!(folder.reason.as_str(), "excluded by a pattern");
    fs::remove_file(service.place.picture(".tessera.toml")).unwrap();
    assert_eq!(service.rescan().await["added"], 6);
    assert_eq!(service.good(&service.of_dataset("")).await["n_images"], 14);
}

#[tokio::test]
async fn chosen_patterns_are_kept_until_others_replace_them() {
    let service = Service::of_pictures().await;
    let rescan = async |body: Value| {
        let answered = answer(service.post(&service.local("/rescan")).json(&body)).await;
        service.deployment.wait_until_indexed(service.dataset).await.unwrap();
        answered
    };
    service.place.put(".tessera.toml", b"[folder]\nexclude = ['p00[0-3].png']\n");
    let chosen = json!({"include": ["p0*.png"], "exclude": ["!p000.png", "p011.png"]});
    let (status, found) = rescan(chosen.clone()).await;
    assert_eq!((status.as_u16(), &found["removed"]), (200, &4.into()), "{found}");
    assert_eq!(service.good(&service.local("")).await["patterns"], chosen);
    assert_eq!(service.rescan().await["indexing"], false, "they are kept");
    assert_eq!(service.place.add(&service.place.open()), service.dataset);
    assert_eq!(service.good(&service.of_dataset("")).await["n_images"], 8);
    let (_, found) = rescan(no_patterns()).await;
    assert_eq!((&found["added"], &found["removed"]), (&1.into(), &1.into()), "{found}");
    for (wrong, words) in [
        (json!({"exclude": ["[z-a]"]}), "the pattern \"[z-a]\" is wrong"),
        (json!({"exclude": "a"}), "Input should be"),
        (json!({"excluded": []}), "Input should be"),
    ] {
        let (status, problem) = rescan(wrong).await;
        assert_eq!(status.as_u16(), 422, "{problem}");
        assert!(problem.to_string().contains(&words.replace('"', "\\\"")), "{problem}");
        assert_eq!(service.good(&service.local("")).await["patterns"], no_patterns());
    }
}

#[tokio::test]
async fn patterns_that_leave_no_picture_are_named() {
    let service = Service::of_pictures().await;
    let wrong = json!({"include": ["./scans/"]});
    answer(service.post(&service.local("/rescan")).json(&wrong)).await;
    service.deployment.wait_until_idle().await;
    let record = service.good(&service.of_dataset("")).await;
    let expected = "patterns leave no picture of its folder: they exclude p000.png; rescan it with --all-files or with \
                    other patterns";
    assert_eq!(
        (&record["status_new"], &record["fatal_error_msg"]),
        (&"ERROR".into(), &expected.into())
    );
    let opened =
        |folder: &Path| service.place.open().add_folder(folder, None).unwrap_err().to_string();
    let error = opened(service.place.pictures.path());
    assert!(error.contains("they exclude p000.png; open it once with --all-files"), "{error}");
    let hidden = tempfile::tempdir().unwrap();
    fs::write(hidden.path().join(".a.png"), picture(1)).unwrap();
    let error = opened(hidden.path());
    assert!(error.contains("only what is never read, for example .a.png (hidden)"), "{error}");
}

fn no_patterns() -> Value {
    json!({"include": [], "exclude": []})
}

#[tokio::test]
async fn wrong_patterns_are_reported_and_change_nothing() {
    let service = Service::of_pictures().await;
    service.place.put(".tessera.toml", b"[folder]\nexclude = 'p*'\n");
    let (status, problem) = service.manage("/rescan").await;
    let detail = problem["detail"].as_str().unwrap();
    assert_eq!(status, 409, "{detail}");
    assert!(detail.starts_with(".tessera.toml, line 2: invalid type"), "{detail}");
    let error = service.place.open().add_folder(service.place.pictures.path(), None).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&"READY".into(), &12.into()));
}

#[tokio::test]
async fn a_cancelled_indexing_stops_and_a_rescan_continues_it() {
    let service = Service::of_pictures().await;
    let (status, problem) = service.manage("/cancel").await;
    assert_eq!(status, 409, "{problem}");
    let simulated_delay = Duration::from_secs(20);
    let settings = DeploymentSettings { simulated_delay, ..DeploymentSettings::default() };
    let service = service.again(settings).await;
    service.place.put("new.png", &picture(30));
    assert_eq!(service.manage("/rescan").await.0, 200);
    let (status, record) = service.manage("/cancel").await;
    assert_eq!((status.as_u16(), &record["status_new"]), (200, &"ERROR".into()), "{record}");
    service.deployment.wait_until_idle().await;
    let record = service.good(&service.of_dataset("")).await;
    assert!(record.to_string().contains("The indexing was cancelled"), "{record}");
    assert_eq!(service.manage("/cancel").await.0, 409, "nothing is running");
    let service = service.again(DeploymentSettings::default()).await;
    service.rescan().await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&"READY".into(), &13.into()));
}

#[tokio::test]
async fn a_cancelled_export_writes_nothing_and_makes_room_for_the_next() {
    let simulated_delay = Duration::from_secs(20);
    let settings = DeploymentSettings { simulated_delay, ..DeploymentSettings::default() };
    let service = Service::of_pictures().await.again(settings).await;
    let start = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let (running, queued) = (service.good(&start).await, service.good(&start).await);
    let of = |export: &Value| format!("?export_task_id={}", export["id"].as_str().unwrap());
    let cancel = |export: &Value| format!("/cancel_export{}", of(export));
    for export in [&running, &queued] {
        let (status, cancelled) = service.manage(&cancel(export)).await;
        assert_eq!((status.as_u16(), &cancelled["status"]), (200, &"FAILED".into()), "{cancelled}");
        assert_eq!(cancelled["result_message"], "the export was cancelled");
    }
    // Both tasks would take 20 seconds.
    tokio::time::timeout(simulated_delay / 2, service.deployment.wait_until_idle()).await.unwrap();
    let known = service.good(&service.of_dataset(&format!("/export_status{}", of(&running)))).await;
    assert_eq!((&known["status"], &known["download_uri"]), (&"FAILED".into(), &Value::Null));
    assert_eq!(fs::read_dir(service.place.data.path().join("exports")).unwrap().count(), 0);
    assert_eq!(service.manage(&cancel(&running)).await.0, 409, "it has ended");
    let nobody = "/cancel_export?export_task_id=9fdce12a-9708-5ff1-9f0f-28d2eab0c471";
    assert_eq!(service.manage(nobody).await.0, 404);
    assert_eq!(service.manage("/cancel_export").await.0, 422);
}

#[tokio::test]
async fn a_missing_folder_is_shown_and_comes_back() {
    let service = Service::of_pictures().await;
    let available = service.good(&service.of_dataset("")).await;
    assert_eq!(available.get("folder_missing"), None, "a record has only what the document names");
    let names = service.names("").await;
    let (folder, away) = (service.place.pictures.path(), service.place.data.path().join("away"));
    fs::rename(folder, &away).unwrap();
    for stray in [None, Some(".DS_Store"), Some("notes.txt")] {
        let record = service.good(&service.of_dataset("")).await;
        assert_eq!((&record["folder_missing"], &record["n_images"]), (&true.into(), &12.into()));
        assert_eq!(service.good("/api/v1/datasets").await[0], record);
        let (status, problem) = service.manage("/rescan").await;
        assert_eq!(status, 409);
        assert!(problem["detail"].as_str().unwrap().contains("Its index is kept"), "{problem}");
        assert_no_path(&problem, &service.place);
        assert_eq!(service.place.add(&service.deployment), service.dataset, "it can be opened");
        assert_eq!(service.names("").await, names, "the index can be read");
        // A mount point is empty, and then contains a file that is not of the dataset.
        fs::create_dir_all(folder).unwrap();
        if let Some(name) = stray {
            fs::write(folder.join(name), "x").unwrap();
        }
    }
    let (status, problem) = service.manage("/rescan").await;
    assert_eq!(status, 409, "{problem}");
    fs::remove_dir_all(folder).unwrap();
    fs::rename(&away, folder).unwrap();
    assert_eq!(service.good(&service.of_dataset("")).await, available);
    assert_eq!(service.rescan().await["indexing"], false);
}

#[tokio::test]
async fn all_known_media_decide_whether_a_folder_is_missing_unless_their_rows_are_damaged() {
    let service = Service::at(Place::new(&pictures(2)).with_store_file(), true).await;
    // The first page of known files has no media.
    service.place.change(
        "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1000)
         INSERT INTO skipped SELECT source.row, CAST(printf('a%04d', n) AS BLOB), 1, 1, 'a text'
         FROM source, number",
    );
    let missing = async || {
        let mut record = service.good(&service.of_dataset("")).await;
        (record["folder_missing"].take(), record["n_images"].take())
    };
    assert_eq!(missing().await, (json!(null), json!(2)));
    for name in ["p000.png", "p001.png"] {
        fs::remove_file(service.place.picture(name)).unwrap();
    }
    service.place.put("notes.txt", b"-");
    assert_eq!(missing().await, (json!(true), json!(2)));
    // From now on, no row has its checksum.
    service.place.change(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, '(checksum = crc32', '(checksum <> crc32')
         WHERE name = 'media';
         PRAGMA schema_version = 1000000",
    );
    assert_eq!(missing().await, (json!(null), json!(2)));
}

#[tokio::test]
async fn a_missing_folder_does_not_empty_its_index_after_a_crash() {
    let place = Place::new(&pictures(4));
    let deployment = place.open();
    let id = place.add(&deployment);
    deployment.wait_until_indexed(id).await.unwrap();
    drop(deployment);
    for name in files(&place) {
        fs::remove_file(place.picture(&name)).unwrap();
    }
    place.change(
        "UPDATE dataset SET status = 'INDEXING';
         INSERT INTO indexing_task (dataset, kind, stage, reindex, created_at)
         SELECT id, 'DATASET_CREATION', 'RUNNING', false, 0 FROM dataset",
    );
    let deployment = place.open();
    deployment.wait_until_indexed(id).await.unwrap();
    let record = deployment.datasets().unwrap().remove(0);
    assert_eq!((record.status.as_str(), record.n_images), ("ERROR", 4));
    assert!(record.fatal_error.unwrap().contains("missing, unreadable or empty"));
}

fn body_of(operation: &str) -> Value {
    if operation == "rename" { json!({"display_name": "x"}) } else { no_patterns() }
}

#[tokio::test]
async fn nothing_is_managed_while_a_task_runs() {
    let service = Service::of_pictures().await;
    service.set_status("READ ONLY");
    // Another worker has the lease from the beginning, so this process never runs the task.
    service.place.change(
        "BEGIN;
         INSERT INTO indexing_task (dataset, kind, stage, reindex, created_at)
         SELECT id, 'REINDEX', 'RUNNING', false, 0 FROM dataset;
         INSERT INTO lease (task, holder, fence, expires_at)
         SELECT 'indexing/' || row, dataset, 1, 9223372036854775807 FROM indexing_task
         WHERE stage = 'RUNNING';
         COMMIT",
    );
    for operation in ["remove", "rescan", "rename"] {
        let request = service.post(&service.local(&format!("/{operation}")));
        let (status, problem) = answer(request.json(&body_of(operation))).await;
        let detail = format!("Operation '{operation}' is blocked while REINDEX task is running");
        assert_eq!((status.as_u16(), problem), (409, json!({"detail": detail})));
    }
}

#[tokio::test]
async fn nothing_is_managed_without_write_access_or_login() {
    let place = Place::new(&pictures(4));
    let settings = DeploymentSettings { write_access: false, ..DeploymentSettings::default() };
    let deployment: Deployment = place.open_with(settings);
    let dataset = place.add(&deployment);
    deployment.wait_until_indexed(dataset).await.unwrap();
    let service = Service::serve(place, deployment, dataset, true).await;
    for operation in ["remove", "rescan", "rename"] {
        let path = service.local(&format!("/{operation}"));
        let request = service.post(&path).json(&body_of(operation));
        let (status, problem) = answer(request).await;
        assert_eq!(status, 403, "{operation}: {problem}");
        let url = service.url(&path);
        assert_eq!(answer(service.client.post(url)).await.0, 401, "{operation}");
    }
    assert_eq!(service.json(&service.local("")).await.0, 200);
    let foreign =
        service.post(&service.local("/remove")).header("origin", "http://elsewhere.example");
    assert_eq!(answer(foreign).await.0, 403);
    assert_eq!(service.json("/api/v1/datasets").await.1.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn another_deployment_on_the_same_index_folder_sees_the_changes() {
    let service = Service::of_pictures().await;
    let other = service.place.open();
    let other = Service::serve(Place::new(&[]), other, service.dataset, true).await;
    assert_eq!(other.names("").await.len(), service.names("").await.len());
    assert_eq!(service.rename(json!({"display_name": "x"})).await.0, 200);
    assert_eq!(other.good(&other.of_dataset("")).await["display_name"], "x");
    assert_eq!(service.manage("/remove").await.0, 200);
    assert_eq!(
        other.json(&other.of_dataset("")).await,
        (StatusCode::NOT_FOUND, json!({"detail": "Dataset not found"}))
    );
    assert_eq!(other.json(&other.explore("threshold=0")).await.0, 404);
    assert_eq!(other.manage("/remove").await.0, 404);
    assert_eq!(other.good("/api/v1/datasets").await, json!([]));
}
