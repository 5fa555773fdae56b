//! Tests downloads from a hub on loopback, with the faults of public hubs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use tessera_hub::{
    Hub, HubError, HubErrorKind, HubFile, HubSettings, RepositoryName, cached_snapshot,
};
use tessera_testing::{
    certificates::self_signed,
    loopback_hub::{COMMIT, HubFault, HubRequest, LoopbackHub},
    tls_service::{TlsService, passes_where_system_trusts, port_of_environment, respond_not_found},
};

const LARGE: &str = "onnx/model.onnx";

fn files() -> Vec<(String, Vec<u8>)> {
    let large: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    vec![("config.json".to_owned(), b"{\"a\": 1}".to_vec()), (LARGE.to_owned(), large)]
}

struct Downloaded {
    cache: TempDir,
    hub: LoopbackHub,
    result: Result<PathBuf, HubError>,
}

impl Downloaded {
    async fn new(fault: HubFault, token: Option<&str>) -> Self {
        let hub = LoopbackHub::new(files(), fault);
        let cache = tempfile::tempdir().unwrap();
        let result = download(&hub, cache.path(), token).await;
        Self { cache, hub, result }
    }

    fn requests_for(&self, path: &str) -> Vec<HubRequest> {
        let requests = self.hub.requests().into_iter();
        requests.filter(|request| request.path.contains(path)).collect()
    }
}

fn repository() -> RepositoryName {
    "org/tiny".parse().unwrap()
}

async fn download(
    hub: &LoopbackHub,
    cache: &Path,
    token: Option<&str>,
) -> Result<PathBuf, HubError> {
    let hub = client(&hub.endpoint(), cache, token)?;
    let listing = hub.list(&repository()).await?;
    let files: Vec<&HubFile> = listing.files.iter().collect();
    let folder = hub.download(&repository(), &listing, &files, &|_| {}).await?;
    hub.publish(&repository(), &listing)?;
    Ok(folder)
}

fn client(endpoint: &str, cache: &Path, token: Option<&str>) -> Result<Hub, HubError> {
    let settings = HubSettings::from_env(|name| match name {
        "HF_ENDPOINT" => Some(endpoint.into()),
        "HF_HUB_CACHE" => Some(cache.into()),
        "HF_TOKEN" => token.map(Into::into),
        _ => None,
    });
    Hub::new(settings?)
}

fn assert_whole(downloaded: &Downloaded) {
    let folder = downloaded.result.as_ref().unwrap();
    for (path, content) in files() {
        assert_eq!(fs::read(folder.join(&path)).unwrap(), content, "{path}");
    }
}

#[tokio::test]
async fn files_are_private_and_in_the_layout_of_the_hubs_own_tools() {
    let downloaded = Downloaded::new(HubFault::None, None).await;
    assert_whole(&downloaded);
    let repository_folder = downloaded.cache.path().join("models--org--tiny");
    let snapshot = repository_folder.join("snapshots").join(COMMIT);
    assert_eq!(fs::read_to_string(repository_folder.join("refs/main")).unwrap(), COMMIT);
    assert_eq!(cached_snapshot(downloaded.cache.path(), &repository()), Some(snapshot.clone()));
    let link = fs::read_link(snapshot.join(LARGE)).unwrap();
    assert!(link.starts_with("../../../blobs"), "{link:?}");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&snapshot.join(LARGE)), 0o600);
    assert_eq!(mode(&snapshot), 0o700);
    // What is there already is not downloaded again.
    let before = downloaded.hub.requests().len();
    download(&downloaded.hub, downloaded.cache.path(), None).await.unwrap();
    assert_eq!(downloaded.hub.requests().len(), before + 1);
}

#[tokio::test]
async fn the_token_is_not_sent_to_the_host_of_a_redirect() {
    let downloaded = Downloaded::new(HubFault::Gated, Some("hf_secret")).await;
    assert_whole(&downloaded);
    let requests = downloaded.hub.requests();
    let (other, to_hub): (Vec<_>, Vec<_>) =
        requests.into_iter().partition(|request| request.to_other_host);
    assert!(!other.is_empty() && other.iter().all(|request| request.authorization.is_none()));
    assert!(to_hub.iter().all(|request| request.authorization.is_some()));
}

#[tokio::test]
async fn a_repository_without_access_asks_for_a_token() {
    let without = Downloaded::new(HubFault::Gated, None).await.result.unwrap_err().to_string();
    assert!(without.contains("org/tiny without a token") && without.contains("set HF_TOKEN"));
    let wrong = Downloaded::new(HubFault::Gated, Some("hf_wrong")).await;
    let wrong = wrong.result.unwrap_err().to_string();
    assert!(wrong.contains("with this token") && !wrong.contains("hf_wrong"), "{wrong}");
}

