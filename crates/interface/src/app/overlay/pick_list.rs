//! Shows a list of commands to pick one from. Typing filters the list by a fuzzy search, and the cursor or a digit
//! picks a row. The command palette and all lists of commands use this list.

use std::cmp::Reverse;

use ratatui::layout::Margin;
use tessera_config::{Destination, ThemeChoice, TileSize};
use tessera_model::{
    FileOrder, HistoryEntry, TagDefinitionChange, search_form, set_algebra::SetOperator,
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        overlay::{fact_sheet::FactSheet, fields::edit},
        pane::{moved_cursor, rows_to_move, scroll_top},
        query::FilterKind,
        view::sort_filter::SortOrder,
    },
    drawing::{below, display_width, field_area, fitting_items, rows_of_line},
};

/// What a row of a list does when it is picked.
#[derive(Clone, Debug)]
pub enum Command {
    Action(Action),
    AddFilter(FilterKind),
    /// Asks for the color of a tag.
    ChooseTagColor(SafeText),
    CombineTabs(Combination),
    DefineTag(SafeText, TagDefinitionChange),
    DeleteView(SafeText),
    OpenDataset(DatasetId),
    OpenDeployment(Destination),
    OpenTab(usize),
    OpenView(SafeText),
    /// The user's own command at this position in the settings.
    CustomCommand(usize),
    /// Asks what getting the model of this name would download.
    PlanModel(&'static str),
    RenameTag(SafeText),
    RenameView(SafeText),
    RerunSearch(Box<HistoryEntry>),
    SetTheme(ThemeChoice),
    SetTileSize(TileSize),
    ShowFacts(FactSheet),
    Sort(SortOrder),
    /// Sorts the whole result by its files.
    SortFiles(FileOrder),
}

#[derive(Clone, Debug)]
pub struct PickItem {
    pub command: Command,
    /// A few characters before the label, such as a key. The prefix is usually empty.
    pub prefix: SafeText,
    /// The text of the row. The filter searches the label, the note and the keywords.
    pub label: SafeText,
    /// A dimmed text after the label.
    pub note: SafeText,
    /// Other words by which the filter finds the row.
    keywords: String,
    /// Whether the row is dimmed. Picking a disabled row explains why it is disabled.
    pub disabled: bool,
    /// Whether the cursor starts on this row.
    pub current: bool,
    /// How often the row was picked. Among equal matches, the most picked row comes first.
    pub(super) picked: u32,
}

impl PickItem {
    pub(in crate::app) fn new(command: Command, label: impl AsRef<str>) -> Self {
        Self {
            command,
            prefix: SafeText::default(),
            label: SafeText::name(label.as_ref()),
            note: SafeText::default(),
            keywords: String::new(),
            disabled: false,
            current: false,
            picked: 0,
        }
    }

    pub(in crate::app) fn prefix(self, prefix: impl AsRef<str>) -> Self {
        Self { prefix: SafeText::name(prefix.as_ref()), ..self }
    }

    pub(in crate::app) fn note(self, note: impl AsRef<str>) -> Self {
        Self { note: SafeText::name(note.as_ref()), ..self }
    }

    pub(in crate::app) fn keywords(self, keywords: String) -> Self {
        Self { keywords, ..self }
    }

    pub(in crate::app) fn disabled(self, disabled: bool) -> Self {
        Self { disabled, ..self }
    }

    pub(in crate::app) fn unavailable(self, reason: Option<impl AsRef<str>>) -> Self {
        match reason {
            Some(reason) => self.note(reason).disabled(true),
            None => self,
        }
    }

    pub(in crate::app) fn picked(self, picked: u32) -> Self {
        Self { picked, ..self }
    }

    pub(in crate::app) fn current(self, current: bool) -> Self {
        Self { current, ..self }
    }
}

#[derive(Clone, Debug)]
pub struct PickList {
    pub items: Vec<PickItem>,
    pub filter: Input,
    /// The selected row among the matches.
    pub cursor: usize,
}

impl PickList {
    pub(in crate::app) fn new(items: Vec<PickItem>) -> Self {
        let cursor = items.iter().position(|item| item.current).unwrap_or(0);
        Self { items, filter: Input::default(), cursor }
    }

