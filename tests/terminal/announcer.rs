//! Tests the line-based output of the accessible interface.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use tessera::{
    accessible::{self, Announcer},
    runtime::RunOutcome,
    state::StateFolder,
    worker::{self, WorkerOptions},
};
use tessera_client::Trace;
use tessera_config::input::Keymap;
use tessera_interface::app::Setup;
use tessera_model::SafeText;
use tessera_testing::clients::{hosted, without_pauses};
use tokio::sync::mpsc;

use crate::support::app_harness::settings;

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn every_line_starts_with_its_kind_and_is_one_line() {
    let output = Output::default();
    let mut announcer = Announcer::new(&b" 9 \n\n"[..], output.clone());
    announcer.status("two\nlines\u{1b}[2J").unwrap();
    let copied = "x".repeat(SafeText::MAX_CAPTION + 1);
    announcer.item(&copied).unwrap();
    let mut lines = Vec::new();
    for _ in 0..3 {
        lines.push(announcer.prompt("Which?").unwrap().await.unwrap().unwrap());
    }
    assert_eq!(lines, [Some("9".to_owned()), Some(String::new()), None], "then the input ends");
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    let questions = "question: Which?\n".repeat(3);
    assert_eq!(written, format!("status: two␊lines␛[2J\nitem: {copied}\n{questions}"));
}

/// Runs a session without a service. Returns how it ends, and what it prints.
async fn converse(lines: &'static [u8], has_worker: bool) -> (io::Result<RunOutcome>, String) {
    let client = hosted("http://127.0.0.1:9", without_pauses());
    let mut worker = worker::spawn(client, StateFolder::default(), WorkerOptions::default());
    if !has_worker {
        worker.events = mpsc::unbounded_channel().1;
    }
    let setup = Setup::new(SafeText::name("x"), settings(), Keymap::built_in().unwrap());
    let output = Output::default();
    let announcer = Announcer::new(lines, output.clone());
    let outcome = accessible::run(setup, Trace::disabled(), worker, announcer).await;
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    (outcome, written)
}

#[tokio::test]
async fn a_line_that_is_not_text_is_typed_again() {
    let (outcome, written) = converse(b"caf\xe9\nquit\n", true).await;
    assert_eq!(outcome.unwrap(), RunOutcome::Exit(0), "{written}");
    assert!(written.contains("error: this line is not UTF-8 text; type it again"), "{written}");
}

#[tokio::test]
async fn a_session_ends_with_its_worker() {
    let (outcome, written) = converse(b"quit\n", false).await;
    assert!(outcome.unwrap_err().to_string().contains("the worker has ended"), "{written}");
}
