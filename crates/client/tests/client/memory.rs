//! Memory while hostile responses and archives are read: small ones that are huge when parsed.

use std::{
    fs::{self, File},
    io::{BufWriter, Read as _, Write},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use flate2::write::GzEncoder;
use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType},
    file::{
        properties::{EnabledStatistics, WriterProperties},
        writer::SerializedFileWriter,
    },
    schema::parser::parse_message_type,
};
use tessera_client::{ExistingFile, inspect_archive, preflight, read_entry};
use tessera_model::{Failure, MediaSource, Search};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::test_zip::{
    ZipMember, central_header, end_of_directory, local_header, stored_member, zip_bytes,
};
use tessera_testing::clients::{dataset, hosted, on_premises, task, without_pauses};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer, head};

const MAX_GROWTH_KIB: u64 = 64 << 10;
/// Just below the limit of a response.
const BODY_BYTES: usize = 31 << 20;
const ARCHIVE_BYTES: usize = 66 << 20;
/// A multiple of what is sent at once.
const DOWNLOAD_BYTES: usize = 64 << 20;
/// Together, the names take more than the limit.
const NAMES: usize = 1_800;
const NAME_PARTS: usize = 20_000;

const LONG_ROW: &str = concat!(
    r#"{"image_filename":"a folder/with pictures/of a long walk/0001.jpg","caption":"#,
    r#""two people walk along a river, with a dog, in the evening, seen from a bridge"},"#
);

/// An endpoint; its text: start, repeated part, end; and the result.
type Case = (&'static str, [&'static str; 3], Result<(), &'static str>);

