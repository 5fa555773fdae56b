//! Texts that are shown in full on every screen that has room for them, the smallest ones among them.

use tessera::ui::theme::ThemeName;

use super::screen_in;
use crate::support::scene::similar;

#[test]
fn the_issues_are_listed_without_counts() {
    for (columns, rows) in [(50, 14), (80, 24), (120, 40)] {
        let mut desk = similar(columns, rows);
        desk.press("g f tab tab");
        let shown = screen_in(&desk, ThemeName::Plain);
        for text in ["Quality issues", " issues ", "blur", "No counts"] {
            assert!(shown.contains(text), "{columns}x{rows}: {text} is missing:\n{shown}");
        }
        desk.press("G");
        let shown = screen_in(&desk, ThemeName::Plain);
        assert!(shown.contains("label_outlier") && shown.contains("normal"), "{shown}");
    }
}
