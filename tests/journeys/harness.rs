//! A user at a keyboard, who presses keys, waits until nothing is running, and reads the screen.

use std::{
    collections::{HashMap, VecDeque},
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
};
use tessera::{
    runtime::RunningApp,
    state::StateFolder,
    usecase::file_actions::OriginalFinder,
    worker::{self, WorkerOptions},
};
use tessera_client::{BaseUrl, Client, ServiceConfig, Trace};
use tessera_config::{DeploymentKind, input::Keymap};
use tessera_curation::{FoundOriginals, duplicates::SimilarImages};
use tessera_interface::{
    app::{App, Effect, Event, Job, ReopenCommand, Setup, StartView},
    drawing::{
        PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    ui,
};
use tessera_model::{DatasetId, Failure, MediaId, SafeText, Search, SelectionItem};
use tessera_picture::Protocol;
use tessera_service::{
    AccessMode, Deployment, DeploymentSettings, LocalError, ServerOptions, ServiceCredentials,
};
use tessera_testing::{
    scripted::{ReceivedRequest, Reply, ScriptedServer},
    server_schema::ServerSchema,
};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{support::app_harness::settings, test_store};

/// The limit for every wait, which only a bug reaches.
const PATIENCE: Duration = Duration::from_mins(1);

/// A handle that stops a served deployment, and a task that reports how it ended.
type Running = (oneshot::Sender<()>, JoinHandle<Result<(), LocalError>>);

/// A local deployment that can be stopped and started again at the same address.
pub struct Service {
    pub folder: tempfile::TempDir,
    pub deployment: Deployment,
    pub dataset: DatasetId,
    pub address: SocketAddr,
    credentials: ServiceCredentials,
    /// Whether the service also has the operations that are not in the document of the API.
    compat: bool,
    /// A server at another address that has only the operations of the API document.
    documented: Option<ScriptedServer>,
    running: Option<Running>,
    /// The schema of the store, which is dropped after the deployment that uses it.
    _store: Option<ServerSchema>,
}

impl Service {
    /// Paints pictures, indexes them and serves them.
    pub async fn over_paintings(count: usize) -> Self {
        let service = Self::indexing(count).await;
        service.deployment.wait_until_idle().await;
        service
    }

    /// Does the same as `over_paintings`, without waiting for the index.
    pub async fn indexing(count: usize) -> Self {
        Self::over(|folder| tessera_testing::pictures::copy_samples(folder, count)).await
    }

    /// Does the same as `over_paintings`, with small pictures that are not similar to anything.
    pub async fn over_noise(count: u32) -> Self {
        let service =
            Self::over(|folder| tessera_testing::pictures::write_noise(folder, count)).await;
        service.deployment.wait_until_idle().await;
        service
    }

    /// Does the same as `over_paintings`, with copies of the first pictures beside them.
    pub async fn over_copies(count: usize, copies: usize) -> Self {
        let service = Self::over(|folder| {
            tessera_testing::pictures::copy_samples(folder, count);
            for picture in pictures_in(folder).iter().take(copies) {
                let name = picture.file_name().unwrap().to_string_lossy();
                std::fs::copy(picture, folder.join(format!("copy of {name}"))).unwrap();
            }
        })
        .await;
        service.deployment.wait_until_idle().await;
        service
    }

    async fn over(fill: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pictures = folder.path().join("paintings");
        fill(&pictures);
        let store = test_store::store();
        let address = store.as_ref().map(|store| store.address().parse().unwrap());
        let settings = DeploymentSettings { store: address, ..DeploymentSettings::default() };
        let deployment = Deployment::open(&folder.path().join("index"), settings).unwrap();
        let dataset = deployment.add_folder(&pictures, None).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut service = Self {
            folder,
            deployment,
            dataset,
            address,
            credentials: ServiceCredentials::generate(),
            compat: false,
            documented: None,
            running: None,
            _store: store,
        };
        service.start().await;
        service
    }

    pub async fn start(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let deployment = self.deployment.clone();
        let access = AccessMode::Token(self.credentials.clone());
        let options = ServerOptions { compat: self.compat, ..ServerOptions::from(access) };
        let served = tokio::spawn(async move {
            deployment.serve(listener, options, async { stopped.await.unwrap_or(()) }).await
        });
        self.running = Some((stop, served));
    }

    pub async fn stop(&mut self) {
        let (stop, served) = self.running.take().unwrap();
        stop.send(()).unwrap();
        served.await.unwrap().unwrap();
    }

    /// Starts again with the operations that `tessera open` also has.
    pub async fn with_compat(mut self) -> Self {
        self.stop().await;
        self.compat = true;
        self.start().await;
        self
    }

    /// Makes clients use an address that has only the operations of the API document. It passes these on.
    pub async fn with_documented_operations(mut self) -> Self {
        let address = self.address;
        let server = ScriptedServer::start(move |request: &ReceivedRequest| {
            if request.path().starts_with("/local/") {
                return Reply::new(404, &[], "");
            }
            Reply::raw(tokio::task::block_in_place(|| passed_on(address, request)))
        });
        self.documented = Some(server.await);
        self
    }

    /// Returns a picture of the dataset.
    pub fn a_picture(&self) -> PathBuf {
        self.pictures().swap_remove(0)
    }

    /// Returns the pictures of the dataset in the order of their names.
    pub fn pictures(&self) -> Vec<PathBuf> {
        pictures_in(&self.folder.path().join("paintings"))
    }

    /// Returns the options of a worker that acts on the files of the dataset.
    pub fn local_worker(&self) -> WorkerOptions {
        let originals: Arc<dyn OriginalFinder> = Arc::new(Originals(self.deployment.clone()));
        WorkerOptions { originals: Some(originals), ..WorkerOptions::default() }
    }

    pub fn client(&self) -> Client {
        let access = tessera_client::AuthMethod::Hosted(tessera_client::Credentials {
            api_key: self.credentials.api_key.clone(),
            api_secret: self.credentials.api_secret.clone(),
        });
        let address = self.documented.as_ref().map_or(self.address, |server| server.address);
        let url = BaseUrl::parse(&format!("http://{address}")).unwrap();
        Client::new(ServiceConfig::new(url, access).unwrap()).unwrap()
    }
}

/// Sends a request to a service, and returns the response as it comes.
fn passed_on(address: SocketAddr, request: &ReceivedRequest) -> Vec<u8> {
    let own = ["host", "connection"];
    let headers = request.headers.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let mut lines = vec![
        format!("{} {} HTTP/1.1", request.method, request.target),
        format!("host: {address}"),
        "connection: close".to_owned(),
    ];
    lines.extend(headers.map(|(name, value)| format!("{name}: {value}")));
    let head = lines.join("\r\n") + "\r\n\r\n";
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&[head.as_bytes(), &request.body].concat()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    response
}

struct Originals(Deployment);

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn failure(error: LocalError) -> Failure {
    Failure::local(error.to_string())
}

impl OriginalFinder for Originals {
    fn selected(
        &self,
        dataset: DatasetId,
        items: &[SelectionItem],
    ) -> Result<FoundOriginals, Failure> {
        self.0.selected_originals(dataset, items).map_err(failure)
    }

    fn listed(&self, dataset: DatasetId, files: Vec<PathBuf>) -> Result<FoundOriginals, Failure> {
        self.0.listed_originals(dataset, files).map_err(failure)
    }

    fn similar(&self, dataset: DatasetId, min: f64) -> Result<Vec<SimilarImages>, Failure> {
        self.0.similar_images(dataset, min).map_err(failure)
    }

    fn diverse(&self, search: &Search, count: usize) -> Result<Vec<(MediaId, PathBuf)>, Failure> {
        self.0.diverse_media_found(search, count).map_err(failure)
    }

    fn rest(
        &self,
        search: &Search,
        selected: &[SelectionItem],
    ) -> Result<Vec<(MediaId, PathBuf)>, Failure> {
        self.0.rest_of_search(search, selected).map_err(failure)
    }

    fn missing(&self, dataset: DatasetId, media: &[MediaId]) -> Result<Vec<MediaId>, Failure> {
        self.0.missing_media(dataset, media).map_err(failure)
    }

    fn cluster_size(
        &self,
        dataset: DatasetId,
        cluster: &SelectionItem,
    ) -> Result<Option<usize>, Failure> {
        self.0.selected_cluster_size(dataset, cluster).map_err(failure)
    }

    fn pictures(
        &self,
        dataset: DatasetId,
        media: &[MediaId],
    ) -> Result<HashMap<MediaId, MediaId>, Failure> {
        self.0.pictures_of_objects(dataset, media).map_err(failure)
    }
}

fn pictures_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut pictures: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    pictures.sort();
    pictures
}

