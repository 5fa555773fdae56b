//! Measures the core and the drawing: frames at 200x60 over 100 clusters, what collages and the score histogram add to
//! them, and events with a page of 10,000 previews in the store.
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(clippy::print_stdout, reason = "it reports what it measured")]

use std::{
    collections::BTreeMap,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use criterion::{Criterion, criterion_group, criterion_main};
use ratatui::{
    Terminal, TerminalOptions, Viewport, backend::CrosstermBackend, buffer::Buffer, layout::Rect,
};
use tessera::runtime::frames::FrameWriter;
use tessera_config::{DeploymentKind, Settings, Sources, input::Keymap};
use tessera_interface::{
    app::{App, Effect, Event, Setup},
    drawing::{
        PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    message::{Lane, Payload, Response, Ticket, WorkerEvent},
    ui,
};
use tessera_model::{
    Cluster, ClusterId, Dataset, DatasetId, EntityType, ExportState, ExportTask, ExportTaskId,
    FileFacts, Link, MapPoint, MediaId, MediaMap, Page, Preview, Relevance, SafeText, ScoreKind,
    Status, pseudorandom::splitmix64,
};
use tessera_picture::{Canvas, Encoded, PictureSubject, PictureView, Protocol, Thumbnail};
use uuid::Uuid;

const CAPTION: &str = "A red and a yellow balloon over green hills at dusk";

fn preview(number: u128) -> Preview {
    let link = |kind: &str| {
        Some(Link::new(format!("http://127.0.0.1:8000/{kind}/{number}?signature=abc")))
    };
    Preview {
        media: MediaId(Uuid::from_u128(number)),
        kind: SafeText::name("IMAGE"),
        original: link("media"),
        thumbnail: link("thumb"),
        caption: Some(SafeText::caption(CAPTION)),
        file_name: SafeText::file_name(&format!("{number}.jpg")),
        original_uri: None,
        original_path: None,
        frame: None,
        region: None,
        relevance: Some(relevance(number)),
        labels: Vec::new(),
        tags: Vec::new(),
        rating: 0,
        dimensions: Some((640, 480)),
        file: FileFacts::default(),
        extra_columns: BTreeMap::new(),
    }
}

/// Returns scores that fill the histogram from 0 to 1.
fn relevance(number: u128) -> Relevance {
    let score = f64::from(u32::try_from(number * 37 % 100).unwrap()) / 100.0;
    Relevance::new(score, ScoreKind::CosineDistance)
}

fn page(clusters: u128, previews: u128) -> Page {
    let cluster = |number: u128| Cluster {
        id: ClusterId(Uuid::from_u128(number)),
        entity: EntityType::Images,
        n_images: Some(7),
        n_objects: None,
        n_videos: None,
        n_frames: None,
        similarity_threshold: None,
        relevance: Some(relevance(number)),
        previews: (0..previews).map(|each| preview(number * previews + each)).collect(),
        labels: vec![],
        tags: vec![],
        captions: vec![SafeText::caption(CAPTION)],
    };
    Page { clusters: (0..clusters).map(cluster).collect(), ..Page::default() }
}

fn dataset() -> Dataset {
    Dataset {
        id: DatasetId(Uuid::from_u128(1)),
        name: SafeText::name("photos"),
        status: Status::Ready,
        status_is_legacy: false,
        legacy_status: None,
        progress: Some(100),
        owner: None,
        created_at: None,
        updated_at: None,
        n_images: Some(10_000),
        n_videos: None,
        n_frames: None,
        n_objects: None,
        error: None,
        folder_missing: false,
    }
}

/// Creates a picture in which every cell differs from its neighbors, as in a photograph.
fn half_blocks(canvas: Canvas, seed: u128) -> Thumbnail {
    let count = usize::from(canvas.columns) * usize::from(canvas.rows) * 2;
    let seed = usize::try_from(seed % 97).unwrap();
    let pixel = |at: usize| {
        [at * 7, at * 13, at * 29].map(|each| u8::try_from((each + seed) % 251).unwrap())
    };
    let pixels: Arc<[[u8; 3]]> = (0..count).map(pixel).collect();
    let cells = (canvas.columns, canvas.rows);
    Thumbnail {
        cells,
        original: (640, 480),
        encoded: Encoded::Pixels(pixels),
        differing_pixels: None,
    }
}

/// Creates a core with a page on screen and all its visible pictures.
fn browsing(clusters: u128, previews: u128) -> App {
    let settings = Settings::load(&Sources::default()).unwrap();
    let mut app = App::new(Setup {
        deployment: DeploymentKind::Local,
        home_dir: None,
        size: (200, 60),
        protocol: Protocol::HalfBlock,
        ..Setup::new(SafeText::name("local"), settings, Keymap::built_in().unwrap())
    });
    happen(&mut app, Duration::ZERO, Event::Wake, (clusters, previews));
    assert_eq!(app.tickets().outstanding(), 0);
    app
}

/// Handles an event and responds to all requests that it leads to. Returns the number of requests.
fn happen(app: &mut App, now: Duration, event: Event, (clusters, previews): (u128, u128)) -> usize {
    let mut effects = app.update(now, event);
    let mut count = 0;
    while let Some(effect) = effects.pop() {
        let Effect::Send(ticket, _) = effect else { continue };
        let result = Ok(answer(&ticket, clusters, previews));
        effects.extend(
            app.update(now, Event::Worker(WorkerEvent::Response(Response { ticket, result }))),
        );
        count += 1;
    }
    count
}

/// Presses keys that are separated by spaces.
fn press(app: &mut App, keys: &str, page: (u128, u128)) {
    for key in keys.split_whitespace() {
        happen(app, Duration::ZERO, Event::Key(key.parse().unwrap()), page);
    }
}

fn answer(ticket: &Ticket, clusters: u128, previews: u128) -> Payload {
    match &ticket.lane {
        Lane::Datasets => Payload::Datasets(vec![dataset()], 0),
        Lane::Page(_) => Payload::Page(page(clusters, previews)),
        Lane::Picture(PictureView { subject: PictureSubject::Media(media), .. }, canvas) => {
            Payload::Picture(half_blocks(*canvas, media.0.as_u128()))
        }
        Lane::StartJob(_) | Lane::Export(_) => Payload::Export(ExportTask {
            id: ExportTaskId(Uuid::from_u128(9)),
            state: ExportState::parse("IN_PROGRESS"),
            progress: Some(40),
            download: None,
            message: None,
        }),
        Lane::LoadState(_) => Payload::StateLoaded(None),
        Lane::SaveState(_) | Lane::CheckTarget => Payload::Done,
        Lane::Enrichment(_) => {
            Payload::Enrichment(tessera_wire::enrichment::read_enrichment(&serde_json::Value::Null))
        }
        other => unreachable!("{other:?}"),
    }
}

fn frame(c: &mut Criterion) {
    let app = browsing(100, 9);
    let theme = Theme::built_in(ThemeName::Dark, ColorDepth::TrueColor).unwrap();
    let mut layer =
        PictureLayer::new(GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor });
    let area = Rect::new(0, 0, 200, 60);
    c.bench_function("view: fill a 200x60 buffer, half-blocks", |b| {
        let mut buffer = Buffer::empty(area);
        b.iter(|| ui::draw(&app, &theme, black_box(&mut buffer), &mut layer));
    });
    c.bench_function("frame: fill, diff and write all of 200x60, half-blocks", |b| {
        let mut frames = FrameWriter::new(std::io::sink());
        b.iter(|| {
            frames.invalidate();
            let view = |buffer: &mut Buffer| {
                ui::draw(&app, &theme, buffer, &mut layer);
                layer.end_frame(buffer)
            };
            black_box(frames.draw((200, 60), view).unwrap());
        });
    });
    c.bench_function("frame: the same, written by ratatui's backend for crossterm", |b| {
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let mut terminal =
            Terminal::with_options(CrosstermBackend::new(std::io::sink()), options).unwrap();
        b.iter(|| {
            ui::draw(&app, &theme, terminal.get_frame().buffer_mut(), &mut layer);
            terminal.flush().unwrap();
            // Without a swap, the previous buffer stays empty, so every cell has changed each time.
            black_box(&terminal);
        });
    });
}

/// Measures what is drawn over or in the tiles, and the same frame without it.
fn parts_of_a_frame(c: &mut Criterion) {
    let theme = Theme::built_in(ThemeName::Dark, ColorDepth::TrueColor).unwrap();
    let mut layer =
        PictureLayer::new(GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor });
    let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 60));
    let mut draw = |c: &mut Criterion, name: &str, app: &App| {
        c.bench_function(name, |b| {
            b.iter(|| ui::draw(app, &theme, black_box(&mut buffer), &mut layer));
        });
    };
    // This is the lowest density, at which tiles are large enough for collages.
    for (name, previews) in [("one picture", 1), ("a collage", 9)] {
        let mut app = browsing(100, previews);
        press(&mut app, "+ + + + + +", (100, previews));
        draw(c, &format!("view: large tiles of {name}"), &app);
    }
    let mut app = browsing(100, 9);
    press(&mut app, "f", (100, 9));
    draw(c, "view: similar pictures", &app);
    press(&mut app, "g h", (100, 9));
    assert!(app.overlay().is_some(), "the histogram is open");
    draw(c, "view: similar pictures, below the score histogram", &app);
    let app = map_of(100_000);
    draw(c, "view: a map of 100,000 points", &app);
    update_map(c, app);
}

