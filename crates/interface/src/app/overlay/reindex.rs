//! Asks for confirmation before a reindex, and lists the consequences.

use tessera_model::{Dataset, Operation};

use crate::app::overlay::prelude::*;
use crate::{app::jobs::start_reindex, job::JobDataset};

#[derive(Clone, Debug)]
pub struct ReindexConfirmation {
    pub dataset: DatasetId,
    pub dataset_name: SafeText,
}

impl Dialog for ReindexConfirmation {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        KeyResult::of_confirmation(chord, true)
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (86, if screen.0 < 70 { 12 } else { 8 })
    }

    fn hints(&self) -> &'static str {
        "Enter reindex   Esc close"
    }

    fn operation(&self) -> Option<(DatasetId, Operation)> {
        Some((self.dataset, Operation::Reindex))
    }

    fn accept(self: Box<Self>, app: &mut App) {
        start_reindex(app, JobDataset { id: self.dataset, name: self.dataset_name });
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &format!("Reindex {}", self.dataset_name));
        let (app, theme) = (ctx.app, ctx.theme);
        let count = app.service_data.dataset(self.dataset).and_then(Dataset::media_text);
        let count = count.unwrap_or_else(|| "all media".to_owned());
        let has_selection =
            app.baskets.get(self.dataset).is_some_and(|basket| !basket.selection().is_empty());
        let recheck = "Recheck the clusters in the selection afterwards.";
        let lines = [
            (format!("Clusters {count} again.").as_str(), theme.text),
            ("", theme.text),
            ("PARTIAL INDEX → READ ONLY → INDEXING → READY", theme.accent),
            ("Until READY: no additions, exports, or searches by picture.", theme.dim),
            ("Clusters get new ids; open searches are repeated.", theme.dim),
            (if has_selection { recheck } else { "" }, theme.dim),
        ]
        .map(|(text, style)| match text {
            "" => Line::default(),
            _ => Line::styled(format!(" {text}"), style),
        });
        ctx.put_lines(inside, &lines);
    }
}

impl ReindexConfirmation {
    pub(in crate::app) fn open(app: &mut App) {
        if let Some(dataset) = app.target_dataset() {
            let (dataset, dataset_name) = (dataset.id, dataset.name.clone());
            app.overlays.open(ReindexConfirmation { dataset, dataset_name });
        }
    }
}
