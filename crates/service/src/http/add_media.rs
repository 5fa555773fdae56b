//! The endpoints that change a dataset: `reindex`, and the ways to add media. The form of uploads is read in bounded
//! memory.

use std::{
    fs::File,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use axum::{body::HttpBody as _, http::StatusCode};
use tokio::io::AsyncWriteExt as _;

use super::prelude::*;
use super::{
    connection_monitor::ConnectionGroup,
    multipart_form::{FormPart, MultipartForm, SizeLimit, content_length},
    openapi::UploadErrors,
    parameters::{BOOLEAN_HINT, ProcessParams},
};
use crate::usecase::{AddMediaRequest, AddMediaSource};
use tessera_files::{
    create_private_dir, private_file,
    staging::{ARCHIVE_FILE_NAME, StagingDir, UniqueFiles},
};
use tessera_media::{
    ingest::{
        archive_readers::ArchiveKind,
        disk_quota::{DiskQuota, SpaceClaim},
        file_names::sanitized_path,
    },
    object_storage::RoleArn,
};
use tessera_model::{FileKind, text::parse_boolean};
use tessera_picture::{VideoContainer, media_kind};
use tessera_store::is_storage_full;
use tessera_wire::add_media::{ProcessBody, field};

pub(crate) fn add_routes(routes: CheckedRoutes) -> CheckedRoutes {
    routes.add(routes!(reindex)).add(routes!(add_media)).add_unsafe_get(routes!(process_add_media))
}

/// Clusters the dataset again, with all media added since the last clustering.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/reindex",
    params(DatasetPath),
    responses((status = 202, description = "Accepted; watch the status"), StatusErrors),
)]
pub(crate) async fn reindex(
    State(state): State<AppState>,
    DatasetPath(id): DatasetPath,
) -> Result<StatusCode, Problem> {
    state.spawn_blocking(move |deployment| deployment.reindex(id)).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Adds media: uploaded files, an uploaded archive, or a folder in object storage. The permission is checked before the
/// body is read, and again when the task starts.
#[utoipa::path(
    post,
    path = "/dataset/{dataset_id}/add_media",
    params(DatasetPath),
    request_body(
        content = ref("#/components/schemas/AddMediaForm"),
        content_type = "multipart/form-data",
    ),
    responses((status = 202, description = "Accepted; watch the status"), UploadErrors, StatusErrors, BusyError),
    security(("token" = []), ("session" = [])),
)]
pub(crate) async fn add_media(
    State(state): State<AppState>,
    Extension(connection): Extension<ClientConnection>,
    DatasetPath(id): DatasetPath,
    request: Request,
) -> Result<StatusCode, Problem> {
    state.spawn_blocking(move |deployment| deployment.require_can_add(id)).await?;
    let _slot = connection.join(ConnectionGroup::Uploading).await?;
    let uploads = state.deployment.store.uploads_dir();
    let disk = &state.deployment.settings.disk;
    let request = read_form(request, &uploads, disk).await?;
    state.deployment.check_source(&request).await?;
    state.spawn_blocking(move |deployment| deployment.add_media(id, request)).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Adds the media of a folder that this deployment may read.
#[utoipa::path(
    get,
    path = "/process/add_media",
    params(ProcessParams),
    responses(
        (status = 200, description = "Accepted; watch the status", body = ProcessBody),
        (status = 400, description = "The dataset has no embedding_config", body = ProblemBody),
        StatusErrors,
    ),
)]
pub(crate) async fn process_add_media(
    State(state): State<AppState>,
    params: QueryParams,
) -> Result<Json<ProcessBody>, Problem> {
    let id: DatasetId = params.id(query::DATASET_ID)?;
    let folder = PathBuf::from(params.required(query::PATH)?);
    let auto_reindex = params.boolean(query::AUTO_REINDEX)?.unwrap_or(false);
    state
        .spawn_blocking(move |deployment| deployment.add_folder_media(id, &folder, auto_reindex))
        .await?;
    let message = "add_media was accepted; watch the status of the dataset";
    Ok(Json(ProcessBody { status: "success", message, dataset_id: id }))
}

/// Same as the GET.
#[utoipa::path(
    post,
    path = "/process/add_media",
    params(ProcessParams),
    responses(
        (status = 200, description = "Accepted; watch the status", body = ProcessBody),
        (status = 400, description = "The dataset has no embedding_config", body = ProblemBody),
        StatusErrors,
    ),
)]
pub(crate) async fn process_add_media_by_post(
    state: State<AppState>,
    params: QueryParams,
) -> Result<Json<ProcessBody>, Problem> {
    process_add_media(state, params).await
}

/// A field name that the error text of the API suggests, but that is not accepted.
const LIST_FIELD: &str = "files[]";
const TEXT_FIELDS: [&str; 7] = [
    field::S3_URI,
    field::AUTO_REINDEX,
    field::ASSUME_ROLE,
    field::BATCH_N_VIDEOS,
    field::BATCH_N_IMAGES,
    field::BATCH_N_OBJECTS,
    field::USE_SPOT,
];
const TEXT_LIMIT: SizeLimit =
    SizeLimit { bytes: 4 << 10, message: "A text field is longer than 4 KiB" };
