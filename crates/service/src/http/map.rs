//! `GET /local/dataset/{id}/map`: where media items are on the map of their dataset. The API document has no map.

use axum::{Json, extract::State};
use utoipa_axum::routes;

use super::{
    AppState,
    checked_routes::CheckedRoutes,
    explore::parse_optional_search,
    openapi::{BusyError, StatusErrors},
    parameters::{DatasetPath, ExploreParams, QueryParams},
    problem::Problem,
};
use crate::usecase::{Map, NamedColumn};
use tessera_model::vql::IssueKind;
use tessera_wire::map::{MapBody, MapIssueBody, MapNamesBody, write_coordinate};

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(map))
}

/// Returns the positions of the media items that a search finds, or of all. Similar media items are near each other. A
/// map of more than 100,000 media items has a sample, which is the same each time.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/map",
    params(DatasetPath, ExploreParams),
    responses((status = 200, description = "The positions", body = MapBody), StatusErrors, BusyError),
)]
pub(crate) async fn map(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
) -> Result<Json<MapBody>, Problem> {
    let search = parse_optional_search(&state, &params)?;
    let map =
        state.run_expensive(move |deployment| deployment.map(id, &search).map(map_body)).await?;
    Ok(Json(map))
}

fn map_body(Map { media, points, labels, tags, issues }: Map) -> MapBody {
    let coordinate = |axis: usize| {
        points.iter().map(|point| write_coordinate(point.position[axis])).collect::<Vec<i64>>()
    };
    let names = |NamedColumn { names, values }| MapNamesBody { names, values };
    let issue = |(kind, percents)| MapIssueBody { name: IssueKind::as_str(kind), percents };
    MapBody {
        media_count: media,
        x: coordinate(0),
        y: coordinate(1),
        labels: names(labels),
        tags: names(tags),
        issues: issues.into_iter().map(issue).collect(),
        media_ids: points.iter().map(|point| point.media.0).collect(),
        paths: points.into_iter().map(|point| point.path).collect(),
    }
}