/// The program as a user has it, but without a terminal.
pub struct UserHarness {
    pub session: RunningApp,
    now: Duration,
    pub effects: Vec<Effect>,
    keys: VecDeque<String>,
}

impl UserHarness {
    /// Opens a deployment and waits for the first screen.
    pub async fn at(service: &Service) -> Self {
        Self::keeping(service, StateFolder::default()).await
    }

    /// Does the same as `at`, with a state folder.
    pub async fn keeping(service: &Service, journal: StateFolder) -> Self {
        Self::with(service, journal, WorkerOptions::default(), DeploymentKind::Hosted).await
    }

    /// Does the same as `at`, as a user of a local folder whose files the worker acts on.
    pub async fn with_worker(service: &Service, options: WorkerOptions) -> Self {
        Self::with(service, StateFolder::default(), options, DeploymentKind::Local).await
    }

    async fn with(
        service: &Service,
        journal: StateFolder,
        options: WorkerOptions,
        deployment: DeploymentKind,
    ) -> Self {
        let mut settings = settings();
        settings.export.download_dir = service.folder.path().to_string_lossy().into_owned();
        let setup = Setup {
            deployment,
            start: StartView { dataset: Some(service.dataset.to_string()), ..StartView::default() },
            reopen_command: ReopenCommand::Whole("tessera demo".into()),
            home_dir: None,
            started_at: Duration::from_secs(1_795_000_000),
            size: (120, 40),
            protocol: Protocol::HalfBlock,
            ..Setup::new(SafeText::name("local"), settings, Keymap::built_in().unwrap())
        };
        let worker = worker::spawn(service.client(), journal, options);
        let session = RunningApp::new(App::new(setup), worker, Trace::disabled());
        let mut user =
            Self { session, now: Duration::ZERO, effects: vec![], keys: VecDeque::new() };
        user.happen(Event::Wake);
        user.settle().await;
        user
    }

