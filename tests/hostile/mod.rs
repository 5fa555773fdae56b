//! Tests hostile text in every field of a service, and in all input. The terminal must receive exactly the same escape
//! sequences as for harmless text.
//!
//! The test presses every key in every pane, so a new screen is covered as soon as it has a key.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

pub mod corpus;

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    time::Duration,
};

use crate::support::app_harness::{AppHarness, cluster, dataset, task};
use tessera::runtime::frames::FrameWriter;
use tessera_interface::{
    app::{Event, LoginSetup},
    drawing::{
        PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    message::{Lane, LoginPlaces, Payload, WorkerEvent},
    ui,
};
use tessera_model::{
    AppliedModel, Dataset, Enrichment, EnrichmentModel, Failure, FailureKind, FolderEntry,
    FolderListing, ModelFile, ModelStatus, Page, Preflight, RecordField, Relevance, RequestOutcome,
    RequestRecord, SafeText, ScoreKind, Status, VideoFrame, ingest::UnreadableFile,
};
use tessera_picture::Protocol;

/// Harmless text.
const CLEAN: &str = "balloon";

fn name(text: &str) -> SafeText {
    SafeText::name(text)
}

fn datasets(text: &str) -> Vec<Dataset> {
    let statuses = [Status::Ready, Status::Indexing, Status::Error, Status::parse(text)];
    let each = |(number, status): (u128, Status)| Dataset {
        name: name(text),
        owner: Some(name(text)),
        created_at: Some(name(text)),
        error: (status == Status::Error).then(|| SafeText::detail(text)),
        ..dataset(number, status)
    };
    (1..).zip(statuses).map(each).collect()
}

fn page(text: &str) -> Page {
    let mut page = Page::default();
    for (number, score) in [(0, 0.0), (1, 0.2), (2, 0.9)] {
        let mut each = cluster(number);
        each.relevance = Some(Relevance::new(score, ScoreKind::Other(name(text))));
        each.similarity_threshold = Some(name(text));
        each.labels = vec![name(text)];
        each.tags = vec![tessera_model::Tag { id: None, name: name(text) }];
        each.captions = vec![SafeText::caption(text)];
        for preview in &mut each.previews {
            preview.kind = name(text);
            preview.caption = Some(SafeText::caption(text));
            preview.file_name = SafeText::file_name(text);
            preview.original_uri = Some(SafeText::file_name(text));
            if number == 1 {
                let video = SafeText::file_name(text);
                preview.frame = Some(VideoFrame { video, seconds: Some(2.5), link: None });
            }
            preview.relevance.clone_from(&each.relevance);
        }
        page.clusters.push(each);
    }
    page
}

fn failure(text: &str) -> Failure {
    Failure::new(FailureKind::NoResponse, text)
        .with_remedy(text)
        .with_detail(Some(SafeText::detail(text)))
}

fn folder(text: &str) -> FolderListing {
    let entry = |is_folder| FolderEntry {
        name: SafeText::file_name(text),
        file_name: OsString::from(text),
        is_folder,
        bytes: 9,
    };
    FolderListing { path: "/".into(), entries: vec![entry(true), entry(false)], omitted: 0 }
}

fn preflight(text: &str) -> Preflight {
    let unreadable = UnreadableFile { name: name(text), reason: name(text) };
    Preflight {
        images: 3,
        videos: 1,
        bytes: 9,
        skipped: 1,
        unreadable: 1,
        unreadable_files: vec![unreadable],
        folders: Vec::new(),
        warnings: vec![name(text)],
    }
}

/// Returns the response to any request, with the text in all its fields.
fn answer(lane: &Lane, text: &str) -> Result<Payload, Failure> {
    let mut task = task("FAILED");
    task.message = Some(SafeText::detail(text));
    Ok(match lane {
        Lane::Datasets => Payload::Datasets(datasets(text), 1),
        Lane::Page(_) => Payload::Page(page(text)),
        Lane::Enrichment(_) => {
            let applied = [ModelStatus::Unknown; EnrichmentModel::ALL.len()];
            let model = AppliedModel {
                coverage: None,
                kind: name("IMAGE_TAGGING"),
                id: Some(name(text)),
                name: Some(name(text)),
                description: Some(name(text)),
                applied_at: Some(name(text)),
                files: vec![ModelFile { path: name(text), sha256: name(text) }],
            };
            let raw = SafeText::detail(text);
            Payload::Enrichment(Enrichment { statuses: applied, models: vec![model], raw })
        }
        Lane::Record(_) => {
            Payload::Record(vec![RecordField { name: name(text), value: name(text) }])
        }
        Lane::Export(_) | Lane::StartJob(_) => Payload::Export(task),
        Lane::Folder(_) => Payload::Folder(folder(text)),
        Lane::Preflight => Payload::Preflight(preflight(text)),
        Lane::LoginPlaces => Payload::LoginPlaces(LoginPlaces {
            current: name(text),
            new: name(text),
            needs_consent: true,
        }),
        Lane::SaveState(_) => Payload::Done,
        Lane::LoadState(_) => Payload::StateLoaded(None),
        _ => return Err(failure(text)),
    })
}

/// A core whose requests all get a response, and the frames that it draws.
struct DrawnHarness {
    harness: AppHarness,
    frames: FrameWriter<Vec<u8>>,
    layer: PictureLayer,
    theme: Theme,
    text: String,
}

impl DrawnHarness {
    fn new(text: &str) -> Self {
        let surface = GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor };
        let login = LoginSetup { service: name(text), key: name(text), fixed: None };
        let mut screen = Self {
            harness: AppHarness::configured(Protocol::None, |setup| setup.login = Some(login)),
            frames: FrameWriter::new(Vec::new()),
            layer: PictureLayer::new(surface),
            theme: Theme::built_in(ThemeName::Dark, ColorDepth::Palette16).unwrap(),
            text: text.to_owned(),
        };
        let exchange = |outcome| RequestRecord {
            purpose: "list the datasets",
            method: "GET",
            target: SafeText::detail(text),
            attempt: 1,
            duration: Duration::from_millis(5),
            bytes_sent: 0,
            outcome,
            retry_in: None,
        };
        let refused =
            RequestOutcome::Rejected { status: 400, message: Some(SafeText::detail(text)) };
        for outcome in [refused, RequestOutcome::Failed(SafeText::detail(text))] {
            screen.harness.happen(Event::Worker(WorkerEvent::Exchange(exchange(outcome))));
        }
        screen.settle();
        screen
    }

    /// Responds to all requests and draws.
    fn settle(&mut self) {
        while let Some((ticket, _)) = self.harness.open.pop_front() {
            let answer = answer(&ticket.lane, &self.text);
            self.harness.respond(ticket, answer);
        }
        self.draw();
    }

    fn draw(&mut self) {
        let (app, theme, layer) = (&self.harness.app, &self.theme, &mut self.layer);
        // The whole screen is drawn each time, so that every cell is written.
        self.frames.invalidate();
        let view = |buffer: &mut ratatui::buffer::Buffer| {
            ui::draw(app, theme, buffer, layer);
            layer.end_frame(buffer)
        };
        self.frames.draw(app.screen().size, view).unwrap();
    }

    fn press(&mut self, keys: &str) {
        self.harness.press(keys);
        self.settle();
    }

    /// Types and pastes the text into the open field.
    fn write(&mut self) {
        let start: String = self.text.chars().take(40).collect();
        self.harness.type_text(&start);
        self.draw();
        self.harness.happen(Event::Paste(self.text.clone()));
        self.draw();
    }

    /// Visits the main screens.
    fn look_around(&mut self) {
        for keys in ["1", "2", "f", "i", "e", "enter", "4", "3", "5", "esc"] {
            self.press(keys);
        }
        self.press("2");
        self.press("F");
        self.write();
    }

    /// Presses every key of every pane, and writes the text into what it opens.
    fn press_everything(&mut self) {
        for pane in ["1", "2", "i", "3", "4", "5"] {
            for keys in every_key() {
                self.press("esc esc esc 2");
                self.press(pane);
                self.press(&keys);
                if self.harness.app.overlay().is_some() {
                    self.write();
                    self.press("enter");
                }
            }
        }
    }

    fn written(self) -> Written {
        Written::new(&String::from_utf8(self.frames.into_inner()).expect("whole characters"))
    }
}

