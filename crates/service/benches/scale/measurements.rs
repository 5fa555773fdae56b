//! The measurements of a service with one generated dataset.

use std::{
    io::{Cursor, Write as _},
    time::{Duration, Instant},
};

use reqwest::multipart;
use serde_json::Value;

use super::{
    bench_store::BenchStore,
    figures::report,
    generated_store::SHARED_LABELS,
    other_processes::OtherProcesses,
    random::{Random, WORDS, word},
    running_service::{RunningService, anchored},
    usage::{count_whole_machine, cpu_seconds, disk_bytes, mebibytes, memory, percentile},
};

/// The number of requests of each kind, unless they take longer than this time.
const REQUESTS: usize = 300;
const MAX_TIME: Duration = Duration::from_secs(30);
const MIN_REQUESTS: usize = 10;
/// The maximum number of media items in an added batch, which otherwise has a tenth of the dataset.
const MAX_ADDED: usize = 10_000;
/// The number of pages whose clusters are searched for when the throughput is measured.
const THROUGHPUT_PAGES: usize = 10;
/// The number of tiles of random colors in each direction of an added image.
const TILES: u32 = 12;

pub fn measure_all(store: &BenchStore, size: usize) {
    let data = &store.data;
    let others = store.address.is_some().then(|| {
        count_whole_machine();
        OtherProcesses::start(store)
    });
    report("disk", "MiB", mebibytes(disk_bytes(data)));
    let started = Instant::now();
    let service = RunningService::start(store);
    service.explore("");
    report("start to first page", "s", started.elapsed().as_secs_f64());
    report("memory after the first page", "MiB", memory("VmRSS"));

    let anchors = anchors(&service, 0);
    let (started, used) = (Instant::now(), cpu_seconds());
    service.explore(&anchored(&anchors[0]));
    report("first search", "s", started.elapsed().as_secs_f64());
    report("first search", "CPU s", cpu_seconds() - used);
    measure_searches(&service, &anchors, size);
    let many: Vec<String> =
        (0..THROUGHPUT_PAGES).flat_map(|page| self::anchors(&service, page)).collect();
    let bases: Vec<String> = others.iter().map(|others| others.base.clone()).collect();
    service.measure_throughput(&bases, &many);
    report("memory after all searches", "MiB", memory("VmRSS"));
    report("memory at its highest", "MiB", memory("VmHWM"));
    report("disk after all searches", "MiB", mebibytes(disk_bytes(data)));

    let count = (size / 10).min(MAX_ADDED);
    let part = multipart::Part::bytes(archive(count)).file_name("batch.zip");
    let form = multipart::Form::new().part("archive", part);
    service.run_indexing(
        "add_media of a tenth, at most 10,000, in a ZIP",
        "/add_media",
        Some(form),
    );
    assert_eq!(service.record()["n_images"], (size + count) as u64);
    service.run_indexing("reindex", "/reindex", None);
    drop(others);
    service.stop();
}

/// Returns one media item of each cluster of a page.
fn anchors(service: &RunningService, page: usize) -> Vec<String> {
    let body = service.explore(&format!("page_number={page}"));
    let page: Value = serde_json::from_slice(&body).unwrap();
    let clusters = page["clusters"].as_array().unwrap().iter();
    clusters
        .map(|cluster| cluster["previews"][0]["media_id"].as_str().unwrap().to_owned())
        .collect()
}

/// Measures filters by what files are. Each query differs from the one before, so that none is answered by the last
/// ranking.
fn measure_properties(service: &RunningService, size: usize) {
    let filter = |filter: &str| service.explore(&format!("vql={}", filter.replace('"', "%22")));
    let mut random = Random(11);
    measure("path, a folder", |_| {
        let folder = random.below(size.div_ceil(1_000));
        drop(filter(&format!(
            r#"[{{"path":{{"op":"is","value":"a%20rather%20usual%20folder/{folder:03}"}}}}]"#
        )));
    });
    measure("path, a pattern of every file", |_| {
        let digit = random.below(10);
        drop(filter(&format!(
            r#"[{{"path":{{"op":"is","value":"**/IMG_*{digit}?{digit}.jpg"}}}}]"#
        )));
    });
    measure("width and height", |_| {
        let least = 3_990 + random.below(9);
        drop(filter(&format!(
            r#"[{{"width":{{"op":"at_least","value":{least}}}}},{{"height":{{"op":"at_most","value":3000}}}}]"#
        )));
    });
    measure("column, a number", |_| {
        let least = random.below(size) / 10;
        drop(filter(&format!(
            r#"[{{"column":{{"name":"distance","op":"at_least","value":{least}}}}}]"#
        )));
    });
}

