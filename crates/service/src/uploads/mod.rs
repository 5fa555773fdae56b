//! Uploads that were accepted: in the index folder, or in the bucket of the deployment.

mod bucket_unpack_target;
mod bucket_uploads;
mod upload_store;

pub use bucket_uploads::BucketUploads;
pub use upload_store::UploadStore;
