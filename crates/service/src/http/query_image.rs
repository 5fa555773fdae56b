//! `POST search-image-similarity`, which registers a query image as an anchor. Whether the request is allowed is
//! decided before its body is read.

use axum::body::Bytes;
use serde_json::Value;

use super::prelude::*;
use super::{
    multipart_form::{MultipartForm, SizeLimit, check_body_headers, content_length},
    openapi::UploadErrors,
    parameters::QueryImageParams,
    request_body::{BodyBuffer, MAX_BODY},
};
use crate::usecase::QueryRegion;
use tessera_model::{Anchor, AnchorKind, EntityType, Granularity, Operation};
use tessera_wire::{
    preview::read_region,
    query_image::{AnchorBody, FILE_FIELD},
    tolerant_json::parse_unique,
};

const TOO_LARGE: &str = "The query image is larger than 32 MiB";
const IMAGE_LIMIT: SizeLimit = SizeLimit { bytes: MAX_BODY, message: TOO_LARGE };
/// The limit is many times the longest region. A limit is needed because the region is parsed before the request waits
/// for a slot.
const REGION_LIMIT: SizeLimit =
    SizeLimit { bytes: 4 << 10, message: "The bounding_box is larger than 4 KiB" };
/// The limit allows the image and the multipart framing around it.
const BODY_LIMIT: SizeLimit = SizeLimit { bytes: MAX_BODY + (64 << 10), message: TOO_LARGE };

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(search_image_similarity))
}

/// Registers the query image in the field `file`.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/search-image-similarity",
    params(DatasetPath, QueryImageParams),
    request_body(
        content = ref("#/components/schemas/QueryImageForm"),
        content_type = "multipart/form-data",
    ),
    responses((status = 200, description = "The anchor", body = AnchorBody), UploadErrors, StatusErrors, BusyError),
)]
pub(crate) async fn search_image_similarity(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
    request: Request,
) -> Result<Json<AnchorBody>, Problem> {
    let length = check_body_headers(&request, BODY_LIMIT);
    let (entity, level) = check(&state, id, &params, length).await?;
    let (file, region) = read_form(connection, request).await?;
    let region = params.text(query::BOUNDING_BOX).or(region.as_deref());
    let region = region.map(|raw| parse_region(raw, state.compat)).transpose()?;
    let media = state
        .run_expensive(move |deployment| {
            deployment.register_query_image(id, entity, level, &file, region)
        })
        .await?;
    Ok(Json(Anchor { media, kind: AnchorKind::Upload }.into()))
}

/// The parameters that a search with the anchor must repeat if they were given here.
type RegisteredParams = (Option<EntityType>, Option<Granularity>);

/// Checks parameters, length and dataset without reading the body.
async fn check(
    state: &AppState,
    id: DatasetId,
    params: &QueryParams,
    length: Result<(), Problem>,
) -> Result<RegisteredParams, Problem> {
    let parsed = parse_params(params, state.compat)?;
    length?;
    let allowed =
        move |deployment: &Deployment| deployment.require_ready(id, Operation::VisualSearch);
    state.spawn_blocking(allowed).await?;
    Ok(parsed)
}

/// Parses the parameters. Wrong ones are a 400 here and not a 422, because the API document says so.
fn parse_params(params: &QueryParams, compat: bool) -> Result<RegisteredParams, Problem> {
    let plain = |problem| match problem {
        Problem::Invalid(parameter) => {
            Problem::bad_request(format!("{}: {}", parameter.loc[1], parameter.msg))
        }
        Problem::Plain(..) => problem,
    };
    if !compat {
        params.required(query::ENTITY_TYPE).map_err(plain)?;
    }
    let entity = params.entity().map_err(plain)?;
    let level = params.granularity().map_err(plain)?;
    params.text(query::BOUNDING_BOX).map(|raw| parse_region(raw, compat)).transpose()?;
    Ok((entity, level))
}

fn parse_region(raw: &str, compat: bool) -> Result<QueryRegion, Problem> {
    let value = parse_unique(raw).ok();
    let region = value.filter(Value::is_object).as_ref().and_then(read_region);
    let region =
        region.map(QueryRegion::Fractional).or_else(|| parse_pixel_list(raw).filter(|_| compat));
    region.ok_or_else(|| {
        Problem::bad_request(
            "bounding_box: Input should be JSON {x, y, width, height}, \
             each a fraction of the image from 0.0 to 1.0",
        )
    })
}

/// Parses a region such as `0,0,2048,1536`.
fn parse_pixel_list(raw: &str) -> Option<QueryRegion> {
    let numbers: Option<Vec<f64>> = raw.split(',').map(|part| part.trim().parse().ok()).collect();
    let sides: [f64; 4] = numbers?.try_into().ok()?;
    let is_valid =
        sides.iter().all(|side| (0.0..1e9).contains(side)) && sides[2] >= 1.0 && sides[3] >= 1.0;
    is_valid.then_some(QueryRegion::Pixels(sides))
}

/// Reads the image and the region from the form.
async fn read_form(
    connection: ClientConnection,
    request: Request,
) -> Result<(Bytes, Option<String>), Problem> {
    let declared = content_length(&request);
    let mut parts = MultipartForm::open(request, BODY_LIMIT).await?;
    let (mut file, mut region) = (None, None);
    while let Some(mut part) = parts.next().await? {
        match part.name() {
            Some(FILE_FIELD) if file.is_some() => {
                return Err(Problem::bad_request("More than one file was provided"));
            }
            Some(FILE_FIELD) => {
                let mut image = BodyBuffer::new(connection.clone(), IMAGE_LIMIT, declared);
                while let Some(chunk) = part.chunk().await? {
                    image.push(&chunk).await?;
                }
                file = Some(image.finish());
            }
            Some(query::BOUNDING_BOX) => {
                let raw = part.bytes(REGION_LIMIT).await?;
                region = Some(String::from_utf8_lossy(&raw).into_owned());
            }
            _ => part.skip().await?,
        }
    }
    let message = "No file was provided: send the image in the form field 'file'";
    Ok((file.ok_or_else(|| Problem::bad_request(message))?, region))
}
