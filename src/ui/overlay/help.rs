//! The help: every action with the keys that are really bound, and why it cannot be done now.

use ratatui::{
    layout::Rect,
    text::{Line, Span},
};

use crate::{
    app::{App, gate, overlay::Scroll},
    input::{Action, Context, action::Group},
    ui::{Screen, widget::boxed},
};

/// Draws the help, scrolled.
pub(super) fn draw(screen: &mut Screen, area: Rect, scroll: Scroll) {
    let inside = boxed(screen, area, Line::from(" Help "), true);
    let lines = lines(screen);
    scrolled(screen, inside, &lines, scroll);
}

/// Lines of a text that is only read, from where it is scrolled to.
pub(super) fn scrolled(screen: &mut Screen, inside: Rect, lines: &[Line], scroll: Scroll) {
    let last = lines.len().saturating_sub(usize::from(inside.height));
    for (row, line) in lines.iter().skip(scroll.top.min(last)).enumerate() {
        let Ok(row) = u16::try_from(row) else { break };
        if row >= inside.height {
            break;
        }
        screen.buf.set_line(inside.x, inside.y + row, line, inside.width);
    }
}

fn lines(screen: &Screen) -> Vec<Line<'static>> {
    let theme = screen.theme;
    let mut lines = Vec::new();
    for group in Group::ALL {
        lines.push(Line::styled(format!(" {}", group.heading()), theme.accent));
        for &action in Action::ALL.iter().filter(|action| action.group() == group) {
            let keys = keys(screen.app, action).join("  ");
            let refusal = gate::refusal(screen.app, action);
            let style = if refusal.is_some() { theme.dim } else { theme.text };
            lines.push(Line::from(vec![
                Span::styled(format!("   {keys:<16}"), theme.key),
                Span::styled(action.help(), style),
            ]));
            if let Some(reason) = refusal {
                lines.push(Line::styled(format!("   {:<16}not now: {reason}", ""), theme.dim));
            }
        }
        lines.push(Line::default());
    }
    lines.push(Line::styled(" Mouse", theme.accent));
    lines.push(Line::from(
        "   click selects, a second click opens, the wheel moves; Shift selects text",
    ));
    lines
}

/// The keys of an action in every context, each once.
fn keys(app: &App, action: Action) -> Vec<String> {
    let contexts: Vec<Context> = app.setup.keymap.contexts().collect();
    app.setup.keymap.keys_of(&contexts, action)
}
