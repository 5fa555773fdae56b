//! Path parameters. A wrong identifier is 422 in the interface, and 404 behind a link.

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use super::problem::Problem;
use crate::usecase::ServiceError;
use tessera_model::{ClusterId, DatasetId, ExportTaskId, MediaId};
use tessera_wire::paths::{DATASET_ID, MEDIA_ID, query};

pub struct DatasetPath(pub DatasetId);

pub struct ClusterPath(pub DatasetId, pub ClusterId);

pub struct ImagePath(pub MediaId);

/// The media item of a link and its content version.
pub struct MediaLinkPath(pub MediaId, pub String);

pub struct ExportLinkPath(pub ExportTaskId);

/// The raw parameters of the path; empty if they are not text.
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

impl<S: Send + Sync> FromRequestParts<S> for DatasetPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let raw: String = raw_path(parts, state).await;
        Ok(Self(parse_id(DATASET_ID, &raw)?))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ClusterPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let (dataset, cluster): (String, String) = raw_path(parts, state).await;
        Ok(Self(parse_id(DATASET_ID, &dataset)?, parse_id(query::CLUSTER_ID, &cluster)?))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ImagePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let raw: String = raw_path(parts, state).await;
        Ok(Self(parse_id(MEDIA_ID, &raw)?))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for MediaLinkPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let (media, version): (String, String) = raw_path(parts, state).await;
        // It is written to a header.
        let is_valid = (1..=8).contains(&version.len())
            && version.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let media = media.parse().ok().filter(|_| is_valid);
        Ok(Self(media.ok_or_else(ServiceError::media_not_found)?, version))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ExportLinkPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let raw: String = raw_path(parts, state).await;
        Ok(Self(raw.parse().map_err(|_| ServiceError::export_not_found())?))
    }
}
