//! Measures searches of the full-text index of captions, and searches of the index of `SQLite` with the same captions.
//!
//! The number of captions is an argument: `cargo bench --bench full_text -- 1000000`.

#![expect(clippy::unwrap_used, reason = "a bench fails where its world is not as said")]
#![expect(clippy::print_stdout, reason = "it prints the measurements")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "shares of small counts"
)]

#[expect(dead_code, reason = "the other bench uses the rest")]
#[path = "scale/random.rs"]
mod random;

use std::{env, hint::black_box, time::Instant};

use random::{Random, word};
use rusqlite::{Connection, params};
use tessera_retrieval::{CaptionIndex, CaptionIndexBuilder};
use tessera_search::text::{
    full_text_query::{FullTextQuery, parse},
    language::Language,
    words::stemmed_text,
};

const DEFAULT_CAPTIONS: usize = 100_000;
const REQUESTS: usize = 100;
const TABLE: &str = "CREATE VIRTUAL TABLE words USING fts5(
    caption, content = '', contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2 categories ''L* N* Co M*'''
)";

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // `cargo test --benches` passes no such argument, because it only checks that the bench compiles.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let count = arguments.iter().find_map(|argument| argument.parse().ok());
    let mut random = Random(2);
    let captions: Vec<String> =
        (0..count.unwrap_or(DEFAULT_CAPTIONS)).map(|_| random.caption()).collect();
    let index = timed("index of captions written", || indexed(&captions));
    println!("memory: {} MiB", index.memory_bytes() >> 20);
    let table = timed("index of SQLite written", || indexed_by_sqlite(&captions));
    for (name, text, expression) in [
        ("a word of a fifth of the captions", word(0), format!("\"{}\"", word(0))),
        ("a rare word", word(2_000), format!("\"{}\"", word(2_000))),
        (
            "two frequent words",
            format!("{} {}", word(3), word(150)),
            format!("(\"{}\" AND \"{}\")", word(3), word(150)),
        ),
        (
            "a phrase",
            format!("\"{} {}\"", word(0), word(1)),
            format!("\"{} {}\"", word(0), word(1)),
        ),
    ] {
        let query = parse(&text, Language::English).unwrap();
        compare(name, &index, &query, &table, &expression);
    }
}

fn indexed(captions: &[String]) -> CaptionIndex {
    let mut builder = CaptionIndexBuilder::new(Language::English);
    for (row, caption) in (0..).zip(captions) {
        builder.push(row, caption);
    }
    builder.finish()
}

fn indexed_by_sqlite(captions: &[String]) -> Connection {
    let table = Connection::open_in_memory().unwrap();
    table.execute_batch(TABLE).unwrap();
    table.execute_batch("BEGIN").unwrap();
    let mut insert = table.prepare("INSERT INTO words (rowid, caption) VALUES (?1, ?2)").unwrap();
    for (row, caption) in (0_i64..).zip(captions) {
        insert.execute(params![row, stemmed_text(caption, Language::English)]).unwrap();
    }
    drop(insert);
    table.execute_batch("COMMIT").unwrap();
    table
}

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = run();
    println!("{what}: {:.2} s", started.elapsed().as_secs_f64());
    result
}

fn compare(
    name: &str,
    index: &CaptionIndex,
    query: &FullTextQuery,
    table: &Connection,
    expression: &str,
) {
    // The words of this bench are their own stems.
    let mut statement =
        table.prepare("SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1").unwrap();
    let mut by_sqlite = || {
        let rows = statement.query_map([expression], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.unwrap().collect::<Result<Vec<(i64, f32)>, _>>().unwrap()
    };
    let found = index.search(query);
    let rows = |found: &[(i64, f32)]| found.iter().map(|(row, _)| *row).collect::<Vec<_>>();
    assert_eq!(rows(&found), rows(&by_sqlite()), "{name}");
    let index_time = milliseconds(|| index.search(query).len());
    let sqlite_time = milliseconds(|| by_sqlite().len());
    let count = found.len();
    println!(
        "{name}, {count} found: {index_time:.3} ms, SQLite {sqlite_time:.3} ms, {:.1}",
        sqlite_time / index_time
    );
}

/// Returns the median time of a call.
fn milliseconds<T>(mut call: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..REQUESTS)
        .map(|_| {
            let started = Instant::now();
            black_box(call());
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REQUESTS / 2]
}
