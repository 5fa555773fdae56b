//! A service with a login over a folder with a picture, run by the real binary.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A service that ends when it is dropped.
pub(super) struct Service {
    process: Child,
    pub(super) address: SocketAddr,
    pub(super) dataset: String,
    announcement: Value,
    _home: TempDir,
}

impl Service {
    pub(super) fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let pictures = home.path().join("pictures");
        std::fs::create_dir(&pictures).unwrap();
        image::RgbImage::new(32, 24).save(pictures.join("a.png")).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_tessera"))
            .arg("serve")
            .arg(&pictures)
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(home.path().join("data"))
            .env("HOME", home.path())
            .env("XDG_CONFIG_HOME", home.path())
            .env_remove("TESSERA_STORE")
            .env_remove("TESSERA_BUCKET")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let announcement: Value = serde_json::from_str(&line).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            process,
            address: text(&announcement["base_url"])["http://".len()..].parse().unwrap(),
            dataset: text(&announcement["datasets"][0]["id"]),
            announcement,
            _home: home,
        }
    }

    pub(super) fn token(&self) -> String {
        tessera_crypto::install();
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let [key, secret] =
            ["api_key", "api_secret"].map(|field| self.announcement[field].as_str().unwrap());
        let claims = json!({"sub": key, "iat": now, "exp": now + 600, "iss": "sdk"});
        let header = Header { kid: Some(key.to_owned()), ..Header::new(Algorithm::HS256) };
        encode(&header, &claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The service may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
