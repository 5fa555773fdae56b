//! Reviews near-duplicates in three stages: a list of groups, a group with two of its images side by side, and an end
//! that says which images go and what can be done with them. The decisions are in `duplicate_groups`.

use std::collections::BTreeSet;

use ratatui::{
    layout::{
        Constraint::{Length, Min},
        Layout, Margin,
    },
    style::Style,
    widgets::{Clear, Widget},
};
use tessera_curation::{
    FileAction, FileActionPreview,
    duplicates::{DuplicateGroup, KeepRule},
};
use tessera_model::{
    ExportPart, MediaId, PictureSource,
    tag::{PICKED, REJECTED},
    text::{
        count_with_noun, format_bytes, group_digits, grouped_with_noun, truncate, truncate_start,
    },
};
use tessera_picture::{Canvas, Crop, DifferingPixels, PictureSubject, PictureView, Protocol};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Pane,
        overlay::{
            duplicate_groups::{Decisions, DuplicateGroups, Merit, ReviewGroup, ReviewImage},
            export::ExportForm,
            file_actions,
            prompt::{PromptPurpose, TextPrompt},
        },
        pane::{inner_area, list_step, moved_cursor, scroll_top},
        view::pictures::VisiblePicture,
        viewer::{ZoomPosition, actual_zoom},
    },
    drawing::{
        ClickTarget, Prefilled, Theme, below, display_width, equal_columns, field_area, line,
        rows_of_lines, text_cells,
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewStage {
    List,
    Group,
    End,
}

#[derive(Clone, Debug)]
pub struct DuplicateReview {
    dataset: DatasetId,
    pub rule: KeepRule,
    /// The rule that is being typed.
    typed_rule: Option<Prefilled>,
    pub found: DuplicateGroups,
    /// The groups whose images were shown.
    opened: BTreeSet<usize>,
    pub stage: ReviewStage,
    /// The selected group.
    pub group: usize,
    /// The selected image of the group.
    pub image: usize,
    shows_difference: bool,
    /// Whether a pixel of the picture is a pixel of the screen.
    is_zoomed: bool,
    /// The first visible line of the end.
    top: usize,
    /// What the last key has done, or why it has done nothing.
    pub message: String,
}

/// The rules that a key goes through. The other rules need a folder or a pattern.
const RULES: [KeepRule; 4] =
    [KeepRule::Largest, KeepRule::BestQuality, KeepRule::Oldest, KeepRule::ShortestName];

/// The columns of the list before the name.
const LIST_COLUMNS: usize = 44;
/// The columns of a group at which the similarity of an image without marks, and at which its sharpness is shown.
const SIMILARITY_COLUMNS: u16 = 75;
const SHARPNESS_COLUMNS: u16 = 100;
/// The smallest number of columns for a path.
const MIN_PATH_COLUMNS: usize = 12;
/// The smallest height of the pictures.
const MIN_PICTURE_ROWS: u16 = 4;

/// The keys of the list and of a group, as the help describes them.
const LIST_KEYS: [(&str, &str); 7] = [
    ("↑ ↓ k j g G", "Select a group"),
    ("Enter", "Open the group"),
    ("f", "Go to the end, which offers what to do with the files that go"),
    ("r", "Suggest by the next rule which image stays"),
    ("R", "Take a rule that is typed"),
    ("u", "Undo the last decision"),
    ("Esc", "Close; the rule and the decisions are remembered until the program ends"),
];
const GROUP_KEYS: [(&str, &str); 12] = [
    ("↑ ↓ k j", "Select an image, which is shown beside the first one"),
    ("n p", "Go to the next or previous group; after the last one, to the end"),
    ("x Space", "Keep the image, or let it go"),
    ("o", "Keep only this image of the group"),
    ("a", "Keep all images of the group"),
    ("u", "Undo the last decision"),
    ("d", "Show where the two images differ"),
    ("z", "Show the pixels one to one"),
    ("f", "Go to the end, which offers what to do with the files that go"),
    ("r", "Suggest by the next rule which image stays"),
    ("R", "Take a rule that is typed"),
    ("Esc", "Go back to the list of groups"),
];

struct ReviewAreas {
    /// The names above the pictures, and the pictures.
    halves: Vec<(Rect, Rect)>,
    table: Rect,
}

impl DuplicateReview {
    pub(in crate::app) fn open(app: &mut App) {
        let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return };
        let earlier = app.overlays.duplicate_reviews.get(&dataset).cloned();
        let (rule, decisions) = earlier.unwrap_or((KeepRule::Largest, Decisions::default()));
        let review = Self {
            dataset,
            rule,
            typed_rule: None,
            found: DuplicateGroups::with_decisions(decisions),
            opened: BTreeSet::new(),
            stage: ReviewStage::List,
            group: 0,
            image: 0,
            shows_difference: false,
            is_zoomed: false,
            top: 0,
            message: String::new(),
        };
        review.request(app);
        app.overlays.open(review);
    }

    /// Requests the groups by the rule.
    fn request(&self, app: &mut App) {
        let request = Request::FindDuplicates(self.dataset, self.rule.clone());
        app.outbox.send(Lane::FileAction(self.dataset), request);
    }

    fn find_again(&mut self, rule: KeepRule, app: &mut App) {
        self.rule = rule;
        self.request(app);
    }

    /// Returns whether the groups, or the preview of an action, are being prepared.
    fn is_waiting(&self, app: &App) -> bool {
        app.outbox.tickets.is_open(&Lane::FileAction(self.dataset))
    }

    pub(in crate::app) fn groups_found(
        overlays: &mut Overlays,
        dataset: DatasetId,
        groups: &[DuplicateGroup],
    ) {
        let Some(review) = overlays.dialog_mut::<Self>().filter(|it| it.dataset == dataset) else {
            return;
        };
        let images = review.selected_group().map(|group| group.images.iter().map(|it| it.media));
        let selected: Vec<MediaId> = images.into_iter().flatten().collect();
        review.found.replace(groups);
        review.opened.clear();
        let group = selected.into_iter().find_map(|media| review.found.position_of(media));
        if group.is_none() {
            review.stage = ReviewStage::List;
        }
        review.enter_group(group.unwrap_or(0));
        review.message = format!("by the rule {}", review.rule);
    }

    /// Shows the groups that were found before, or closes.
    pub(in crate::app) fn finding_failed(overlays: &mut Overlays, dataset: DatasetId) {
        let review = overlays.dialog_mut::<Self>().filter(|it| it.dataset == dataset);
        if review.is_some_and(|review| review.found.groups.is_empty()) {
            overlays.close();
        }
    }

    /// Shows the preview of an action. If the action was planned in the open review, cancelling goes back there.
    pub(in crate::app) fn action_planned(
        app: &mut App,
        dataset: DatasetId,
        preview: Box<FileActionPreview>,
    ) {
        let is_open = app.overlays.dialog::<Self>().is_some_and(|it| it.dataset == dataset);
        let review = if is_open { app.overlays.open.take() } else { None };
        file_actions::planned(app, dataset, preview, review);
    }

    fn selected_group(&self) -> Option<&ReviewGroup> {
        self.found.groups.get(self.group)
    }

    /// Returns the two images that are beside each other: the first one of the group, and the selected one.
    fn pair(&self) -> Option<[&ReviewImage; 2]> {
        let images = &self.selected_group()?.images;
        Some([images.first()?, images.get(self.image.max(1))?])
    }

    fn enter_group(&mut self, group: usize) {
        self.group = group;
        self.image = 1;
        self.message.clear();
        if self.stage == ReviewStage::Group {
            self.opened.insert(group);
        }
    }

    fn step_group(&mut self, by: isize) {
        let is_last = self.group + 1 >= self.found.groups.len();
        if by > 0 && is_last {
            self.stage = ReviewStage::End;
            return self.message.clear();
        }
        self.enter_group(moved_cursor(self.group, by, self.found.groups.len()));
    }

    fn undo(&mut self) {
        match self.found.undo() {
            Some(group) => {
                self.group = group;
                self.image = 1;
                self.message = format!("undone in group {}", group + 1);
            }
            None => "there is nothing to undo in this review".clone_into(&mut self.message),
        }
    }

    fn key_in_rule(&mut self, chord: Chord, app: &mut App) {
        let Some(typed) = &mut self.typed_rule else { return };
        match chord.key {
            Key::Esc => {
                self.typed_rule = None;
                self.message.clear();
            }
            Key::Enter => match typed.value().trim().parse() {
                Ok(rule) => {
                    self.typed_rule = None;
                    self.find_again(rule, app);
                }
                Err(reason) => self.message = format!("this is not a rule: {reason}"),
            },
            _ => _ = typed.edit(chord),
        }
    }

    /// Handles the keys that the list and the groups share.
    fn key_of_review(&mut self, chord: Chord, app: &mut App) {
        match chord.key {
            Key::Char('u') => self.undo(),
            Key::Char('f') => self.stage = ReviewStage::End,
            Key::Char('R') => {
                self.typed_rule = Some(Prefilled::new(&self.rule.to_string()));
                self.message = format!("a rule is {}", KeepRule::NAMES);
            }
            Key::Char('r') => {
                let following = RULES.into_iter().skip_while(|rule| *rule != self.rule).nth(1);
                self.find_again(following.unwrap_or(KeepRule::Largest), app);
            }
            _ => {}
        }
    }

    fn key_in_list(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let count = self.found.groups.len();
        match chord.key {
            Key::Esc | Key::Char('q') => return KeyResult::Close,
            _ if count == 0 => {}
            Key::Enter | Key::Right | Key::Char('l') => {
                self.stage = ReviewStage::Group;
                self.enter_group(self.group);
            }
            key => match list_step(key) {
                Some(by) => self.group = moved_cursor(self.group, by, count),
                None => self.key_of_review(chord, app),
            },
        }
        KeyResult::Stay
    }

    fn key_in_group(&mut self, chord: Chord, app: &mut App) {
        let count = self.selected_group().map_or(0, |group| group.images.len());
        match chord.key {
            Key::Esc | Key::Char('q') => self.stage = ReviewStage::List,
            Key::Enter | Key::Right | Key::Char('l' | 'n') => self.step_group(1),
            Key::Left | Key::Char('h' | 'p') => self.step_group(-1),
            Key::Char('d') => self.shows_difference ^= true,
            Key::Char('z') => self.is_zoomed ^= true,
            Key::Char('x' | ' ') => {
                self.message = match self.found.toggle(self.group, self.image) {
                    Ok(()) => "changed; u undoes it".to_owned(),
                    Err(reason) => reason.to_owned(),
                };
            }
            Key::Char('o') => {
                self.found.keep_only(self.group, self.image);
                "only this image stays; u undoes it".clone_into(&mut self.message);
            }
            Key::Char('a') => {
                self.found.keep_all(self.group);
                "all images of this group stay; u undoes it".clone_into(&mut self.message);
            }
            key => match list_step(key) {
                Some(by) => self.image = moved_cursor(self.image, by, count),
                None => self.key_of_review(chord, app),
            },
        }
    }

    fn key_at_end(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let of_key = |(key, ..): &&(char, _, _)| chord.key == Key::Char(*key);
        if let Some((_, action, _)) = END_ACTIONS.iter().find(of_key) {
            if self.found.going().next().is_some() {
                return self.act(*action, app);
            }
            "no file goes, so there is nothing to do".clone_into(&mut self.message);
            return KeyResult::Stay;
        }
        match chord.key {
            Key::Esc | Key::Char('q') => self.stage = ReviewStage::List,
            Key::Char('u') => self.undo(),
            key => {
                let lines = self.found.groups.iter().map(|group| group.images.len()).sum();
                self.top = moved_cursor(self.top, list_step(key).unwrap_or(0), lines);
            }
        }
        KeyResult::Stay
    }

    /// Performs an action on the files that go. The trash and the move need no selection, so that the user keeps the
    /// former selection if they are cancelled. The review stays below their dialogs.
    fn act(&self, action: EndAction, app: &mut App) -> KeyResult {
        match action {
            EndAction::Trash => {
                file_actions::plan_duplicates(app, self.found.decided(), FileAction::Trash);
                return KeyResult::Stay;
            }
            EndAction::Move => {
                let purpose = PromptPurpose::MoveDuplicates(self.found.decided());
                let prompt = TextPrompt::new(purpose, "");
                app.overlays.open(TextPrompt { form: Some(Box::new(self.clone())), ..prompt });
            }
            EndAction::ExportRest => {
                self.select_going(app);
                ExportForm::open_for_basket(app, ExportPart::RestOfDataset);
            }
            EndAction::Select => {
                self.select_going(app);
                app.panes.focus = Pane::Basket;
            }
        }
        KeyResult::Close
    }

    /// Returns the areas of a group. If there is no room for pictures, the table fills the whole area.
    fn areas(&self, area: Rect, app: &App) -> ReviewAreas {
        let inside = inner_area(area);
        let images = self.selected_group().map_or(0, |group| group.images.len());
        let shows_pictures =
            app.screen.protocol != Protocol::None && app.screen.has_room_for_pictures();
        let most = if shows_pictures {
            inside.height.saturating_sub(MIN_PICTURE_ROWS + 2) / 2
        } else {
            u16::MAX
        };
        let rows = u16::try_from(images).unwrap_or(u16::MAX).min(most).max(2);
        let constraints = [Length(1), Min(0), Length(rows), Length(1)];
        let [names, pictures, table, _] = Layout::vertical(constraints).areas(inside);
        let halves = equal_columns(names, 2).into_iter().zip(equal_columns(pictures, 2));
        ReviewAreas { halves: halves.collect(), table }
    }

    fn part_of(&self, image: &ReviewImage, canvas: Canvas) -> (Crop, Canvas) {
        let size = image.image.size;
        let actual = self.pair().map(|pair| actual_zoom(pair[0].image.size, canvas).max(1.0));
        let zoom = actual.filter(|_| self.is_zoomed).unwrap_or(1.0);
        let (part, canvas) = ZoomPosition { zoom, ..ZoomPosition::default() }.part(size, canvas);
        (Crop::Zoomed(part, [].into()), canvas)
    }
}

