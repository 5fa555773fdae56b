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
