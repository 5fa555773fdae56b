//! Thumbnails and the pictures of frames, wherever their bytes are: in the store, or in the bucket of the deployment.

mod bucket_packs;
mod picture_store;

pub use bucket_packs::BucketPacks;
pub use picture_store::{PictureStore, REQUEST_LIMIT, TASK_LIMIT};
