//! Compares the time from the bytes of a JPEG to what a terminal draws with `image` and `ratatui-image`, which scale
//! with a triangle filter, as we do at about this ratio. Prints the ratio of the fastest runs, taken in turn.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use image::{RgbImage, imageops::FilterType};
use jpeg_encoder::{ColorType, Encoder};
use ratatui::layout::Size;
use ratatui_image::{
    FontSize, Resize,
    picker::{Picker, ProtocolType},
};
use tessera_picture::{Canvas, Crop, Protocol, thumbnail};

const RUNS: usize = 30;
/// The columns and rows of a tile, and the pixels of a cell.
const TILE: (u16, u16) = (30, 12);
const CELL: (u16, u16) = (10, 20);

fn main() {
    let protocols = [
        ("half-block", Protocol::HalfBlock, ProtocolType::Halfblocks),
        ("kitty", Protocol::Kitty, ProtocolType::Kitty),
        ("sixel", Protocol::Sixel, ProtocolType::Sixel),
    ];
    println!("picture    protocol    ours         theirs       ratio");
    for (width, height) in [(500, 375), (4000, 3000)] {
        let bytes = jpeg(width, height);
        for (name, ours, theirs) in protocols {
            let (ours, theirs) = fastest(|| draw(&bytes, ours), || draw_by_peer(&bytes, theirs));
            let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
            let size = format!("{width}x{height}");
            println!("{size:<10} {name:<11} {ours:<12.1?} {theirs:<12.1?} {ratio:.3}");
        }
    }
}

fn draw(bytes: &[u8], protocol: Protocol) {
    let canvas = Canvas { columns: TILE.0, rows: TILE.1, cell: CELL, protocol };
    black_box(thumbnail(black_box(bytes), &Crop::Full, canvas).expect("a tile"));
}

fn draw_by_peer(bytes: &[u8], protocol: ProtocolType) {
    let picture = image::load_from_memory(black_box(bytes)).expect("a picture");
    // The constructor with a size is deprecated in favor of a query, which needs a terminal.
    #[expect(deprecated, reason = "a bench has nothing to query")]
    let mut picker = Picker::from_fontsize(FontSize { width: CELL.0, height: CELL.1 });
    picker.set_protocol_type(protocol);
    let size = Size { width: TILE.0, height: TILE.1 };
    let resize = Resize::Fit(Some(FilterType::Triangle));
    black_box(picker.new_protocol(picture, size, resize).expect("a tile"));
}

/// Returns the duration of the fastest run of each function. The functions run in turn.
fn fastest(ours: impl Fn(), theirs: impl Fn()) -> (Duration, Duration) {
    let time = |run: &dyn Fn()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..RUNS).fold((Duration::MAX, Duration::MAX), |(a, b), _| {
        (a.min(time(&ours)), b.min(time(&theirs)))
    })
}

/// Creates a picture of waves whose length and height are halved again and again, so that it compresses about as far as
/// a photograph.
fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let picture = RgbImage::from_fn(width.into(), height.into(), |x, y| {
        let (x, y) = (f64::from(x), f64::from(y));
        let sample = |phase: f64| {
            let waves = (0..8).map(|octave| {
                let (length, weight) = (400.0 / 2_f64.powi(octave), 0.62_f64.powi(octave));
                let turn = f64::from(octave) * 1.7 + phase;
                weight * ((x * turn.cos() + y * turn.sin()) / length + phase).sin()
            });
            (128.0 + 60.0 * waves.sum::<f64>()).clamp(0.0, 255.0) as u8
        };
        image::Rgb([sample(0.3), sample(0.5), sample(0.9)])
    });
    let mut bytes = Vec::new();
    let encoder = Encoder::new(&mut bytes, 90);
    encoder.encode(picture.as_raw(), width, height, ColorType::Rgb).expect("a JPEG");
    bytes
}
