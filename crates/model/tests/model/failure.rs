use tessera_model::{failure::*, *};

#[test]
fn a_failure_prints_message_detail_and_remedy() {
    let failure = Failure::new(FailureKind::Conflict, "export refused")
        .with_detail(Some(SafeText::detail("dataset not READY\u{1b}")))
        .with_remedy("Wait until it is READY");
    assert_eq!(
        failure.to_string(),
        "export refused (service: dataset not READY␛). Wait until it is READY"
    );
}

const KINDS: [FailureKind; 13] = [
    FailureKind::Unreachable,
    FailureKind::NoResponse,
    FailureKind::Server,
    FailureKind::RateLimited,
    FailureKind::Unauthorized,
    FailureKind::Forbidden,
    FailureKind::NotFound,
    FailureKind::Conflict,
    FailureKind::Invalid,
    FailureKind::Rejected,
    FailureKind::Unconfirmed,
    FailureKind::Unexpected,
    FailureKind::Local,
];

/// The kinds of failures of which `is` is true.
fn kinds(is: impl Fn(&Failure) -> bool) -> Vec<FailureKind> {
    KINDS.into_iter().filter(|kind| is(&Failure::new(*kind, "it failed"))).collect()
}

#[test]
fn a_change_may_have_happened_unless_it_was_refused_or_never_sent() {
    let maybe = [FailureKind::NoResponse, FailureKind::Server, FailureKind::Unconfirmed];
    assert_eq!(kinds(Failure::may_have_taken_effect), maybe);
}

#[test]
fn a_refusal_of_the_request_shows_that_the_login_was_accepted() {
    let accepted = [
        FailureKind::Forbidden,
        FailureKind::NotFound,
        FailureKind::Conflict,
        FailureKind::Invalid,
    ];
    assert_eq!(kinds(Failure::shows_accepted_login), accepted);
}

#[test]
fn only_failures_that_pass_are_failures_of_the_connection() {
    let passing = [
        FailureKind::Unreachable,
        FailureKind::NoResponse,
        FailureKind::Server,
        FailureKind::RateLimited,
    ];
    assert_eq!(kinds(Failure::is_connection_failure), passing);
}

#[test]
fn a_missing_or_unreadable_response_says_nothing_about_a_task() {
    let inconclusive = [
        FailureKind::Unreachable,
        FailureKind::NoResponse,
        FailureKind::Server,
        FailureKind::RateLimited,
        FailureKind::Rejected,
        FailureKind::Unexpected,
    ];
    assert_eq!(kinds(Failure::is_inconclusive), inconclusive);
}

#[test]
fn an_empty_detail_is_not_shown() {
    let plain = || Failure::local("cannot read a.jpg");
    assert_eq!(plain().kind, FailureKind::Local);
    for detail in [None, Some(SafeText::default())] {
        assert_eq!(plain().with_detail(detail).to_string(), "cannot read a.jpg");
    }
    let remedied = plain().with_remedy("Check its permissions");
    assert_eq!(remedied.to_string(), "cannot read a.jpg. Check its permissions");
    assert_eq!(Failure::internal_error().to_string(), "internal error. Please report this bug");
}

#[test]
fn a_check_of_the_login_distinguishes_a_wrong_key_from_a_missing_permission() {
    let both = "401: the key has expired or is wrong, or the secret does not match";
    for (status, by_dataset, text) in [
        (401, false, Some(both)),
        (401, true, Some(both)),
        (403, true, Some("403: the login works, but has no permission for this dataset")),
        (403, false, Some("403: the login works, but has no permission to list datasets")),
        (404, true, Some("404: no such dataset, or no access to it")),
        (404, false, None),
        (200, true, None),
        (400, true, None),
        (500, false, None),
    ] {
        assert_eq!(login_check_text(status, by_dataset), text, "{status} {by_dataset}");
    }
}
