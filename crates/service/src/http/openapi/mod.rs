//! The `OpenAPI` description, collected by the router, which cannot route what is not described.

pub mod document;
mod parameters;
mod responses;
mod schemas;

pub use document::OPENAPI_PATH;
pub use parameters::{
    ArchiveParams, CountParams, DirectExportParams, ExpiringLinkParams, ExploreParams,
    ExportParams, ExportStatusParams, PageParams, ProcessParams, QueryImageParams,
    SignedLinkParams, UserConfigParams,
};
pub use responses::{
    BusyError, CommonErrors, DatasetErrors, ExportErrors, FileResponses, MediaResponses,
    NotReadyError, StatusErrors, UploadErrors,
};
