//! Fuzzes forms with files, as the service reads them from a connection.

use std::{fs, path::Path};

use reqwest::{Client, StatusCode, header};
use tempfile::TempDir;
use tessera_service::{AccessMode, Deployment, DeploymentSettings};
use tokio::{net::TcpListener, runtime::Runtime};

use super::{fuzz, mutation::mutated};

const TOKENS: [&str; 10] = [
    "\r\n\r\n",
    "--b0\r\n",
    "--b0--",
    "; filename=\"",
    "filename*=UTF-8''%2e%2e%2f",
    "../",
    "\0",
    "name=files",
    "name=archive",
    "Content-Transfer-Encoding: base64\r\n",
];

fn part(head: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("--b0\r\nContent-Disposition: form-data; {head}\r\n\r\n");
    [head.as_bytes(), content, b"\r\n"].concat()
}

fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let parts = parts.iter().flat_map(|(head, content)| part(head, content));
    parts.chain(*b"--b0--\r\n").collect()
}

/// Returns forms for both routes. Each form names a second source or a wrong archive, so that it is
/// read to its end and then refused.
fn forms() -> Vec<Vec<u8>> {
    let region = br#"{"x": 0.1, "y": 0.2, "width": 0.5, "height": 0.25}"#;
    vec![
        form(&[
            ("name=\"file\"; filename=\"q.png\"\r\nContent-Type: image/png", b"not a picture"),
            ("name=\"bounding_box\"", region),
        ]),
        form(&[
            ("name=\"files\"; filename=\"../a b.png\"", b"not a picture"),
            ("name=\"files\"; filename=\"deep/a.mp4\"", &[7; 300]),
            ("name=\"auto_reindex\"", b"true"),
            ("name=\"s3_uri\"", b"not an address"),
        ]),
        form(&[
            ("name=\"archive\"; filename=\"a.zip\"", b"PK\x03\x04 and no more"),
            ("name=\"files\"; filename=\"\"", b""),
            ("name=\"archive\"; filename=\"b.tar.gz\"", b"\x1F\x8B"),
        ]),
    ]
}

struct FormService {
    folder: TempDir,
    deployment: Deployment,
    client: Client,
    routes: [String; 2],
}

impl FormService {
    async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        tessera_testing::pictures::write_noise(&folder.path().join("pictures"), 3);
        let data = folder.path().join("data");
        let deployment = Deployment::open(&data, DeploymentSettings::default()).expect("a store");
        let dataset = deployment.add_folder(&folder.path().join("pictures"), None).expect("media");
        deployment.wait_until_idle().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let served = deployment.clone();
        tokio::spawn(async move {
            served.serve(listener, AccessMode::Open, std::future::pending()).await
        });
        let base = format!("http://{address}/api/v1/dataset/{dataset}");
        let routes = ["add_media", "search-image-similarity?entity_type=IMAGES"]
            .map(|route| format!("{base}/{route}"));
        let client = tessera_testing::clients::raw_client().build().expect("a client");
        Self { folder, deployment, client, routes }
    }

    fn uploads(&self) -> usize {
        files(&self.folder.path().join("data/uploads"))
    }

    /// Sends a form, and asserts that it gets a response and that a refused form leaves no file
    /// behind.
    async fn send(&self, form: &[u8]) {
        for route in &self.routes {
            let before = self.uploads();
            let request = self.client.post(route).body(form.to_vec());
            let request = request.header(header::CONTENT_TYPE, "multipart/form-data; boundary=b0");
            let status = request.send().await.expect("a response").status();
            if status == StatusCode::ACCEPTED {
                self.deployment.wait_until_idle().await;
                continue;
            }
            assert!(status == StatusCode::OK || status.is_client_error(), "{route}: {status}");
            assert_eq!(self.uploads(), before, "{route}: {status}");
        }
    }
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn damaged_forms_are_read_or_refused_and_leave_no_files() {
    let runtime = Runtime::new().expect("a runtime");
    let service = runtime.block_on(FormService::start());
    fuzz(200, &mutated(forms(), &TOKENS), |input| runtime.block_on(service.send(&input.0)));
}
