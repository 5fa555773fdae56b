//! Pictures of the sample dataset, generated once per test binary because that is slow.

use std::{path::Path, sync::LazyLock};

/// The limit per test.
const PAINTED: usize = 48;

static PAINTINGS: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    tessera_sample::write(folder.path(), PAINTED, 7, |_, _| {}).unwrap();
    folder
});

/// Copies the first `count` pictures into a new folder.
pub fn paintings(folder: &Path, count: usize) {
    let mut files: Vec<_> = walkdir::WalkDir::new(PAINTINGS.path())
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jpg"))
        .collect();
    files.sort();
    assert!(count <= files.len(), "only {} are painted", files.len());
    std::fs::create_dir_all(folder).unwrap();
    for file in &files[..count] {
        std::fs::copy(file, folder.join(file.file_name().unwrap())).unwrap();
    }
}

/// Writes `count` small, dissimilar pictures into a new folder.
pub fn noise(folder: &Path, count: u32) {
    std::fs::create_dir_all(folder).unwrap();
    for number in 0..count {
        // Blocks of one color each: as different as small pictures can be.
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
