//! Path and query parameters, checked one by one. Errors are 422 in the list form of hosted
//! services.

use std::{collections::HashMap, convert::Infallible, str::FromStr};

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::request::Parts,
};

use super::{origin_check::RequestOrigin, problem::Problem};
use tessera_model::{ClusterId, DatasetId, EntityType, ExportTaskId, Granularity, MediaId};
use tessera_wire::{
    error_body::InvalidParameter,
    paths::{DATASET_ID, MEDIA_ID, query},
};

pub struct DatasetPath(pub DatasetId);

pub struct ClusterPath(pub DatasetId, pub ClusterId);

pub struct ImagePath(pub MediaId);

/// The media item of a link and its content version; `None` if it is not an identifier.
pub struct MediaLinkPath {
    pub media: Option<MediaId>,
    pub version: String,
}

/// The export of a link; `None` if it is not an identifier.
pub struct ExportLinkPath(pub Option<ExportTaskId>);

/// The query; the last value of a repeated name counts.
pub struct QueryParams(HashMap<String, String>);

impl<S: Send + Sync> FromRequestParts<S> for DatasetPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let raw = Path::<String>::from_request_parts(parts, state).await;
        let raw = raw.map_or_else(|_| String::new(), |Path(raw)| raw);
        Ok(Self(path_id(DATASET_ID, &raw)?))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ClusterPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let raw = Path::<(String, String)>::from_request_parts(parts, state).await;
        let (dataset, cluster) = raw.map_or_else(|_| Default::default(), |Path(raw)| raw);
        Ok(Self(path_id(DATASET_ID, &dataset)?, path_id(query::CLUSTER_ID, &cluster)?))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ImagePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let raw = Path::<String>::from_request_parts(parts, state).await;
        let raw = raw.map_or_else(|_| String::new(), |Path(raw)| raw);
        Ok(Self(path_id(MEDIA_ID, &raw)?))
    }
}

/// Parses an identifier of the path.
fn path_id<T: FromStr>(name: &'static str, raw: &str) -> Result<T, Problem> {
    raw.parse().map_err(|_| {
        let expected = "Input should be a valid UUID";
        invalid_parameter("path", name, "uuid_parsing", expected, Some(raw.to_owned()))
    })
}

impl<S: Send + Sync> FromRequestParts<S> for MediaLinkPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        let (media, version) = path.map_or_else(|_| Default::default(), |Path(raw)| raw);
        // It is written to a header.
        let is_valid = (1..=8).contains(&version.len())
            && version.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        Ok(Self { media: media.parse().ok().filter(|_| is_valid), version })
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ExportLinkPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        Ok(Self(path.ok().and_then(|Path(raw)| raw.parse().ok())))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(pairs) =
            Query::<Vec<(String, String)>>::from_request_parts(parts, state)
                .await
                .map_err(|_| Problem::invalid_query("query", "The query cannot be read"))?;
        Ok(Self(pairs.into_iter().collect()))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestOrigin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get().cloned().ok_or_else(Problem::internal)
    }
}

impl QueryParams {
    /// The raw text of a parameter.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter that must be present and not empty.
    pub fn required(&self, name: &'static str) -> Result<&str, Problem> {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.ok_or_else(|| invalid_parameter("query", name, "missing", "Field required", None))
    }

    /// A parameter read by `parse`; `expected` describes valid input.
    pub fn parse<T>(
        &self,
        name: &'static str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let read = |raw: &str| {
            parse(raw.trim()).ok_or_else(|| {
                invalid_parameter("query", name, "value_error", expected, Some(raw.to_owned()))
            })
        };
        self.text(name).map(read).transpose()
    }

    /// An identifier that must be present.
    pub fn id<T: FromStr>(&self, name: &'static str) -> Result<T, Problem> {
        let raw = self.required(name)?;
        raw.parse().map_err(|_| {
            let expected = "Input should be a valid UUID";
            invalid_parameter("query", name, "uuid_parsing", expected, Some(raw.to_owned()))
        })
    }

    pub fn entity(&self) -> Result<Option<EntityType>, Problem> {
        self.parse(query::ENTITY_TYPE, "Input should be 'IMAGES' or 'OBJECTS'", EntityType::parse)
    }

    /// The granularity.
    pub fn granularity(&self) -> Result<Option<Granularity>, Problem> {
        self.parse(query::THRESHOLD, "Input should be an integer from 0 to 4", |raw| {
            Granularity::new(raw.parse().ok()?)
        })
    }

    /// A boolean in any case, as clients in different languages write it.
    pub fn boolean(&self, name: &'static str) -> Result<Option<bool>, Problem> {
        self.parse(name, BOOLEAN_HINT, parse_boolean)
    }
}

pub const BOOLEAN_HINT: &str = "Input should be a valid boolean";

/// Parses a boolean in any of its spellings.
pub fn parse_boolean(raw: &str) -> Option<bool> {
    match raw.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A 422 for one parameter.
pub fn invalid_parameter(
    location: &'static str,
    name: &'static str,
    kind: &'static str,
    expected: &str,
    input: Option<String>,
) -> Problem {
    Problem::Invalid(InvalidParameter {
        r#type: kind,
        loc: [location, name],
        msg: expected.to_owned(),
        input,
    })
}
