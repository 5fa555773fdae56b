//! Keeps the uploads that were accepted, in the index folder or in the bucket of the deployment.

mod accepted_uploads;
mod bucket_uploads;

pub(crate) use accepted_uploads::AcceptedUploads;
pub(crate) use bucket_uploads::BucketUploads;
