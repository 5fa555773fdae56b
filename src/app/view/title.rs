//! A search in a few words.

use tessera_model::{Query, SafeText};

pub(super) fn of_search(query: &Query, similar_to: Option<&SafeText>, filters: usize) -> SafeText {
    let text = match (query, similar_to) {
        (Query::Similar(_), Some(name)) => format!("≈ {name}"),
        (Query::Similar(_), None) => "≈ a picture".to_owned(),
        (Query::Caption { text, .. }, _) => format!("“{}”", text.as_str()),
        (Query::Browse, _) => return SafeText::name(&filter_count_text(filters)),
    };
    SafeText::name(&match filters {
        0 => text,
        _ => format!("{text}, {}", filter_count_text(filters)),
    })
}

fn filter_count_text(filters: usize) -> String {
    match filters {
        0 => "all".to_owned(),
        1 => "1 filter".to_owned(),
        count => format!("{count} filters"),
    }
}
