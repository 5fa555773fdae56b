//! The names that the files with routes share: what a handler takes, how it responds, and what describes it.

pub(super) use axum::{
    Extension, Json,
    extract::{Request, State},
};
pub(super) use utoipa_axum::routes;

pub(super) use super::{
    AppState,
    checked_routes::CheckedRoutes,
    connections::ClientConnection,
    long_json::LongJson,
    openapi::{BusyError, CommonErrors, DatasetErrors, StatusErrors},
    parameters::{DatasetPath, ExploreParams, QueryParams},
    problem::Problem,
};
pub(super) use crate::Deployment;
pub(super) use tessera_model::DatasetId;
pub(super) use tessera_wire::{endpoints::query, error_body::ProblemBody};
