//! Fuzzes archives: exports that the client inspects and extracts, and uploads that the service
//! unpacks.

use std::{
    fs,
    io::{Cursor, Write as _},
    path::Path,
    sync::atomic::AtomicBool,
};

use flate2::{Compression, write::GzEncoder};
use tempfile::TempDir;
use tessera_client::{ExistingFile, ExtractOptions, extract, inspect_archive};
use tessera_media::ingest::archive_readers::{ArchiveKind, UnpackLimits, unpack};
use walkdir::WalkDir;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{fuzz, mutation::mutated};

const ROWS: &str = r#"{"info": {}, "media_items": [{"image_filename": "a.jpg", "file_name": "x/a.jpg",
    "uniqueness_score": 0.5, "cluster_id": "ad48d250-0000-11f1-bfca-000000000001"}, {"a": [1, {}]}]}"#;
/// Keywords of ZIP and tar, and names that lead out of a folder.
const TOKENS: [&str; 8] =
    ["PK\u{1}\u{2}", "PK\u{3}\u{4}", "../", "/etc/", "C:\\", "\0", "ustar", "7777777"];

fn zips() -> Vec<Vec<u8>> {
    let members: [(&str, &[u8]); 4] = [
        ("images/a.jpg", b"not really a picture"),
        ("../b.jpg", b"b"),
        ("metadata.json", ROWS.as_bytes()),
        ("deep/er/c.txt", &[7; 700]),
    ];
    [CompressionMethod::Stored, CompressionMethod::Deflated]
        .map(|method| {
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            for (name, bytes) in members {
                let options = SimpleFileOptions::default().compression_method(method);
                zip.start_file(name, options).expect("a member");
                zip.write_all(bytes).expect("memory");
            }
            zip.finish().expect("memory").into_inner()
        })
        .to_vec()
}

fn tars() -> Vec<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in [("cats/1.png", &b"one"[..]), ("2.png", &[7; 700])] {
        let mut header = tar::Header::new_gnu();
        header.set_size(u64::try_from(bytes.len()).expect("a size"));
        header.set_mode(0o644);
        tar.append_data(&mut header, name, bytes).expect("memory");
    }
    vec![tar.into_inner().expect("memory")]
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns the number of files below `folder`, and asserts that nothing else was created beside it.
fn files_only_below(parent: &TempDir, folder: &Path, others: usize) -> usize {
    let beside = fs::read_dir(parent.path()).expect("the folder").count();
    assert!(beside <= others + 1, "a member was written outside the folder");
    let entries = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    let files: Vec<_> = entries.filter(|entry| !entry.file_type().is_dir()).collect();
    assert!(files.iter().all(|file| file.file_type().is_file()), "only plain files");
    files.len()
}

#[test]
fn damaged_exports_are_inspected_and_extracted_within_their_folder() {
    fuzz(300, &mutated(zips(), &TOKENS), |input| {
        let parent = tempfile::tempdir().expect("a folder");
        let [archive, folder] = ["export.zip", "out"].map(|name| parent.path().join(name));
        fs::write(&archive, &input.0).expect("a file");
        let _ = inspect_archive(&archive);
        let _ = extract(&archive, &folder, &ExtractOptions::new(ExistingFile::Keep, true));
        files_only_below(&parent, &folder, 1);
    });
}

fn unpacks_within_its_folder(kind: ArchiveKind, bytes: &[u8]) {
    let parent = tempfile::tempdir().expect("a folder");
    let [archive, folder] = ["upload", "out"].map(|name| parent.path().join(name));
    fs::write(&archive, bytes).expect("a file");
    let go = AtomicBool::new(false);
    let report = unpack(&archive, kind, &folder, UnpackLimits::default(), &go).expect("a report");
    assert_eq!(files_only_below(&parent, &folder, 1), report.files);
}

#[test]
fn damaged_uploads_are_unpacked_within_their_folder() {
    let archive = |name| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let archives = folder.join("crates/service/tests/contract/components/archives");
        fs::read(archives.join(name)).expect("an archive")
    };
    let zips = [zips(), ["methods.zip", "names.zip"].map(archive).to_vec()].concat();
    fuzz(600, &mutated(zips, &TOKENS), |input| {
        unpacks_within_its_folder(ArchiveKind::Zip, &input.0);
    });
    fuzz(300, &mutated(tars(), &TOKENS), |input| {
        unpacks_within_its_folder(ArchiveKind::Tar, &input.0);
        unpacks_within_its_folder(ArchiveKind::TarGz, &gzipped(&input.0));
        unpacks_within_its_folder(ArchiveKind::TarGz, &input.0);
    });
    for (kind, name) in
        [(ArchiveKind::TarXz, "plain.tar.xz"), (ArchiveKind::TarZst, "plain.tar.zst")]
    {
        fuzz(300, &mutated(vec![archive(name)], &TOKENS), |input| {
            unpacks_within_its_folder(kind, &input.0);
        });
    }
}
