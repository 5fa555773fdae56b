//! The parameters of paths and queries: how each is read, and how each is described. A wrong parameter is a 422 in the
//! list form of hosted services, except behind a link, where a wrong identifier is a 404.

use std::{collections::HashMap, str::FromStr};

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::request::Parts,
};
use serde::de::DeserializeOwned;
use utoipa::{
    IntoParams, Number,
    openapi::{
        Deprecated, Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type},
    },
};

use super::problem::Problem;
use crate::usecase::ServiceError;
use tessera_model::{
    ClusterId, DatasetId, EntityType, ExportFormat, ExportTaskId, Granularity, MediaId,
    text::parse_boolean, vql::QueryText,
};
use tessera_wire::endpoints::{DATASET_ID, MEDIA_ID, query};

pub(crate) const MAX_CAPTION_CHARS: usize = 1_000;

/// Reads the raw parameters of the path, which are empty if they are not text.
async fn raw_path<T, S>(parts: &mut Parts, state: &S) -> T
where
    T: DeserializeOwned + Default + Send,
    S: Send + Sync,
{
    let raw = Path::<T>::from_request_parts(parts, state).await;
    raw.map(|Path(raw)| raw).unwrap_or_default()
}

fn parse_id<T: FromStr>(name: &'static str, raw: &str) -> Result<T, Problem> {
    raw.parse().map_err(|_| Problem::invalid_id("path", name, raw))
}

/// Reads the version in a link, which must be plain, because it is written to a header.
fn parse_version(raw: String) -> Result<String, Problem> {
    let is_plain = (1..=8).contains(&raw.len())
        && raw.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    Ok(is_plain.then_some(raw).ok_or_else(ServiceError::media_not_found)?)
}

/// Defines the parameters of paths: how they are described, and how they are read from their texts.
macro_rules! path_parameters {
    ($($(#[$doc:meta])* $name:ident($($field:ty),*) => $list:expr, $Raw:ty, |$raw:pat_param| $read:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name($(pub $field),*);

        described!($name => $list);

        impl<S: Send + Sync> FromRequestParts<S> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
                let $raw: $Raw = raw_path(parts, state).await;
                Ok($read)
            }
        }
    )*};
}

pub(crate) const BOOLEAN_HINT: &str = "Input should be a valid boolean";

/// The parameters of a query. If a name is repeated, its last value counts.
pub(crate) struct QueryParams(HashMap<String, String>);

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::from_request_parts(parts, state).await;
        let invalid = |_| Problem::invalid_query("query", "The query cannot be read");
        query.map(|Query(pairs)| Self(pairs)).map_err(invalid)
    }
}

impl QueryParams {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a parameter that must be present and not empty.
    pub fn required(&self, name: &'static str) -> Result<&str, Problem> {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.ok_or_else(|| Problem::invalid("query", name, "missing", "Field required", None))
    }

    /// Reads a parameter with `parse`. `expected` describes valid input.
    pub fn parse<T>(
        &self,
        name: &'static str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(raw) = self.text(name) else { return Ok(None) };
        let invalid =
            || Problem::invalid("query", name, "value_error", expected, Some(raw.to_owned()));
        parse(raw.trim()).map(Some).ok_or_else(invalid)
    }

    pub fn id<T: FromStr>(&self, name: &'static str) -> Result<T, Problem> {
        let raw = self.required(name)?;
        raw.parse().map_err(|_| Problem::invalid_id("query", name, raw))
    }

    pub fn entity(&self) -> Result<Option<EntityType>, Problem> {
        self.parse(query::ENTITY_TYPE, "Input should be 'IMAGES' or 'OBJECTS'", |raw| {
            raw.parse().ok()
        })
    }

    pub fn granularity(&self) -> Result<Option<Granularity>, Problem> {
        self.parse(query::THRESHOLD, "Input should be an integer from 0 to 4", |raw| {
            Granularity::new(raw.parse().ok()?)
        })
    }

    /// Reads `page_number`, which is counted from 0.
    pub fn page(&self) -> Result<u64, Problem> {
        let expected = "Input should be an integer from 0 to 9223372036854775807";
        let read = |raw: &str| u64::try_from(raw.parse::<i64>().ok()?).ok();
        Ok(self.parse(query::PAGE_NUMBER, expected, read)?.unwrap_or(0))
    }

    pub fn boolean(&self, name: &'static str) -> Result<Option<bool>, Problem> {
        self.parse(name, BOOLEAN_HINT, parse_boolean)
    }
}

/// Defines types that describe the parameters of an endpoint.
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

