//! The service over HTTP with 1,000 to 1,000,000 media items: 99th percentiles of pages and searches, durations
//! of operations, memory and disk, and how each of them grows.
//!
//! The rows are generated and written directly into a store; everything after that is real. Criterion is not used
//! because the 99th percentile matters, and operations that take minutes. Numbers of media items are arguments:
//! `cargo bench --bench scale -- 1000 1000000`.

#![expect(clippy::unwrap_used, reason = "a bench fails where its world is not as said")]
#![expect(clippy::print_stdout, reason = "it prints the measurements")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "shares of small counts"
)]

mod figures;
mod generated_store;
mod measurements;
mod random;
mod running_service;
mod usage;

use std::{env, path::Path, process::Command};

use figures::Figures;

const DEFAULT_SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // `cargo test --benches` only checks that it compiles.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["fill", data, folder, size, ..] => {
            generated_store::fill(Path::new(data), Path::new(folder), size.parse().unwrap());
        }
        ["measure", data, size, ..] => {
            measurements::measure_all(Path::new(data), size.parse().unwrap());
        }
        _ => {
            let sizes: Vec<usize> =
                arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
            let sizes = if sizes.is_empty() { DEFAULT_SIZES.to_vec() } else { sizes };
            measure_sizes(&sizes);
        }
    }
}

/// Each size is generated and measured in processes of its own, so that memory is that of one size.
fn measure_sizes(sizes: &[usize]) {
    let mut figures = Figures::default();
    for &size in sizes {
        let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let (data, folder) = (text(data.path()), text(folder.path()));
        let size_text = size.to_string();
        figures.read(size, &run(&["fill", &data, &folder, &size_text]));
        figures.read(size, &run(&["measure", &data, &size_text]));
    }
    figures.print();
}

/// The figures that a role of this program printed.
fn run(role: &[&str]) -> String {
    let program = env::current_exe().unwrap();
    let output = Command::new(program).args(role).arg("--bench").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    print!("{printed}");
    assert!(output.status.success(), "{role:?}: {}", String::from_utf8_lossy(&output.stderr));
    printed
}
