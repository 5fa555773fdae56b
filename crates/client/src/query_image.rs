//! A query image. It is validated, and turned upright so that a bounding box means the same on both sides.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use tessera_model::Failure;
use tessera_picture::{PictureFormat, to_common_jpeg};
use tessera_wire::query_image::FILE_FIELD;
use tokio::io::AsyncReadExt as _;

use crate::multipart::{Form, FormContent, FormPart, with_path};

/// A query image that can be sent any number of times.
#[derive(Clone, Debug)]
pub struct QueryImageUpload {
    bytes: Bytes,
    /// The path of the picture, if it was read from a file.
    path: Option<PathBuf>,
    format: PictureFormat,
    /// Whether the picture was decoded locally, so that a bounding box can be trusted.
    pub(super) is_decodable: bool,
}

impl QueryImageUpload {
    /// The maximum number of bytes that are sent.
    pub const MAX_BYTES: u64 = 32 << 20;
    /// The maximum size of a picture that is converted to JPEG before it is sent. This limit is higher than
    /// [`Self::MAX_BYTES`], because raw files of cameras are larger than the JPEGs made from them.
    const MAX_CONVERTED_BYTES: u64 = 256 << 20;

    pub async fn read(file: &Path) -> Result<Self, Failure> {
        let name = file.display().to_string();
        let to_failure = |error: std::io::Error| image_failure(&name, &error.to_string());
        let metadata = tokio::fs::metadata(file).await.map_err(to_failure)?;
        // The type is checked before the file is opened, because reading a pipe would never end.
        if !metadata.is_file() {
            return Err(image_failure(&name, "not a file").with_remedy("Choose a picture file"));
        }
        let mut head = Vec::new();
        let start = tokio::fs::File::open(file).await.map_err(to_failure)?;
        let start = start.take(PictureFormat::SIGNATURE_LENGTH as u64).read_to_end(&mut head).await;
        start.map_err(to_failure)?;
        let format = PictureFormat::detect(&head);
        if metadata.len() > format.map_or(Self::MAX_BYTES, Self::max_bytes) {
            return Err(too_large(&name));
        }
        let bytes = tokio::fs::read(file).await.map_err(to_failure)?;
        let image = Self::new(bytes.into(), &name).await?;
        Ok(Self { path: Some(file.to_owned()), ..image })
    }

    /// Validates the bytes of a picture. `name` identifies the picture in errors.
    pub async fn new(bytes: Bytes, name: &str) -> Result<Self, Failure> {
        let Some(format) = PictureFormat::detect(&bytes) else {
            let remedy = format!("Choose a {} file", PictureFormat::DECODABLE);
            return Err(image_failure(name, "not a picture").with_remedy(remedy));
        };
        if bytes.len() as u64 > Self::max_bytes(format) {
            return Err(too_large(name));
        }
        let mut image = Self { bytes: bytes.clone(), path: None, format, is_decodable: false };
        let common = tokio::task::spawn_blocking(move || to_common_jpeg(&bytes)).await;
        let common = common.map_err(|_| image_failure(name, "it could not be decoded"))?;
        // The service may decode formats that this program cannot, but such a picture is sent without a bounding box.
        image.is_decodable = common.is_ok();
        if let Ok(Some(jpeg)) = common {
            (image.bytes, image.format) = (jpeg.into(), PictureFormat::Jpeg);
        }
        if image.bytes.len() as u64 > Self::MAX_BYTES {
            return Err(too_large(name));
        }
        Ok(image)
    }

    fn max_bytes(format: PictureFormat) -> u64 {
        if format.is_common() { Self::MAX_BYTES } else { Self::MAX_CONVERTED_BYTES }
    }

    /// Returns the form of the query image, for which `curl` reads the original although an upright copy may be sent.
    /// Name and type are generated, because a file name could break out of the part header.
    pub(super) fn into_form(self) -> Form {
        let name = format!("query.{}", self.format.extension());
        let path = self.path.unwrap_or_else(|| PathBuf::from(&name));
        let media_type = self.format.media_type();
        let content = FormContent::File { path, name, media_type, bytes: self.bytes };
        Form::new([FormPart { field: FILE_FIELD.into(), content }])
    }

    /// Returns the upright size in pixels (width, height), if the picture can be decoded locally.
    pub fn size(&self) -> Option<(u32, u32)> {
        self.is_decodable.then(|| tessera_picture::decode::size(&self.bytes).ok()).flatten()
    }
}

fn image_failure(name: &str, reason: &str) -> Failure {
    Failure::local(with_path(Path::new(name), reason))
}

fn too_large(name: &str) -> Failure {
    let reason = format!("larger than {} MiB", QueryImageUpload::MAX_BYTES >> 20);
    image_failure(name, &reason).with_remedy("Choose a smaller copy of the picture")
}