path_parameters! {
    DatasetPath(DatasetId) => [path(DATASET_ID, uuid())], String, |raw| Self(parse_id(DATASET_ID, &raw)?);
    ClusterPath(DatasetId, ClusterId) => [path(DATASET_ID, uuid()), path(query::CLUSTER_ID, uuid())],
        (String, String), |(dataset, cluster)|
        Self(parse_id(DATASET_ID, &dataset)?, parse_id(query::CLUSTER_ID, &cluster)?);
    ImagePath(MediaId) => [path(MEDIA_ID, uuid())], String, |raw| Self(parse_id(MEDIA_ID, &raw)?);
    ExportLinkPath(ExportTaskId) => [path(query::EXPORT_TASK_ID, uuid())],
        String, |raw| Self(raw.parse().map_err(|_| ServiceError::export_not_found())?);
    /// The media item of a link, and its content version.
    MediaLinkPath(MediaId, String) => [path(MEDIA_ID, uuid()), path("version", pattern("^[0-9a-f]{1,8}$"))],
        (String, String), |(media, version)|
        Self(media.parse().map_err(|_| ServiceError::media_not_found())?, parse_version(version)?);
}

parameters! {
    ExploreParams => [vec![required(query::ENTITY_TYPE, entity())], search_parameters()].concat();
    SortParams => [optional(query::SORT, one_of(&SORTS)).with_description(
        "Order of the whole result by files; a minus reverses it. An addition of this service",
    )];
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
    PreviewParams => archive_parameters();
    RestParams => [
        vec![
            optional(query::REST, boolean()).with_description(
                "Export what a search finds and the body does not select. An addition of this service",
            ),
            optional(query::ENTITY_TYPE, entity()),
        ],
        search_parameters(),
    ].concat();
    ArchiveParams => [archive_parameters(), vec![optional(query::FILE_NAME, string().into())]].concat();
    ExportStatusParams => [required(query::EXPORT_TASK_ID, uuid()).with_description("From the start of the export")];
    QueryImageParams => [
        required(query::ENTITY_TYPE, entity()),
        optional(query::THRESHOLD, level()),
        optional_json(query::BOUNDING_BOX, r#"{"x":0.1,"y":0.2,"width":0.5,"height":0.6}"#)
            .with_description("The part that counts, as in the schema BoundingBox"),
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
        optional(query::EXPIRES, unsigned(isize::MAX)).with_description("Unix seconds; in the links of exports"),
        optional(query::OBJECT_ID, uuid()).with_description("The object that the link was written for; without effect"),
    ];
    ExpiringLinkParams => [
        optional(query::SIGNATURE, string().into()),
        optional(query::EXPIRES, unsigned(isize::MAX)).with_description("Unix seconds"),
    ];
}

const SORTS: [&str; 8] = ["name", "-name", "date", "-date", "bytes", "-bytes", "path", "-path"];
const VQL_EXAMPLE: &str = r#"[{"labels":{"op":"one_of","value":["van"]}},{"issues":{"op":"issue","value":"blur","mode":"out"}}]"#;

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
        optional_json(query::LABELS, r#"["van","truck"]"#)
            .with_description("A JSON array of labels: any of them"),
        optional_json(query::TAGS, r#"["6f1c0e5a-7d0b-4c0f-9a3f-3f0c2f6b7a11"]"#)
            .with_description("A JSON array of tag UUIDs: all of them"),
        optional_json(query::VQL, VQL_EXAMPLE)
            .with_description("A JSON array of filters, as in the schema Vql: all of them hold"),
        optional(query::CAPTION_ONLY_FILTER, text(QueryText::MAX_CHARS))
            .with_description("As the filter text with op fts"),
    ]
}

fn archive_parameters() -> Vec<Parameter> {
    vec![
        required(query::EXPORT_FORMAT, one_of(&ExportFormat::ALL.map(ExportFormat::as_str)))
            .with_description("All but json and parquet are additions of this service"),
        optional(query::INCLUDE_IMAGES, boolean()).with_description(
            "Default false. Only json, parquet, coco and csv have a form without images",
        ),
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
    optional_query(name, schema).build()
}

fn optional_query(name: &str, schema: Schema) -> ParameterBuilder {
    let query = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query);
    query.required(Required::False).schema(Some(schema))
}

/// Describes an optional parameter whose text is JSON. Generated clients send it as text, because they ignore
/// parameters that are described by a media type instead of a schema.
fn optional_json(name: &str, example: &str) -> Parameter {
    let text = string().min_length(Some(1)).content_media_type("application/json");
    optional_query(name, text.into()).example(Some(example.into())).build()
}

fn string() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn uuid() -> Schema {
    string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid))).into()
}

/// Describes a string with at least one visible character.
fn text(max_length: usize) -> Schema {
    string().min_length(Some(1)).max_length(Some(max_length)).pattern(Some(r"\S")).into()
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

fn unsigned(maximum: impl Into<Number>) -> Schema {
    let integer = ObjectBuilder::new().schema_type(Type::Integer);
    integer.minimum(Some(0)).maximum(Some(maximum)).into()
}

fn level() -> Schema {
    unsigned(Granularity::LEVELS - 1)
}

fn fraction() -> Schema {
    let number = ObjectBuilder::new().schema_type(Type::Number);
    number.minimum(Some(0.0)).maximum(Some(1.0)).into()
}
