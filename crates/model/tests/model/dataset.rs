use tessera_model::{dataset::*, *};

#[test]
fn status_words_are_read_leniently() {
    assert_eq!(Status::parse("read_only"), Status::ReadOnly);
    assert_eq!(Status::parse(" Partial Index "), Status::PartialIndex);
    assert_eq!(Status::parse("DRAFT"), Status::Other(SafeText::name("DRAFT")));
    assert_eq!(Status::parse_legacy("UPDATING"), Status::ReadOnly);
}

/// The permission table, cell by cell: y allowed, t unspecified, a confirm, n denied.
#[test]
fn operations_are_allowed_by_status() {
    let states = [
        Status::Ready,
        Status::PartialIndex,
        Status::ReadOnly,
        Status::Indexing,
        Status::Error,
        Status::parse("DRAFT"),
    ];
    for (operation, row) in [
        (Operation::Read, "yyyyyy"),
        (Operation::TextSearch, "yttttt"),
        (Operation::VisualSearch, "ynnnna"),
        (Operation::Export, "ynnnna"),
        (Operation::AddMedia, "yynnna"),
        (Operation::Reindex, "nynnnn"),
    ] {
        let got: String = states
            .iter()
            .map(|status| match status.allows(operation) {
                Permission::Allowed => 'y',
                Permission::Unspecified => 't',
                Permission::Confirm => 'a',
                Permission::Denied(_) => 'n',
            })
            .collect();
        assert_eq!(got, row, "{operation:?}");
    }
}
