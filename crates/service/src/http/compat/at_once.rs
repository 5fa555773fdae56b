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
    archive::{self, Content, Folders},
    http::{
        Site, Weight,
        describe::{AtOnce, Gated, Queued},
        file::{Served, answer},
        guard::Origin,
        params::{DatasetPath, Params},
        problem::Problem,
        ready_for,
    },
    store::{
        dataset::Record,
        export::{Export, Stage},
        media, now,
    },
};
use tessera_model::{
    ArchiveName, DatasetId, EntityType, ExportFormat, ExportSpec, ExportTaskId, Operation,
};
use tessera_wire::paths::query;

/// Media read from the store at a time.
const STRETCH: usize = 10_000;

/// The `metadata.json` of a dataset.
#[utoipa::path(
    get,
    path = "/dataset/{dataset_id}/export",
    operation_id = "export",
    params(DatasetPath, AtOnce),
    responses(
        (status = 200, description = "As metadata.json of an export", content_type = "application/json"),
        Gated,
        Queued,
    ),
)]
pub async fn export(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
    origin: Origin,
    params: Params,
) -> Result<Response, Problem> {
    let read = |raw: &str| (raw == ExportFormat::Json.word()).then_some(());
    params.parsed(query::EXPORT_FORMAT, "Input should be 'json'", read)?;
    let kind = ("application/json", "metadata.json");
    spooled(&site, id, kind, move |deployment, record, file| {
        let export = whole(record, origin);
        deployment.store.read(|connection| {
            let folders = Folders::default();
            let content =
                Content { connection, dataset: record, export: &export, folders: &folders };
            Ok(archive::document(&content, file).map_err(|_| Problem::internal()))
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
        Gated,
        Queued,
    ),
)]
pub async fn media_ids(
    State(site): State<Site>,
    DatasetPath(id): DatasetPath,
) -> Result<Response, Problem> {
    spooled(&site, id, ("text/csv", "media_id.csv"), move |deployment, record, file| {
        let mut table = csv::Writer::from_writer(file);
        table.write_record(["filename", "media_id"]).map_err(|_| Problem::internal())?;
        for stretch in 0.. {
            let skip = stretch * STRETCH as u64;
            let read = |c: &_| media::stretch(c, record.id, EntityType::Images, skip, STRETCH);
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
async fn spooled(
    site: &Site,
    id: DatasetId,
    (kind, name): (&'static str, &'static str),
    write: impl FnOnce(&Deployment, &Record, &mut BufWriter<File>) -> Result<(), Problem>
    + Send
    + 'static,
) -> Result<Response, Problem> {
    let file = site.weighed(Weight::Heavy, move |deployment| {
        let record = ready_for(deployment, id, Operation::Export)?;
        let beside = deployment.store.archive(id.0);
        let folder = beside.parent().ok_or_else(Problem::internal)?;
        let broken = |_| Problem::internal();
        let mut file = BufWriter::new(tempfile::tempfile_in(folder).map_err(broken)?);
        write(deployment, &record, &mut file)?;
        file.flush().and_then(|()| file.rewind()).map_err(broken)?;
        file.into_inner().map_err(|_| Problem::internal())
    });
    let file = file.await?;
    let served = Served {
        length: file.metadata().map_err(|_| Problem::internal())?.len(),
        content: tokio::fs::File::from_std(file),
        kind,
        tag: Uuid::new_v4().to_string(),
        disposition: "inline",
        name: name.to_owned(),
        caching: "no-store",
    };
    // Every one is another, so there is nothing to go on with.
    answer(served, &HeaderMap::new()).await
}

/// An export of everything that nobody waits for.
fn whole(dataset: &Record, origin: Origin) -> Export {
    Export {
        id: ExportTaskId(Uuid::new_v4()),
        dataset: dataset.id,
        spec: ExportSpec {
            file_name: ArchiveName::new(&dataset.name),
            format: ExportFormat::Json,
            include_images: false,
        },
        origin: origin.0,
        stage: Stage::InProgress,
        progress: 0.0,
        entities: dataset.n_images + dataset.n_videos,
        message: None,
        created_at: now(),
        selective: false,
    }
}
