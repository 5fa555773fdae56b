//! A core under test. A test presses keys, inspects the requests, and responds to them.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use serde_json::Value;
use tessera_config::{
    DeploymentKind, ExportDefaults, NotificationMethod, Settings, Sources,
    input::{Chord, Key, Keymap},
};
use tessera_interface::{
    app::{App, Effect, Event, LoginSetup, ReopenCommand, Setup},
    message::{Lane, Payload, Request, Response, Ticket, WorkerEvent},
};
use tessera_model::{
    Cluster, ClusterId, Dataset, DatasetId, EntityType, ExportFormat, ExportState, ExportTask,
    ExportTaskId, Failure, FailureKind, FileFacts, FolderQuery, Link, LocalDataset, MediaId, Page,
    Preview, SafeText, Search, StateKey, StateValue, Status,
};
use tessera_picture::Protocol;
use tessera_wire::enrichment::read_enrichment;
use uuid::Uuid;

/// Returns the settings that a core under test starts with.
pub fn settings() -> Settings {
    let mut settings = Settings::load(&Sources::default()).unwrap();
    settings.ui.notify = NotificationMethod::ALL.to_vec();
    let format = ExportFormat::default();
    settings.export =
        ExportDefaults { format, include_images: true, auto_download: true, ..settings.export };
    settings
}

/// The core with its open requests.
pub struct AppHarness {
    pub app: App,
    pub now: Duration,
    pub open: VecDeque<(Ticket, Request)>,
    pub cancelled: Vec<Lane>,
    /// The saved state. Values are also loaded from it.
    pub kept: BTreeMap<StateKey, StateValue>,
    pub other: Vec<Effect>,
    /// What a local service at another address knows about its datasets. `None` if the service is not a local one.
    pub local_dataset: Option<LocalDataset>,
}

impl AppHarness {
    /// Creates a core at its start, without pictures.
    pub fn new() -> Self {
        Self::with_pictures(Protocol::None)
    }

    pub fn with_pictures(protocol: Protocol) -> Self {
        Self::start(protocol, BTreeMap::new(), |_| {})
    }

    /// Creates a core at its start, with pictures and with changed settings.
    pub fn configured(protocol: Protocol, change: impl FnOnce(&mut Setup)) -> Self {
        Self::start(protocol, BTreeMap::new(), change)
    }

    /// Creates a core of a hosted deployment at its start, which is logged in with this key.
    pub fn hosted(protocol: Protocol, key: &str) -> Self {
        let (service, key) = (SafeText::name("https://media.example"), SafeText::name(key));
        let login = LoginSetup { service, key, fixed: None };
        Self::configured(protocol, |setup| setup.login = Some(login))
    }

    /// Creates a core at its start, with this saved state.
    pub fn keeping(kept: BTreeMap<StateKey, StateValue>) -> Self {
        Self::start(Protocol::None, kept, |_| {})
    }

    fn start(
        protocol: Protocol,
        kept: BTreeMap<StateKey, StateValue>,
        change: impl FnOnce(&mut Setup),
    ) -> Self {
        let mut setup = Setup {
            reopen_command: ReopenCommand::Whole("tessera open /photos".into()),
            home_dir: Some("/home/me".into()),
            started_at: Duration::from_secs(1_795_000_000),
            size: (120, 40),
            protocol,
            ..Setup::new(SafeText::name("local"), settings(), Keymap::built_in().unwrap())
        };
        setup.settings.export.download_dir = "/downloads".into();
        change(&mut setup);
        let mut harness = Self {
            app: App::new(setup),
            now: Duration::ZERO,
            open: VecDeque::new(),
            cancelled: Vec::new(),
            kept,
            other: Vec::new(),
            local_dataset: None,
        };
        harness.happen(Event::Wake);
        harness
    }

    /// Creates a core with one READY dataset open and a page of clusters loaded.
    pub fn with_clusters(count: usize) -> Self {
        Self::new().opening_clusters(count)
    }