impl Dialog for DuplicateReview {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let mut result = KeyResult::Stay;
        match self.stage {
            _ if self.typed_rule.is_some() => self.key_in_rule(chord, app),
            _ if self.is_waiting(app) => {
                if matches!(chord.key, Key::Esc | Key::Char('q')) {
                    result = KeyResult::Close;
                }
            }
            ReviewStage::List => result = self.key_in_list(chord, app),
            ReviewStage::Group => self.key_in_group(chord, app),
            ReviewStage::End => result = self.key_at_end(chord, app),
        }
        let review = (self.rule.clone(), self.found.decisions().clone());
        app.overlays.duplicate_reviews.insert(self.dataset, review);
        result
    }

    fn select_item(&mut self, index: usize, _: &App) {
        match self.stage {
            ReviewStage::List => self.group = moved_cursor(index, 0, self.found.groups.len()),
            ReviewStage::Group => {
                let count = self.selected_group().map_or(0, |group| group.images.len());
                self.image = moved_cursor(index, 0, count);
            }
            ReviewStage::End => {}
        }
    }

    fn hints(&self) -> &'static str {
        if self.typed_rule.is_some() {
            return "Enter use the rule   Esc cancel";
        }
        match self.stage {
            _ if self.found.groups.is_empty() => "Esc close",
            ReviewStage::List => {
                "Enter open   r next rule   R other rule   u undo   f finish   Esc close"
            }
            ReviewStage::Group => {
                "x keep/goes   o only   a all   n p group   u undo   d difference   z 1:1   f finish   Esc list"
            }
            ReviewStage::End => "t trash   m move   s select   e export the rest   Esc back",
        }
    }

    fn keys(&self) -> &'static [(&'static str, &'static str)] {
        match self.stage {
            ReviewStage::List => &LIST_KEYS,
            ReviewStage::Group => &GROUP_KEYS,
            // The end names its keys itself.
            ReviewStage::End => &[],
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        self.typed_rule.as_mut().map(Prefilled::replaced)
    }

    fn field_text(&self) -> Option<String> {
        self.typed_rule.as_ref().map(|rule| rule.value().to_owned())
    }

    /// Returns the pictures of the two halves. Both show the same part at the same size.
    fn pictures(&self, area: Rect, app: &App) -> Vec<(Rect, VisiblePicture)> {
        let Some(pair) = self.pair().filter(|_| self.stage == ReviewStage::Group) else {
            return Vec::new();
        };
        let source = |image: &ReviewImage| PictureSource::File(image.image.original.path.clone());
        let halves = self.areas(area, app).halves.into_iter().map(|(_, half)| half);
        let shown = halves.zip(pair).enumerate();
        let picture = |(index, (half, image)): (usize, (Rect, &ReviewImage))| {
            let (crop, canvas) = self.part_of(image, app.screen.canvas(half.width, half.height));
            let is_difference = index == 1 && self.shows_difference;
            let subject = if is_difference {
                PictureSubject::Difference(pair[0].media, pair[1].media)
            } else {
                PictureSubject::Media(image.media)
            };
            let compared_with = is_difference.then(|| source(pair[1]));
            let source = source(if is_difference { pair[0] } else { image });
            let view = PictureView { subject, crop };
            (half, VisiblePicture { view, source, compared_with, canvas })
        };
        shown.filter(|(_, (half, _))| half.height > 0).map(picture).collect()
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        if self.is_waiting(ctx.app) {
            let inside = ctx.dialog(area, "Duplicates");
            let waits_for = match self.stage {
                ReviewStage::End => "Preparing the preview of the action",
                ReviewStage::List | ReviewStage::Group => "Looking for near-duplicates",
            };
            return ctx.centered_message(inside, ctx.theme.dim, &[waits_for]);
        }
        let inside = ctx.dialog(area, &self.title());
        if self.found.groups.is_empty() {
            let lines = ["No near-duplicates were found in this dataset."];
            return ctx.centered_message(inside, ctx.theme.dim, &lines);
        }
        match self.stage {
            ReviewStage::List => self.draw_list(ctx, inside),
            ReviewStage::Group => self.draw_group(ctx, area),
            ReviewStage::End => self.draw_end(ctx, inside),
        }
        self.draw_message(ctx, inside);
    }
}

