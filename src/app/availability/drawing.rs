//! The actions that apply only to a drawing, or would print a secret: the accessible mode has all others.

use crate::input::Action;

/// Why an action does not exist where the state is presented as text.
pub fn drawing_reason(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::LargerTiles | Action::SmallerTiles => {
            "results are lines of text here, without tiles to size"
        }
        Action::WiderSides | Action::NarrowerSides | Action::Zoom => {
            "one pane is read at a time here, in full"
        }
        Action::Jump => "jump labels are drawn; here, go to a pane by its name, such as focus-jobs",
        Action::Theme => "text is printed here without colors",
        Action::Footer => "the keys of a dialog are printed when it opens",
        Action::TestPictures => "no picture is drawn here; full-size describes one in words",
        Action::Redraw => "nothing is drawn here; read prints everything again",
        Action::Mouse => "the mouse stays with your terminal here",
        Action::Login => {
            "a typed secret would be shown here; use tessera auth status and tessera auth import"
        }
        Action::Suspend => "Ctrl-Z suspends here, as for any other command",
        Action::ZoomIn | Action::ZoomOut | Action::ActualSize | Action::FitScreen => {
            "the picture is described in words here, always as a whole"
        }
        Action::Play => "frames are read one at a time here: next-frame reads the one that follows",
        Action::Blink | Action::Difference => {
            "the comparison lists in words what differs; pixels are not compared here"
        }
        _ => return None,
    })
}