    /// Returns the items that match the filter, best first. Without a filter, all items are returned in order.
    pub fn matches(&self) -> Vec<&PickItem> {
        let typed = self.filter.value();
        let mut found: Vec<(usize, &PickItem)> = self
            .items
            .iter()
            .filter_map(|item| Some((match_distance(typed, item)?, item)))
            .collect();
        if !typed.is_empty() {
            found.sort_by_key(|(score, item)| (*score, Reverse(item.picked)));
        }
        found.into_iter().map(|(_, item)| item).collect()
    }

    pub fn selected(&self) -> Option<&Command> {
        self.matches().get(self.cursor).map(|item| &item.command)
    }

    /// Returns whether a digit picks its row. Digits pick rows while the filter is empty, but not in lists of
    /// actions, which show their own keys.
    pub fn is_numbered(&self) -> bool {
        let shows_keys = self.items.iter().any(|item| matches!(item.command, Command::Action(_)));
        self.filter.value().is_empty() && !shows_keys
    }

    /// Handles a key of the list or of its filter.
    pub(super) fn handle_key(&mut self, chord: Chord) -> KeyResult {
        let count = self.matches().len();
        match (chord.key, chord.typed(), chord.ctrl) {
            (Key::Esc, ..) => return KeyResult::Close,
            (Key::Enter, ..) if count > 0 => return KeyResult::Accept,
            (Key::Enter, ..) => {}
            (Key::Char('p'), _, true) => self.move_cursor(-1, count),
            (Key::Char('n'), _, true) => self.move_cursor(1, count),
            (_, Some(digit @ '1'..='9'), _) if self.is_numbered() => {
                let row = usize::from(digit as u8 - b'1');
                if row < count {
                    self.cursor = row;
                    return KeyResult::Accept;
                }
            }
            (key, ..) => match rows_to_move(key) {
                Some(by) => self.move_cursor(by, count),
                None if edit(&mut self.filter, chord) => self.cursor = 0,
                None => {}
            },
        }
        KeyResult::Stay
    }

    pub(super) fn select(&mut self, index: usize) {
        self.cursor = moved_cursor(index, 0, self.matches().len());
    }

    fn move_cursor(&mut self, by: isize, count: usize) {
        self.cursor = moved_cursor(self.cursor, by, count);
    }

    pub(super) fn text_input(&mut self) -> &mut Input {
        // The caller changes the filter, so the cursor could be below the last match.
        self.cursor = 0;
        &mut self.filter
    }

    /// Returns the rows for all items with the frame and the filter. A narrow list needs more rows, because notes are
    /// wrapped.
    pub(super) fn preferred_rows(&self, is_narrow: bool) -> u16 {
        let rows = self.items.len() * if is_narrow { 2 } else { 1 };
        u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(4)
    }

    /// Draws the filter above the matches.
    pub(super) fn draw(&self, ctx: &mut DrawContext, inside: Rect) {
        ctx.put(inside, 0, &[(" ▸ ", ctx.theme.accent)]);
        let field = field_area(inside, 3);
        if self.filter.value().is_empty() {
            ctx.put(field, 0, &[("  type to filter", ctx.theme.dim)]);
        }
        ctx.text_field(field, &self.filter, true);
        let matches = self.matches();
        // The blank row is omitted if the matches need it.
        let rows = below(inside, 1);
        let is_full = rows_of_items(ctx, rows, self, &matches) >= usize::from(rows.height);
        let rows = if is_full { rows } else { below(inside, 2) };
        if matches.is_empty() {
            let is_filtered = !self.filter.value().is_empty();
            let text =
                if is_filtered { "   no match; Backspace widens the filter" } else { "   none" };
            ctx.put(rows, 0, &[(text, ctx.theme.dim)]);
        }
        draw_items(ctx, rows, self, &matches);
    }
}

/// Returns how far an item is from the filter. A match in the label comes before a match in the note or the keywords.
fn match_distance(typed: &str, item: &PickItem) -> Option<usize> {
    let label = distance(typed, item.label.as_str());
    label.map(|score| score * 2).or_else(|| {
        let all = format!("{} {} {}", item.label, item.note, item.keywords);
        substring_distance(typed, &all).map(|score| score * 2 + 1)
    })
}

const MAX_PREFIX_WIDTH: usize = 14;

/// The cells that the prefixes and labels of a list need.
#[derive(Clone, Copy)]
struct ColumnWidths {
    prefix: usize,
    label: usize,
}

fn rows_of_items(ctx: &DrawContext, rows: Rect, list: &PickList, matches: &[&PickItem]) -> usize {
    let cells = usize::from(rows.width);
    item_lines(ctx, cells, list, matches).iter().map(|line| rows_of_line(line, cells)).sum()
}

fn item_lines(
    ctx: &DrawContext,
    cells: usize,
    list: &PickList,
    matches: &[&PickItem],
) -> Vec<Line<'static>> {
    let widest = |text: fn(&PickItem) -> &str| {
        list.items.iter().map(|item| display_width(text(item))).max().unwrap_or(0)
    };
    let widths = ColumnWidths {
        prefix: widest(|item| item.prefix.as_str()).min(MAX_PREFIX_WIDTH),
        label: widest(|item| item.label.as_str()).min(cells / 2),
    };
    let line = |(index, item): (usize, &&PickItem)| {
        let digit = (list.is_numbered() && index < 9).then_some(index + 1);
        item_line(ctx, item, widths, index == list.cursor, digit)
    };
    matches.iter().enumerate().map(line).collect()
}

