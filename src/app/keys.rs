//! From keys and the mouse to actions, and what each action does. Keys go to the top layer only.

use std::time::Duration;

use crate::{
    app::{
        App, Effect, Job, Level, Mouse, MouseKind, Overlay, Pane, Stage, gate,
        overlay::{ExportForm, Field, edit, paste, path},
        wanted_original,
    },
    input::{Action, Chord, Key, Resolved},
    message::{JobId, Lane, Request},
};

/// Two clicks on the same cell within this time open.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

impl App {
    /// A key: to the text field on top, or through the keymap.
    pub(in crate::app) fn key(&mut self, chord: Chord, effects: &mut Vec<Effect>) {
        if self.is_leaving(chord) {
            effects.push(Effect::Quit);
        } else if matches!(self.overlay, Some(Overlay::Export(_) | Overlay::File(_))) {
            self.key_in_form(chord, effects);
        } else {
            self.keys.push(chord);
            let resolved = self.setup.keymap.resolve(&self.contexts(), &self.keys);
            if resolved != Resolved::Pending {
                self.keys.clear();
            }
            if let Resolved::Action(action) = resolved {
                self.act(action, effects);
            }
        }
    }

    /// Ctrl-C leaves from anywhere, also out of a text field.
    fn is_leaving(&self, chord: Chord) -> bool {
        self.overlay.is_some() && chord.ctrl && chord.key == Key::Char('c')
    }

    fn key_in_form(&mut self, chord: Chord, effects: &mut Vec<Effect>) {
        match (chord.key, &mut self.overlay) {
            (Key::Esc, _) => self.overlay = None,
            (Key::Enter, Some(Overlay::Export(form))) => {
                let form = form.clone();
                self.start_export(&form, effects);
            }
            (Key::Enter, Some(Overlay::File(line))) => {
                let typed = line.value().to_owned();
                self.search_by_file(&typed, effects);
            }
            (Key::Tab, Some(Overlay::Export(form))) => {
                form.step(if chord.shift { Field::ALL.len() - 1 } else { 1 });
            }
            (Key::Down, Some(Overlay::Export(form))) => form.step(1),
            (Key::Up, Some(Overlay::Export(form))) => form.step(Field::ALL.len() - 1),
            (_, Some(Overlay::Export(form))) => form.key(chord),
            (_, Some(Overlay::File(line))) => edit(line, chord),
            (_, Some(Overlay::Help(_)) | None) => {}
        }
    }

    /// Pasted text goes into a text field or nowhere; it is never keys (T21).
    pub(in crate::app) fn paste(&mut self, text: &str) {
        match &mut self.overlay {
            Some(Overlay::File(line)) => paste(line, text),
            Some(Overlay::Export(form)) => {
                if let Some(line) = form.text() {
                    paste(line, text);
                }
            }
            Some(Overlay::Help(_)) | None => {}
        }
    }

    fn act(&mut self, action: Action, effects: &mut Vec<Effect>) {
        if let Some(reason) = gate::refusal(self, action) {
            self.notices.add(self.now, Level::Warning, reason);
            return;
        }
        if let Some(Overlay::Help(top)) = &mut self.overlay {
            match action {
                Action::Up => *top = top.saturating_sub(1),
                Action::Down => *top = top.saturating_add(1),
                Action::ScreenUp => *top = top.saturating_sub(10),
                Action::ScreenDown => *top = top.saturating_add(10),
                Action::Quit => effects.push(Effect::Quit),
                _ => self.overlay = None,
            }
            return;
        }
        match action {
            Action::Up | Action::Down | Action::Left | Action::Right => self.step(action),
            Action::ScreenUp | Action::ScreenDown | Action::First | Action::Last => {
                self.leap(action);
            }
            Action::NextPane => self.focus = self.focus.step(1),
            Action::PreviousPane => self.focus = self.focus.step(Pane::ALL.len() - 1),
            Action::FocusDatasets => self.focus = Pane::Datasets,
            Action::FocusResults => self.focus = Pane::Results,
            Action::FocusDetail => self.focus = Pane::Detail,
            Action::FocusJobs => self.focus = Pane::Jobs,
            Action::Larger => self.tile = self.tile.larger(),
            Action::Smaller => self.tile = self.tile.smaller(),
            Action::Zoom => self.zoomed = !self.zoomed,
            Action::Help => self.overlay = Some(Overlay::Help(0)),
            Action::Open => self.open(effects),
            Action::Back => self.back(),
            Action::Refresh => self.refresh(),
            Action::Redraw => effects.push(Effect::Redraw),
            Action::Suspend => effects.push(Effect::Suspend),
            Action::Quit => effects.push(Effect::Quit),
            Action::FullSize
            | Action::NextPage
            | Action::PreviousPage
            | Action::Similar
            | Action::SimilarToFile
            | Action::Finer
            | Action::Coarser => self.look(action, effects),
            Action::Export | Action::Download | Action::StopWatching => {
                self.export(action, effects);
            }
        }
    }