impl DuplicateReview {
    /// Selects the files that go.
    fn select_going(&self, app: &mut App) {
        let selection = self.found.selection();
        let files = grouped_with_noun(selection.len() as u64, "file", "files");
        let text = format!("selected {files} that go; u restores the previous selection");
        app.baskets.replace(self.dataset, &selection, &text, &mut app.outbox);
    }

    /// Returns whether the groups that were found are listed.
    pub fn lists_groups(&self, app: &App) -> bool {
        let is_open = !self.is_waiting(app) && self.typed_rule.is_none();
        is_open && self.stage == ReviewStage::List && !self.found.groups.is_empty()
    }

    pub fn title(&self) -> String {
        let count = self.found.groups.len();
        let groups = grouped_with_noun(count as u64, "group", "groups");
        match (self.stage, self.selected_group()) {
            (ReviewStage::Group, Some(group)) => {
                let totals = self.found.totals(std::slice::from_ref(group));
                let freed = format_bytes(totals.freed_bytes);
                let number = group_digits(self.group as u64 + 1);
                let count = group_digits(count as u64);
                let pairs = group.images.len() - 1;
                let pair = match pairs {
                    1 => String::new(),
                    _ => format!(", pair {} of {pairs}", self.image.max(1)),
                };
                format!("Duplicates: group {number} of {count}{pair}, frees {freed}")
            }
            (ReviewStage::End, _) => format!("Duplicates: the end of {groups}"),
            _ => {
                let freed = format_bytes(self.found.totals(&self.found.groups).freed_bytes);
                format!("Duplicates: {groups}, frees {freed}")
            }
        }
    }

