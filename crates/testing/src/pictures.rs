//! Writes pictures for tests.

use std::{fs, path::Path, sync::LazyLock};

/// The maximum number of pictures per test.
const SAMPLES: usize = 48;

/// The sample pictures, rendered once per test binary because rendering is slow.
static SAMPLE_FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    tessera_sample::write(folder.path(), SAMPLES, 7, |_, _| {}).unwrap();
    folder
});

/// Copies the first `count` pictures of the sample dataset into a new folder.
pub fn copy_samples(folder: &Path, count: usize) {
    let mut files: Vec<_> = walkdir::WalkDir::new(SAMPLE_FOLDER.path())
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jpg"))
        .collect();
    files.sort();
    assert!(count <= files.len(), "only {} are rendered", files.len());
    fs::create_dir_all(folder).unwrap();
    for file in &files[..count] {
        fs::copy(file, folder.join(file.file_name().unwrap())).unwrap();
    }
}

/// Writes `count` small, dissimilar pictures into a new folder.
pub fn write_noise(folder: &Path, count: u32) {
    fs::create_dir_all(folder).unwrap();
    for number in 0..count {
        // Blocks of one color each are as different as small pictures can be.
        let block = |x: u32, y: u32| {
            (number * 977 + (x / 8) * 131 + (y / 8) * 373).wrapping_mul(2_654_435_761)
        };
        let picture = image::RgbImage::from_fn(32, 24, |x, y| {
            let [red, green, blue, _] = block(x, y).to_le_bytes();
            image::Rgb([red, green, blue])
        });
        picture.save(folder.join(format!("noise-{number:04}.png"))).unwrap();
    }
}