    fn step(&mut self, action: Action) {
        let by: isize = if matches!(action, Action::Up | Action::Left) { -1 } else { 1 };
        let vertical = matches!(action, Action::Up | Action::Down);
        match self.focus {
            Pane::Datasets if vertical => self.move_in_datasets(by),
            Pane::Jobs if vertical => self.move_in_jobs(by),
            Pane::Datasets | Pane::Jobs => {}
            Pane::Results => {
                let columns = self.grid().map_or(1, |grid| grid.columns).cast_signed();
                self.move_in_results(if vertical { by * columns } else { by });
            }
            Pane::Detail if vertical => self.move_in_results(by),
            Pane::Detail => self.step_preview(by),
        }
    }

    fn leap(&mut self, action: Action) {
        let screen = self.grid().map_or(1, |grid| grid.columns * grid.rows).cast_signed();
        let all = isize::MAX / 2;
        let by = match action {
            Action::ScreenUp => -screen,
            Action::ScreenDown => screen,
            Action::First => -all,
            _ => all,
        };
        match self.focus {
            Pane::Datasets => self.move_in_datasets(by),
            Pane::Results => self.move_in_results(by),
            Pane::Detail => self.step_preview(by),
            Pane::Jobs => self.move_in_jobs(by),
        }
    }

    fn look(&mut self, action: Action, effects: &mut Vec<Effect>) {
        let (page, granularity) =
            self.view().map(|view| (view.search.page, view.search.granularity)).unwrap_or_default();
        match action {
            Action::FullSize => self.show_full_size(effects),
            Action::NextPage => self.turn_page(page + 1),
            Action::PreviousPage => self.turn_page(page.saturating_sub(1)),
            Action::Similar => {
                self.search_similar();
                self.focus = Pane::Results;
            }
            Action::SimilarToFile => {
                self.overlay = Some(Overlay::File(tui_input::Input::default()));
            }
            Action::Finer => self.regroup(granularity.finer(), effects),
            _ => self.regroup(granularity.coarser(), effects),
        }
    }

    /// Enter: a dataset opens its results, a cluster its previews, a preview its full size.
    fn open(&mut self, effects: &mut Vec<Effect>) {
        match self.focus {
            Pane::Datasets => {
                if let Some(id) = self.selected_dataset().map(|dataset| dataset.id) {
                    self.open_dataset(id);
                    self.focus = Pane::Results;
                }
            }
            Pane::Results if self.cluster().is_some() => self.focus = Pane::Detail,
            Pane::Detail if self.preview().is_some() => self.show_full_size(effects),
            Pane::Jobs if self.job_to_download().is_some() => {
                self.export(Action::Download, effects);
            }
            Pane::Results | Pane::Detail | Pane::Jobs => {}
        }
    }

    /// Esc: the newest thing that can be left is left, one at a time.
    fn back(&mut self) {
        if self.notices.dismiss() {
            return;
        }
        match self.focus {
            _ if self.zoomed => self.zoomed = false,
            Pane::Detail | Pane::Jobs => self.focus = Pane::Results,
            Pane::Results => {
                if !self.leave_view() {
                    self.focus = Pane::Datasets;
                }
            }
            Pane::Datasets => {}
        }
    }

    fn refresh(&mut self) {
        self.store.datasets.invalidate();
        self.store.pictures.forget_failed();
        if let Some(search) = self.view().map(|view| view.search) {
            self.store.pages.entry(search).invalidate();
        }
        for job in self.store.jobs.values_mut() {
            if let Stage::Running(_, task) = &mut job.stage {
                task.invalidate();
            }
        }
    }

    fn show_full_size(&mut self, effects: &mut Vec<Effect>) {
        if let Some(link) = self.preview().and_then(wanted_original) {
            self.send(Lane::Original, Request::Original(link), effects);
        }
    }

