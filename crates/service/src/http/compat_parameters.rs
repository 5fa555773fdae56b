//! How the parameters of a lenient service differ from those of the interface document.

use utoipa::openapi::{Paths, RefOr, Required};

use tessera_wire::paths::query;

/// Query parameters that a lenient service accepts on every operation. They have no effect; `docs/compatibility.md` gives
/// the reason why none of them can change the result.
pub const HARMLESS_PARAMETERS: [&str; 4] =
    ["verbose", "allow_deleted", "include_hidden", query::DATASET_ID];

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

#[cfg(test)]
mod tests {
    use super::HARMLESS_PARAMETERS;

    #[test]
    fn the_harmless_parameters_are_the_documented_ones() {
        let page = include_str!("../../../../docs/compatibility.md");
        let (_, section) = page.split_once("## Parameters without effect").unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
        let documented = rows.filter_map(|row| row.split('`').next());
        assert!(documented.eq(HARMLESS_PARAMETERS));
    }
}
