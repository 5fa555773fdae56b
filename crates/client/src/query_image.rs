//! A query image, validated and rotated upright so that a bounding box means the same on both sides.

use std::path::Path;

use bytes::Bytes;
use image::ImageFormat;

use tessera_model::{Failure, SafeText};

/// Can be sent any number of times.
#[derive(Clone, Debug)]
pub struct QueryImageUpload {
    pub(super) bytes: Bytes,
    /// A generated file name.
    pub(super) name: &'static str,
    pub(super) media_type: &'static str,
    /// Whether it was decoded locally, so that a bounding box can be trusted.
    pub(super) is_decodable: bool,
}

impl QueryImageUpload {
    pub const MAX_BYTES: u64 = 32 << 20;

    pub async fn read(file: &Path) -> Result<Self, Failure> {
        let name = file.display().to_string();
        let to_failure = |error: std::io::Error| image_failure(&name, &error.to_string());
        let metadata = tokio::fs::metadata(file).await.map_err(to_failure)?;
        // Before it is opened: a pipe would never end, and a huge file would be read completely.
        if !metadata.is_file() {
            return Err(image_failure(&name, "not a file").with_remedy("Choose a picture file"));
        }
        if metadata.len() > Self::MAX_BYTES {
            return Err(too_large(&name));
        }
        let bytes = tokio::fs::read(file).await.map_err(to_failure)?;
        Self::new(bytes.into(), &name).await
    }

    /// Takes the bytes of a picture. `name` identifies it in errors.
    pub async fn new(bytes: Bytes, name: &str) -> Result<Self, Failure> {
        if bytes.len() as u64 > Self::MAX_BYTES {
            return Err(too_large(name));
        }
        let Some((file_name, media_type)) = name_and_media_type(&bytes) else {
            let remedy = "Choose a JPEG, PNG, WebP, GIF or BMP file";
            return Err(image_failure(name, "not a picture").with_remedy(remedy));
        };
        let mut image =
            Self { bytes: bytes.clone(), name: file_name, media_type, is_decodable: false };
        let upright =
            tokio::task::spawn_blocking(move || tessera_picture::to_upright_jpeg(&bytes)).await;
        let upright = upright.map_err(|_| image_failure(name, "it could not be decoded"))?;
        // The service may decode formats that this program cannot, then without a box.
        image.is_decodable = upright.is_ok();
        if let Ok(Some(jpeg)) = upright {
            (image.bytes, image.name, image.media_type) = (jpeg.into(), "query.jpg", "image/jpeg");
        }
        Ok(image)
    }

    /// The upright size in pixels (width, height), if it can be decoded locally.
    pub fn size(&self) -> Option<(u32, u32)> {
        self.is_decodable.then(|| tessera_picture::decode::size(&self.bytes).ok()).flatten()
    }
}

fn name_and_media_type(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    Some(match image::guess_format(bytes).ok()? {
        ImageFormat::Jpeg => ("query.jpg", "image/jpeg"),
        ImageFormat::Png => ("query.png", "image/png"),
        ImageFormat::WebP => ("query.webp", "image/webp"),
        ImageFormat::Gif => ("query.gif", "image/gif"),
        ImageFormat::Bmp => ("query.bmp", "image/bmp"),
        ImageFormat::Tiff => ("query.tiff", "image/tiff"),
        ImageFormat::Avif => ("query.avif", "image/avif"),
        _ => return None,
    })
}

fn image_failure(name: &str, reason: &str) -> Failure {
    Failure::local(format!("{}: {reason}", SafeText::file_name(name)))
}

fn too_large(name: &str) -> Failure {
    let reason = format!("larger than {} MiB", QueryImageUpload::MAX_BYTES >> 20);
    image_failure(name, &reason).with_remedy("Choose a smaller copy of the picture")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_decides_the_type_that_is_sent() {
        let starts: [(&[u8], &str, &str); 7] = [
            (b"\xff\xd8\xff\xe0", "query.jpg", "image/jpeg"),
            (b"\x89PNG\r\n\x1a\n", "query.png", "image/png"),
            (b"RIFF\0\0\0\0WEBP", "query.webp", "image/webp"),
            (b"GIF89a", "query.gif", "image/gif"),
            (b"BM", "query.bmp", "image/bmp"),
            (b"II*\0", "query.tiff", "image/tiff"),
            (b"\0\0\0\x20ftypavif", "query.avif", "image/avif"),
        ];
        for (start, name, media_type) in starts {
            assert_eq!(name_and_media_type(start), Some((name, media_type)));
        }
        // A picture that no service takes, and a text.
        assert_eq!(name_and_media_type(b"qoif"), None);
        assert_eq!(name_and_media_type(b"a picture of a van"), None);
    }
}
