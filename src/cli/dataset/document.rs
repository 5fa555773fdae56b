//! A dataset as a document.

use serde_json::{Value, json};

use crate::cli::timestamps::now_rfc3339;
use tessera_model::{Dataset, Operation, Permission};
use tessera_wire::dataset::DatasetBody;

pub(super) fn dataset_document(dataset: &Dataset) -> Value {
    let permissions = [
        ("text_search", Operation::TextSearch),
        ("search_image", Operation::VisualSearch),
        ("export", Operation::Export),
        ("add_media", Operation::AddMedia),
        ("reindex", Operation::Reindex),
    ]
    .map(|(name, operation)| (name, dataset.status.allows(operation)));
    let (mut allowed, mut reasons) = (json!({}), json!({}));
    for (name, permission) in permissions {
        allowed[name] = match permission {
            Permission::Allowed => true.into(),
            Permission::Denied(_) => false.into(),
            // The API does not specify it: the response decides.
            Permission::Unspecified | Permission::Confirm => Value::Null,
        };
        if let Some(reason) = permission.denial_reason() {
            reasons[name] = reason.into();
        }
    }
    let mut document = json!(DatasetBody::new(dataset));
    document["_status_is_legacy"] = dataset.status_is_legacy.into();
    document["_allowed"] = allowed;
    document["_reasons"] = reasons;
    document["_seen_at"] = json!(now_rfc3339());
    document
}
