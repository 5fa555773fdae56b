//! Warns about fields of responses that are needed and cannot be read: once for each field of an
//! operation.

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::retry_table::ApiOperation;
use tessera_model::SafeText;
use tessera_wire::fields::UnreadableField;

/// Receives a sentence for each response with fields that were not reported before; does nothing by
/// default.
#[derive(Clone, Default)]
pub(super) struct FieldWarnings {
    listener: Option<Arc<dyn Fn(SafeText) + Send + Sync>>,
    /// Bounded by the fields that the readers know.
    reported: Arc<Mutex<HashSet<(ApiOperation, String)>>>,
}

impl FieldWarnings {
    pub(super) fn new(listener: impl Fn(SafeText) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), reported: Arc::default() }
    }

    /// `request` is the method and the path.
    pub(super) fn report(
        &self,
        operation: ApiOperation,
        request: &SafeText,
        fields: Vec<UnreadableField>,
    ) {
        let Some(listener) = &self.listener else { return };
        let is_new = |field: &UnreadableField| {
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
            reported.insert((operation, field.name.clone()))
        };
        let new: Vec<_> = fields.into_iter().filter(is_new).collect();
        if !new.is_empty() {
            let fields = describe(&new);
            let sentence =
                format!("the response of {request} has fields that cannot be read: {fields}");
            listener(SafeText::detail(&sentence));
        }
    }
}

pub(super) fn describe(fields: &[UnreadableField]) -> String {
    fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Debug for FieldWarnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FieldWarnings").field(&self.listener.is_some()).finish()
    }
}
