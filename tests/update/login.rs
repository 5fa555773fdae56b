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

use crate::support::desk::{Desk, dataset, page, task};

const JOB: JobId = JobId(0);

/// Creates a core of a hosted deployment with an open dataset.
fn hosted() -> Desk {
    Desk::hosted(Protocol::None, "ak_1").opening_clusters(3)
}

fn rejected() -> Failure {
    let failure = Failure::new(FailureKind::Unauthorized, "the credentials were rejected (401)");
    Failure { status: Some(401), ..failure }
}

/// Rejects the next poll of the datasets.
fn reject_poll(desk: &mut Desk) {
    desk.wait(20);
    let (ticket, _) = desk.take(|lane| *lane == Lane::Datasets);
    desk.respond(ticket, Err(rejected()));
}

fn ready() -> Payload {
    Payload::Datasets(vec![dataset(1, Status::Ready)], 0)
}

#[test]
fn a_rejected_login_is_reported_once_and_polling_continues() {
    let mut desk = hosted();
    reject_poll(&mut desk);
    assert!(desk.app.login().rejection.is_some());
    assert!(
        desk.notice().contains("401") && desk.notice().contains("L opens"),
        "{}",
        desk.notice()
    );
    let reported = desk.app.notifications().history().count();
    reject_poll(&mut desk);
    assert_eq!(desk.app.notifications().history().count(), reported);
    desk.wait(60);
    desk.answer(Lane::Datasets, ready());
    assert!(desk.app.login().rejection.is_none());
    assert!(desk.notice().contains("accepted again"), "{}", desk.notice());
}

#[test]
fn a_path_that_the_service_does_not_have_says_nothing_about_the_login() {
    let mut desk = hosted();
    desk.press("g f");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Overview(..)));
    desk.respond(ticket, Err(rejected()));
    assert!(!desk.notice().contains("rejects the login"), "{}", desk.notice());
}

#[test]
fn a_missing_secret_opens_the_login() {
    let mut desk = hosted();
    desk.wait(20);
    let (ticket, _) = desk.take(|lane| *lane == Lane::Datasets);
    let failure = Failure::new(FailureKind::Unauthorized, "no secret is stored");
    desk.respond(ticket, Err(Failure { code: Some(NO_SECRET), ..failure }));
    let LoginOutcome::Failed(text) = form_outcome(&desk) else { panic!("no reason") };
    assert!(text.as_str().contains("no secret is stored"), "{text}");
    let Some(form) = desk.app.dialog::<LoginForm>() else { panic!("the form is closed") };
    assert_eq!(form.task, LoginTask::ImportSession);
    desk.press("esc");
    reject_poll(&mut desk);
    assert!(desk.app.overlay().is_none(), "it opens once");
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
        let mut desk = hosted();
        reject_poll(&mut desk);
        desk.wait(60);
        desk.fail(Lane::Datasets, kind);
        assert_eq!(desk.app.login().rejection.is_none(), accepted, "{kind:?}");
    }
}

#[test]
fn jobs_wait_for_the_login_and_do_not_fail() {
    let mut desk = hosted();
    desk.press("e enter");
    desk.answer(Lane::StartJob(JOB), Payload::Export(task("INIT")));
    desk.wait(3);
    let (ticket, _) = desk.take(|lane| *lane == Lane::Export(JOB));
    desk.respond(ticket, Err(rejected()));
    let job = desk.app.jobs().get(JOB).unwrap();
    assert!(job.is_active() && desk.app.login().waits_for_login(job), "{:?}", job.state());
    desk.wait(60);
    desk.answer(Lane::Datasets, ready());
    desk.answer(Lane::Export(JOB), Payload::Export(task("IN_PROGRESS")));
    let job = desk.app.jobs().get(JOB).unwrap();
    assert!(!desk.app.login().waits_for_login(job));
    assert_eq!(job.label(), "IN_PROGRESS");
}

#[test]
fn without_login_nothing_is_sent_and_the_reason_leads_to_the_login() {
    let mut desk = hosted();
    reject_poll(&mut desk);
    let before = desk.requests().len();
    desk.press("e");
    assert!(desk.app.overlay().is_none());
    assert!(desk.notice().contains("L opens it"), "{}", desk.notice());
    assert_eq!(desk.requests().len(), before);
}

#[test]
fn what_failed_without_login_is_loaded_again_with_it() {
    let mut desk = hosted();
    desk.press(">");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Page(_)));
    desk.respond(ticket, Err(rejected()));
    desk.wait(20);
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::Explore(_))));
    desk.answer(Lane::Datasets, ready());
    desk.answer_page(page(0, 3));
}

fn form_outcome(desk: &Desk) -> LoginOutcome {
    let Some(form) = desk.app.dialog::<LoginForm>() else { panic!("the form is closed") };
    form.outcome.clone()
}