    fn happen(&mut self, event: Event) {
        self.effects.extend(self.session.apply(self.now, event));
    }

    /// Presses keys that are separated by spaces. After each key, waits until nothing is running.
    pub async fn press(&mut self, keys: &str) {
        for key in keys.split(' ') {
            self.keys.push_back(key.to_owned());
            self.happen(Event::Key(key.parse().unwrap()));
            self.settle().await;
        }
    }

    /// Presses keys that are separated by spaces, and quits before any response arrives.
    pub async fn press_and_quit(mut self, keys: &str) {
        for key in keys.split(' ') {
            self.happen(Event::Key(key.parse().unwrap()));
        }
        self.happen(Event::Key("q".parse().unwrap()));
        assert_eq!(self.session.finish_writes(Instant::now()).await, [""; 0]);
    }

    /// Pastes into the field that has the focus.
    pub fn paste(&mut self, text: &str) {
        self.happen(Event::Paste(text.to_owned()));
    }

    /// Lets time pass, and waits until nothing is running.
    pub async fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.session.next_wake = None;
        self.happen(Event::Wake);
        self.settle().await;
    }

    pub fn newest_job(&self) -> &Job {
        self.session.app.jobs().iter().next_back().unwrap()
    }

    /// Follows the newest job to its end. The clock of the core moves only when the service is idle, because the service
    /// works meanwhile.
    pub async fn follow_job(&mut self, service: &Service) {
        for _ in 0..60 {
            service.deployment.wait_until_idle().await;
            self.wait(3).await;
            if !self.newest_job().is_active() {
                return;
            }
        }
        panic!("the job does not end:\n{}", self.screen());
    }

    /// Waits until no response is pending.
    pub async fn settle(&mut self) {
        while self.session.app.tickets().outstanding() > 0 {
            match tokio::time::timeout(PATIENCE, self.session.next_worker_event()).await {
                Ok(Ok(event)) => self.happen(event),
                Ok(Err(error)) => panic!("{error}"),
                Err(_) => {
                    let open: Vec<_> = self.session.app.tickets().lanes().collect();
                    panic!("no rest after {:?}; awaited: {open:?}\n{}", self.keys, self.screen());
                }
            }
        }
    }

    /// Returns the cells of the screen.
    pub fn buffer(&self) -> Buffer {
        let app = &self.session.app;
        let mut buffer = Buffer::empty(Rect::new(0, 0, app.screen().size.0, app.screen().size.1));
        let mut layer = PictureLayer::new(GraphicsSettings {
            in_tmux: false,
            color_depth: ColorDepth::TrueColor,
        });
        ui::draw(
            app,
            &Theme::built_in(ThemeName::Dark, ColorDepth::Palette16).unwrap(),
            &mut buffer,
            &mut layer,
        );
        buffer
    }

    /// Returns the text of the screen.
    pub fn screen(&self) -> String {
        let buffer = self.buffer();
        let width = usize::from(buffer.area.width);
        let rows = buffer.content().chunks(width);
        rows.map(|row| row.iter().map(Cell::symbol).collect::<String>() + "\n").collect()
    }

    /// Asserts that the screen shows a text.
    #[track_caller]
    pub fn sees(&self, words: &str) {
        let screen = self.screen();
        assert!(
            screen.contains(words),
            "`{words}` is not on the screen after {:?}:\n{screen}",
            self.keys
        );
    }

    /// Returns how many cells show pictures.
    pub fn painted_cells(&self) -> usize {
        let coloured = |cell: &&Cell| matches!(cell.fg, ratatui::style::Color::Rgb(..));
        self.buffer().content().iter().filter(coloured).count()
    }
}
