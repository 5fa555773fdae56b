//! Bodies that describe many media items. The code that serializes a type is compiled in the crate that calls it. This
//! crate is compiled for speed, while the service is compiled for its size: if the service serialized a page of clusters,
//! browsing would take 1.7 times the processor time.

use serde_json::Result;

use crate::{
    explore::{ClusterBody, ExploreBody},
    map::MapBody,
};

/// A body that may be long.
pub trait LongBody {
    /// Returns the body as JSON.
    fn to_json(&self) -> Result<Vec<u8>>;
}

impl LongBody for ExploreBody {
    fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

impl LongBody for Option<ClusterBody> {
    fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

impl LongBody for MapBody {
    fn to_json(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}
