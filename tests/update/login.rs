//! Tests the login. A rejection is shown everywhere at once and ends nothing, and the login can be checked and replaced
//! without leaving the program.

use std::time::Duration;

use tessera_interface::{
    app::{
        Event,
        overlay::{
            command_list::CommandList,
            login::{LoginForm, LoginOutcome, LoginTask},
        },
    },
    message::{
        ImportedLogin, JobId, Lane, LoginImport, LoginPlaces, Payload, Request, TypedSecret,
        WorkerEvent,
    },
};
use tessera_model::{Failure, FailureKind, NO_SECRET, SafeText, Status};
use tessera_picture::Protocol;

use crate::support::app_harness::{AppHarness, dataset, page, task};

const JOB: JobId = JobId(0);

/// Creates a core of a hosted deployment with an open dataset.
fn hosted() -> AppHarness {
    AppHarness::hosted(Protocol::None, "ak_1").opening_clusters(3)
}

fn rejected() -> Failure {
    let failure = Failure::new(FailureKind::Unauthorized, "the credentials were rejected (401)");
    Failure { status: Some(401), ..failure }
}

/// Rejects the next poll of the datasets.
fn reject_poll(harness: &mut AppHarness) {
    harness.wait(20);
    let (ticket, _) = harness.take(|lane| *lane == Lane::Datasets);
    harness.respond(ticket, Err(rejected()));
}

fn ready() -> Payload {
    Payload::Datasets(vec![dataset(1, Status::Ready)], 0)
}

#[test]
fn a_rejected_login_is_reported_once_and_polling_continues() {
    let mut harness = hosted();
    reject_poll(&mut harness);
    assert!(harness.app.login().rejection.is_some());
    assert!(
        harness.notice().contains("401") && harness.notice().contains("L opens"),
        "{}",
        harness.notice()
    );
    let reported = harness.app.notifications().history().count();
    reject_poll(&mut harness);
    assert_eq!(harness.app.notifications().history().count(), reported);
    harness.wait(60);
    harness.answer(Lane::Datasets, ready());
    assert!(harness.app.login().rejection.is_none());
    assert!(harness.notice().contains("accepted again"), "{}", harness.notice());
}

#[test]
fn a_path_that_the_service_does_not_have_says_nothing_about_the_login() {
    let mut harness = hosted();
    harness.press("g f");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Overview(..)));
    harness.respond(ticket, Err(rejected()));
    assert!(!harness.notice().contains("rejects the login"), "{}", harness.notice());
}

#[test]
fn a_missing_secret_opens_the_login() {
    let mut harness = hosted();
    harness.wait(20);
    let (ticket, _) = harness.take(|lane| *lane == Lane::Datasets);
    let failure = Failure::new(FailureKind::Unauthorized, "no secret is stored");
    harness.respond(ticket, Err(Failure { code: Some(NO_SECRET), ..failure }));
    let LoginOutcome::Failed(text) = form_outcome(&harness) else { panic!("no reason") };
    assert!(text.as_str().contains("no secret is stored"), "{text}");
    let Some(form) = harness.app.dialog::<LoginForm>() else { panic!("the form is closed") };
    assert_eq!(form.task, LoginTask::ImportSession);
    harness.press("esc");
    reject_poll(&mut harness);
    assert!(harness.app.overlay().is_none(), "it opens once");
}

#[test]
fn any_response_after_the_check_of_the_login_shows_that_it_is_accepted() {
    for (kind, accepted) in [
        (FailureKind::Forbidden, true),
        (FailureKind::NotFound, true),
        (FailureKind::Conflict, true),
        (FailureKind::Server, false),
        (FailureKind::NoResponse, false),
        (FailureKind::Unreachable, false),
    ] {
        let mut harness = hosted();
        reject_poll(&mut harness);
        harness.wait(60);
        harness.fail(Lane::Datasets, kind);
        assert_eq!(harness.app.login().rejection.is_none(), accepted, "{kind:?}");
    }
}

#[test]
fn jobs_wait_for_the_login_and_do_not_fail() {
    let mut harness = hosted();
    harness.press("e enter");
    harness.answer(Lane::StartJob(JOB), Payload::Export(task("INIT")));
    harness.wait(3);
    let (ticket, _) = harness.take(|lane| *lane == Lane::Export(JOB));
    harness.respond(ticket, Err(rejected()));
    let job = harness.app.jobs().get(JOB).unwrap();
    assert!(job.is_active() && harness.app.login().waits_for_login(job), "{:?}", job.state());
    harness.wait(60);
    harness.answer(Lane::Datasets, ready());
    harness.answer(Lane::Export(JOB), Payload::Export(task("IN_PROGRESS")));
    let job = harness.app.jobs().get(JOB).unwrap();
    assert!(!harness.app.login().waits_for_login(job));
    assert_eq!(job.label(), "IN_PROGRESS");
}

#[test]
fn without_login_nothing_is_sent_and_the_reason_leads_to_the_login() {
    let mut harness = hosted();
    reject_poll(&mut harness);
    let before = harness.requests().len();
    harness.press("e");
    assert!(harness.app.overlay().is_none());
    assert!(harness.notice().contains("L opens it"), "{}", harness.notice());
    assert_eq!(harness.requests().len(), before);
}

#[test]
fn what_failed_without_login_is_loaded_again_with_it() {
    let mut harness = hosted();
    harness.press(">");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    harness.respond(ticket, Err(rejected()));
    harness.wait(20);
    assert!(!harness.requests().iter().any(|request| matches!(request, Request::Explore(_))));
    harness.answer(Lane::Datasets, ready());
    harness.answer_page(page(0, 3));
}

