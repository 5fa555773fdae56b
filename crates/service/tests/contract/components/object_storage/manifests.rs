//! Manifests: which objects their rows refer to.

use std::sync::Arc;

use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, Int32Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};

use tessera_media::object_storage::{ObjectEntry, ObjectListing};

use super::{FakeS3, list_error};

/// Serves a manifest with this content.
async fn server(name: &str, bytes: &[u8]) -> (FakeS3, String) {
    let server = FakeS3::with_objects(&[(&format!("photos/lists/{name}"), bytes)]).await;
    (server, format!("s3://photos/lists/{name}"))
}

async fn listed(name: &str, bytes: &[u8]) -> ObjectListing {
    let (server, uri) = server(name, bytes).await;
    server.storage().list(&uri, None, usize::MAX).await.unwrap()
}

fn names(listing: &ObjectListing) -> Vec<String> {
    let name = |entry: &ObjectEntry| {
        format!("{}/{} -> {}", entry.bucket.name, entry.key, entry.path().display())
    };
    listing.entries.iter().map(name).collect()
}

fn skipped(listing: &ObjectListing) -> Vec<&str> {
    listing.skipped.iter().map(|(path, _)| path.to_str().unwrap()).collect()
}

fn parquet(values: &[&str], codec: Compression) -> Vec<u8> {
    let schema = "message m { REQUIRED BYTE_ARRAY label (UTF8); OPTIONAL BYTE_ARRAY Path (UTF8); \
                  REQUIRED INT32 n; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(codec).build());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    for half in values.chunks(values.len().div_ceil(2)) {
        let mut group = file.next_row_group().unwrap();
        let texts: Vec<_> = half.iter().map(|text| ByteArray::from(*text)).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let defined = vec![1; half.len()];
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&defined), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&vec![7; half.len()], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    file.close().unwrap();
    bytes
}

#[tokio::test]
async fn text_manifests_list_keys_and_addresses_of_any_bucket() {
    let text = "\u{FEFF}a.jpg\r\n\n ./sub/b c.png \ns3://photos/lists/c.mp4\n\
                s3://photos/other/d.jpg\ns3://shared/e.jpg\nnotes.doc\n../up.jpg\n\
                a.jpg\nmetadata.jsonl\ns3://x/f.jpg";
    let listing = listed("a.txt", text.as_bytes()).await;
    let expected = [
        "photos/lists/a.jpg -> a.jpg",
        "photos/lists/sub/b c.png -> sub/b c.png",
        "photos/lists/c.mp4 -> c.mp4",
        "photos/other/d.jpg -> s3://photos/other/d.jpg",
        "shared/e.jpg -> s3://shared/e.jpg",
        "photos/lists/metadata.jsonl -> metadata.jsonl",
    ];
    assert_eq!(names(&listing), expected);
    assert_eq!((listing.media, skipped(&listing)), (5, vec!["row 8", "row 11"]));
}

#[tokio::test]
async fn tables_use_a_named_column_or_the_first() {
    let expected = ["photos/lists/a.jpg -> a.jpg", "photos/lists/b, c.jpg -> b, c.jpg"];
    for table in [
        "label,S3_URI\ncat,a.jpg\ndog,\"b, c.jpg\"\n",
        "a.jpg,cat\n\"b, c.jpg\",dog,more\n",
        "picture,label\na.jpg,cat\n\"b, c.jpg\",dog\n",
    ] {
        assert_eq!(names(&listed("a.CSV", table.as_bytes()).await), expected, "{table}");
    }
}

#[tokio::test]
async fn tables_of_spreadsheets_and_other_programs_are_read_like_sidecars() {
    let expected = ["photos/lists/a.jpg -> a.jpg", "photos/lists/b.jpg -> b.jpg"];
    let utf_16 = |text: &str| -> Vec<u8> {
        let units = "\u{FEFF}".encode_utf16().chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    for (name, table) in [
        ("a.csv", b"id;file_name\n0;a.jpg\n1;b.jpg\n".to_vec()),
        ("a.csv", b"sep=;\r\nid;uri\r\n0;a.jpg\r\n1;b.jpg\r\n".to_vec()),
        ("a.csv", b"id,file_path\n0,a.jpg\n1,b.jpg\n".to_vec()),
        ("a.csv", b"\xEF\xBB\xBFID\tImage Path\n0\ta.jpg\n1\tb.jpg\n".to_vec()),
        ("a.csv", utf_16("uri\na.jpg\nb.jpg\n")),
        ("a.txt", utf_16("a.jpg\r\nb.jpg")),
    ] {
        let text = String::from_utf8_lossy(&table).into_owned();
        assert_eq!(names(&listed(name, &table).await), expected, "{text}");
    }
}

#[tokio::test]
async fn parquet_is_read_with_snappy() {
    let values = ["a.jpg", "b.jpg", "s3://shared/c.jpg"];
    for codec in [Compression::SNAPPY, Compression::UNCOMPRESSED] {
        let listing = listed("a.parquet", &parquet(&values, codec)).await;
        let expected = [
            "photos/lists/a.jpg -> a.jpg",
            "photos/lists/b.jpg -> b.jpg",
            "shared/c.jpg -> s3://shared/c.jpg",
        ];
        assert_eq!(names(&listing), expected);
    }
}

/// A table with the columns `file_name` and `caption`, compressed with zstd by `pyarrow`.
const ZSTD: &[u8] = include_bytes!("../../../../../parquet/tests/parquet/files/zstd-v1.parquet");

#[tokio::test]
async fn parquet_is_read_with_other_codecs() {
    let listing = listed("a.parquet", ZSTD).await;
    assert_eq!(listing.media, 40);
    assert_eq!(names(&listing)[39], "photos/lists/39.jpg -> 39.jpg");
}

#[tokio::test]
async fn manifests_without_media_and_damaged_ones_are_rejected() {
    for (name, bytes, why) in [
        (
            "a.txt",
            &b"\nhttps://example.com/b.jpg\ns3://B!/c.jpg"[..],
            "(row 2: a link; only s3:// addresses and keys are supported)",
        ),
        ("a.txt", b"\xC3\xA9\xFF.jpg", "(it is not UTF-8 text)"),
        ("a.csv", b"\xC3\xA9\xFF.jpg", "(it is not UTF-8 text)"),
        ("a.parquet", b"PAR1 and no more", "(it is damaged or not a Parquet file)"),
    ] {
        let (server, uri) = server(name, bytes).await;
        assert_eq!(list_error(&server, &uri).await, why);
    }
}

#[tokio::test]
async fn overlong_lines_are_skipped() {
    let long = [vec![b'a'; 1 << 20], b"\nb.jpg".to_vec()].concat();
    let listing = listed("a.txt", &long).await;
    assert_eq!((listing.entries.len(), skipped(&listing)), (1, vec!["row 1"]));
}

#[tokio::test]
async fn a_folder_that_is_named_like_a_manifest_is_listed() {
    let server = FakeS3::with_objects(&[("photos/a.txt/1.jpg", b"one")]).await;
    let listing = server.storage().list("s3://photos/a.txt/", None, usize::MAX).await.unwrap();
    assert_eq!(names(&listing), ["photos/a.txt/1.jpg -> 1.jpg"]);
}