    /// Draws the message in the last row. While a rule is typed, the message is above the field.
    fn draw_message(&self, ctx: &mut DrawContext, inside: Rect) {
        let theme = ctx.theme;
        let last = Rect { y: inside.bottom().saturating_sub(1), height: 1, ..inside };
        let Some(typed) = &self.typed_rule else {
            return ctx.put(last, 0, &[(" ", theme.text), (&self.message, theme.dim)]);
        };
        let message = [Line::styled(format!(" {}", self.message), theme.attention)];
        let rows = rows_of_lines(&message, inside.width).min(inside.height.saturating_sub(1));
        let above = Rect { y: last.y - rows, height: rows, ..inside };
        Clear.render(above.union(last).intersection(ctx.buf.area), ctx.buf);
        ctx.put_lines(above, &message);
        let label = " keep: ";
        ctx.put(last, 0, &[(label, theme.accent)]);
        ctx.prefilled_field(field_area(last, text_cells(label)), typed, true);
    }

    fn draw_list(&self, ctx: &mut DrawContext, inside: Rect) {
        let room = usize::from(inside.height.saturating_sub(1));
        let names: Vec<SafeText> = self.found.groups.iter().map(ReviewGroup::name).collect();
        let widest = names.iter().map(|name| display_width(name.as_str())).max().unwrap_or(0);
        let is_wide = LIST_COLUMNS + widest <= usize::from(inside.width);
        // A name that does not fit is below its row if there is room for all names.
        let lines = if is_wide || 2 * names.len() > room { 1 } else { 2 };
        let rows = room / lines;
        let top = scroll_top(self.group.saturating_sub(rows / 2), self.group, rows);
        let theme = ctx.theme;
        let visible = self.found.groups.iter().zip(&names).enumerate().skip(top).take(rows);
        for (row, (index, (group, name))) in (0..inside.height).step_by(lines).zip(visible) {
            let totals = self.found.totals(std::slice::from_ref(group));
            let mark = if index == self.group { " ▸ " } else { "   " };
            let images = count_with_noun(group.images.len(), "image", "images");
            let mut parts = vec![
                (mark.to_owned(), theme.accent),
                (if self.found.is_decided(group) { "✓ " } else { "  " }.to_owned(), theme.success),
                (format!("{images:<11}"), theme.text),
            ];
            if self.found.is_undecided(group) {
                parts.push((format!("{:<28}", "undecided, nothing goes"), theme.attention));
            } else {
                let freed = format_bytes(totals.freed_bytes);
                parts.push((format!("keeps {:<4}", totals.kept), theme.success));
                parts.push((format!("frees {freed:>10}  "), theme.attention));
            }
            if lines == 1 {
                parts.push((name.to_string(), theme.dim));
            } else {
                ctx.put(inside, row + 1, &[("     ", theme.dim), (name.as_str(), theme.dim)]);
            }
            ctx.put(inside, row, &parts);
            ctx.list_row(inside, row, index, index == self.group);
        }
        ctx.scroll_mark(inside.outer(Margin::new(1, 1)), top, rows, self.found.groups.len());
    }

