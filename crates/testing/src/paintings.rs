//! Paintings of the sample dataset, painted once for all tests of a binary: painting is the
//! slowest thing that tests do.

use std::{path::Path, sync::LazyLock};

/// Most paintings a test may ask for.
const PAINTED: usize = 48;

static PAINTINGS: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    tessera_sample::write(folder.path(), PAINTED, 7, |_, _| {}).unwrap();
    folder
});

/// Puts the first `count` paintings into a new folder.
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

/// Puts `count` small pictures without any likeness into a new folder.
pub fn noise(folder: &Path, count: u32) {
    std::fs::create_dir_all(folder).unwrap();
    for number in 0..count {
        // Blocks of a colour each: as different from one another as small pictures can be.
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