/// Returns the first key of every action.
fn every_key() -> Vec<String> {
    let shipped = include_str!("../../assets/keymap.toml");
    let contexts: BTreeMap<String, BTreeMap<String, Vec<String>>> =
        toml::from_str(shipped).unwrap();
    contexts.into_values().flat_map(BTreeMap::into_values).map(|keys| keys[0].clone()).collect()
}

/// The output, with its escape sequences separate from its text.
struct Written {
    /// Each kind of sequence once, without cursor movements, which depend on the text. A style is recorded by what it
    /// adds, because what it removes depends on the cell before.
    sequences: BTreeSet<String>,
    text: BTreeSet<char>,
}

impl Written {
    fn new(output: &str) -> Self {
        let (mut sequences, mut text) = (BTreeSet::new(), BTreeSet::new());
        let mut rest = output.chars();
        while let Some(next) = rest.next() {
            if next != '\x1B' {
                text.insert(next);
                continue;
            }
            let mut sequence = String::new();
            // Only control sequences are expected, so any other sequence appears as an unknown one.
            for c in rest.by_ref() {
                sequence.push(c);
                if sequence.len() > 1 && c.is_ascii_alphabetic() || !sequence.starts_with('[') {
                    break;
                }
            }
            let body = sequence.trim_start_matches('[');
            let is_move = body.strip_suffix('H').is_some_and(|place| {
                place.split(';').all(|number| number.parse::<u16>().is_ok_and(|it| it <= 120))
            });
            if let Some(style) = body.strip_suffix('m') {
                sequences.extend(added_styles(style));
            } else if !is_move {
                sequences.insert(sequence);
            }
        }
        Self { sequences, text }
    }

