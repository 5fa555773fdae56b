//! Measures the service over HTTP with 1,000 to 1,000,000 media items: 99th percentiles of pages and searches,
//! durations of indexing tasks, memory and disk, and how each of them grows.
//!
//! The rows are generated and written directly into a store. Everything after that is real. Criterion is not used,
//! because the 99th percentile matters and some indexing tasks take minutes. The arguments are numbers of media items:
//! `cargo bench --bench scale -- 1000 1000000`.
//!
//! If `TESSERA_TEST_STORE` names a server (`tools/postgres.sh`), the store is on the server. Two processes serve the
//! store, three process tasks, and further processes are simulated. The processor time is then the time of the whole
//! machine.

#![expect(clippy::unwrap_used, reason = "a bench fails where its world is not as said")]
#![expect(clippy::print_stdout, reason = "it prints the measurements")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "shares of small counts"
)]

mod bench_store;
mod figures;
mod generated_store;
mod measurements;
mod other_processes;
mod random;
mod running_service;
mod simulated_workers;
mod usage;

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use bench_store::{BenchStore, create_schema, text};
use figures::Figures;

const DEFAULT_SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // `cargo test --benches` passes no such argument, because it only checks that the bench compiles.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["fill", data, address, folder, size, ..] => {
            let store = BenchStore::from_arguments(data, address);
            generated_store::fill(&store, Path::new(folder), size.parse().unwrap());
        }
        ["measure", data, address, size, ..] => {
            let store = BenchStore::from_arguments(data, address);
            measurements::measure_all(&store, size.parse().unwrap());
        }
        ["serve", data, address, ..] => {
            other_processes::serve(&BenchStore::from_arguments(data, address));
        }
        ["work", data, address, ..] => {
            other_processes::work(&BenchStore::from_arguments(data, address));
        }
        ["simulate", data, address, ..] => {
            usage::count_whole_machine();
            simulated_workers::simulate_all(&BenchStore::from_arguments(data, address));
        }
        _ => {
            let sizes: Vec<usize> =
                arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
            let sizes = if sizes.is_empty() { DEFAULT_SIZES.to_vec() } else { sizes };
            measure_sizes(&sizes);
        }
    }
}

/// Generates and measures each size in separate processes, so that the measured memory is that of one size.
fn measure_sizes(sizes: &[usize]) {
    let mut figures = Figures::default();
    for &size in sizes {
        let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (data, folder) = (text(data.path()), text(folder.path()));
        let (schema, address) = create_schema();
        let size_text = size.to_string();
        figures.read(size, &run(&["fill", &data, &address, &folder, &size_text]));
        figures.read(size, &run(&["measure", &data, &address, &size_text]));
        if schema.is_some() {
            figures.read(size, &run(&["simulate", &data, &address]));
        }
    }
    figures.print();
}

/// Runs a role of this program. Returns the figures that it printed.
fn run(role: &[&str]) -> String {
    let program = env::current_exe().unwrap();
    let mut child =
        Command::new(program).args(role).arg("--bench").stdout(Stdio::piped()).spawn().unwrap();
    let mut printed = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        println!("{line}");
        printed.push(line);
    }
    assert!(child.wait().unwrap().success(), "{role:?}");
    printed.join("\n")
}
