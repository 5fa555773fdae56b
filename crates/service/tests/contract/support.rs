//! A deployment over a folder of generated images, served on a loopback port.

use std::{
    io::Cursor,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use image::{ImageFormat, Rgb, RgbImage};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::{Client, RequestBuilder, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_model::DatasetId;
use tessera_service::{
    AccessMode, Deployment, DeploymentSettings, ServerLimits, ServerOptions, ServiceCredentials,
};
use tessera_store::{Connection, Row, Store, params, query};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use crate::test_store::TestStore;

/// A folder of images and the index folder of a deployment over it.
pub struct Place {
    pub pictures: TempDir,
    pub data: TempDir,
    pub store: TestStore,
}

/// A served deployment over one folder.
pub struct Service {
    pub place: Place,
    pub deployment: Deployment,
    pub dataset: DatasetId,
    pub address: SocketAddr,
    pub credentials: ServiceCredentials,
    pub client: Client,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Place {
    pub fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let place = Self {
            pictures: tempfile::tempdir().unwrap(),
            data: tempfile::tempdir().unwrap(),
            store: TestStore::new(),
        };
        for (name, bytes) in files {
            place.put(name, bytes);
        }
        place
    }

    /// For tests of the file of the store.
    pub fn with_store_file(self) -> Self {
        Self { store: TestStore::file(), ..self }
    }

    pub fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.picture(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn picture(&self, name: &str) -> PathBuf {
        self.pictures.path().join(name)
    }

    pub fn open(&self) -> Deployment {
        self.open_with(DeploymentSettings::default())
    }

    pub fn open_with(&self, settings: DeploymentSettings) -> Deployment {
        let settings = DeploymentSettings { store: self.store.address(), ..settings };
        Deployment::open(self.data.path(), settings).unwrap()
    }

    /// Opens the store again, next to the deployments that use it.
    pub fn reopened(&self) -> Store {
        match self.store.address() {
            Some(address) => Store::open_on_server(self.data.path(), &address).unwrap(),
            None => Store::open(self.data.path()).unwrap(),
        }
    }

    pub fn add(&self, deployment: &Deployment) -> DatasetId {
        deployment.add_folder(self.pictures.path(), Some("demo")).unwrap()
    }

    /// The database, for states that are hard to reach in time.
    pub fn database(&self) -> Connection {
        self.store.connect(self.data.path())
    }

    /// The first row of a result.
    pub fn row<T>(&self, sql: &str, read: impl FnOnce(&Row) -> tessera_store::Result<T>) -> T {
        query::one(&self.database(), sql, params![], read).unwrap()
    }

    /// Changes states that are hard to reach in time.
    pub fn change(&self, sql: &str) {
        self.database().execute_batch(sql).unwrap();
    }

    /// A column of the only row of a table.
    pub fn number(&self, column: &str, table: &str) -> i64 {
        self.row(&format!("SELECT {column} FROM {table}"), |row| row.get(0))
    }

    pub fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        self.row(&sql, |row| row.get(0))
    }
}

impl Service {
    /// Serves these files, indexed, with a login.
    pub async fn of(files: &[(&str, Vec<u8>)]) -> Self {
        Self::at(Place::new(files), true).await
    }

    /// Serves twelve images of four kinds.
    pub async fn of_pictures() -> Self {
        Self::of(&pictures(12)).await
    }

    /// Serves an indexed folder, with or without a login.
    pub async fn at(place: Place, login: bool) -> Self {
        Self::indexed(place, login, ServerOptions::from).await
    }

    /// Serves an indexed folder with a login and non-default options.
    pub async fn serving(place: Place, options: impl FnOnce(AccessMode) -> ServerOptions) -> Self {
        Self::indexed(place, true, options).await
    }

    /// Serves a folder as `tessera serve` does with or without `--compat` and `--no-auth`.
    pub async fn compatible(place: Place, compat: bool, login: bool) -> Self {
        let options = |access| ServerOptions { compat, ..ServerOptions::from(access) };
        Self::indexed(place, login, options).await
    }

    async fn indexed(
        place: Place,
        login: bool,
        options: impl FnOnce(AccessMode) -> ServerOptions,
    ) -> Self {
        let deployment = place.open();
        let dataset = place.add(&deployment);
        deployment.wait_until_idle().await;
        Self::serve_as(place, deployment, dataset, login, options).await
    }

    /// Serves four pictures with a login and other limits.
    pub async fn limited(change: impl FnOnce(&mut ServerLimits)) -> Self {
        Self::serving(Place::new(&pictures(4)), |access| {
            let mut options = ServerOptions::from(access);
            change(&mut options.limits);
            options
        })
        .await
    }

    pub async fn serve(
        place: Place,
        deployment: Deployment,
        dataset: DatasetId,
        login: bool,
    ) -> Self {
        Self::serve_as(place, deployment, dataset, login, ServerOptions::from).await
    }

    /// Serves with non-default options.
    pub async fn serve_as(
        place: Place,
        deployment: Deployment,
        dataset: DatasetId,
        login: bool,
        options: impl FnOnce(AccessMode) -> ServerOptions,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let credentials = ServiceCredentials::generate();
        let access = if login { AccessMode::Token(credentials.clone()) } else { AccessMode::Open };
        let options = options(access);
        let (stop, stopped) = oneshot::channel::<()>();
        let site = deployment.clone();
        let served = tokio::spawn(async move {
            let shutdown = async {
                let _ = stopped.await;
            };
            site.serve(listener, options, shutdown).await.unwrap();
        });
        let client = tessera_testing::clients::raw_client().build().unwrap();
        Self { place, deployment, dataset, address, credentials, client, stop, served }
    }

    /// Serves with the login that the store or the data folder keeps.
    pub async fn with_kept_login(place: Place, deployment: Deployment, dataset: DatasetId) -> Self {
        let kept = deployment.kept_credentials().unwrap();
        let options = |_| ServerOptions::from(AccessMode::Token(kept.clone()));
        let mut service = Self::serve_as(place, deployment, dataset, true, options).await;
        service.credentials = kept;
        service
    }

    /// Stops the server and closes the deployment; the folder stays.
    pub async fn stop(self) -> Place {
        self.stop.send(()).unwrap();
        timeout(Duration::from_secs(6), self.served).await.unwrap().unwrap();
        self.place
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A path below the dataset; `""` is the record.
    pub fn of_dataset(&self, rest: &str) -> String {
        format!("/api/v1/dataset/{}{rest}", self.dataset)
    }

    /// Explores the images unless the query says otherwise.
    pub fn explore(&self, query: &str) -> String {
        let entity = if query.contains("entity_type") { "" } else { "entity_type=IMAGES&" };
        format!("/api/v1/explore/{}?{entity}{query}", self.dataset)
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path)).bearer_auth(self.token())
    }

    pub fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(self.url(path)).bearer_auth(self.token())
    }

    /// The status code and JSON body of a GET.
    pub async fn json(&self, path: &str) -> (StatusCode, Value) {
        answer(self.get(path)).await
    }

    /// The body of a successful GET.
    pub async fn good(&self, path: &str) -> Value {
        let (status, body) = self.json(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    pub fn token(&self) -> String {
        self.token_with(&json!({}), Some(&self.credentials.api_key))
    }

    /// A valid token with some claims replaced (null removes one), or another kid.
    pub fn token_with(&self, claims: &Value, kid: Option<&str>) -> String {
        let now = now();
        let key = &self.credentials.api_key;
        let mut all = json!({"sub": key, "iat": now, "exp": now + 600, "iss": "sdk"});
        for (name, value) in claims.as_object().unwrap() {
            all[name] = value.clone();
        }
        all.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let mut header = Header::new(Algorithm::HS256);
        header.kid = kid.map(str::to_owned);
        let secret = self.credentials.api_secret.expose_secret().as_bytes();
        encode(&header, &all, &EncodingKey::from_secret(secret)).unwrap()
    }

    /// Sets the status without running the indexing task that leads to it.
    pub fn set_status(&self, status: &str) {
        let database = self.place.database();
        self.place.store.allow_any_transition(&database);
        let sql = "UPDATE dataset SET status = ?1";
        assert_eq!(query::change(&database, sql, params![status]).unwrap(), 1);
    }

    /// Sends raw bytes and reads until the server closes the connection.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        timeout(Duration::from_secs(20), read).await.unwrap().unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

pub async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    let status = response.status();
    let body = response.bytes().await.unwrap();
    let value = serde_json::from_slice(&body)
        .unwrap_or_else(|_| panic!("{status}: {}", String::from_utf8_lossy(&body)));
    (status, value)
}

/// Unix seconds.
pub fn now() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

/// Named PNG files of four visual kinds, equally many of each.
pub fn pictures(count: u32) -> Vec<(&'static str, Vec<u8>)> {
    (0..count).map(|n| (&*format!("p{n:03}.png").leak(), picture(n))).collect()
}

/// A PNG of one of four visual kinds (`n % 4`), slightly different for every `n`.
pub fn picture(n: u32) -> Vec<u8> {
    let shade = |part: u32, whole: u32| u8::try_from(part * 255 / whole).unwrap();
    let image = RgbImage::from_fn(96, 64, |x, y| match n % 4 {
        0 => Rgb([shade(x, 96), 40, 40]),
        1 => Rgb([40, shade(y, 64), 40]),
        2 if (x / 12 + y / 12) % 2 == 0 => Rgb([240, 230, 220]),
        2 => Rgb([10, 20, 30]),
        _ => Rgb([220, 220, shade(96 - x, 96)]),
    });
    let mut image = image;
    image.put_pixel(n % 96, 0, Rgb([255, 255, 255]));
    encoded(&image, ImageFormat::Png)
}

pub fn encoded(image: &RgbImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Asserts that no string in a JSON value contains a local folder.
pub fn assert_no_path(value: &Value, place: &Place) {
    let text = value.to_string();
    for folder in [place.pictures.path(), place.data.path(), Path::new("/tmp/")] {
        assert!(!text.contains(folder.to_str().unwrap()), "{text}");
    }
}
