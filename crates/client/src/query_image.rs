//! A picture on its way to be a query image: checked before anything is sent, and turned upright, so
//! that a bounding box means the same here and there.

use std::path::Path;

use bytes::Bytes;
use image::ImageFormat;

use tessera_model::{Failure, FailureKind, SafeText};

/// A query image, ready to be sent any number of times.
#[derive(Clone, Debug)]
pub struct QueryImage {
    pub(super) bytes: Bytes,
    /// A file name of our own making.
    pub(super) name: &'static str,
    pub(super) media_type: &'static str,
    /// Whether it was opened here, so that a box on it can be trusted.
    pub(super) opened: bool,
}

impl QueryImage {
    /// Largest picture that is sent, in bytes.
    pub const LIMIT: u64 = 32 << 20;

    /// Reads a file of this machine.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: it cannot be read, is no picture or is over [`QueryImage::LIMIT`].
    pub async fn read(file: &Path) -> Result<Self, Failure> {
        let name = file.display().to_string();
        let broken = |error: std::io::Error| refuse(&name, &error.to_string());
        let metadata = tokio::fs::metadata(file).await.map_err(broken)?;
        // Looked at before it is opened: a pipe would never end, a huge file would be read whole.
        if !metadata.is_file() {
            return Err(refuse(&name, "not a file").remedy("Choose a picture file"));
        }
        if metadata.len() > Self::LIMIT {
            return Err(too_large(&name));
        }
        let bytes = tokio::fs::read(file).await.map_err(broken)?;
        Self::new(bytes.into(), &name).await
    }

    /// Takes the bytes of a picture; `name` is what people know it as.
    ///
    /// # Errors
    /// As [`QueryImage::read`].
    pub async fn new(bytes: Bytes, name: &str) -> Result<Self, Failure> {
        if bytes.len() as u64 > Self::LIMIT {
            return Err(too_large(name));
        }
        let Some((file_name, media_type)) = kind(&bytes) else {
            let remedy = "Choose a JPEG, PNG, WebP, GIF or BMP file";
            return Err(refuse(name, "not a picture").remedy(remedy));
        };
        let as_it_is = Self { bytes: bytes.clone(), name: file_name, media_type, opened: false };
        let turned = tokio::task::spawn_blocking(move || tessera_picture::upright(&bytes)).await;
        match turned.map_err(|_| refuse(name, "it could not be opened"))? {
            Ok(None) => Ok(Self { opened: true, ..as_it_is }),
            Ok(Some(jpeg)) => Ok(Self {
                bytes: jpeg.into(),
                name: "query.jpg",
                media_type: "image/jpeg",
                opened: true,
            }),
            // The service may read what is not read here; it gets the whole of it, without a box.
            Err(_) => Ok(as_it_is),
        }
    }

    /// Its size in pixels, upright (width, height); `None` when it cannot be opened here.
    #[must_use]
    pub fn size(&self) -> Option<(u32, u32)> {
        self.opened.then(|| tessera_picture::decode::size(&self.bytes).ok()).flatten()
    }
}

/// The name and the type that a picture is sent under, by its first bytes.
fn kind(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
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

fn refuse(name: &str, reason: &str) -> Failure {
    Failure::new(FailureKind::Local, format!("{}: {reason}", SafeText::file(name)))
}

fn too_large(name: &str) -> Failure {
    let reason = format!("larger than {} MiB", QueryImage::LIMIT >> 20);
    refuse(name, &reason).remedy("Choose a smaller copy of the picture")
}
