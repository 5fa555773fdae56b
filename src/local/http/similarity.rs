//! `POST search-image-similarity`: registers a query image as anchor.
//!
//! Whether the request can be granted is decided before its body is read; a refused body is
//! still swallowed for a moment, because a client that is cut off while it sends never sees why.

use std::{io::Cursor, time::Duration};

use axum::{
    Json,
    body::Body,
    extract::{FromRequest as _, Multipart, Request, State, multipart::Field},
    http::{StatusCode, header},
};
use futures_util::StreamExt as _;
use image::{ImageFormat, imageops};
use serde_json::Value;
use tokio::time::timeout;
use uuid::Uuid;

use super::{
    Site,
    params::{DatasetPath, Params},
    problem::Problem,
    ready_for,
};
use crate::{
    local::{
        index,
        store::anchor::{self, Upload},
    },
    model::{AnchorKind, EntityType, Granularity, MediaId, Operation, Region},
    picture::decode::decode,
    wire::{
        explore::{AnchorBody, read_region},
        paths::{FILE_FIELD, query},
    },
};

/// Largest query image, in bytes.
const LARGEST: usize = 32 << 20;
/// Largest request body: the image and what multipart puts around it.
pub const LARGEST_BODY: usize = LARGEST + (64 << 10);
/// Longest wait for the next bytes of a body.
const IDLE: Duration = Duration::from_secs(30);
/// Longest and most that a refused body is swallowed.
const SWALLOW: (Duration, usize) = (Duration::from_secs(1), 1 << 20);

/// What the form brings.
#[derive(Default)]
struct Form {
    file: Option<Vec<u8>>,
    region: Option<String>,
}

/// Registers the query image in the field `file`.
pub async fn register(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    params: Params,
    request: Request,
) -> Result<Json<AnchorBody>, Problem> {
    let granted = match asked(&params).and_then(|asked| fits(&request).map(|()| asked)) {
        Err(problem) => Err(problem),
        Ok(asked) => {
            site.blocking(move |deployment| {
                ready_for(deployment, id, Operation::VisualSearch).map(|_| asked)
            })
            .await
        }
    };
    let (entity, level) = match granted {
        Ok(asked) => asked,
        Err(problem) => {
            swallow(request.into_body()).await;
            return Err(problem);
        }
    };
    let form = read(request).await?;
    let file = form.file.ok_or_else(|| {
        Problem::bad_request("No file was provided: send the image in the form field 'file'")
    })?;
    let region = params.text(query::BOUNDING_BOX).map(str::to_owned).or(form.region);
    let region = region.as_deref().map(region_of).transpose()?;
    site.blocking(move |deployment| {
        let descriptor = look(&file, region)?;
        let media = MediaId(Uuid::new_v4());
        let upload = Upload { entity, level, descriptor };
        deployment.store.write(|tx| anchor::put(tx, id, media, &upload))?;
        Ok(Json(AnchorBody { anchor_media_id: media, anchor_type: AnchorKind::Upload.word() }))
    })
    .await
}

/// The document answers bad parameters of this endpoint with 400, not with 422.
fn asked(params: &Params) -> Result<(EntityType, Granularity), Problem> {
    let plain = |problem| match problem {
        Problem::Invalid(parameter) => {
            Problem::bad_request(format!("{}: {}", parameter.loc[1], parameter.msg))
        }
        Problem::Plain(..) => problem,
    };
    params.required(query::ENTITY_TYPE).map_err(plain)?;
    let entity = params.entity().map_err(plain)?.unwrap_or_default();
    let level = params.granularity().map_err(plain)?.unwrap_or_default();
    params.text(query::BOUNDING_BOX).map(region_of).transpose()?;
    Ok((entity, level))
}

/// A body that says it is too large is not read.
fn fits(request: &Request) -> Result<(), Problem> {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > LARGEST_BODY) {
        return Err(too_large());
    }
    Ok(())
}

fn too_large() -> Problem {
    Problem::too_large("The query image is larger than 32 MiB")
}

