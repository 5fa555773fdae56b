//! The parameters of the calls, as their handlers read them by name.

use utoipa::{
    IntoParams, Number,
    openapi::{
        Content, Deprecated, RefOr, Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{
            ArrayBuilder, ArrayItems, KnownFormat, ObjectBuilder, Ref, Schema, SchemaFormat, Type,
        },
    },
};

use crate::http::{
    params::{ClusterPath, DatasetPath, ExportPath, ImagePath, MediaPath},
    question::LONGEST_CAPTION,
};
use tessera_model::{
    Granularity,
    vql::{Label, MOST_VALUES},
};
use tessera_wire::paths::{DATASET_ID, MEDIA_ID, query};

/// Types that stand for the parameters of a call.
macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident => $list:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;
        described!($name => $list);
    )*};
}

/// Lets a type describe parameters.
macro_rules! described {
    ($name:ident => $list:expr) => {
        impl IntoParams for $name {
            fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                Vec::from($list)
            }
        }
    };
}

described!(DatasetPath => [path(DATASET_ID, uuid())]);
described!(ClusterPath => [path(DATASET_ID, uuid()), path(query::CLUSTER_ID, uuid())]);
described!(ImagePath => [path(MEDIA_ID, uuid())]);
described!(ExportPath => [path(query::EXPORT_TASK_ID, uuid())]);
described!(MediaPath => [path(MEDIA_ID, uuid()), path("version", pattern("^[0-9a-f]{1,8}$"))]);

parameters! {
    /// What selects and ranks, as `explore` takes it.
    Asking => [vec![needed(query::ENTITY_TYPE, entity())], selecting()].concat();
    /// `page_number`.
    Paged => [optional(query::PAGE_NUMBER, whole(isize::MAX)).about("0-based; 100 clusters a page")];
    /// Of an export of a dataset; what selects is additive.
    Exporting => [
        vec![
            needed(query::FILE_NAME, some()).about("Name of the archive"),
            optional(query::CLUSTER_ID, uuid()).about("Only the members of this cluster"),
            optional(query::ENTITY_TYPE, entity()),
        ],
        packing(),
        selecting(),
    ].concat();
    /// Of an export of a selection.
    Packing => [packing(), vec![optional(query::FILE_NAME, string().into())]].concat();
    /// Of the state of an export.
    Watching => [needed(query::EXPORT_TASK_ID, uuid()).about("From the start of the export")];
    /// Of a query image.
    Registering => [
        needed(query::ENTITY_TYPE, entity()),
        optional(query::THRESHOLD, level()),
        optional_json(query::BOUNDING_BOX, reference("BoundingBox")).about("The part that counts"),
    ];
    /// Of `process/add_media`.
    Processing => [
        needed(query::DATASET_ID, uuid()),
        needed(query::PATH, pattern("^/")).about("A folder that the deployment may read"),
        optional(query::AUTO_REINDEX, boolean()),
    ];
    /// Of the features of a user.
    Configured => [optional(query::DATASET_ID, uuid())];
    /// Of the counts of a dataset.
    Counting => [optional(query::ENTITY_TYPE, entity()), optional(query::THRESHOLD, level())];
    /// Of an export that is answered at once.
    AtOnce => [optional(query::EXPORT_FORMAT, word(&["json"]))];
    /// Of a link that opens without a token.
    Signed => [optional(query::SIGNATURE, string().into())];
    /// Of such a link that ends.
    Expiring => [
        optional(query::SIGNATURE, string().into()),
        optional(query::EXPIRES, whole(isize::MAX)).about("Unix seconds"),
    ];
}

fn selecting() -> Vec<Parameter> {
    let anchor = "Of a registered query image or of an image of the dataset; with anchor_type";
    let caption = "Ranks by meaning; not together with image_caption";
    vec![
        optional(query::THRESHOLD, level()).about("Granularity of the clusters; 0 is the finest"),
        optional(query::ANCHOR_MEDIA_ID, uuid()).about(anchor),
        optional(query::ANCHOR_TYPE, word(&["UPLOAD", "MEDIA"])),
        optional(query::CAPTION, text(LONGEST_CAPTION)).about(caption),
        deprecated(optional(query::IMAGE_CAPTION, text(LONGEST_CAPTION))),
        optional(query::TEXTUAL_SIMILARITY_THRESHOLD, fraction()).about("Keeps scores below it"),
        optional_json(query::LABELS, list(text(Label::LONGEST))).about("Any of these labels"),
        optional_json(query::TAGS, list(uuid())).about("All of these tags"),
        optional_json(query::VQL, reference("Vql")).about("Filters; all of them hold"),
    ]
}

fn packing() -> Vec<Parameter> {
    vec![
        needed(query::EXPORT_FORMAT, word(&["json", "parquet"])),
        optional(query::INCLUDE_IMAGES, boolean()).about("Default false"),
    ]
}

/// A sentence about a parameter.
trait About {
    fn about(self, words: &str) -> Self;
}

impl About for Parameter {
    fn about(mut self, words: &str) -> Self {
        self.description = Some(words.to_owned());
        self
    }
}

fn path(name: &str, schema: Schema) -> Parameter {
    let place = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path);
    place.required(Required::True).schema(Some(schema)).build()
}

fn needed(name: &str, schema: Schema) -> Parameter {
    let mut parameter = optional(name, schema);
    parameter.required = Required::True;
    parameter
}

fn deprecated(mut parameter: Parameter) -> Parameter {
    parameter.deprecated = Some(Deprecated::True);
    parameter
}

fn optional(name: &str, schema: Schema) -> Parameter {
    let query = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query);
    query.required(Required::False).schema(Some(schema)).build()
}

/// A parameter whose text is JSON.
fn optional_json(name: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    let query = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query);
    let content = Content::new(Some(schema));
    query.required(Required::False).content("application/json", content).build()
}

fn reference(name: &str) -> Ref {
    Ref::from_schema_name(name)
}

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn uuid() -> Schema {
    string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid))).into()
}

/// A text that is not empty.
fn some() -> Schema {
    string().min_length(Some(1)).into()
}

/// A text that is more than blanks.
fn text(longest: usize) -> Schema {
    string().min_length(Some(1)).max_length(Some(longest)).pattern(Some(r"\S")).into()
}

fn pattern(pattern: &str) -> Schema {
    string().pattern(Some(pattern)).into()
}

fn word(words: &[&str]) -> Schema {
    string().enum_values(Some(words.to_vec())).into()
}

fn entity() -> Schema {
    word(&["IMAGES", "OBJECTS"])
}

fn boolean() -> Schema {
    ObjectBuilder::new().schema_type(Type::Boolean).into()
}

/// A whole number from 0 on.
fn whole(most: impl Into<Number>) -> Schema {
    let integer = ObjectBuilder::new().schema_type(Type::Integer);
    integer.minimum(Some(0)).maximum(Some(most)).into()
}

fn level() -> Schema {
    whole(Granularity::LEVELS - 1)
}

fn fraction() -> Schema {
    let number = ObjectBuilder::new().schema_type(Type::Number);
    number.minimum(Some(0.0)).maximum(Some(1.0)).into()
}

fn list(items: Schema) -> Schema {
    let items = ArrayItems::RefOrSchema(Box::new(items.into()));
    ArrayBuilder::new().items(items).min_items(Some(1)).max_items(Some(MOST_VALUES)).into()
}
