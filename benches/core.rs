//! The core and the drawing: a full frame at 200x60 over 100 clusters, and events with a page of
//! 10,000 previews in the store.
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(clippy::print_stdout, reason = "it reports what it measured")]

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use criterion::{Criterion, criterion_group, criterion_main};
use ratatui::{
    Terminal, TerminalOptions, Viewport, backend::CrosstermBackend, buffer::Buffer, layout::Rect,
};
use tessera::{
    app::{App, Effect, Event, Setup},
    input::Keymap,
    message::{Lane, Payload, Response, Ticket},
    runtime::frames::FrameWriter,
    ui::{
        self, PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
};
use tessera_model::{
    Cluster, ClusterId, Dataset, DatasetId, EntityType, Link, MediaId, Page, Preview, SafeText,
    Status,
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
        frame: None,
        region: None,
        relevance: None,
        dimensions: Some((640, 480)),
    }
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
        relevance: None,
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
        n_images: Some(10_000),
        n_videos: None,
        n_objects: None,
        error: None,
    }
}

/// A picture in which every cell differs from its neighbors, as in a photograph.
fn half_blocks(canvas: Canvas, seed: u128) -> Thumbnail {
    let count = usize::from(canvas.columns) * usize::from(canvas.rows) * 2;
    let seed = usize::try_from(seed % 97).unwrap();
    let pixel = |at: usize| {
        [at * 7, at * 13, at * 29].map(|each| u8::try_from((each + seed) % 251).unwrap())
    };
    let pixels: Arc<[[u8; 3]]> = (0..count).map(pixel).collect();
    let cells = (canvas.columns, canvas.rows);
    Thumbnail { cells, original: (640, 480), encoded: Encoded::Pixels(pixels) }
}

/// A core with a page on screen and all its visible pictures.
fn browsing(clusters: u128, previews: u128) -> App {
    let mut app = App::new(Setup {
        initial_dataset: None,
        download_dir: SafeText::file_name("."),
        home_dir: None,
        size: (200, 60),
        protocol: Protocol::HalfBlock,
        ..Setup::new(SafeText::name("local"), Keymap::built_in().unwrap())
    });
    let mut effects = app.update(Duration::ZERO, Event::Wake);
    while let Some(effect) = effects.pop() {
        let Effect::Send(ticket, _) = effect else {
            continue;
        };
        let result = Ok(answer(&ticket, clusters, previews));
        effects.extend(app.update(Duration::ZERO, Event::Response(Response { ticket, result })));
    }
    assert_eq!(app.tickets.outstanding(), 0);
    app
}

fn answer(ticket: &Ticket, clusters: u128, previews: u128) -> Payload {
    match &ticket.lane {
        Lane::Datasets => Payload::Datasets(vec![dataset()], 0),
        Lane::Page(_) => Payload::Page(page(clusters, previews)),
        Lane::Picture(PictureView { subject: PictureSubject::Media(media), .. }, canvas) => {
            Payload::Picture(half_blocks(*canvas, media.0.as_u128()))
        }
        Lane::LoadState(_) => Payload::StateLoaded(None),
        Lane::SaveState(_) => Payload::StateSaved,
        Lane::Enrichment(_) => {
            Payload::Enrichment(tessera_wire::enrichment::read_enrichment(&serde_json::Value::Null))
        }
        other => unreachable!("{other:?}"),
    }
}

fn frame(c: &mut Criterion) {
    let app = browsing(100, 9);
    let theme = Theme::built_in(ThemeName::Dark).unwrap();
    let mut layer =
        PictureLayer::new(GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor });
    let area = Rect::new(0, 0, 200, 60);
    c.bench_function("view: fill a 200x60 buffer, half-blocks", |b| {
        let mut buffer = Buffer::empty(area);
        b.iter(|| ui::draw(&app, &theme, black_box(&mut buffer), &mut layer));
    });
    c.bench_function("frame: fill, diff and write all of 200x60, half-blocks", |b| {
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let mut terminal =
            Terminal::with_options(CrosstermBackend::new(std::io::sink()), options).unwrap();
        b.iter(|| {
            ui::draw(&app, &theme, terminal.get_frame().buffer_mut(), &mut layer);
            terminal.flush().unwrap();
            // Without a swap the previous buffer stays empty, so every cell is a change each time.
            black_box(&terminal);
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

/// A key and its frame while every picture on the screen is replaced: prints the p99 as a part of
/// the 16 ms of a frame.
fn key_to_frame(c: &mut Criterion) {
    let theme = Theme::built_in(ThemeName::Dark).unwrap();
    let mut layer =
        PictureLayer::new(GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor });
    let mut frames = FrameWriter::new(std::io::sink());
    let mut app = browsing(100, 9);
    let mut spans: Vec<Duration> = Vec::new();
    c.bench_function("key to frame while a screen of pictures arrives", |b| {
        b.iter(|| {
            let started = Instant::now();
            // Another tile size requests every picture on screen again.
            let key = if spans.len().is_multiple_of(2) { "+" } else { "-" };
            let mut effects = app.update(Duration::ZERO, Event::Key(key.parse().unwrap()));
            while let Some(effect) = effects.pop() {
                let Effect::Send(ticket, _) = effect else { continue };
                let result = Ok(answer(&ticket, 100, 9));
                let event = Event::Response(Response { ticket, result });
                effects.extend(app.update(Duration::ZERO, event));
            }
            let view = |buffer: &mut Buffer| {
                ui::draw(&app, &theme, buffer, &mut layer);
                layer.end_frame()
            };
            black_box(frames.draw((200, 60), view).unwrap());
            spans.push(started.elapsed());
        });
    });
    spans.sort();
    let worst = spans[(spans.len() * 99 / 100).min(spans.len() - 1)];
    println!(
        "p99 {:.2} ms, {:.2} of 16 ms",
        worst.as_secs_f64() * 1e3,
        worst.as_secs_f64() / 0.016
    );
}

criterion_group!(benches, frame, update, key_to_frame);
criterion_main!(benches);
