//! Measures how many bytes scrolling by a row of tiles sends to the terminal. Over a remote connection, this decides
//! how long a key takes.

use std::collections::HashMap;

use tessera::runtime::frames::{FrameCost, FrameWriter};
use tessera_interface::{
    app::Event,
    drawing::{
        PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    message::{Lane, Payload},
    ui,
};
use tessera_model::Status;
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView, Protocol, Thumbnail, thumbnail};
use tessera_testing::pictures::copy_samples;

use crate::support::app_harness::{AppHarness, dataset, page};

const SAMPLES: usize = 12;

/// A core and the terminal that it is drawn on.
struct Browser {
    harness: AppHarness,
    layer: PictureLayer,
    frames: FrameWriter<std::io::Sink>,
    theme: Theme,
    samples: Vec<Vec<u8>>,
    /// The encoded pictures by sample, because encoding one takes long in a test build.
    thumbnails: HashMap<(usize, Canvas), Thumbnail>,
}

impl Browser {
    /// Opens 100 clusters at 200x60, with cells of a given size in pixels.
    fn new(protocol: Protocol, cell: (u16, u16)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_samples(folder.path(), SAMPLES);
        let mut files: Vec<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let mut harness = AppHarness::with_pictures(protocol);
        harness.happen(Event::Resize(200, 60));
        harness.happen(Event::Terminal(protocol, cell));
        harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
        harness.answer_page(page(0, 100));
        let settings = GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor };
        let mut browser = Self {
            harness,
            layer: PictureLayer::new(settings),
            frames: FrameWriter::new(std::io::sink()),
            theme: Theme::built_in(ThemeName::Dark, ColorDepth::Palette16).unwrap(),
            samples: files.iter().map(|file| std::fs::read(file).unwrap()).collect(),
            thumbnails: HashMap::new(),
        };
        browser.settle();
        browser
    }

    /// Responds to all requests for pictures, and draws.
    fn settle(&mut self) -> FrameCost {
        let is_picture = |lane: &Lane| matches!(lane, Lane::Picture(..));
        while self.harness.open.iter().any(|(ticket, _)| is_picture(&ticket.lane)) {
            let (ticket, _) = self.harness.take(is_picture);
            let Lane::Picture(view, canvas) = &ticket.lane else { unreachable!() };
            let picture = self.picture(view, *canvas);
            self.harness.respond(ticket, Ok(picture));
        }
        let (app, theme, layer) = (&self.harness.app, &self.theme, &mut self.layer);
        let view = |buffer: &mut ratatui::buffer::Buffer| {
            ui::draw(app, theme, buffer, layer);
            layer.end_frame(buffer)
        };
        self.frames.draw(app.screen().size, view).unwrap()
    }

    fn picture(&mut self, view: &PictureView, canvas: Canvas) -> Payload {
        let PictureSubject::Media(media) = &view.subject else { unreachable!("{view:?}") };
        let sample = usize::from(media.0.as_bytes()[15]) % SAMPLES;
        let encoded = || thumbnail(&self.samples[sample], &Crop::Full, canvas).unwrap();
        Payload::Picture(self.thumbnails.entry((sample, canvas)).or_insert_with(encoded).clone())
    }

    /// Presses a key until the tiles have scrolled this often. Returns the maximum number of bytes that scrolling by
    /// one row took.
    fn scroll(&mut self, key: &str, rows: usize) -> usize {
        let mut costs = Vec::new();
        while costs.len() < rows {
            let before = self.harness.app.results().tile_cursor();
            self.harness.press(key);
            let cost = self.settle();
            let after = self.harness.app.results().tile_cursor();
            assert_ne!(after.tile, before.tile, "at the end of the results");
            if after.top_row != before.top_row {
                costs.push(cost.bytes);
            }
        }
        costs.into_iter().max().unwrap()
    }
}

#[test]
fn scrolling_back_over_stored_pictures_moves_only_placeholders() {
    let mut browser = Browser::new(Protocol::Kitty, (10, 20));
    browser.scroll("j", 3);
    let most = browser.scroll("k", 2);
    assert!((10_000..45_000).contains(&most), "{most} bytes");
}

#[test]
fn scrolling_sends_the_visible_sixel_pictures_and_nothing_more() {
    let mut browser = Browser::new(Protocol::Sixel, (6, 13));
    let most = browser.scroll("j", 2);
    assert!((100_000..500_000).contains(&most), "{most} bytes");
}