const CASES: [Case; 19] = [
    ("datasets", ["[", "0,", "0]"], Err("too many values")),
    ("datasets", ["[", "[],", "0]"], Err("too many values")),
    ("datasets", ["[", r#"{"id":"ad195246-0000-11ef-9529-000000000001"},"#, "0]"], Err("too many")),
    ("explore", [r#"{"clusters":[],"x":["#, "{},", "0]}"], Err("too many values")),
    ("explore", [r#"{"clusters":[],"x":["#, r#"{"":{}},"#, "0]}"], Err("too many values")),
    ("explore", [r#"{"clusters":[{"labels":["#, r#""","#, r#"""]}]}"#], Err("too many values")),
    ("enrichment", ["\"", "a", "\""], Err("too many values")),
    ("dataset", ["", "[", ""], Err("is not JSON")),
    ("dataset", ["<p>", "<a>", ""], Err("is not JSON")),
    ("archive", [r#"[{"a":""#, "a", r#""}]"#], Err("larger than 8 MiB")),
    ("archive", [r#"[{"a":["#, "0,", "0]}]"], Err("too many values")),
    ("archive", ["[", LONG_ROW, "{}]"], Ok(())),
    ("names", ["images/", "./", ".jpg"], Ok(())),
    ("one name", ["images/", "./", ".jpg"], Ok(())),
    ("preflight", ["images/", "./", ".jpg"], Ok(())),
    ("page", ["image_filename", "", ""], Err("larger than 16 MiB")),
    ("rows", ["other", "", ""], Err("its pages have 77777")),
    ("headers", ["HTTP/1.1 200 OK\r\n", "x: y\r\n", ""], Err("no complete response")),
    ("download", ["images/a.bin", "", ""], Ok(())),
];

fn write_text([start, part, end]: [&str; 3], bytes: usize, out: &mut impl Write) {
    out.write_all(start.as_bytes()).unwrap();
    let block = part.repeat((64 << 10) / part.len());
    for _ in 0..bytes / block.len() {
        out.write_all(block.as_bytes()).unwrap();
    }
    out.write_all(end.as_bytes()).unwrap();
}

async fn read_response(endpoint: &str, text: [&str; 3]) -> (u64, Result<(), Failure>) {
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    write_text(text, BODY_BYTES, &mut gzip);
    let body = gzip.finish().unwrap();
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let server =
        ScriptedServer::start(move |_: &ReceivedRequest| Reply::new(200, &headers, &body)).await;
    let client = hosted(&server.url(), without_pauses());
    let before = reset_peak();
    let result = match endpoint {
        "datasets" => client.list_datasets().await.map(drop),
        "dataset" => client.dataset(dataset()).await.map(drop),
        "enrichment" => client.enrichment(dataset()).await.map(drop),
        "explore" => client.explore(&Search::browse(dataset())).await.map(drop),
        other => unreachable!("{other}"),
    };
    (peak_kib() - before, result)
}

fn read_archive(text: [&str; 3]) -> (u64, Result<(), Failure>) {
    let archive = tempfile::NamedTempFile::new().unwrap();
    let mut zip = ZipWriter::new(archive.reopen().unwrap());
    // Incompressible bytes beside it, so that no limit of compression applies.
    zip.start_file("images/a.jpg", SimpleFileOptions::default()).unwrap();
    let noise = File::open("/dev/urandom").unwrap();
    std::io::copy(&mut noise.take(1 << 20), &mut zip).unwrap();
    zip.start_file("rows.json", SimpleFileOptions::default().compression_level(Some(1))).unwrap();
    write_text(text, ARCHIVE_BYTES, &mut zip);
    zip.finish().unwrap();
    let before = reset_peak();
    let result = inspect_archive(archive.path()).map(drop);
    (peak_kib() - before, result)
}

/// An archive whose names take far more than the limit.
fn archive_of_names([start, part, end]: [&str; 3]) -> tempfile::NamedTempFile {
    let archive = tempfile::Builder::new().suffix(".zip").tempfile().unwrap();
    let (mut out, mut length) = (BufWriter::new(archive.reopen().unwrap()), 0);
    let members = |number: usize| {
        let name = format!("{start}{}{number}{end}", part.repeat(NAME_PARTS));
        stored_member(if number == 0 { "rows.json" } else { &name }, b"[]")
    };
    for number in 0..NAMES {
        let header = local_header(&members(number));
        length += header.len() + 2;
        out.write_all(&header).unwrap();
        out.write_all(b"[]").unwrap();
    }
    let (mut position, mut directory) = (0, 0);
    for number in 0..NAMES {
        let member = members(number);
        let header = central_header(&member, u32::try_from(position).unwrap());
        position += local_header(&member).len() + 2;
        directory += header.len();
        out.write_all(&header).unwrap();
    }
    out.write_all(&end_of_directory(u16::try_from(NAMES).unwrap(), directory, length)).unwrap();
    out.flush().unwrap();
    archive
}

/// Reads the names of an archive, by listing them or opening one.
fn read_names(endpoint: &str, text: [&str; 3]) -> (u64, Result<(), Failure>) {
    let archive = archive_of_names(text);
    let before = reset_peak();
    let result = match endpoint {
        "preflight" => preflight(&MediaSource::Archive(archive.path().to_owned())).map(drop),
        "one name" => read_entry(archive.path(), "rows.json").map(drop),
        _ => inspect_archive(archive.path()).map(drop),
    };
    (peak_kib() - before, result)
}

/// An archive whose Parquet file claims a page of 128 MiB, or a million rows.
fn read_parquet(endpoint: &str, column: &str) -> (u64, Result<(), Failure>) {
    let rows = if endpoint == "rows" { 77_777 } else { 1 };
    let text = if endpoint == "rows" { "a".to_owned() } else { "a".repeat(3 << 19) };
    let mut bytes = parquet_file(column, &text, rows);
    let header = bytes[7..11].to_vec();
    let (written, claimed): (&[u8], &[u8]) = match endpoint {
        // In zigzag form: 77,777 and a million.
        "rows" => (&[0xa2, 0xbf, 0x09], &[0x80, 0x89, 0x7a]),
        _ => (&header, &[0xfe, 0xff, 0xff, 0x7f]),
    };
    // The first is the header of the page, the last ones are the description of the file.
    let places: Vec<usize> = (0..bytes.len() - written.len())
        .filter(|&at| bytes[at..].starts_with(written) && (endpoint == "page") == (at == 7))
        .collect();
    for at in places {
        bytes[at..at + claimed.len()].copy_from_slice(claimed);
    }
    let archive = tempfile::NamedTempFile::new().unwrap();
    let members = [stored_member("metadata.parquet", &bytes)];
    fs::write(archive.path(), zip_bytes(&members)).unwrap();
    let before = reset_peak();
    let result = inspect_archive(archive.path()).map(drop);
    (peak_kib() - before, result)
}

/// One column of equal texts, without a dictionary.
fn parquet_file(column: &str, text: &str, rows: usize) -> Vec<u8> {
    let schema = format!("message rows {{ required binary {column} (UTF8); }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties.into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values = vec![ByteArray::from(text); rows];
    column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

/// A response whose headers never end.
async fn read_endless_headers([start, part, _]: [&'static str; 3]) -> (u64, Result<(), Failure>) {
    let lines = part.repeat(10_000).into_bytes();
    let reply = move |_: &ReceivedRequest| {
        Reply::repeat(start.as_bytes().to_vec(), lines.clone(), Duration::ZERO)
    };
    let server = ScriptedServer::start(reply).await;
    let client = on_premises(&server.url(), without_pauses());
    let before = reset_peak();
    let result = client.list_datasets().await.map(drop);
    (peak_kib() - before, result)
}

/// Sends an archive with one entry of zeros, without having it in memory.
async fn send_archive(mut stream: TcpStream, entry: &ZipMember, zeros: &'static [u8]) {
    let mut request = [0; 4_096];
    let read = stream.read(&mut request).await.unwrap();
    if String::from_utf8_lossy(&request[..read]).contains("export_status") {
        let status = br#"{"status":"COMPLETED","download_uri":"/x.zip"}"#;
        let head = head(200, &[("content-length", &status.len().to_string())]);
        return stream.write_all(&[&head, &status[..]].concat()).await.unwrap();
    }
    let (first, directory) = (local_header(entry), central_header(entry, 0));
    let start = first.len() + DOWNLOAD_BYTES;
    let last = [&directory[..], &end_of_directory(1, directory.len(), start)].concat();
    let head = head(200, &[("content-length", &(start + last.len()).to_string())]);
    stream.write_all(&[head, first].concat()).await.unwrap();
    for _ in 0..DOWNLOAD_BYTES / zeros.len() {
        stream.write_all(zeros).await.unwrap();
    }
    stream.write_all(&last).await.unwrap();
}

async fn download(name: &str) -> (u64, Result<(), Failure>) {
    static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
    let mut checksum = crc32fast::Hasher::new();
    (0..DOWNLOAD_BYTES / ZEROS.len()).for_each(|_| checksum.update(&ZEROS));
    // Never touched, so that it takes no memory.
    let packed = vec![0; DOWNLOAD_BYTES];
    let size = u32::try_from(DOWNLOAD_BYTES).unwrap();
    let entry = ZipMember { packed, crc: checksum.finalize(), size, ..stored_member(name, b"") };
    let entry = Arc::new(entry);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let entry = Arc::clone(&entry);
            tokio::spawn(async move { send_archive(stream, &entry, &ZEROS).await });
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.zip");
    let client = on_premises(&url, without_pauses());
    let before = reset_peak();
    let keep = ExistingFile::Keep;
    let archive = client.download(dataset(), task(), &target, keep, &mut |_, _| {}).await;
    let growth = peak_kib() - before;
    assert!(growth <= MAX_GROWTH_KIB / 2, "download: {} MiB", growth >> 10);
    (growth, archive.map(drop))
}

/// Forgets the highest memory use so far, and returns the present one in KiB.
fn reset_peak() -> u64 {
    fs::write("/proc/self/clear_refs", "5").unwrap();
    peak_kib()
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Run by the next test, each case in its own process.
#[tokio::test]
#[ignore = "no_response_takes_more_than_64_mib runs it"]
async fn inner() {
    let case: usize = std::env::var("MEMORY_CASE").unwrap().parse().unwrap();
    let (endpoint, text, expected) = CASES[case];
    let (growth, result) = match endpoint {
        "archive" => read_archive(text),
        "names" | "one name" | "preflight" => read_names(endpoint, text),
        "headers" => read_endless_headers(text).await,
        "download" => download(text[0]).await,
        "page" | "rows" => read_parquet(endpoint, text[0]),
        _ => read_response(endpoint, text).await,
    };
    let result = result.map_err(|failure| failure.to_string());
    match (&result, expected) {
        (Ok(()), Ok(())) => {}
        (Err(error), Err(reason)) if error.contains(reason) => {}
        _ => panic!("case {case}, {endpoint}: {result:?}, not {expected:?}"),
    }
    assert!(growth <= MAX_GROWTH_KIB, "case {case}, {endpoint}: {} MiB", growth >> 10);
}

#[test]
#[cfg(target_os = "linux")]
fn no_response_takes_more_than_64_mib() {
    let start = |case: usize| {
        let mut inner = Command::new(std::env::current_exe().unwrap());
        inner.args(["--exact", "memory::inner", "--ignored"]).env("MEMORY_CASE", case.to_string());
        (case, inner.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    };
    let mut failed = Vec::new();
    let cases: Vec<usize> = (0..CASES.len()).collect();
    for some in cases.chunks(4) {
        let running: Vec<_> = some.iter().copied().map(start).collect();
        for (case, inner) in running {
            let output = inner.wait_with_output().unwrap();
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stdout);
                let reasons = text.lines().filter(|line| line.starts_with("case"));
                failed.extend(reasons.map(str::to_owned));
                failed.push(format!("{case} failed"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
