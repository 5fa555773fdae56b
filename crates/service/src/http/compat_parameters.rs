//! How the parameters of a lenient service differ from those of the interface document.

use utoipa::openapi::{Paths, RefOr, Required};

use tessera_wire::paths::query;

/// Query parameters that a lenient service accepts without effect on any operation, with the reason why
/// they cannot change the result.
pub const HARMLESS_PARAMETERS: &[(&str, &str)] = &[
    ("verbose", "responses are always complete"),
    ("allow_deleted", "deleted media are not kept"),
    ("include_hidden", "no dataset is hidden"),
    (query::DATASET_ID, "the path names the dataset"),
];

/// Parameters that only a strict service requires.
const OPTIONAL_IN_COMPAT: [&str; 2] = [query::ENTITY_TYPE, query::FILE_NAME];

/// Parameters that only a lenient service has.
const ONLY_IN_COMPAT: [&str; 1] = [query::CAPTION_ONLY_FILTER];

/// Adapts descriptions, which list the parameters of both and what a strict service requires.
pub fn adapt_parameters(paths: &mut Paths, compat: bool) {
    let items = paths.paths.values_mut();
    let operations = items.flat_map(|item| [&mut item.get, &mut item.post]).flatten();
    for parameters in operations.filter_map(|operation| operation.parameters.as_mut()) {
        parameters.retain_mut(|parameter| {
            let RefOr::T(parameter) = parameter else { return true };
            let name = parameter.name.as_str();
            if compat && OPTIONAL_IN_COMPAT.contains(&name) {
                parameter.required = Required::False;
            }
            compat || !ONLY_IN_COMPAT.contains(&parameter.name.as_str())
        });
    }
}
