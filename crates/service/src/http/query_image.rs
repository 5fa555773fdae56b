//! `POST search-image-similarity`: registers a query image as anchor.
//!
//! Whether the request can be granted is decided before its body is read; a refused body is
//! still swallowed for a moment, because a client that is cut off while it sends never sees why.

use std::io::Cursor;

use axum::{
    Json,
    extract::{Request, State},
};
use image::{ImageFormat, imageops};
use serde_json::Value;
use uuid::Uuid;

use super::{
    AppState, RequestCost,
    multipart_form::{MultipartForm, SizeLimit, check_content_length, drain},
    openapi::{BusyError, QueryImageParams, StatusErrors, UploadErrors},
    problem::Problem,
    query_params::{DatasetPath, QueryParams},
    require_ready,
};
use crate::{
    Deployment, InjectedFailure, index,
    store::query_image::{self, StoredQueryImage},
};
use tessera_model::{AnchorKind, DatasetId, EntityType, Granularity, MediaId, Operation, Region};
use tessera_picture::decode::decode;
use tessera_wire::{
    explore::{AnchorBody, read_region},
    paths::{FILE_FIELD, query},
};

/// Largest query image, in bytes.
const MAX_IMAGE_BYTES: u64 = 32 << 20;
/// The words of what is larger.
const TOO_LARGE: &str = "The query image is larger than 32 MiB";
/// The query image.
const IMAGE_LIMIT: SizeLimit = SizeLimit { bytes: MAX_IMAGE_BYTES, message: TOO_LARGE };
/// The whole body: the image and what multipart puts around it.
const BODY_LIMIT: SizeLimit = SizeLimit { bytes: MAX_IMAGE_BYTES + (64 << 10), message: TOO_LARGE };

/// What the form brings.
#[derive(Default)]
struct QueryImageForm {
    file: Option<Vec<u8>>,
    area: Option<String>,
}

/// Registers the query image in the field `file`.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/search-image-similarity",
    operation_id = "search_image_similarity",
    params(DatasetPath, QueryImageParams),
    request_body(
        content = ref("#/components/schemas/QueryImageForm"),
        content_type = "multipart/form-data",
    ),
    responses((status = 200, description = "The anchor", body = AnchorBody), UploadErrors, StatusErrors, BusyError),
)]
pub async fn register(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
    params: QueryParams,
    request: Request,
) -> Result<Json<AnchorBody>, Problem> {
    let fitting = parse_params(&params, site.compat)
        .and_then(|asked| check_content_length(&request, BODY_LIMIT).map(|()| asked));
    let asked = match check_request(&site, id, fitting).await {
        Ok(asked) => asked,
        Err(problem) => {
            drain(request).await;
            return Err(problem);
        }
    };
    let form = read_form(request).await?;
    let file = form.file.ok_or_else(|| {
        Problem::bad_request("No file was provided: send the image in the form field 'file'")
    })?;
    let area = params.text(query::BOUNDING_BOX).map(str::to_owned).or(form.area);
    let area = area.as_deref().map(|raw| parse_region(raw, site.compat)).transpose()?;
    site.run_blocking(RequestCost::Expensive, move |deployment| {
        register_anchor(deployment, id, asked, &file, area)
    })
    .await
}

/// What was asked, if the status of the dataset allows it.
async fn check_request(
    site: &AppState,
    id: DatasetId,
    asked: Result<(EntityType, Granularity), Problem>,
) -> Result<(EntityType, Granularity), Problem> {
    let asked = asked?;
    site.spawn_blocking(move |deployment| {
        require_ready(deployment, id, Operation::VisualSearch).map(|_| asked)
    })
    .await
}

/// Stores the look of a query image as an anchor.
fn register_anchor(
    deployment: &Deployment,
    id: DatasetId,
    (entity, level): (EntityType, Granularity),
    file: &[u8],
    area: Option<QueryRegion>,
) -> Result<Json<AnchorBody>, Problem> {
    if deployment.settings.injected_failures.contains(&InjectedFailure::Search) {
        return Err(Problem::server_error("The search failed"));
    }
    let descriptor = compute_descriptor(file, area)?;
    let media = MediaId(Uuid::new_v4());
    let upload = StoredQueryImage { entity, level, descriptor };
    deployment.store.write(|tx| query_image::put(tx, id, media, &upload))?;
    Ok(Json(AnchorBody { anchor_media_id: media, anchor_type: AnchorKind::Upload.word() }))
}

/// The part of a query image that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum QueryRegion {
    /// In fractions, as the document says.
    Fractional(Region),
    /// Left, top, width and height in pixels, as public clients send it.
    Pixels([f64; 4]),
}

/// The document answers bad parameters of this endpoint with 400, not with 422.
fn parse_params(params: &QueryParams, compat: bool) -> Result<(EntityType, Granularity), Problem> {
    let plain = |problem| match problem {
        Problem::Invalid(parameter) => {
            Problem::bad_request(format!("{}: {}", parameter.loc[1], parameter.msg))
        }
        Problem::Plain(..) => problem,
    };
    if !compat {
        params.required(query::ENTITY_TYPE).map_err(plain)?;
    }
    let entity = params.entity().map_err(plain)?.unwrap_or_default();
    let level = params.granularity().map_err(plain)?.unwrap_or_default();
    params.text(query::BOUNDING_BOX).map(|raw| parse_region(raw, compat)).transpose()?;
    Ok((entity, level))
}

