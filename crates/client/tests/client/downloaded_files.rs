//! What a download leaves on disk: a verified archive, or nothing with its name.

use std::{fs, io::Write as _};

use tessera_model::FailureKind;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer, head};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::download_service::{DownloadFolder, archive, equal, fetches, serve, service};

#[tokio::test]
async fn an_archive_is_fetched_verified_and_renamed() {
    let bytes = archive();
    let stored = bytes.clone();
    let server = service(move |seen, _| serve(seen, &stored, "\"v1\"")).await;
    let downloads = DownloadFolder::new();
    let archive = downloads.download(&server).await.unwrap();
    assert_eq!((archive.entries, archive.images), (4, 3));
    assert!(equal(&downloads.target(), &bytes));
    assert_eq!(downloads.names(), ["x.zip"]);
    let fetch = &fetches(&server)[0];
    assert_eq!(fetch.header("authorization"), None);
    assert_eq!(fetch.header("accept-encoding"), Some("identity"));
    assert_eq!(fetch.header("range"), None);
}

#[tokio::test]
async fn a_damaged_archive_never_gets_the_final_name() {
    let bytes = archive();
    let torn = bytes[..bytes.len() - 30].to_vec();
    let cut = ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.path().ends_with("export_status") {
            return Reply::json(r#"{"status":"COMPLETED","download_uri":"/cdn/x.zip"}"#);
        }
        // Without a length, the end of the connection is the end of the file.
        Reply::raw([&head(200, &[]), torn.as_slice()].concat())
    })
    .await;
    let downloads = DownloadFolder::new();
    let failure = downloads.download(&cut).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unexpected);
    assert!(downloads.names().is_empty());

    for at in (0..bytes.len()).step_by(53) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let server = service(move |seen, _| serve(seen, &damaged, "\"v1\"")).await;
        let downloads = DownloadFolder::new();
        match downloads.download(&server).await {
            // A flip in a field that no checksum covers, such as a timestamp.
            Ok(archive) => assert_eq!(archive.entries, 4, "{at}"),
            Err(failure) => {
                assert!(failure.to_string().contains("damaged"), "{failure}");
                assert!(downloads.names().is_empty(), "{at}");
            }
        }
    }
}

#[tokio::test]
async fn archive_bombs_are_rejected() {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let name = "images/\u{1b}[2J.jpg";
    zip.start_file(name, SimpleFileOptions::default()).unwrap();
    zip.write_all(&vec![0; 80 << 20]).unwrap();
    let bomb = zip.finish().unwrap().into_inner();
    let server = service(move |seen, _| serve(seen, &bomb, "\"v1\"")).await;
    let downloads = DownloadFolder::new();
    let failure = downloads.download(&server).await.unwrap_err().to_string();
    assert!(failure.contains("compression limit") && !failure.contains('\u{1b}'), "{failure}");
    assert!(downloads.names().is_empty());
}

#[tokio::test]
async fn existing_files_and_other_downloads_are_left_alone() {
    let server = service(|_, _| Reply::disconnect()).await;
    let downloads = DownloadFolder::new();
    fs::write(downloads.target(), "mine").unwrap();
    let failure = downloads.download(&server).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Local);
    assert!(failure.to_string().contains("already exists"), "{failure}");
    assert!(equal(&downloads.target(), b"mine"));

    let downloads = DownloadFolder::new();
    let other = fs::File::create(downloads.part()).unwrap();
    other.lock().unwrap();
    let failure = downloads.download(&server).await.unwrap_err();
    assert!(failure.to_string().contains("another program"), "{failure}");

    let downloads = DownloadFolder::new();
    std::os::unix::fs::symlink("/dev/null", downloads.part()).unwrap();
    let failure = downloads.download(&server).await.unwrap_err();
    assert!(failure.to_string().contains("not a regular file"), "{failure}");

    let missing = DownloadFolder::new();
    fs::remove_dir(missing.folder.path()).unwrap();
    let failure = missing.download(&server).await.unwrap_err();
    assert!(failure.to_string().contains("Create the folder first"), "{failure}");
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_file_created_meanwhile_is_not_replaced() {
    let downloads = DownloadFolder::new();
    let (target, bytes) = (downloads.target(), archive());
    let server = service(move |seen, _| {
        fs::write(&target, "mine").unwrap();
        serve(seen, &bytes, "\"v1\"")
    })
    .await;
    let failure = downloads.download(&server).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Local);
    assert!(equal(&downloads.target(), b"mine"));
    assert!(downloads.part().exists());
}

#[tokio::test]
async fn missing_disk_space_is_reported_before_the_transfer() {
    let huge = (1_u64 << 60).to_string();
    let endless =
        move |_: &ReceivedRequest, _| Reply::hold(head(200, &[("content-length", &huge)]));
    let server = service(endless).await;
    let failure = DownloadFolder::new().download(&server).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Local);
    let words = failure.to_string();
    assert!(words.contains("MiB more") && words.contains("Free some space"), "{words}");
}