/// Opens a map of points in groups, which have labels.
fn map_of(points: u32) -> App {
    let mut app = browsing(100, 9);
    app.setup_mut().deployment = DeploymentKind::Local;
    let mut effects = Vec::new();
    for key in ["g", "e"] {
        effects.extend(app.update(Duration::ZERO, Event::Key(key.parse().unwrap())));
    }
    let sent = effects.into_iter().find_map(|effect| match effect {
        Effect::Send(ticket, _) if matches!(ticket.lane, Lane::Map(_)) => Some(ticket),
        _ => None,
    });
    let random =
        |number: u32| f32::from(u16::try_from(splitmix64(number.into()) >> 48).unwrap()) / 65_536.0;
    let point = |number: u32| MapPoint {
        media: MediaId(Uuid::from_u128(number.into())),
        path: format!("summer/{number}.jpg"),
        position: [random(2 * number), random(2 * number + 1)],
        labels: vec![number % 12],
        tags: Vec::new(),
    };
    let map = MediaMap {
        media: points.into(),
        points: (0..points).map(point).collect(),
        labels: (0..12).map(|number| SafeText::name(&format!("label {number}"))).collect(),
        ..MediaMap::default()
    };
    let response = Response { ticket: sent.unwrap(), result: Ok(Payload::Map(map)) };
    let _ = app.update(Duration::ZERO, Event::Worker(WorkerEvent::Response(response)));
    assert!(app.overlay().is_some(), "the map is open");
    app
}