/// Draws the matches. Long matches are wrapped while there are rows. If the selected match is still cut, it is shown in
/// full.
fn draw_items(ctx: &mut DrawContext, rows: Rect, list: &PickList, matches: &[&PickItem]) {
    // The area may have been laid out for a larger screen.
    let rows = rows.intersection(ctx.buf.area);
    let cells = usize::from(rows.width);
    let lines = item_lines(ctx, cells, list, matches);
    let needed: usize = lines.iter().map(|line| rows_of_line(line, cells)).sum();
    let is_cut = lines.get(list.cursor).is_some_and(|line| line.width() > cells);
    let rows = match matches.get(list.cursor) {
        Some(item) if is_cut && needed > usize::from(rows.height) => {
            ctx.text_below(rows, &full_text(item, cells))
        }
        _ => rows,
    };
    let height = usize::from(rows.height);
    let top = if lines.len() > height { scroll_top(0, list.cursor, height) } else { 0 };
    ctx.scroll_mark(rows.outer(Margin::new(1, 1)), top, height, lines.len());
    let visible = &lines[top..lines.len().min(top + height)];
    let mut row = 0;
    for (index, item) in (top..).zip(fitting_items(visible, cells, height)) {
        for line in item {
            ctx.buf.set_line(rows.x, rows.y + row, &line, rows.width);
            ctx.list_row(rows, row, index, index == list.cursor);
            row += 1;
        }
    }
}

/// Returns what a row cuts: the note, and the label if the label is long.
fn full_text(item: &PickItem, cells: usize) -> String {
    let (label, note) = (item.label.as_str(), item.note.as_str());
    let is_label_whole = display_width(label) + MAX_PREFIX_WIDTH < cells && !note.is_empty();
    if is_label_whole { note.to_owned() } else { format!("{label}  {note}") }
}

fn item_line(
    ctx: &DrawContext,
    item: &PickItem,
    widths: ColumnWidths,
    selected: bool,
    digit: Option<usize>,
) -> Line<'static> {
    let theme = ctx.theme;
    let (style, key) = if item.disabled { (theme.dim, theme.dim) } else { (theme.text, theme.key) };
    let pad = |text: &str, cells: usize| " ".repeat(cells.saturating_sub(display_width(text)) + 2);
    let (prefix, label) = (item.prefix.as_str(), item.label.as_str());
    let cursor = if selected { "▸" } else { " " };
    let digit = digit.map_or_else(|| "  ".to_owned(), |digit| format!("{digit} "));
    let mut parts = vec![
        Span::styled(cursor, theme.accent),
        Span::styled(digit, theme.dim),
        Span::styled(prefix.to_owned(), key),
    ];
    if widths.prefix > 0 {
        parts.push(Span::styled(pad(prefix, widths.prefix), style));
    }
    parts.push(Span::styled(label.to_owned(), style));
    if !item.note.is_empty() {
        parts.push(Span::styled(pad(label, widths.label), style));
        parts.push(Span::styled(item.note.to_string(), theme.dim));
    }
    Line::from(parts)
}