fn form_outcome(harness: &AppHarness) -> LoginOutcome {
    let Some(form) = harness.app.dialog::<LoginForm>() else { panic!("the form is closed") };
    form.outcome.clone()
}

#[test]
fn a_check_says_what_the_response_means() {
    for (status, words) in [
        (401, "expired or is wrong"),
        (403, "no permission for this dataset"),
        (404, "no such dataset, or no access"),
    ] {
        let mut harness = hosted();
        harness.press("L enter");
        let id = dataset(1, Status::Ready).id;
        let (ticket, request) = harness.take(|lane| *lane == Lane::LoginCheck);
        assert_eq!(request, Request::CheckLogin(Some(id)));
        assert_eq!(form_outcome(&harness), LoginOutcome::Running);
        let failure = Failure::new(FailureKind::NotFound, "it broke");
        harness.respond(ticket, Err(Failure { status: Some(status), ..failure }));
        let LoginOutcome::Failed(text) = form_outcome(&harness) else { panic!("{status}") };
        assert!(text.as_str().contains(words), "{text}");
        harness.press("enter");
        harness.answer(Lane::LoginCheck, Payload::Done);
        assert!(matches!(form_outcome(&harness), LoginOutcome::Accepted(_)));
    }
}

fn places(needs_consent: bool) -> Payload {
    let (current, new) = (SafeText::name("not stored"), SafeText::name("secrets.toml"));
    Payload::LoginPlaces(LoginPlaces { current, new, needs_consent })
}

#[test]
fn a_key_pair_is_entered_and_replaces_the_login() {
    let mut harness = hosted();
    reject_poll(&mut harness);
    harness.press("L");
    harness.answer(Lane::LoginPlaces, places(false));
    harness.press("right enter");
    assert!(matches!(form_outcome(&harness), LoginOutcome::Failed(_)), "an api_key is missing");
    harness.type_text("ak_2");
    harness.press("tab");
    harness.happen(Event::Paste("canary-secret".into()));
    harness.press("enter enter");
    let (ticket, request) = harness.take(|lane| *lane == Lane::LoginImport);
    let secret = TypedSecret("canary-secret".into());
    let import = LoginImport::KeyPair { api_key: "ak_2".into(), api_secret: secret, store: true };
    assert_eq!(request, Request::ImportLogin(import));
    assert!(!format!("{request:?}{:?}", harness.app).contains("canary"), "a secret is not printed");
    assert!(
        !harness.requests().iter().any(|it| matches!(it, Request::ImportLogin(_))),
        "sent once"
    );
    let login = ImportedLogin {
        api_key: SafeText::name("ak_2"),
        stored_in: Some(SafeText::name("the keyring")),
        message: Some(SafeText::detail("Keep it")),
    };
    harness.respond(ticket, Ok(Payload::LoginImported(login)));
    assert!(harness.app.overlay().is_none() && harness.app.login().rejection.is_none());
    for words in ["ak_2", "the keyring", "Keep it"] {
        assert!(harness.notice().contains(words), "{}", harness.notice());
    }
    harness.answer(Lane::Datasets, ready());
    assert_eq!(harness.app.login().key.as_ref().unwrap().as_str(), "ak_2");
}

#[test]
fn an_issued_secret_is_stored_in_a_file_only_with_consent() {
    let mut harness = hosted();
    harness.press("L");
    harness.answer(Lane::LoginPlaces, places(true));
    harness.press("right right tab");
    harness.type_text("SESSION=canary-session");
    harness.press("enter");
    let LoginOutcome::Failed(reason) = form_outcome(&harness) else {
        panic!("sent without consent")
    };
    assert!(reason.as_str().contains("only once"), "{reason}");
    assert!(harness.requests().is_empty());
    harness.press("space enter");
    let (ticket, request) = harness.take(|lane| *lane == Lane::LoginImport);
    let session = TypedSecret("canary-session".into());
    assert_eq!(request, Request::ImportLogin(LoginImport::Session(session)));
    harness.press("esc");
    harness.respond(ticket, Err(Failure::local("the session was not accepted")));
    assert!(harness.notice().contains("not accepted"), "also when the form is closed");
    assert!(harness.app.login().rejection.is_none(), "the present login is another one");
}

#[test]
fn a_login_of_the_environment_is_not_replaced() {
    let mut harness = hosted();
    harness.app.setup_mut().login.as_mut().unwrap().fixed = Some(SafeText::name("TESSERA_TOKEN"));
    harness.press("L right enter");
    assert!(harness.requests().is_empty(), "{:?}", harness.requests());
    assert!(harness.app.dialog::<CommandList>().is_some(), "the only other task");
    let mut harness = AppHarness::with_clusters(3);
    harness.press("L");
    assert!(harness.notice().contains("needs no login"), "{}", harness.notice());
}

#[test]
fn the_time_of_a_token_counts_down() {
    let mut harness = hosted();
    let issued = harness.app.clock();
    harness.happen(Event::Worker(WorkerEvent::TokenIssued(issued + Duration::from_secs(90))));
    assert_eq!(
        harness.app.login().token_time_left(harness.app.clock()),
        Some(Duration::from_secs(90))
    );
    harness.wait(100);
    assert_eq!(harness.app.login().token_time_left(harness.app.clock()), Some(Duration::ZERO));
}
