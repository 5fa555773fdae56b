//! Tests that actions on files are reported, and progress not too often.

use tessera_curation::Skipped;
use tessera_testing::{
    clients::{dataset, hosted, without_pauses},
    scripted::{Reply, ScriptedServer},
};

use super::*;

/// Returns a handler of requests that stores nothing, and its events.
fn handler_of(server: &ScriptedServer) -> (RequestHandler, mpsc::UnboundedReceiver<WorkerEvent>) {
    let client = hosted(&server.url(), without_pauses());
    let (events, receiver) = mpsc::unbounded_channel();
    let (state, options) = (StateFolder::default(), WorkerOptions::default());
    (RequestHandler::new(client, state, options, events), receiver)
}

#[tokio::test]
async fn an_action_on_files_is_reported_although_the_index_does_not_follow() {
    let server = ScriptedServer::start(|_| Reply::new(500, &[], "")).await;
    let (handler, mut events) = handler_of(&server);
    let left_alone = Skipped::new("/photos/b.jpg".into(), "it is gone");
    let outcome = Outcome { done: 1, failed: vec![left_alone], not_tried: Vec::new() };
    let reported = handler.follow_in_index(dataset(), Ok(outcome.clone())).await;
    assert_eq!(reported, Ok(outcome));
    let Ok(WorkerEvent::Warning(text)) = events.try_recv() else { panic!("no warning") };
    assert!(text.as_str().contains("when the folder is opened again"), "{text}");
}

#[test]
fn at_most_ten_reports_per_second() {
    let start = Instant::now();
    let mut throttle = ProgressThrottle::default();
    let reports = (0..1_000).filter(|&ms| throttle.is_due(start + Duration::from_millis(ms)));
    assert_eq!(reports.count(), 10);
}