    fn draw_group(&self, ctx: &mut DrawContext, area: Rect) {
        let (Some(group), Some(pair)) = (self.selected_group(), self.pair()) else { return };
        let areas = self.areas(area, ctx.app);
        let pictures = self.pictures(area, ctx.app);
        for (index, ((name, _), image)) in areas.halves.iter().zip(pair).enumerate() {
            let text = match pictures.get(1) {
                Some((_, map)) if index == 1 && self.shows_difference => {
                    difference_text(ctx.app, map)
                }
                _ => image.path().to_string(),
            };
            let is_selected = self.image == 0 && index == 0 || self.image > 0 && index == 1;
            let style = if is_selected { ctx.theme.accent } else { ctx.theme.dim };
            let text = truncate_start(&text, usize::from(name.width.saturating_sub(2)));
            ctx.put(*name, 0, &[(if is_selected { "▸ " } else { "  " }, style), (&text, style)]);
        }
        for (half, picture) in pictures {
            ctx.draw_picture(half, picture.view, picture.canvas);
        }
        let rows = usize::from(areas.table.height);
        let top = scroll_top(0, self.image, rows);
        for (row, index) in (0..areas.table.height).zip(top..group.images.len()) {
            let parts = self.image_parts(ctx, group, index, areas.table.width);
            ctx.put(areas.table, row, &parts);
            ctx.select_row(areas.table, row, index == self.image);
            ctx.click(line(areas.table, row), ClickTarget::Item(index));
            ctx.item(areas.table.y + row, index);
        }
        let table = Rect { x: area.x, width: area.width, ..areas.table.outer(Margin::new(0, 1)) };
        ctx.scroll_mark(table, top, rows, group.images.len());
    }

