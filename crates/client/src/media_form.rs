//! The form of a media upload.

use crate::{
    multipart::{Form, FormContent, FormPart, with_path},
    preflight::{UploadFile, check_archive, collect_files},
};
use tessera_model::{Failure, MediaAddition, MediaSource, Preflight};
use tessera_wire::add_media::field;

/// Checks the files of an addition. Returns the form, and the result of the check, which is empty for a remote source.
/// Unreadable files are skipped. Only the bytes of the files count as content.
pub(super) async fn media_form(addition: &MediaAddition) -> Result<(Form, Preflight), Failure> {
    let source = addition.source.clone();
    let files = tokio::task::spawn_blocking(move || files_of_source(&source)).await;
    let (field, files, preflight) =
        files.map_err(|_| Failure::local("the files could not be checked"))??;
    let content_bytes = files.iter().map(|file| file.fingerprint.bytes).sum();
    let text = |(field, text): (&'static str, String)| FormPart {
        field: field.into(),
        content: FormContent::Text(text.into()),
    };
    let file = |file| FormPart { field: field.into(), content: FormContent::OnDisk(file) };
    let texts = text_fields(addition).into_iter().map(text);
    let mut form = Form::new(texts.chain(files.into_iter().map(file)));
    form.content_bytes = content_bytes;
    Ok((form, preflight))
}

/// Returns the form field, the files, and the result of checking them. A remote source has no files.
fn files_of_source(
    source: &MediaSource,
) -> Result<(&'static str, Vec<UploadFile>, Preflight), Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (files, preflight) = collect_files(paths, None);
            if files.is_empty() {
                let sentence = format!("no readable media: {} unreadable", preflight.unreadable);
                return Err(Failure::local(sentence).with_remedy("Choose other files"));
            }
            Ok((field::FILES, files, preflight))
        }
        MediaSource::Archive(path) => {
            let archive =
                check_archive(path).map_err(|reason| Failure::local(with_path(path, &reason)))?;
            Ok((field::ARCHIVE, vec![archive.file], Preflight::default()))
        }
        MediaSource::Storage(_) | MediaSource::ServerPath(_) => {
            Ok((field::FILES, Vec::new(), Preflight::default()))
        }
    }
}

/// Returns the short text fields. Unset values are not sent.
fn text_fields(addition: &MediaAddition) -> Vec<(&'static str, String)> {
    let mut texts = vec![(field::AUTO_REINDEX, addition.auto_reindex.to_string())];
    if let MediaSource::Storage(uri) = &addition.source {
        texts.push((field::S3_URI, uri.clone()));
    }
    let counts = [
        (field::BATCH_N_VIDEOS, addition.batch_videos),
        (field::BATCH_N_IMAGES, addition.batch_images),
        (field::BATCH_N_OBJECTS, addition.batch_objects),
    ];
    texts.extend(counts.into_iter().filter_map(|(name, count)| Some((name, count?.to_string()))));
    texts.extend(addition.assume_role.iter().map(|role| (field::ASSUME_ROLE, role.clone())));
    texts.extend(addition.spot.map(|spot| (field::USE_SPOT, spot.to_string())));
    texts
}
