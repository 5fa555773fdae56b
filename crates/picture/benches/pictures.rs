//! Measures pictures: from the bytes of a file to a tile, for small and large photographs and for each encoder.
//!
//! The pictures are generated with detail at every size, so that they compress about as far as photographs.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a bench fails by panicking; samples are clamped"
)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use image::RgbImage;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use tessera_model::Region;
use tessera_picture::{Canvas, Crop, Protocol, decode::decode, fit_picture, thumbnail};

/// The size of a tile in the 10x10 grid of a terminal of 200x50 cells.
const TILE: (u16, u16) = (20, 5);
/// The size of a tile in a typical grid.
const LARGE_TILE: (u16, u16) = (30, 12);

/// Paints waves, each half as long and less strong than the one before. Each channel has its own phase.
fn photograph(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let (x, y) = (x as f32, y as f32);
        let sample = |phase: f32| {
            let waves = (0..8_u8).map(|octave| {
                let (length, weight) =
                    (400.0 / 2_f32.powi(octave.into()), 0.62_f32.powi(octave.into()));
                let turn = f32::from(octave) * 1.7 + phase;
                weight * ((x * turn.cos() + y * turn.sin()) / length + phase).sin()
            });
            (128.0 + 60.0 * waves.sum::<f32>()).clamp(0.0, 255.0) as u8
        };
        image::Rgb([sample(0.3), sample(0.5), sample(0.9)])
    })
}

fn jpeg(width: u16, height: u16, progressive: bool) -> Vec<u8> {
    let picture = photograph(width.into(), height.into());
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 90);
    encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
    encoder.set_progressive(progressive);
    encoder.encode(picture.as_raw(), width, height, ColorType::Rgb).unwrap();
    bytes
}

fn canvas((columns, rows): (u16, u16), protocol: Protocol) -> Canvas {
    Canvas { columns, rows, cell: (10, 20), protocol }
}

fn tiles(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tile");
    for (name, bytes) in [
        ("500x375", jpeg(500, 375, false)),
        ("500x375 progressive", jpeg(500, 375, true)),
        ("4000x3000", jpeg(4000, 3000, false)),
    ] {
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                thumbnail(black_box(&bytes), &Crop::Full, canvas(TILE, Protocol::HalfBlock))
                    .unwrap()
            });
        });
    }
    group.finish();
}

/// Measures a page of 40 tiles whose bytes have arrived, on the two threads on which the worker decodes. The target is
/// 150 ms.
fn page(criterion: &mut Criterion) {
    let bytes = jpeg(320, 240, false);
    let mut group = criterion.benchmark_group("page of 40 tiles");
    group.sample_size(20);
    for (name, protocol) in [
        ("half-blocks", Protocol::HalfBlock),
        ("kitty", Protocol::Kitty),
        ("sixel", Protocol::Sixel),
    ] {
        let tile = canvas((18, 7), protocol);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                std::thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| {
                            for _ in 0..20 {
                                thumbnail(black_box(&bytes), &Crop::Full, tile).unwrap();
                            }
                        });
                    }
                });
            });
        });
    }
    group.finish();
}

fn scales(criterion: &mut Criterion) {
    let bytes = jpeg(4000, 3000, false);
    let mut group = criterion.benchmark_group("4000x3000 decode");
    group.sample_size(20);
    for (name, enough) in [("1/8", 375), ("1/4", 750), ("1/2", 1500), ("1/1", 3000)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| decode(black_box(&bytes), enough).unwrap());
        });
        group.bench_function(format!("{name}, jpeg-decoder"), |bencher| {
            bencher.iter(|| {
                let mut decoder = jpeg_decoder::Decoder::new(black_box(bytes.as_slice()));
                decoder.scale(enough as u16 / 3 * 4, enough as u16).unwrap();
                decoder.decode().unwrap()
            });
        });
    }
    group.finish();
}

fn encoders(criterion: &mut Criterion) {
    let bytes = jpeg(500, 375, false);
    let mut group = criterion.benchmark_group("tile 300x240 px");
    for (name, protocol) in [
        ("half-block", Protocol::HalfBlock),
        ("kitty", Protocol::Kitty),
        ("sixel", Protocol::Sixel),
        ("iterm2", Protocol::Iterm),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                thumbnail(black_box(&bytes), &Crop::Full, canvas(LARGE_TILE, protocol)).unwrap()
            });
        });
    }
    let whole = Crop::Zoomed(Region::WHOLE, [].into());
    group.bench_function("sixel, adaptive palette", |bencher| {
        let tile = canvas(LARGE_TILE, Protocol::Sixel);
        bencher.iter(|| thumbnail(black_box(&bytes), &whole, tile).unwrap());
    });
    // This is the call that `viuer` makes with its feature of that name.
    group.bench_function("sixel, icy_sixel", |bencher| {
        bencher.iter(|| {
            let tile = canvas(LARGE_TILE, Protocol::Sixel);
            let fitted = fit_picture(black_box(&bytes), &Crop::Full, tile).unwrap().picture;
            icy_sixel::sixel_string(
                fitted.as_raw(),
                fitted.width().cast_signed(),
                fitted.height().cast_signed(),
                icy_sixel::PixelFormat::RGB888,
                icy_sixel::DiffusionMethod::Auto,
                icy_sixel::MethodForLargest::Auto,
                icy_sixel::MethodForRep::Auto,
                icy_sixel::Quality::AUTO,
            )
            .unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, tiles, page, scales, encoders);
criterion_main!(benches);