    /// Returns the columns of an image: the decision, and its advantages.
    fn image_parts(
        &self,
        ctx: &DrawContext,
        group: &ReviewGroup,
        index: usize,
        width: u16,
    ) -> Vec<(String, Style)> {
        let (theme, image) = (ctx.theme, &group.images[index]);
        let (decision, style) = decision_text(theme, self.found.goes(image));
        let mut parts = vec![
            (if index == self.image { " ▸ " } else { "   " }.to_owned(), theme.accent),
            (format!("{decision}  "), style),
        ];
        for merit in Merit::ALL {
            let text = merit.text(image);
            let is_equal = group.images.iter().all(|other| merit.text(other) == text);
            // The path has more room without what is the same for all images.
            if width < SHARPNESS_COLUMNS && (is_equal || merit == Merit::Sharpness) {
                continue;
            }
            let is_better = group.is_better(index, merit);
            let best = ctx.app.setup.sign("+", ", the best  ");
            let (text, style) =
                if is_better { (text + best, theme.success) } else { (text, theme.text) };
            parts.push((format!("{text:<12}"), style));
        }
        let similarity = match image.similarity {
            _ if image.is_identical => "same bytes".to_owned(),
            Some(similarity) => format!("{:.1} %", similarity * 100.0),
            None => String::new(),
        };
        // The similarity gives way to the marks and the path, in all rows of the group.
        let all_marks = group.images.iter().map(|it| display_width(&marks(ctx.app, it)));
        let widest = all_marks.max().filter(|it| *it > 0).map_or(0, |widest| widest + 1);
        let all_marks = u16::try_from(widest).unwrap_or(u16::MAX);
        if width >= SIMILARITY_COLUMNS.saturating_add(all_marks) {
            parts.push((format!("{:<6}{similarity:<12}", image.format()), theme.dim));
        }
        let used: usize = parts.iter().map(|(text, _)| display_width(text)).sum();
        let room = usize::from(width).saturating_sub(used + 1);
        let rest = marks_and_path(&marks(ctx.app, image), image.path().as_str(), room);
        parts.extend(rest.into_iter().zip([theme.attention, theme.text]));
        parts
    }