#[test]
fn a_check_says_what_the_response_means() {
    for (status, words) in [
        (401, "expired or is wrong"),
        (403, "no permission for this dataset"),
        (404, "no such dataset, or no access"),
    ] {
        let mut desk = hosted();
        desk.press("L enter");
        let id = dataset(1, Status::Ready).id;
        let (ticket, request) = desk.take(|lane| *lane == Lane::LoginCheck);
        assert_eq!(request, Request::CheckLogin(Some(id)));
        assert_eq!(form_outcome(&desk), LoginOutcome::Running);
        let failure = Failure::new(FailureKind::NotFound, "it broke");
        desk.respond(ticket, Err(Failure { status: Some(status), ..failure }));
        let LoginOutcome::Failed(text) = form_outcome(&desk) else { panic!("{status}") };
        assert!(text.as_str().contains(words), "{text}");
        desk.press("enter");
        desk.answer(Lane::LoginCheck, Payload::Done);
        assert!(matches!(form_outcome(&desk), LoginOutcome::Accepted(_)));
    }
}

fn places(needs_consent: bool) -> Payload {
    let (current, new) = (SafeText::name("not stored"), SafeText::name("secrets.toml"));
    Payload::LoginPlaces(LoginPlaces { current, new, needs_consent })
}

#[test]
fn a_key_pair_is_entered_and_replaces_the_login() {
    let mut desk = hosted();
    reject_poll(&mut desk);
    desk.press("L");
    desk.answer(Lane::LoginPlaces, places(false));
    desk.press("right enter");
    assert!(matches!(form_outcome(&desk), LoginOutcome::Failed(_)), "an api_key is missing");
    desk.type_text("ak_2");
    desk.press("tab");
    desk.happen(Event::Paste("canary-secret".into()));
    desk.press("enter enter");
    let (ticket, request) = desk.take(|lane| *lane == Lane::LoginImport);
    let secret = TypedSecret("canary-secret".into());
    let import = LoginImport::KeyPair { api_key: "ak_2".into(), api_secret: secret, store: true };
    assert_eq!(request, Request::ImportLogin(import));
    assert!(!format!("{request:?}{:?}", desk.app).contains("canary"), "a secret is not printed");
    assert!(!desk.requests().iter().any(|it| matches!(it, Request::ImportLogin(_))), "sent once");
    let login = ImportedLogin {
        api_key: SafeText::name("ak_2"),
        stored_in: Some(SafeText::name("the keyring")),
        message: Some(SafeText::detail("Keep it")),
    };
    desk.respond(ticket, Ok(Payload::LoginImported(login)));
    assert!(desk.app.overlay().is_none() && desk.app.login().rejection.is_none());
    for words in ["ak_2", "the keyring", "Keep it"] {
        assert!(desk.notice().contains(words), "{}", desk.notice());
    }
    desk.answer(Lane::Datasets, ready());
    assert_eq!(desk.app.login().key.as_ref().unwrap().as_str(), "ak_2");
}

#[test]
fn an_issued_secret_is_stored_in_a_file_only_with_consent() {
    let mut desk = hosted();
    desk.press("L");
    desk.answer(Lane::LoginPlaces, places(true));
    desk.press("right right tab");
    desk.type_text("SESSION=canary-session");
    desk.press("enter");
    let LoginOutcome::Failed(reason) = form_outcome(&desk) else { panic!("sent without consent") };
    assert!(reason.as_str().contains("only once"), "{reason}");
    assert!(desk.requests().is_empty());
    desk.press("space enter");
    let (ticket, request) = desk.take(|lane| *lane == Lane::LoginImport);
    let session = TypedSecret("canary-session".into());
    assert_eq!(request, Request::ImportLogin(LoginImport::Session(session)));
    desk.press("esc");
    desk.respond(ticket, Err(Failure::local("the session was not accepted")));
    assert!(desk.notice().contains("not accepted"), "also when the form is closed");
    assert!(desk.app.login().rejection.is_none(), "the present login is another one");
}

#[test]
fn a_login_of_the_environment_is_not_replaced() {
    let mut desk = hosted();
    desk.app.setup_mut().login.as_mut().unwrap().fixed = Some(SafeText::name("TESSERA_TOKEN"));
    desk.press("L right enter");
    assert!(desk.requests().is_empty(), "{:?}", desk.requests());
    assert!(desk.app.dialog::<CommandList>().is_some(), "the only other task");
    let mut desk = Desk::with_clusters(3);
    desk.press("L");
    assert!(desk.notice().contains("needs no login"), "{}", desk.notice());
}

#[test]
fn the_time_of_a_token_counts_down() {
    let mut desk = hosted();
    let issued = desk.app.clock();
    desk.happen(Event::Worker(WorkerEvent::TokenIssued(issued + Duration::from_secs(90))));
    assert_eq!(desk.app.login().token_time_left(desk.app.clock()), Some(Duration::from_secs(90)));
    desk.wait(100);
    assert_eq!(desk.app.login().token_time_left(desk.app.clock()), Some(Duration::ZERO));
}