fn region_of(raw: &str) -> Result<Region, Problem> {
    let value: Option<Value> = serde_json::from_str(raw).ok();
    value.filter(Value::is_object).as_ref().and_then(read_region).ok_or_else(|| {
        Problem::bad_request(
            "bounding_box: Input should be JSON {x, y, width, height}, \
             each a fraction of the image from 0.0 to 1.0",
        )
    })
}

async fn read(request: Request) -> Result<Form, Problem> {
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(|cause| Problem::Plain(cause.status(), cause.body_text()))?;
    let mut form = Form::default();
    loop {
        let next = timeout(IDLE, parts.next_field()).await.map_err(|_| slow())?;
        let next = next.map_err(|cause| Problem::Plain(cause.status(), cause.body_text()))?;
        let Some(field) = next else {
            return Ok(form);
        };
        match field.name() {
            Some(FILE_FIELD) if form.file.is_some() => {
                return Err(Problem::bad_request("More than one file was provided"));
            }
            Some(FILE_FIELD) => form.file = Some(bytes(field).await?),
            Some(query::BOUNDING_BOX) => {
                form.region = String::from_utf8(bytes(field).await?).ok();
            }
            _ => {}
        }
    }
}

async fn bytes(mut field: Field<'_>) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    loop {
        let next = timeout(IDLE, field.chunk()).await.map_err(|_| slow())?;
        let next = next.map_err(|cause| Problem::Plain(cause.status(), cause.body_text()))?;
        let Some(chunk) = next else {
            return Ok(bytes);
        };
        if bytes.len() + chunk.len() > LARGEST {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
}

fn slow() -> Problem {
    let words = "The request body did not arrive in time".to_owned();
    Problem::Plain(StatusCode::REQUEST_TIMEOUT, words)
}

async fn swallow(body: Body) {
    let (time, most) = SWALLOW;
    let all = async {
        let mut stream = body.into_data_stream();
        let mut seen = 0;
        while let Some(Ok(chunk)) = stream.next().await {
            seen += chunk.len();
            if seen > most {
                return;
            }
        }
    };
    // Whether it ended or not: the refusal goes out now.
    let _ = timeout(time, all).await;
}

/// The look of an image, or of a region of it.
fn look(bytes: &[u8], region: Option<Region>) -> Result<Vec<half::f16>, Problem> {
    let unreadable = |cause: &dyn std::fmt::Display| {
        Problem::bad_request(format!("The file is not an image that can be read: {cause}"))
    };
    let cropped;
    let bytes = match region {
        None => bytes,
        Some(region) => {
            let whole = decode(bytes, u32::MAX).map_err(|cause| unreadable(&cause))?.pixels;
            let (x, y, width, height) = pixels(region, whole.dimensions());
            let part = imageops::crop_imm(&whole, x, y, width, height).to_image();
            let mut lossless = Cursor::new(Vec::new());
            part.write_to(&mut lossless, ImageFormat::Bmp).map_err(|cause| unreadable(&cause))?;
            cropped = lossless.into_inner();
            &cropped
        }
    };
    Ok(index::extract(bytes).map_err(|cause| unreadable(&cause))?.descriptor)
}

/// A region in whole pixels (left, top, width, height): at least one, never outside.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "fractions of a u32, clamped"
)]
fn pixels(region: Region, (width, height): (u32, u32)) -> (u32, u32, u32, u32) {
    let span = |from: f64, share: f64, side: u32| {
        let first = ((from * f64::from(side)) as u32).min(side - 1);
        let length = ((share * f64::from(side)).round() as u32).clamp(1, side - first);
        (first, length)
    };
    let (x, wide) = span(region.x, region.width, width);
    let (y, high) = span(region.y, region.height, height);
    (x, y, wide, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i15_a_region_is_at_least_a_pixel_and_inside() {
        let of = |x, y, w, h| pixels(Region::new(x, y, w, h).unwrap(), (100, 50));
        assert_eq!(of(0.0, 0.0, 1.0, 1.0), (0, 0, 100, 50));
        assert_eq!(of(0.25, 0.5, 0.5, 0.5), (25, 25, 50, 25));
        assert_eq!(of(0.999, 0.0, 0.001, 0.0001), (99, 0, 1, 1));
        assert_eq!(of(1.0, 1.0, 1e-12, 1e-12), (99, 49, 1, 1));
    }
}