/// Measures every kind of query while there is no other work.
fn measure_searches(service: &RunningService, anchors: &[String], size: usize) {
    let mut random = Random(9);
    let pages = (size / 2_500).clamp(1, 100);
    measure("browse", |n| {
        drop(service.explore(&format!("page_number={}", n % pages)));
    });
    measure("search by media item", |n| {
        service.explore(&anchored(&anchors[n % anchors.len()]));
    });
    measure("next page of a search by media item", |n| {
        service.explore(&format!("{}&page_number={}", anchored(&anchors[0]), n % pages));
    });
    measure("caption search", |_| {
        let (one, other) = (word(random.below(WORDS)), word(random.below(WORDS)));
        service.explore(&format!("caption={one}%20{other}"));
    });
    let filter = |filter: &str| service.explore(&format!("vql={}", filter.replace('"', "%22")));
    let full_text = |words: &str| {
        drop(filter(&format!(r#"[{{"text":{{"op":"fts","value":"{words}"}}}}]"#)));
    };
    let mut random = Random(10);
    measure("full text, one word of any frequency", |_| full_text(&word(random.below(WORDS))));
    measure_properties(service, size);
    measure("full text, two frequent words", |_| {
        full_text(&format!("{}%20{}", word(random.below(200)), word(random.below(200))));
    });
    measure("full text, a word of a fifth of the captions", |n| {
        let word = word(0);
        // Two different queries with the same result alternate, because the latest ranking is kept.
        full_text(&if n % 2 == 0 { word } else { format!("{word}%20OR%20{word}") });
    });
    for (label, share) in SHARED_LABELS {
        let name = format!("label of one in {share}, with uniqueness");
        measure(&name, |n| {
            let least = f64::from(n as u32 % 10 + 1) / 100.0;
            drop(filter(&format!(
                r#"[{{"labels":{{"op":"one_of","value":["{label}"]}}}},{{"uniqueness":{{"op":"uniqueness","value":{least}}}}}]"#
            )));
        });
    }
}

/// Reports the time of a request, and the processor time, which includes the time of the client.
fn measure(what: &str, mut request: impl FnMut(usize)) {
    request(0);
    let used = cpu_seconds();
    let mut time = |n| {
        let started = Instant::now();
        request(n);
        started.elapsed().as_secs_f64() * 1e3
    };
    let started = Instant::now();
    let goes_on = |n: &usize| *n <= MIN_REQUESTS || started.elapsed() < MAX_TIME;
    let mut times: Vec<f64> = (1..=REQUESTS).take_while(goes_on).map(&mut time).collect();
    let used = cpu_seconds() - used;
    report(&format!("{what}, p50"), "ms", percentile(&mut times, 0.5));
    report(&format!("{what}, p99"), "ms", percentile(&mut times, 0.99));
    report(what, "CPU ms", used * 1e3 / times.len() as f64);
}

/// Returns a ZIP archive of small images made of tiles. No two images are similar.
fn archive(count: usize) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for n in 0..count as u32 {
        let mut random = Random(u64::from(n));
        let tiles: Vec<[u8; 3]> =
            (0..TILES * TILES).map(|_| [random.byte(), random.byte(), random.byte()]).collect();
        let pixels = image::RgbImage::from_fn(500, 375, |x, y| {
            image::Rgb(tiles[(y * TILES / 375 * TILES + x * TILES / 500) as usize])
        });
        let mut file = Cursor::new(Vec::new());
        pixels.write_to(&mut file, image::ImageFormat::Jpeg).unwrap();
        zip.start_file(format!("{n}.jpg"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(file.get_ref()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
