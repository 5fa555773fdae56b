//! Exports that are answered at once: `export` with the metadata as JSON, and `export_media_id` with the
//! identifiers as CSV. Both are written to a file without a name first, so that memory does not grow.

use std::{
    fs::File,
    io::{BufWriter, Seek as _, Write as _},
};

use axum::{extract::State, http::HeaderMap, response::Response};
use uuid::Uuid;

use crate::{
    Deployment,
    archive::{self, ArchiveContent, SourceFolders},
    http::{
        AppState, RequestCost,
        file_response::{FileResponse, respond_with_file},
        openapi::{BusyError, DirectExportParams, StatusErrors},
        origin_check::RequestOrigin,
        problem::Problem,
        query_params::{DatasetPath, QueryParams},
        require_ready,
    },
    store::{
        dataset::DatasetRecord,
        export::{ExportRecord, ExportTaskState},
        media, now_micros,
    },
};
use tessera_model::{
    ArchiveName, DatasetId, EntityType, ExportFormat, ExportSpec, ExportTaskId, Operation,
};
use tessera_wire::paths::query;

/// Media read from the store at a time.
const PAGE_SIZE: usize = 10_000;

/// The `metadata.json` of a dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export",
    operation_id = "export",
    params(DatasetPath, DirectExportParams),
    responses(
        (status = 200, description = "As metadata.json of an export", content_type = "application/json"),
        StatusErrors,
        BusyError,
    ),
)]
pub async fn export(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
    origin: RequestOrigin,
    params: QueryParams,
) -> Result<Response, Problem> {
    let read = |raw: &str| (raw == ExportFormat::Json.word()).then_some(());
    params.parse(query::EXPORT_FORMAT, "Input should be 'json'", read)?;
    let kind = ("application/json", "metadata.json");
    spool_response(&site, id, kind, move |deployment, record, file| {
        let export = whole_dataset_export(record, origin);
        deployment.store.read(|connection| {
            let folders = SourceFolders::default();
            let content =
                ArchiveContent { connection, dataset: record, export: &export, folders: &folders };
            Ok(archive::write_metadata_json(&content, file).map_err(|_| Problem::internal()))
        })?
    })
    .await
}

/// File name and identifier of every image and video.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export_media_id",
    operation_id = "export_media_id",
    params(DatasetPath),
    responses(
        (status = 200, description = "CSV: filename,media_id", content_type = "text/csv"),
        StatusErrors,
        BusyError,
    ),
)]
pub async fn media_ids(
    State(site): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<Response, Problem> {
    spool_response(&site, id, ("text/csv", "media_id.csv"), move |deployment, record, file| {
        let mut table = csv::Writer::from_writer(file);
        table.write_record(["filename", "media_id"]).map_err(|_| Problem::internal())?;
        for stretch in 0.. {
            let skip = stretch * PAGE_SIZE as u64;
            let read = |c: &_| media::page(c, record.id, EntityType::Images, skip, PAGE_SIZE);
            let some = deployment.store.read(read)?;
            if some.is_empty() {
                break;
            }
            for media in some {
                let row = [media.file_name(), media.id.to_string()];
                table.write_record(row).map_err(|_| Problem::internal())?;
            }
        }
        table.flush().map_err(|_| Problem::internal())
    })
    .await
}

/// Answers with what `write` writes of a dataset that can be exported.
async fn spool_response(
    site: &AppState,
    id: DatasetId,
    (kind, name): (&'static str, &'static str),
    write: impl FnOnce(&Deployment, &DatasetRecord, &mut BufWriter<File>) -> Result<(), Problem>
    + Send
    + 'static,
) -> Result<Response, Problem> {
    let file = site.run_blocking(RequestCost::Expensive, move |deployment| {
        let record = require_ready(deployment, id, Operation::Export)?;
        let beside = deployment.store.archive_path(id.0);
        let folder = beside.parent().ok_or_else(Problem::internal)?;
        let broken = |_| Problem::internal();
        let mut file = BufWriter::new(tempfile::tempfile_in(folder).map_err(broken)?);
        write(deployment, &record, &mut file)?;
        file.flush().and_then(|()| file.rewind()).map_err(broken)?;
        file.into_inner().map_err(|_| Problem::internal())
    });
    let file = file.await?;
    let served = FileResponse {
        length: file.metadata().map_err(|_| Problem::internal())?.len(),
        content: tokio::fs::File::from_std(file),
        content_type: kind,
        etag: Uuid::new_v4().to_string(),
        disposition: "inline",
        name: name.to_owned(),
        cache_control: "no-store",
    };
    // Every one is another, so there is nothing to go on with.
    respond_with_file(served, &HeaderMap::new()).await
}

/// An export of everything that nobody waits for.
fn whole_dataset_export(dataset: &DatasetRecord, origin: RequestOrigin) -> ExportRecord {
    ExportRecord {
        id: ExportTaskId(Uuid::new_v4()),
        dataset: dataset.id,
        spec: ExportSpec {
            file_name: ArchiveName::new(&dataset.name),
            format: ExportFormat::Json,
            include_images: false,
        },
        origin: origin.0,
        state: ExportTaskState::InProgress,
        progress: 0.0,
        media_count: dataset.n_images + dataset.n_videos,
        message: None,
        created_at: now_micros(),
        selective: false,
    }
}