    /// Says in which groups only the rule decides, and in which nothing does.
    fn rule_lines(&self) -> Vec<String> {
        let (undecided, others): (Vec<_>, Vec<_>) =
            (0..).zip(&self.found.groups).partition(|(_, group)| self.found.is_undecided(group));
        let is_unopened = |(index, group): &&(usize, &ReviewGroup)| {
            !self.opened.contains(index) && !self.found.is_decided(group)
        };
        let unopened = others.iter().filter(is_unopened).count();
        let groups = grouped_with_noun(unopened as u64, "group was", "groups were");
        let ruled = format!(" {groups} not opened: there, the rule {} decides.", self.rule);
        let groups = grouped_with_noun(undecided.len() as u64, "group", "groups");
        let left = format!(" {groups}: the rule {} keeps no image, so nothing goes.", self.rule);
        [(unopened, ruled), (undecided.len(), left)]
            .into_iter()
            .filter_map(|(count, text)| (count > 0).then_some(text))
            .collect()
    }

    fn draw_end(&self, ctx: &mut DrawContext, inside: Rect) {
        let theme = ctx.theme;
        let totals = self.found.totals(&self.found.groups);
        let kept = grouped_with_noun(totals.kept as u64, "file stays", "files stay");
        let going = grouped_with_noun(totals.going as u64, "file goes", "files go");
        let freed = format_bytes(totals.freed_bytes);
        let mut lines =
            vec![Line::styled(format!(" {kept}, {going}: {freed} are freed."), theme.text)];
        lines.extend(self.rule_lines().into_iter().map(|text| Line::styled(text, theme.attention)));
        lines.push(Line::default());
        lines.extend(END_ACTIONS.map(|(key, _, text)| {
            Line::from(vec![
                Span::styled(format!("   {key}  "), theme.key),
                Span::styled(text, theme.text),
            ])
        }));
        lines.push(Line::default());
        lines.extend(NOTES.map(|note| Line::styled(note, theme.dim)));
        lines.push(Line::default());
        ctx.put_lines(inside, &lines);
        let list = below(inside, rows_of_lines(&lines, inside.width));
        let images: Vec<_> = self.found.groups.iter().flat_map(|group| &group.images).collect();
        let rows = list.height.saturating_sub(1);
        let area = Rect { height: rows, ..list }.outer(Margin::new(1, 1));
        ctx.scroll_mark(area, self.top, usize::from(rows), images.len());
        for (row, image) in (0..rows).zip(images.into_iter().skip(self.top)) {
            let (decision, style) = decision_text(theme, self.found.goes(image));
            let size = format_bytes(image.bytes());
            let first = format!("   {decision}  {size:>10}  ");
            let room = usize::from(list.width).saturating_sub(display_width(&first) + 1);
            let [marks, path] = marks_and_path(&marks(ctx.app, image), image.path().as_str(), room);
            let marks_style = if self.found.goes(image) { theme.attention } else { theme.dim };
            ctx.put(list, row, &[(first, style), (marks, marks_style), (path, theme.text)]);
        }
    }
}

