//! A service with one finished export and a store with its archive, for tests of downloads.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use tessera_client::{Client, ExistingFile};
use tessera_model::{Archive, Failure};
use tessera_testing::{
    clients::{dataset, hosted, task, without_pauses},
    scripted::{ReceivedRequest, Reply, ScriptedServer, head},
};
use zip::{ZipWriter, write::SimpleFileOptions};

/// The archive of an export, about 4 kB.
pub fn archive() -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("metadata.json", SimpleFileOptions::default()).unwrap();
    zip.write_all(br#"{"media_items":[]}"#).unwrap();
    for number in 0..3_u8 {
        let name = format!("images/{number}.jpg");
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        let noise =
            (0..1_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[1] ^ number);
        zip.write_all(&noise.collect::<Vec<_>>()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The first byte that a request asks for.
pub fn start_of(seen: &ReceivedRequest) -> Option<usize> {
    let range = seen.header("range")?.strip_prefix("bytes=")?;
    range.strip_suffix('-')?.parse().ok()
}

pub fn full(bytes: &[u8], tag: &str) -> Reply {
    Reply::new(200, &[("etag", tag)], bytes)
}

pub fn part(bytes: &[u8], start: usize, tag: &str) -> Reply {
    let range = format!("bytes {start}-{}/{}", bytes.len() - 1, bytes.len());
    Reply::new(206, &[("etag", tag), ("content-range", &range)], &bytes[start..])
}

/// All headers, but only some of the bytes.
pub fn torn(bytes: &[u8], cut: usize, tag: &str) -> Reply {
    let length = bytes.len().to_string();
    let head = head(200, &[("etag", tag), ("content-length", &length)]);
    Reply::raw([&head, &bytes[..cut]].concat())
}

/// A standard-conforming store: ranges only for the version named by `If-Range`.
pub fn serve(seen: &ReceivedRequest, bytes: &[u8], tag: &str) -> Reply {
    let current = seen.header("if-range").is_none_or(|known| known == tag);
    match start_of(seen).filter(|_| current) {
        Some(start) if start >= bytes.len() => {
            let range = format!("bytes */{}", bytes.len());
            Reply::new(416, &[("content-range", &range)], "")
        }
        Some(start) => part(bytes, start, tag),
        None => full(bytes, tag),
    }
}

/// A service with one finished export, whose link `store` serves. The store is also given the
/// number of the request, from 0.
pub async fn service(
    store: impl Fn(&ReceivedRequest, usize) -> Reply + Send + Sync + 'static,
) -> ScriptedServer {
    let links = AtomicUsize::new(0);
    let requests = AtomicUsize::new(0);
    ScriptedServer::start(move |seen: &ReceivedRequest| {
        if seen.path().ends_with("export_status") {
            let link = links.fetch_add(1, Ordering::Relaxed);
            let uri = format!("/cdn/x.zip?signature={link}");
            return Reply::json(format!(r#"{{"status":"COMPLETED","download_uri":"{uri}"}}"#));
        }
        store(seen, requests.fetch_add(1, Ordering::Relaxed))
    })
    .await
}

/// A folder to download into.
pub struct DownloadFolder {
    pub folder: tempfile::TempDir,
}

impl DownloadFolder {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    pub fn target(&self) -> PathBuf {
        self.folder.path().join("x.zip")
    }

    pub fn part(&self) -> PathBuf {
        self.folder.path().join("x.zip.cf8b3e78.part")
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    pub async fn download(&self, server: &ScriptedServer) -> Result<Archive, Failure> {
        let client: Client = hosted(&server.url(), without_pauses());
        let mut latest = 0;
        let mut report = |done, _| latest = done;
        let outcome = client
            .download(dataset(), task(), &self.target(), ExistingFile::Keep, &mut report)
            .await;
        if let Ok(archive) = &outcome {
            assert_eq!(archive.bytes, fs::metadata(&archive.path).unwrap().len());
            assert!(latest == archive.bytes || latest == 0);
        }
        outcome
    }
}

/// Requests for the archive itself.
pub fn fetches(server: &ScriptedServer) -> Vec<ReceivedRequest> {
    let mut all = server.requests();
    all.retain(|seen| seen.path() == "/cdn/x.zip");
    all
}

pub fn equal(path: &Path, bytes: &[u8]) -> bool {
    fs::read(path).unwrap() == bytes
}