    /// Opens a READY dataset and loads a page of clusters.
    pub fn opening_clusters(mut self, count: usize) -> Self {
        self.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
        self.answer_page(page(0, count));
        self
    }

    /// Opens the first of the datasets of local folders, and loads a page of three clusters.
    pub fn opening_folder(mut self, datasets: Vec<Dataset>) -> Self {
        self.app.setup_mut().deployment = DeploymentKind::Local;
        self.answer(Lane::Datasets, Payload::Datasets(datasets, 0));
        self.answer_page(page(0, 3));
        self
    }

    pub fn happen(&mut self, event: Event) {
        for effect in self.app.update(self.now, event) {
            match effect {
                // Saved state is loaded at once.
                Effect::Send(ticket, Request::LoadState(book)) => {
                    let entry = self.kept.get(&book).cloned();
                    self.respond(ticket, Ok(Payload::StateLoaded(entry)));
                }
                Effect::Send(ticket, Request::SaveState(entry)) => {
                    self.kept.insert(entry.key(), entry);
                    self.respond(ticket, Ok(Payload::Done));
                }
                Effect::Send(ticket, Request::LocalDataset(_))
                    if matches!(ticket.lane, Lane::LocalFacts(_))
                        && self.app.setup().deployment != DeploymentKind::Local =>
                {
                    let unknown = || Failure::new(FailureKind::NotFound, "not a local service");
                    let local = self.local_dataset.clone().ok_or_else(unknown);
                    self.respond(ticket, local.map(Payload::LocalDataset));
                }
                // The folder for downloads exists.
                Effect::Send(ticket, Request::CheckTarget(path))
                    if path.starts_with("/downloads") =>
                {
                    self.respond(ticket, Ok(Payload::Done));
                }
                Effect::Send(ticket, request) => self.open.push_back((ticket, request)),
                Effect::Cancel(lane) => {
                    self.open.retain(|(ticket, _)| ticket.lane != lane);
                    self.cancelled.push(lane);
                }
                other => self.other.push(other),
            }
        }
    }

    /// Presses keys as the key file writes them, separated by spaces.
    pub fn press(&mut self, keys: &str) {
        for key in keys.split(' ') {
            self.happen(Event::Key(key.parse().unwrap()));
        }
    }

    /// Presses keys, and returns the core.
    pub fn pressing(mut self, keys: &str) -> Self {
        self.press(keys);
        self
    }

    /// Types text into a field.
    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.happen(Event::Key(Chord::plain(Key::Char(c))));
        }
    }

    /// Lets time pass.
    pub fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.happen(Event::Wake);
    }

    /// Removes and returns the open request of a lane.
    pub fn take(&mut self, wanted: impl Fn(&Lane) -> bool) -> (Ticket, Request) {
        let place = self.open.iter().position(|(ticket, _)| wanted(&ticket.lane));
        self.open.remove(place.expect("this lane was asked")).unwrap()
    }

    /// Returns the open requests, except for the enrichments of the selected dataset, which are
    /// always requested.
    pub fn requests(&self) -> Vec<&Request> {
        let aside = |request: &&Request| matches!(request, Request::Enrichment(_));
        self.open.iter().map(|(_, request)| request).filter(|it| !aside(it)).collect()
    }

    /// Returns the searches whose pages are being loaded.
    pub fn open_searches(&self) -> Vec<Search> {
        let search = |(_, request): &(Ticket, Request)| match request {
            Request::Explore(search) => Some(search.clone()),
            _ => None,
        };
        self.open.iter().filter_map(search).collect()
    }

    pub fn respond(&mut self, ticket: Ticket, result: Result<Payload, Failure>) {
        self.happen(Event::Worker(WorkerEvent::Response(Response { ticket, result })));
    }

    #[expect(clippy::needless_pass_by_value, reason = "a lane is written where it is asked for")]
    pub fn answer(&mut self, lane: Lane, answer: Payload) {
        let (ticket, _) = self.take(|open| *open == lane);
        self.respond(ticket, Ok(answer));
    }

    #[expect(clippy::needless_pass_by_value, reason = "a lane is written where it is asked for")]
    pub fn fail(&mut self, lane: Lane, kind: FailureKind) {
        let (ticket, _) = self.take(|open| *open == lane);
        self.respond(ticket, Err(Failure::new(kind, "it broke")));
    }

    /// Responds to the open page request.
    pub fn answer_page(&mut self, page: Page) {
        let (ticket, _) = self.take(|lane| matches!(lane, Lane::Page(_)));
        self.respond(ticket, Ok(Payload::Page(page)));
    }

    /// Responds to all open requests for the enrichments of a dataset with this body.
    pub fn answer_enrichments(&mut self, body: &Value) {
        let is_enrichment = |lane: &Lane| matches!(lane, Lane::Enrichment(_));
        while self.open.iter().any(|(ticket, _)| is_enrichment(&ticket.lane)) {
            let (ticket, _) = self.take(is_enrichment);
            self.respond(ticket, Ok(Payload::Enrichment(read_enrichment(body))));
        }
    }

    /// Returns the number of views in the history of the tab, including the one on screen.
    pub fn steps(&self) -> usize {
        self.app.results().tabs().map_or(0, |tabs| tabs.tab().back_stack.len() + 1)
    }

    /// Returns the notification on screen.
    pub fn notice(&self) -> &str {
        self.app.notifications().current().map_or("", |notice| notice.text.as_str())
    }
}