const MAX_UPLOAD_BYTES: u64 = 50 << 30;
const TOO_LARGE: &str = "The upload is larger than 50 GiB";

pub(crate) async fn read_form(
    request: Request,
    uploads: &Path,
    disk: &DiskQuota,
) -> Result<AddMediaRequest, Problem> {
    // For a form without fields, clients send no body at all.
    if request.body().is_end_stream() {
        return Err(single_source_required());
    }
    create_private_dir(uploads).map_err(storage_problem)?;
    let limit = SizeLimit { bytes: MAX_UPLOAD_BYTES, message: TOO_LARGE };
    let declared = content_length(&request);
    let mut parts = MultipartForm::open(request, limit).await?;
    if disk.available(uploads).is_some_and(|available| declared > Some(available)) {
        return Err(storage_problem(ErrorKind::StorageFull.into()));
    }
    let claim = disk.claim_in(uploads);
    let mut draft = FormReader { uploads, claim, source: None, files: None, texts: Vec::new() };
    draft.read_parts(&mut parts).await?;
    draft.finish()
}

struct FormReader<'a> {
    uploads: &'a Path,
    claim: SpaceClaim,
    source: Option<AddMediaSource>,
    /// The names in the folder of a source of files.
    files: Option<UniqueFiles>,
    texts: Vec<(&'static str, String)>,
}

impl FormReader<'_> {
    async fn read_parts(&mut self, parts: &mut MultipartForm) -> Result<(), Problem> {
        while let Some(part) = parts.next().await? {
            let name = part.name().unwrap_or_default();
            if name == LIST_FIELD {
                let message = "Field required: its name is 'files', not 'files[]'";
                return Err(Problem::invalid("body", field::FILES, "missing", message, None));
            }
            if name == field::FILES {
                self.read_file(part).await?;
            } else if name == field::ARCHIVE {
                self.read_archive(part).await?;
            } else if let Some(name) = TEXT_FIELDS.into_iter().find(|text| *text == name) {
                self.read_text(name, part).await?;
            } else {
                part.skip().await?;
            }
        }
        Ok(())
    }

    async fn read_text(&mut self, name: &'static str, part: FormPart<'_>) -> Result<(), Problem> {
        if self.texts.iter().any(|(known, _)| *known == name) {
            return Err(duplicate_field(name));
        }
        let text = String::from_utf8(part.bytes(TEXT_LIMIT).await?).map_err(|_| {
            Problem::invalid("body", name, "string_unicode", "Input should be valid UTF-8", None)
        })?;
        let text = text.trim().to_owned();
        // In a form, a field that was not filled in is an empty text.
        if name == field::S3_URI && !text.is_empty() {
            if self.source.is_some() {
                return Err(single_source_required());
            }
            self.source = Some(AddMediaSource::Storage(text.clone()));
        }
        self.texts.push((name, text));
        Ok(())
    }

    async fn read_file(&mut self, part: FormPart<'_>) -> Result<(), Problem> {
        let Some(name) = file_name(field::FILES, &part)? else {
            return skip_empty_file(field::FILES, part).await;
        };
        if self.source.is_none() {
            let staged = StagingDir::create(self.uploads).map_err(storage_problem)?;
            self.files = Some(UniqueFiles::new(staged.path()));
            self.source = Some(AddMediaSource::Files(staged));
        }
        let files = self.files.as_mut().ok_or_else(single_source_required)?;
        let (_, file) = files.create(&sanitized_path(&name)).map_err(storage_problem)?;
        save_part(part, file, |head| file_limit(&name, head), &mut self.claim).await
    }

    async fn read_archive(&mut self, part: FormPart<'_>) -> Result<(), Problem> {
        let Some(name) = file_name(field::ARCHIVE, &part)? else {
            return skip_empty_file(field::ARCHIVE, part).await;
        };
        match self.source {
            None => {}
            Some(AddMediaSource::Archive(..)) => return Err(duplicate_field(field::ARCHIVE)),
            Some(_) => return Err(single_source_required()),
        }
        let kind = ArchiveKind::from_name(&name).ok_or_else(|| {
            Problem::bad_request(
                "The archive must be a .zip, .tar, .tar.gz, .tar.xz or .tar.zst file",
            )
        })?;
        let staged = StagingDir::create(self.uploads).map_err(storage_problem)?;
        let path = staged.path().join(ARCHIVE_FILE_NAME);
        let file = private_file().create_new(true).open(&path).map_err(storage_problem)?;
        // The size of the archive is limited by the size of the body.
        let limit = SizeLimit { bytes: u64::MAX, message: TOO_LARGE };
        save_part(part, file, |_| limit, &mut self.claim).await?;
        if !File::open(&path)
            .and_then(|mut file| kind.matches(&mut file))
            .map_err(storage_problem)?
        {
            let message = format!("The archive is not a {} file", kind.as_str());
            return Err(Problem::bad_request(message));
        }
        self.source = Some(AddMediaSource::Archive(staged, kind));
        Ok(())
    }

    fn finish(self) -> Result<AddMediaRequest, Problem> {
        let auto_reindex = self.text_value(field::AUTO_REINDEX, BOOLEAN_HINT, parse_boolean)?;
        self.text_value(field::USE_SPOT, BOOLEAN_HINT, parse_boolean)?;
        for name in [field::BATCH_N_VIDEOS, field::BATCH_N_IMAGES, field::BATCH_N_OBJECTS] {
            let message = "Input should be a valid integer, 0 or more";
            self.text_value(name, message, |raw| raw.parse::<u32>().ok())?;
        }
        let message = "Input should be the ARN of a role: arn:aws:iam::<account>:role/<name>";
        let assume_role = self.text_value(field::ASSUME_ROLE, message, RoleArn::parse)?;
        let source = self.source.ok_or_else(single_source_required)?;
        Ok(AddMediaRequest { source, auto_reindex: auto_reindex.unwrap_or(false), assume_role })
    }

    fn text_value<T>(
        &self,
        name: &'static str,
        message: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let text = self.texts.iter().find(|(known, text)| *known == name && !text.is_empty());
        let Some((_, text)) = text else { return Ok(None) };
        let invalid = || Problem::invalid("body", name, "value_error", message, Some(text.clone()));
        parse(text).map(Some).ok_or_else(invalid)
    }
}