fn update_map(c: &mut Criterion, mut app: App) {
    let mut right = false;
    c.bench_function("update: a key on a map of 100,000 points", |b| {
        b.iter(|| {
            right = !right;
            let key = if right { "l" } else { "h" };
            black_box(app.update(Duration::ZERO, Event::Key(key.parse().unwrap())))
        });
    });
}

fn update(c: &mut Criterion) {
    let mut app = browsing(100, 100);
    let mut right = false;
    c.bench_function("update: a key with 10,000 previews in the store", |b| {
        b.iter(|| {
            right = !right;
            let key = if right { "l" } else { "h" };
            black_box(app.update(Duration::ZERO, Event::Key(key.parse().unwrap())))
        });
    });
}

/// Measures the time from a key to its frame while every picture on the screen is replaced and the responses of three
/// jobs arrive. Prints the 99th percentile.
fn key_to_frame(c: &mut Criterion) {
    let theme = Theme::built_in(ThemeName::Dark, ColorDepth::TrueColor).unwrap();
    let mut layer =
        PictureLayer::new(GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor });
    let mut frames = FrameWriter::new(std::io::sink());
    let page = (100, 9);
    let mut app = browsing(page.0, page.1);
    press(&mut app, "e enter e enter e enter", page);
    assert_eq!(app.jobs().len(), 3);
    let (mut spans, mut requests): (Vec<Duration>, usize) = (Vec::new(), 0);
    let mut now = Duration::ZERO;
    c.bench_function("key to frame while a screen of pictures arrives and jobs are polled", |b| {
        b.iter(|| {
            // All polling intervals have passed.
            now += Duration::from_mins(1);
            let started = Instant::now();
            requests += happen(&mut app, now, Event::Wake, page);
            // If the size of a cell changes, every picture on screen is requested again.
            let scale = u16::try_from(spans.len() % 1000).unwrap() + 1;
            let cell = (10 * scale, 20 * scale);
            requests += happen(&mut app, now, Event::Terminal(Protocol::HalfBlock, cell), page);
            let key = if spans.len().is_multiple_of(2) { "l" } else { "h" };
            requests += happen(&mut app, now, Event::Key(key.parse().unwrap()), page);
            let view = |buffer: &mut Buffer| {
                ui::draw(&app, &theme, buffer, &mut layer);
                layer.end_frame(buffer)
            };
            black_box(frames.draw((200, 60), view).unwrap());
            spans.push(started.elapsed());
        });
    });
    spans.sort();
    let worst = spans[(spans.len() * 99 / 100).min(spans.len() - 1)];
    println!(
        "p99 {:.2} ms, {:.2} of 8 ms, with {} responses each",
        worst.as_secs_f64() * 1e3,
        worst.as_secs_f64() / 0.008,
        requests / spans.len()
    );
}

criterion_group!(benches, frame, parts_of_a_frame, update, key_to_frame);
criterion_main!(benches);