    fn search_by_file(&mut self, typed: &str, effects: &mut Vec<Effect>) {
        let Some(granularity) = self.view().map(|view| view.search.granularity) else {
            return;
        };
        if typed.trim().is_empty() {
            let text = "type the path of a picture on this machine, or Esc";
            self.notices.add(self.now, Level::Warning, text);
            return;
        }
        self.overlay = None;
        self.focus = Pane::Results;
        let file = path(typed, self.setup.home.as_deref());
        self.register(file, granularity, effects);
    }

    fn export(&mut self, action: Action, effects: &mut Vec<Effect>) {
        match action {
            Action::Export => {
                if let Some(dataset) = self.dataset() {
                    let folder = self.setup.downloads.as_str();
                    let form = ExportForm::new(dataset.id, dataset.name.clone(), folder);
                    self.overlay = Some(Overlay::Export(form));
                }
            }
            Action::Download => {
                if let Some(id) = self.job_to_download().map(|job| job.id) {
                    self.download(id, effects);
                }
            }
            _ => self.stop_watching(effects),
        }
    }

    fn start_export(&mut self, form: &ExportForm, effects: &mut Vec<Effect>) {
        let id = JobId(self.jobs.next);
        self.jobs.next += 1;
        self.jobs.cursor = 0;
        let job = Job {
            id,
            dataset: form.dataset,
            dataset_name: form.dataset_name.clone(),
            spec: form.spec(),
            folder: form.target_folder(self.setup.home.as_deref()),
            fetch: form.fetch,
            started: self.now,
            ended: None,
            stage: Stage::Starting,
        };
        let request = Request::StartExport(job.dataset, job.spec.clone());
        self.store.jobs.insert(id, job);
        self.overlay = None;
        self.send(Lane::Start(id), request, effects);
    }

    /// The mouse: a click focuses and selects, a second one opens, the wheel moves.
    pub(in crate::app) fn mouse(&mut self, mouse: Mouse, effects: &mut Vec<Effect>) {
        if self.overlay.is_some() {
            return;
        }
        let areas = self.areas();
        if let (Some(tabs), MouseKind::Click) = (areas.tabs, mouse.kind)
            && tabs.contains((mouse.column, mouse.row).into())
        {
            self.focus = tab_at(mouse.column.saturating_sub(tabs.x));
            return;
        }
        let Some(pane) = areas.pane_at(mouse.column, mouse.row) else {
            return;
        };
        self.focus = pane;
        match mouse.kind {
            MouseKind::WheelUp => self.step(Action::Up),
            MouseKind::WheelDown => self.step(Action::Down),
            MouseKind::Click => {
                self.select_at(mouse);
                let twice = self.last_click.is_some_and(|(then, at)| {
                    at == mouse && self.now.saturating_sub(then) <= DOUBLE_CLICK
                });
                self.last_click = (!twice).then_some((self.now, mouse));
                if twice {
                    self.open(effects);
                }
            }
        }
    }

    fn select_at(&mut self, mouse: Mouse) {
        let areas = self.areas();
        let row = |area: ratatui::layout::Rect| usize::from(mouse.row.saturating_sub(area.y + 1));
        match (self.focus, areas.datasets, areas.jobs) {
            (Pane::Datasets, Some(area), _) => {
                let list = self.store.list();
                let top = crate::app::pane::list_top(self, area);
                if let Some(dataset) = list.get(top + row(area)) {
                    self.datasets.cursor = Some(dataset.id);
                }
            }
            (Pane::Jobs, _, Some(area)) => {
                let count = self.store.jobs.len();
                let top = crate::app::pane::jobs_top(self, area);
                self.jobs.cursor = (top + row(area)).min(count.saturating_sub(1));
            }
            (Pane::Results, ..) => {
                let place = self.grid().and_then(|grid| {
                    let place = grid.place_at(mouse.column, mouse.row)?;
                    Some(place + self.view()?.top * grid.columns)
                });
                if let Some(place) = place {
                    self.point_at(place);
                }
            }
            _ => {}
        }
    }
}

/// The tab under a column. The tabs are drawn as ` 1 Datasets  2 Results  3 Detail  4 Jobs `.
fn tab_at(column: u16) -> Pane {
    let mut end = 0;
    for pane in Pane::ALL {
        end += pane.name().len() + 4;
        if usize::from(column) < end {
            return pane;
        }
    }
    Pane::Jobs
}