fn parse_region(raw: &str, compat: bool) -> Result<QueryRegion, Problem> {
    let value: Option<Value> = serde_json::from_str(raw).ok();
    let region = value.filter(Value::is_object).as_ref().and_then(read_region);
    let area =
        region.map(QueryRegion::Fractional).or_else(|| parse_pixel_list(raw).filter(|_| compat));
    area.ok_or_else(|| {
        Problem::bad_request(
            "bounding_box: Input should be JSON {x, y, width, height}, \
             each a fraction of the image from 0.0 to 1.0",
        )
    })
}

/// Four numbers and commas: `0,0,2048,1536`.
fn parse_pixel_list(raw: &str) -> Option<QueryRegion> {
    let numbers: Option<Vec<f64>> = raw.split(',').map(|part| part.trim().parse().ok()).collect();
    let sides: [f64; 4] = numbers?.try_into().ok()?;
    let sound =
        sides.iter().all(|side| (0.0..1e9).contains(side)) && sides[2] >= 1.0 && sides[3] >= 1.0;
    sound.then_some(QueryRegion::Pixels(sides))
}

async fn read_form(request: Request) -> Result<QueryImageForm, Problem> {
    let mut parts = MultipartForm::open(request, BODY_LIMIT).await?;
    let form = read_fields(&mut parts).await;
    if form.is_err() {
        parts.drain().await;
    }
    form
}

async fn read_fields(parts: &mut MultipartForm) -> Result<QueryImageForm, Problem> {
    let mut form = QueryImageForm::default();
    while let Some(part) = parts.next().await? {
        match part.name() {
            Some(FILE_FIELD) if form.file.is_some() => {
                return Err(Problem::bad_request("More than one file was provided"));
            }
            Some(FILE_FIELD) => form.file = Some(part.bytes(IMAGE_LIMIT).await?),
            Some(query::BOUNDING_BOX) => {
                form.area = String::from_utf8(part.bytes(IMAGE_LIMIT).await?).ok();
            }
            _ => part.skip().await?,
        }
    }
    Ok(form)
}

/// The look of an image, or of a part of it.
fn compute_descriptor(bytes: &[u8], area: Option<QueryRegion>) -> Result<Vec<half::f16>, Problem> {
    let unreadable = |cause: &dyn std::fmt::Display| {
        Problem::bad_request(format!("The file is not an image that can be read: {cause}"))
    };
    let cropped;
    let bytes = match area {
        None => bytes,
        Some(area) => {
            let whole = decode(bytes, u32::MAX).map_err(|cause| unreadable(&cause))?.pixels;
            let (x, y, width, height) = to_pixels(area, whole.dimensions());
            let part = imageops::crop_imm(&whole, x, y, width, height).to_image();
            let mut lossless = Cursor::new(Vec::new());
            part.write_to(&mut lossless, ImageFormat::Bmp).map_err(|cause| unreadable(&cause))?;
            cropped = lossless.into_inner();
            &cropped
        }
    };
    Ok(index::extract(bytes).map_err(|cause| unreadable(&cause))?.descriptor)
}

/// A part in whole pixels (left, top, width, height): at least one, never outside.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded, then clamped"
)]
fn to_pixels(area: QueryRegion, (width, height): (u32, u32)) -> (u32, u32, u32, u32) {
    let (wide, high) = (f64::from(width), f64::from(height));
    let [x, y, w, h] = match area {
        QueryRegion::Fractional(part) => {
            [part.x * wide, part.y * high, part.width * wide, part.height * high]
        }
        QueryRegion::Pixels(sides) => sides,
    };
    let span = |from: f64, length: f64, side: u32| {
        let first = (from as u32).min(side - 1);
        (first, (length.round() as u32).clamp(1, side - first))
    };
    let ((x, w), (y, h)) = (span(x, w, width), span(y, h, height));
    (x, y, w, h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_is_at_least_one_pixel_and_inside_the_image() {
        let part = |x, y, w, h| QueryRegion::Fractional(Region::new(x, y, w, h).unwrap());
        let of = |x, y, w, h| to_pixels(part(x, y, w, h), (100, 50));
        assert_eq!(of(0.0, 0.0, 1.0, 1.0), (0, 0, 100, 50));
        assert_eq!(of(0.25, 0.5, 0.5, 0.5), (25, 25, 50, 25));
        assert_eq!(of(0.999, 0.0, 0.001, 0.0001), (99, 0, 1, 1));
        assert_eq!(of(1.0, 1.0, 1e-12, 1e-12), (99, 49, 1, 1));
    }
    #[test]
    fn pixel_lists_are_accepted_only_in_compat_mode() {
        assert_eq!(
            parse_region("0,0, 64,48", true).unwrap(),
            QueryRegion::Pixels([0.0, 0.0, 64.0, 48.0])
        );
        assert_eq!(
            to_pixels(QueryRegion::Pixels([90.0, 0.0, 2048.0, 1536.0]), (100, 50)),
            (90, 0, 10, 50)
        );
        for (raw, compat) in
            [("0,0,64,48", false), ("0,0,64", true), ("0,0,0,9", true), ("-1,0,9,9", true)]
        {
            assert!(parse_region(raw, compat).is_err(), "{raw}");
        }
    }
}
