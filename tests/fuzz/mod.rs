//! Fuzzing of everything that reads bytes from outside, with generators that know the formats.
//!
//! `cargo test --test tests fuzz::` runs each target on a few thousand inputs from a fixed seed. For a long run:
//! `TESSERA_FUZZ_RUNS=1000000 TESSERA_FUZZ_SEED=7 cargo test --release --test tests fuzz::`. A failure prints the
//! smallest input that still fails. Add this input as a test beside the reader.

#![expect(clippy::panic, reason = "a test fails by panicking")]

mod archives;
mod documents;
mod embedded_texts;
mod forms;
mod models;
mod mutation;
mod object_storage;
mod parquet_files;
mod pictures;
mod responses;
mod terminal;
mod text_files;

use std::env;

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};

/// Runs `check` on `default_runs` generated inputs. `check` panics on a failure.
fn fuzz<S: Strategy>(default_runs: u32, inputs: &S, check: impl Fn(S::Value)) {
    let runs = number_from("TESSERA_FUZZ_RUNS").unwrap_or(u64::from(default_runs));
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number_from("TESSERA_FUZZ_SEED").unwrap_or(0).to_le_bytes());
    let config = Config {
        cases: u32::try_from(runs).expect("at most 4,294,967,295 runs"),
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let result = TestRunner::new_with_rng(config, rng).run(inputs, |input| {
        check(input);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, input)) => panic!("{reason}; the smallest input:\n{input:?}"),
        Err(TestError::Abort(reason)) => panic!("the generator failed: {reason}"),
    }
}

fn number_from(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}
