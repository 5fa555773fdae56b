//! Suggests the most useful actions of each place, in order, for the hints and the help.

use tessera_config::{input::Action, tables::text_of};

use crate::app::{App, Pane};

/// The names of the actions of each place, one place a line.
const SUGGESTIONS: &str = include_str!("../../../../assets/suggested_actions.txt");

/// Returns the most useful actions of the focused pane or of the full-size view.
pub(crate) fn suggested_actions(app: &App) -> impl Iterator<Item = Action> {
    actions_of(match app.panes.focus {
        _ if app.comparison().is_some() => "comparison",
        _ if app.viewer.is_some() && app.results.frame_position().is_some() => "viewer-of-frame",
        _ if app.viewer.is_some() => "viewer",
        Pane::Datasets => "datasets",
        Pane::Results => "results",
        Pane::Detail if app.results.frame_position().is_some() => "frame",
        Pane::Detail => "detail",
        Pane::Basket => "basket",
        Pane::Query => "query",
        Pane::Jobs => "jobs",
    })
}

fn actions_of(place: &str) -> impl Iterator<Item = Action> + use<> {
    let actions = text_of(SUGGESTIONS, place).unwrap_or_default();
    actions.split(' ').filter_map(Action::by_name)
}

#[cfg(test)]
mod tests {
    use tessera_config::tables::rows;

    use super::*;

    #[test]
    fn each_place_has_ten_actions() {
        let places: Vec<&str> = rows(SUGGESTIONS).map(|(place, _)| place).collect();
        assert_eq!(places.len(), 10);
        for place in places {
            assert_eq!(actions_of(place).count(), 10, "{place}");
        }
    }
}