/// Returns the file name of an upload, or `None` for a file field that was not filled in.
fn file_name(field: &'static str, part: &FormPart<'_>) -> Result<Option<String>, Problem> {
    let name = part.file_name().ok_or_else(|| unnamed_file(field))?;
    Ok((!name.is_empty()).then(|| name.into_owned()))
}

/// Skips a file field without a name, which must be empty.
async fn skip_empty_file(field: &'static str, mut part: FormPart<'_>) -> Result<(), Problem> {
    while let Some(chunk) = part.chunk().await? {
        if !chunk.is_empty() {
            return Err(unnamed_file(field));
        }
    }
    Ok(())
}

fn unnamed_file(field: &'static str) -> Problem {
    let message = "Input should be a file: the part has no file name";
    Problem::invalid("body", field, "value_error", message, None)
}

/// Returns the limit for a file with this name and these first bytes.
fn file_limit(name: &str, head: &[u8]) -> SizeLimit {
    let kind = media_kind(head).unwrap_or_else(|| FileKind::from_name(name));
    let message = "A file is larger than 256 MiB, or 4 GiB for a video";
    SizeLimit { bytes: kind.max_size(), message }
}

/// Saves a part. `limit` returns the limit for the first bytes.
async fn save_part(
    mut part: FormPart<'_>,
    file: File,
    limit: impl Fn(&[u8]) -> SizeLimit,
    claim: &mut SpaceClaim,
) -> Result<(), Problem> {
    let mut file = tokio::fs::File::from_std(file);
    let (mut bytes, mut head) = (0, Vec::new());
    while let Some(chunk) = part.chunk().await? {
        let missing = VideoContainer::SIGNATURE_LENGTH - head.len();
        head.extend_from_slice(&chunk[..missing.min(chunk.len())]);
        bytes += chunk.len() as u64;
        limit(&head).check(bytes)?;
        claim.take(chunk.len()).map_err(storage_problem)?;
        file.write_all(&chunk).await.map_err(storage_problem)?;
    }
    // Without the flush, the last error of the disk would be lost.
    file.flush().await.map_err(storage_problem)
}

fn single_source_required() -> Problem {
    Problem::bad_request("Exactly one media source must be provided: files[], s3_uri, or archive")
}

fn duplicate_field(name: &str) -> Problem {
    Problem::bad_request(format!("The field '{name}' was given more than once"))
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn storage_problem(cause: io::Error) -> Problem {
    let reason = match cause.kind() {
        _ if is_storage_full(&cause) => "the disk is full, of which 1 GiB stays free",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "it may not be written",
        _ => "the disk failed",
    };
    let message = format!("The upload could not be stored: {reason}");
    Problem::plain(StatusCode::INTERNAL_SERVER_ERROR, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_video_has_the_limit_of_videos_under_any_name() {
        let stream = [&[0x47][..], &[0; 187]].concat().repeat(4);
        let [file, video] = [256 << 20, 4 << 30];
        for (name, head, bytes) in [
            ("a.ts", &stream[..], video),
            ("a", b"\0\0\0\x20ftypisom", video),
            ("a.mp4", b"", video),
            ("a.ts", b"export const a = 1;", file),
            ("a.png", b"\x89PNG\r\n\x1a\n0000", file),
        ] {
            assert_eq!(file_limit(name, head).bytes, bytes, "{name}");
        }
    }

    #[test]
    fn disk_failures_are_reported_without_paths() {
        let Problem::Plain(status, message) = storage_problem(ErrorKind::StorageFull.into()) else {
            panic!("no 422");
        };
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(
            message,
            "The upload could not be stored: the disk is full, of which 1 GiB stays free"
        );
    }
}
