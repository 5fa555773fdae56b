//! The menu of orders for what is loaded.

use crate::app::{
    App, Overlay, Pane,
    overlay::{PickItem, PickList},
    view::sort_filter::{SortKey, SortOrder, can_sort_by_score},
};

impl App {
    /// Opens the menu for the list that has the focus, at the order it has.
    pub(in crate::app) fn open_sort_list(&mut self) {
        let pane = self.focus;
        let Some(now) = self.arrangement_of(pane).map(|arrangement| arrangement.order) else {
            return;
        };
        let orders = if pane == Pane::Datasets { SortKey::DATASETS } else { SortKey::CLUSTERS };
        let both = orders.iter().flat_map(|&by| {
            let ways = if by == SortKey::Service { &[false][..] } else { &[false, true] };
            ways.iter().map(move |&reversed| SortOrder { by, reversed })
        });
        let choices = both.map(|order| {
            let refusal = self.order_unavailable(order);
            PickItem::new(order, order.name())
                .note(refusal.unwrap_or_default())
                .disabled(refusal.is_some())
        });
        let pick = PickList::new(choices.collect()).with_cursor_at(|order| *order == now);
        self.overlay = Some(Overlay::Sort(pick));
    }

    /// Puts the list that has the focus into the chosen order.
    pub(in crate::app) fn apply_order(&mut self, pick: &PickList<SortOrder>) {
        let Some(&order) = pick.selected() else { return };
        if let Some(reason) = self.order_unavailable(order) {
            return self.notify(crate::app::Level::Warning, reason);
        }
        let pane = self.focus;
        if let Some(arrangement) = self.arrangement_of(pane) {
            arrangement.order = order;
        }
    }

    /// Why the clusters cannot be sorted so: only a known score has a direction.
    fn order_unavailable(&self, order: SortOrder) -> Option<&'static str> {
        let page = self.page().filter(|_| order.by == SortKey::Score)?;
        (!can_sort_by_score(page)).then_some("no scores here whose direction is known")
    }
}