pub fn folder_query(folder: &str, prefix: &str) -> FolderQuery {
    FolderQuery { folder: folder.into(), prefix: prefix.to_owned() }
}

pub fn dataset(number: u128, status: Status) -> Dataset {
    Dataset {
        id: DatasetId(Uuid::from_u128(number)),
        name: SafeText::name(&format!("set-{number}")),
        status,
        status_is_legacy: false,
        legacy_status: None,
        progress: Some(100),
        owner: Some(SafeText::name("me")),
        created_at: Some(SafeText::name("2026-11-21T09:00:00.000000")),
        updated_at: None,
        n_images: Some(240),
        n_videos: Some(0),
        n_frames: None,
        n_objects: Some(0),
        error: None,
        folder_missing: false,
    }
}

/// Returns a page of a local service, whose clusters are numbered from `first`.
pub fn page(first: u128, count: usize) -> Page {
    let clusters = (first..).take(count).map(cluster).collect();
    Page { clusters, fills_pages: true, ..Page::default() }
}

pub fn cluster(number: u128) -> Cluster {
    Cluster {
        id: ClusterId(Uuid::from_u128(1_000 + number)),
        entity: EntityType::Images,
        n_images: Some(3),
        n_objects: Some(0),
        n_videos: Some(0),
        n_frames: Some(0),
        similarity_threshold: None,
        relevance: None,
        previews: (0..3).map(|member| preview(number * 10 + member)).collect(),
        labels: vec![],
        tags: vec![],
        captions: vec![],
    }
}

fn preview(number: u128) -> Preview {
    let link = |kind: &str| Some(Link::new(format!("http://127.0.0.1/{kind}/{number}")));
    Preview {
        media: MediaId(Uuid::from_u128(100_000 + number)),
        kind: SafeText::name("IMAGE"),
        original: link("media"),
        thumbnail: link("thumb"),
        caption: None,
        file_name: SafeText::file_name(&format!("{number}.jpg")),
        original_uri: None,
        original_path: None,
        frame: None,
        region: None,
        relevance: None,
        labels: Vec::new(),
        tags: Vec::new(),
        rating: 0,
        dimensions: Some((640, 480)),
        file: FileFacts::default(),
        extra_columns: BTreeMap::new(),
    }
}

/// Returns an export in this state of the service. It has a link once it is COMPLETED.
pub fn task(word: &str) -> ExportTask {
    let state = ExportState::parse(word);
    let download = (state == ExportState::Completed).then(|| Link::new("http://127.0.0.1/a?sig=x"));
    ExportTask {
        id: ExportTaskId(Uuid::from_u128(9)),
        state,
        progress: Some(40),
        download,
        message: None,
    }
}
