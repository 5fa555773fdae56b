//! The parameters of all operations.

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
    path_params::{ClusterPath, DatasetPath, ExportLinkPath, ImagePath, MediaLinkPath},
    search_params::MAX_CAPTION_CHARS,
};
use tessera_model::{
    Granularity,
    vql::{Label, MAX_VALUES, QueryText},
};
use tessera_wire::paths::{DATASET_ID, MEDIA_ID, query};

/// Defines types that describe the parameters of an operation.
macro_rules! parameters {
    ($($name:ident => $list:expr;)*) => {$(
        pub struct $name;
        described!($name => $list);
    )*};
}

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
described!(ExportLinkPath => [path(query::EXPORT_TASK_ID, uuid())]);
described!(MediaLinkPath => [path(MEDIA_ID, uuid()), path("version", pattern("^[0-9a-f]{1,8}$"))]);

parameters! {
    ExploreParams => [vec![required(query::ENTITY_TYPE, entity())], search_parameters()].concat();
    PageParams => [optional(query::PAGE_NUMBER, unsigned(isize::MAX)).with_description("0-based; 100 clusters a page")];
    ExportParams => [
        vec![
            required(query::FILE_NAME, string().min_length(Some(1)).into()).with_description("Name of the archive"),
            optional(query::CLUSTER_ID, uuid()).with_description("Only the members of this cluster"),
            optional(query::ENTITY_TYPE, entity()),
        ],
        archive_parameters(),
        search_parameters(),
    ].concat();
    ArchiveParams => [archive_parameters(), vec![optional(query::FILE_NAME, string().into())]].concat();
    ExportStatusParams => [required(query::EXPORT_TASK_ID, uuid()).with_description("From the start of the export")];
    QueryImageParams => [
        required(query::ENTITY_TYPE, entity()),
        optional(query::THRESHOLD, level()),
        optional_json(query::BOUNDING_BOX, Ref::from_schema_name("BoundingBox")).with_description("The part that counts"),
    ];
    ProcessParams => [
        required(query::DATASET_ID, uuid()),
        required(query::PATH, pattern("^/")).with_description("A folder that the deployment may read"),
        optional(query::AUTO_REINDEX, boolean()),
    ];
    UserConfigParams => [optional(query::DATASET_ID, uuid())];
    CountParams => [
        optional(query::ENTITY_TYPE, entity()),
        optional(query::THRESHOLD, level()),
        optional(query::PAGE_NUMBER, unsigned(isize::MAX)).with_description("0-based; 100 clusters a page"),
    ];
    DirectExportParams => [optional(query::EXPORT_FORMAT, one_of(&["json"]))];
    SignedLinkParams => [
        optional(query::SIGNATURE, string().into()),
        optional(query::OBJECT_ID, uuid()).with_description("The object that the link was written for; without effect"),
    ];
    ExpiringLinkParams => [
        optional(query::SIGNATURE, string().into()),
        optional(query::EXPIRES, unsigned(isize::MAX)).with_description("Unix seconds"),
    ];
}

fn search_parameters() -> Vec<Parameter> {
    let anchor = "Of a registered query image or of an image of the dataset; with anchor_type";
    let caption = "Ranks by meaning; not together with image_caption";
    let mut old_caption = optional(query::IMAGE_CAPTION, text(MAX_CAPTION_CHARS));
    old_caption.deprecated = Some(Deprecated::True);
    vec![
        optional(query::THRESHOLD, level())
            .with_description("Granularity of the clusters; 0 is the finest"),
        optional(query::ANCHOR_MEDIA_ID, uuid()).with_description(anchor),
        optional(query::ANCHOR_TYPE, one_of(&["UPLOAD", "MEDIA"])),
        optional(query::CAPTION, text(MAX_CAPTION_CHARS)).with_description(caption),
        old_caption,
        optional(query::TEXTUAL_SIMILARITY_THRESHOLD, fraction())
            .with_description("Keeps scores below it"),
        optional_json(query::LABELS, list(text(Label::MAX_CHARS)))
            .with_description("Any of these labels"),
        optional_json(query::TAGS, list(uuid())).with_description("All of these tags"),
        optional_json(query::VQL, Ref::from_schema_name("Vql"))
            .with_description("Filters; all of them hold"),
        optional(query::CAPTION_ONLY_FILTER, text(QueryText::MAX_CHARS))
            .with_description("As the filter text with op fts"),
    ]
}

fn archive_parameters() -> Vec<Parameter> {
    vec![
        required(query::EXPORT_FORMAT, one_of(&["json", "parquet"])),
        optional(query::INCLUDE_IMAGES, boolean()).with_description("Default false"),
    ]
}

trait WithDescription {
    fn with_description(self, text: &str) -> Self;
}

impl WithDescription for Parameter {
    fn with_description(mut self, text: &str) -> Self {
        self.description = Some(text.to_owned());
        self
    }
}

fn path(name: &str, schema: Schema) -> Parameter {
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path);
    parameter.required(Required::True).schema(Some(schema)).build()
}

fn required(name: &str, schema: Schema) -> Parameter {
    let mut parameter = optional(name, schema);
    parameter.required = Required::True;
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

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn uuid() -> Schema {
    string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid))).into()
}

/// A string with at least one visible character.
fn text(longest: usize) -> Schema {
    string().min_length(Some(1)).max_length(Some(longest)).pattern(Some(r"\S")).into()
}

fn pattern(pattern: &str) -> Schema {
    string().pattern(Some(pattern)).into()
}

fn one_of(text: &[&str]) -> Schema {
    string().enum_values(Some(text.to_vec())).into()
}

fn entity() -> Schema {
    one_of(&["IMAGES", "OBJECTS"])
}

fn boolean() -> Schema {
    ObjectBuilder::new().schema_type(Type::Boolean).into()
}

fn unsigned(most: impl Into<Number>) -> Schema {
    let integer = ObjectBuilder::new().schema_type(Type::Integer);
    integer.minimum(Some(0)).maximum(Some(most)).into()
}

fn level() -> Schema {
    unsigned(Granularity::LEVELS - 1)
}

fn fraction() -> Schema {
    let number = ObjectBuilder::new().schema_type(Type::Number);
    number.minimum(Some(0.0)).maximum(Some(1.0)).into()
}

fn list(items: Schema) -> Schema {
    let items = ArrayItems::RefOrSchema(Box::new(items.into()));
    ArrayBuilder::new().items(items).min_items(Some(1)).max_items(Some(MAX_VALUES)).into()
}
