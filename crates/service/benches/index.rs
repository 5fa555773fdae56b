//! Measures the time to index one image: decoding, descriptor, keypoints, hash, quality, thumbnail.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::unwrap_used,
    reason = "a bench paints its picture with plain arithmetic and may stop at a failure"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use image::{Rgb, RgbImage, codecs::jpeg::JpegEncoder};
use tessera_search::index::extract;

/// Returns a JPEG with smooth areas and fine detail, which is about as hard to decode as a photograph.
fn photograph(width: u32, height: u32) -> Vec<u8> {
    let pixels = RgbImage::from_fn(width, height, |x, y| {
        let wave = |step: f32| (x as f32 / step).sin() * (y as f32 / step).cos() * 40.0;
        let grain = (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)) >> 13 & 15;
        let base = 110.0 + wave(90.0) + wave(13.0) + grain as f32;
        Rgb([base, base + wave(40.0), base - wave(55.0)].map(|value| value as u8))
    });
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, 90).encode_image(&pixels).unwrap();
    file
}

fn bench(criterion: &mut Criterion) {
    for (name, width, height) in [("500x375", 500, 375), ("12 MP", 4000, 3000)] {
        let file = photograph(width, height);
        criterion.bench_function(&format!("index one picture, {name}"), |bencher| {
            bencher.iter(|| extract(black_box(&file)).unwrap());
        });
    }
}

criterion_group! {
    name = index;
    config = Criterion::default().sample_size(20);
    targets = bench
}
criterion_main!(index);
