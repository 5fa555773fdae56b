//! Limits how many crates a build brings in, because each crate is code that somebody else can
//! change.

use std::{collections::BTreeSet, process::Command};

/// The maximum number of crates, ours included, that a build of the program for this machine
/// compiles.
const BUDGET: usize = 481;
/// The maximum number of crates without the local service.
const CLIENT_BUDGET: usize = 359;

fn crates(features: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--offline", "--locked", "--package", "tessera-tui"])
        .args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .args(features)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let text = String::from_utf8(output.stdout).unwrap();
    // A line has the form "name v1.2.3 (kind) (*)".
    text.lines().filter_map(|line| line.split(" (").next()).map(str::to_owned).collect()
}

#[test]
fn dependencies_stay_within_their_budget() {
    for (features, budget) in [(&[][..], BUDGET), (&["--no-default-features"], CLIENT_BUDGET)] {
        let crates = crates(features);
        assert!(crates.iter().any(|name| name.starts_with("tessera-client ")), "{crates:?}");
        assert!(
            crates.len() <= budget,
            "{} crates {features:?}, the budget is {budget}: do without one, or raise the budget \
             with a reason in the commit message",
            crates.len()
        );
    }
}

#[test]
fn client_builds_without_the_service_and_its_database() {
    let crates = crates(&["--no-default-features"]);
    for name in ["tessera-service ", "libsqlite3-sys ", "axum "] {
        assert!(!crates.iter().any(|found| found.starts_with(name)), "{name}");
    }
}