/// What can be done with the files that go, at the end of the review.
#[derive(Clone, Copy)]
enum EndAction {
    Trash,
    Move,
    Select,
    ExportRest,
}

/// The actions at the end, with their keys.
const END_ACTIONS: [(char, EndAction, &str); 4] = [
    ('t', EndAction::Trash, "put the files that go into the trash"),
    ('m', EndAction::Move, "move the files that go to a folder"),
    ('s', EndAction::Select, "list the files that go, as the selection"),
    ('e', EndAction::ExportRest, "export the rest: every image of the dataset that does not go"),
];

const NOTES: [&str; 3] = [
    " Nothing has changed yet.",
    " Each action shows a preview, and can be undone.",
    " The marks, caption and labels of a file are before its path.",
];

fn decision_text(theme: &Theme, goes: bool) -> (&'static str, Style) {
    if goes { ("goes", theme.attention) } else { ("keep", theme.success) }
}

/// Returns what an image has that may be missed, as signs, or as words if it is read aloud.
fn marks(app: &App, image: &ReviewImage) -> String {
    let marks = image.image.marks();
    let words = [(" ", ", "), ("✔", PICKED), ("✖", REJECTED), ("★", "rated "), ("#", "tags: ")];
    let words = words.iter().filter(|_| app.setup.is_text);
    words.fold(marks, |text, (sign, words)| text.replace(sign, words))
}

/// Returns the marks and the path of an image, cut to this number of columns. Marks give way to the path, because the
/// path says which file it is.
fn marks_and_path(marks: &str, path: &str, room: usize) -> [String; 2] {
    let marks = match room.saturating_sub(MIN_PATH_COLUMNS + 1) {
        for_marks if !marks.is_empty() && for_marks > 0 => truncate(marks, for_marks) + " ",
        _ => String::new(),
    };
    let room = room.saturating_sub(display_width(&marks));
    let path = if room < MIN_PATH_COLUMNS { String::new() } else { truncate_start(path, room) };
    [marks, path]
}

/// Says how many pixels differ and by how much, as far as this is known.
fn difference_text(app: &App, picture: &VisiblePicture) -> String {
    let drawn = app.service_data.pictures.get(&picture.view, picture.canvas);
    match drawn.and_then(|drawn| drawn.as_ref().ok()).map(|drawn| drawn.differing_pixels) {
        Some(Some(DifferingPixels { count, largest })) => {
            let pixels = grouped_with_noun(count, "pixel", "pixels");
            let by =
                if count > 0 { format!(", by at most {largest} of 255") } else { String::new() };
            format!("{pixels} differ{by}")
        }
        Some(None) => "differences, at the size of the screen".to_owned(),
        None => "comparing".to_owned(),
    }
}