    /// Asserts that the text contains nothing invisible and no control characters.
    fn assert_visible(&self, what: &str) {
        let hides = |c: &char| {
            c.is_control()
                || matches!(u32::from(*c), 0x61C | 0x200B | 0x200C | 0x200E | 0x200F
                    | 0x2028..=0x202E | 0x2060..=0x206F | 0xE000..=0xF8FF | 0xFEFF | 0xFFF9..=0xFFFB
                    | 0xE_0000..=0x10_FFFF)
        };
        let hidden: Vec<char> = self.text.iter().copied().filter(hides).collect();
        assert!(hidden.is_empty(), "{hidden:?} of {what:?}");
    }
}

/// Returns the colors and modifiers that a style sequence adds, or the whole sequence if it is not
/// a style.
fn added_styles(parameters: &str) -> Vec<String> {
    let mut styles = Vec::new();
    let mut rest = parameters;
    while !rest.is_empty() {
        let numbers: Vec<&str> = rest.splitn(6, ';').collect();
        let length = match numbers[..] {
            ["38" | "48", "2", _, _, _, ..] => 5,
            ["38" | "48", "5", _, ..] => 3,
            _ => 1,
        };
        let style = numbers[..length].join(";");
        rest = rest[style.len()..].trim_start_matches(';');
        if !matches!(style.as_str(), "22" | "23" | "24" | "25" | "27" | "28" | "29" | "39" | "49") {
            styles.push(format!("[{style}m"));
        }
    }
    styles
}

#[test]
fn the_corpus_is_large() {
    let corpus = corpus::corpus();
    let different: BTreeSet<&String> = corpus.iter().collect();
    assert!(different.len() >= 200, "{}", different.len());
}

#[test]
fn hostile_text_writes_the_sequences_of_clean_text() {
    let look = |text: &str| {
        let mut screen = DrawnHarness::new(text);
        screen.look_around();
        screen.written()
    };
    let clean = look(CLEAN);
    for hostile in corpus::corpus() {
        let written = look(&format!("ba{hostile}on"));
        written.assert_visible(&hostile);
        let added: Vec<_> = written.sequences.difference(&clean.sequences).collect();
        let lost: Vec<_> = clean.sequences.difference(&written.sequences).collect();
        assert!(added.is_empty() && lost.is_empty(), "{hostile:?}: {added:?}, without {lost:?}");
    }
}

#[test]
fn every_screen_and_every_field_is_safe() {
    let everything = |text: &str| {
        let mut screen = DrawnHarness::new(text);
        screen.press_everything();
        screen.written()
    };
    let clean = everything(CLEAN);
    for hostile in ["\x1B[2J", "\u{9B}31m", "\u{202E}", "\n\t猫"] {
        let written = everything(&format!("ba{hostile}on"));
        written.assert_visible(hostile);
        let added: Vec<_> = written.sequences.difference(&clean.sequences).collect();
        assert!(added.is_empty(), "{hostile:?}: {added:?}");
    }
}