/// A set operation with another tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The position of the other tab.
    pub tab: usize,
    pub operator: SetOperator,
}

/// Returns how far `typed` is from `text`. 0 is the best match, and `None` is no match. Case is
/// ignored.
pub fn distance(typed: &str, text: &str) -> Option<usize> {
    sum_of_words(typed, text, |word, text| {
        in_one_piece(word, text).or_else(|| initials_distance(word, text))
    })
}

/// Returns how far `typed` is from `text` if each word must occur in one piece.
pub fn substring_distance(typed: &str, text: &str) -> Option<usize> {
    sum_of_words(typed, text, in_one_piece)
}

fn sum_of_words(
    typed: &str,
    text: &str,
    distance: impl Fn(&[char], &[char]) -> Option<usize>,
) -> Option<usize> {
    let text: Vec<char> = search_form(text).chars().collect();
    search_form(typed).split_whitespace().try_fold(0, |sum, word| {
        let word: Vec<char> = word.chars().collect();
        distance(&word, &text).map(|score| sum + score)
    })
}

/// Returns the best match in one piece. The whole text is best, then its start, the start of a
/// word, and any other position.
fn in_one_piece(word: &[char], text: &[char]) -> Option<usize> {
    text.windows(word.len())
        .enumerate()
        .filter(|(_, piece)| *piece == word)
        .map(|(at, _)| match at {
            0 if word.len() == text.len() => 0,
            0 => 1,
            _ if is_word_start(text, at) => 2,
            _ => 3,
        })
        .min()
}

/// Matches the beginnings of several words in order, such as `exda` for `export the dataset`. More
/// words give a larger distance.
fn initials_distance(word: &[char], text: &[char]) -> Option<usize> {
    // `rests[n]` is the position in the text from which letter `n` and the ones after it can match. Each round uses one
    // more word of the text. If several ways match the same number of letters, only the one that leaves the most text
    // is kept.
    let mut rests = vec![None; word.len() + 1];
    rests[0] = Some(0);
    (4..4 + word.len()).find(|_| {
        let mut next: Vec<Option<usize>> = vec![None; word.len() + 1];
        for (taken, rest) in rests.iter().enumerate() {
            let Some(rest) = *rest else { continue };
            for at in (rest..text.len()).filter(|at| is_word_start(text, *at)) {
                let common = word[taken..].iter().zip(&text[at..]).take_while(|(a, b)| a == b);
                for (letters, end) in (taken + 1..).zip(at + 1..).take(common.count()) {
                    next[letters] = Some(next[letters].map_or(end, |other| other.min(end)));
                }
            }
        }
        rests = next;
        rests[word.len()].is_some()
    })
}

fn is_word_start(text: &[char], at: usize) -> bool {
    text[at].is_alphanumeric() && (at == 0 || !text[at - 1].is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_come_before_parts_and_beginnings() {
        let score = |typed: &str| distance(typed, "Export the dataset");
        assert_eq!(score(""), Some(0));
        assert_eq!(score("EXP"), Some(1));
        assert_eq!(score("data"), Some(2));
        assert_eq!(score("data exp"), Some(3));
        assert_eq!(score("set"), Some(3));
        assert_eq!(score("exda"), Some(5));
        assert_eq!(score("etd"), Some(6));
        assert_eq!(score("zebra"), None);
        assert_eq!(distance("ПЛЯЖ", "пляж"), Some(0));
    }

    #[test]
    fn letters_scattered_within_words_do_not_match() {
        assert_eq!(distance("exds", "Export the dataset"), None);
        assert_eq!(distance("tag", "Go to the first page"), None);
        // The ways to divide a word among many beginnings are not tried one by one.
        assert_eq!(distance(&"a".repeat(60), &format!("{}b", "aaa ".repeat(19))), None);
        assert_eq!(distance(&"a".repeat(57), &"aaa ".repeat(19)), Some(22));
        assert_eq!(substring_distance("etd", "Export the dataset"), None);
        assert_eq!(substring_distance("the data", "Export the dataset"), Some(4));
    }
}
