//! The refusals that many calls share, by what they stand behind.

use std::collections::BTreeMap;

use utoipa::{
    IntoResponses, ToSchema,
    openapi::{
        Content as Body, RefOr, Response, ResponseBuilder,
        header::HeaderBuilder,
        schema::{ObjectBuilder, Ref, Type},
    },
};

use tessera_wire::problem::{InvalidBody, ProblemBody};

/// Answers by code.
type Answers = BTreeMap<String, RefOr<Response>>;

/// What any call of the interface may be refused with.
pub struct Refused;
/// And one that names a dataset.
pub struct OfDataset;
/// And one that needs permission or a status.
pub struct Gated;
/// What a form may be refused with.
pub struct Uploaded;
/// What is refused when too much is asked at once.
pub struct Queued;
/// What a file behind a link answers besides itself.
pub struct Content;

impl IntoResponses for Refused {
    fn responses() -> Answers {
        let mut all = answers([
            (401, "The token or session is not valid"),
            (403, "Not allowed, or sent by a page of another site"),
            (500, "A fault of the service"),
        ]);
        all.extend(bare([(414, "The address is longer than 64 KiB")]));
        all
    }
}

impl IntoResponses for OfDataset {
    fn responses() -> Answers {
        let mut all = Refused::responses();
        all.extend(answers([
            (404, "There is no such thing"),
            (422, "A parameter or body is wrong"),
        ]));
        all
    }
}

impl IntoResponses for Gated {
    fn responses() -> Answers {
        let mut all = OfDataset::responses();
        all.extend(answers([(409, "The status of the dataset forbids it")]));
        all
    }
}

impl IntoResponses for Uploaded {
    fn responses() -> Answers {
        answers([
            (400, "A parameter or the form is wrong, or a file is missing or cannot be read"),
            (408, "The body did not arrive in time"),
            (413, "The body or a part of it is too large"),
        ])
    }
}

impl IntoResponses for Queued {
    fn responses() -> Answers {
        let seconds = ObjectBuilder::new().schema_type(Type::Integer);
        let after = HeaderBuilder::new().schema(Some(seconds)).description(Some("Seconds"));
        let busy = plain("Too many searches are running").header("Retry-After", after.build());
        BTreeMap::from([("503".to_owned(), busy.build().into())])
    }
}

impl IntoResponses for Content {
    fn responses() -> Answers {
        let mut all = answers([
            (403, "The link is not valid, or opened by a page of another site"),
            (404, "There is no such file"),
            (500, "A fault of the service"),
        ]);
        all.extend(bare([
            (206, "The range that was asked for"),
            (304, "The client has it already"),
            (414, "The address is longer than 64 KiB"),
            (416, "The range is outside"),
        ]));
        all
    }
}

fn answers<const N: usize>(codes: [(u16, &str); N]) -> Answers {
    let answer = |(code, words): (u16, &str)| {
        let body = if code == 422 { described(words, &InvalidBody::name()) } else { plain(words) };
        (code.to_string(), body.build().into())
    };
    codes.into_iter().map(answer).collect()
}

/// Answers without words of ours.
fn bare<const N: usize>(codes: [(u16, &str); N]) -> Answers {
    let answer = |(code, words): (u16, &str)| {
        (code.to_string(), ResponseBuilder::new().description(words).build().into())
    };
    codes.into_iter().map(answer).collect()
}

fn plain(words: &str) -> ResponseBuilder {
    described(words, &ProblemBody::name())
}

fn described(words: &str, schema: &str) -> ResponseBuilder {
    let body = Body::new(Some(Ref::from_schema_name(schema)));
    ResponseBuilder::new().description(words).content("application/json", body)
}
