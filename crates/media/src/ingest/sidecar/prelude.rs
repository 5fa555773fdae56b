//! The names that the readers of all formats use: what they read from, what they describe, and how they report problems.

pub(super) use std::path::Path;

pub(super) use super::{
    bounding_box::BoundingBox,
    description::{MediaDescription, normalized_name, push_name},
    diagnostics::{Reason, SidecarDiagnostics},
    sidecar_reader::SidecarReader,
    stated_size::StatedSize,
};
pub(super) use crate::ingest::documents;
pub(super) use tessera_model::Annotation;