#[tokio::test]
async fn a_cut_download_resumes_where_it_ended() {
    let downloaded = Downloaded::new(HubFault::CutOnce, None).await;
    assert_whole(&downloaded);
    let ranges: Vec<_> =
        downloaded.requests_for("/blob/").into_iter().map(|request| request.range).collect();
    assert_eq!(ranges, [None, Some("bytes=400000-".to_owned())]);
}

#[tokio::test]
async fn a_download_that_is_always_cut_says_so_and_resumes_later() {
    let downloaded = Downloaded::new(HubFault::CutAlways, None).await;
    let message = downloaded.result.unwrap_err().to_string();
    assert!(message.contains("was cut off") && message.contains("to resume it"), "{message}");
    assert!(!message.contains("signature"), "{message}");
    let whole = LoopbackHub::new(files(), HubFault::None);
    let blobs = fs::read_dir(downloaded.cache.path().join("models--org--tiny/blobs")).unwrap();
    let mut blobs = blobs.map(|blob| blob.unwrap().path());
    let part = blobs.find(|blob| blob.extension().is_some_and(|it| it == "incomplete")).unwrap();
    let other_program = fs::File::open(part).unwrap();
    other_program.lock().unwrap();
    let busy = download(&whole, downloaded.cache.path(), None).await.unwrap_err().to_string();
    assert!(busy.contains("another program is downloading"), "{busy}");
    drop(other_program);
    download(&whole, downloaded.cache.path(), None).await.unwrap();
    let resumed = whole.requests().into_iter().any(|request| request.range.is_some());
    assert!(resumed, "{:?}", whole.requests());
}

#[tokio::test]
async fn a_busy_hub_is_asked_again_after_the_time_that_it_names() {
    let downloaded = Downloaded::new(HubFault::BusyOnce, None).await;
    assert_whole(&downloaded);
    assert_eq!(downloaded.requests_for("/api/models/").len(), 2);
    let refused = Downloaded::new(HubFault::BusyAlways, None).await;
    assert_eq!(refused.hub.requests().len(), 5);
    let error = refused.result.unwrap_err();
    assert_eq!(error.kind(), HubErrorKind::Temporary);
    assert!(error.to_string().contains("asks to wait"), "{error}");
    let refused = Downloaded::new(HubFault::BusyForAnHour, None).await;
    assert_eq!(refused.hub.requests().len(), 1, "it is not asked again too early");
}

#[tokio::test]
async fn a_hub_that_ignores_ranges_gives_the_whole_file() {
    assert_whole(&Downloaded::new(HubFault::IgnoresRange, None).await);
}

#[tokio::test]
async fn content_with_another_hash_is_thrown_away() {
    let downloaded = Downloaded::new(HubFault::WrongContent, None).await;
    let message = downloaded.result.unwrap_err().to_string();
    assert!(message.contains("onnx/model.onnx differs from its hash"), "{message}");
    let blobs = downloaded.cache.path().join("models--org--tiny/blobs");
    let kept: Vec<_> = fs::read_dir(blobs).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(cached_snapshot(downloaded.cache.path(), &repository()), None);
}

#[tokio::test]
async fn a_repository_with_a_new_name_is_found_by_the_old_one() {
    let downloaded = Downloaded::new(HubFault::Moved, None).await;
    assert_whole(&downloaded);
    assert!(cached_snapshot(downloaded.cache.path(), &repository()).is_some());
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_is_named() {
    let hub = LoopbackHub::new(files(), HubFault::None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let message = download(&hub, &file, None).await.unwrap_err().to_string();
    assert!(message.contains("cannot create") && message.contains("file"), "{message}");
}

/// Lists the files of the hub at the port that the environment names, if it names one.
#[tokio::test]
async fn the_hub_of_the_environment_is_listed() {
    let Some(port) = port_of_environment() else { return };
    let hub = client(&format!("https://localhost:{port}"), Path::new("/nowhere"), None).unwrap();
    let error = hub.list(&repository()).await.unwrap_err();
    assert_eq!(error.kind(), HubErrorKind::NotFound, "{error}");
}

#[tokio::test]
async fn a_certificate_of_the_system_is_accepted_for_its_hub() {
    let ((config, file), (_, other)) = (self_signed("localhost"), self_signed("localhost"));
    let port = TlsService::start_tls(config, respond_not_found).await.port;
    for (file, is_accepted) in [(&file, true), (&other, false)] {
        let test = "the_hub_of_the_environment_is_listed";
        let passes = passes_where_system_trusts(file.path(), test, port).await;
        assert_eq!(passes, is_accepted);
    }
    let hub = client(&format!("https://localhost:{port}"), Path::new("/nowhere"), None).unwrap();
    let refused = hub.list(&repository()).await.unwrap_err().to_string();
    assert!(refused.contains("add the certificate to those of the system"), "{refused}");
}
