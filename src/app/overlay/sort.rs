//! The list of sort orders for the loaded datasets or clusters.

use super::{Command, ListKind, PickItem};
use crate::app::{
    App, Level, Pane,
    view::sort_filter::{SortKey, SortOrder, can_sort_by_score},
};

impl App {
    pub(in crate::app) fn open_sort_list(&mut self) {
        let pane = self.panes.focus;
        let Some(current) = self.list_options_of(pane).map(|options| options.order) else {
            return;
        };
        let keys = if pane == Pane::Datasets { SortKey::DATASETS } else { SortKey::CLUSTERS };
        let orders = keys.iter().flat_map(|&by| {
            let directions = if by == SortKey::Service { &[false][..] } else { &[false, true] };
            directions.iter().map(move |&reversed| SortOrder { by, reversed })
        });
        let items = orders.map(|order| {
            PickItem::new(Command::Sort(order), order.name())
                .unavailable(self.order_unavailable(order))
                .current(order == current)
        });
        self.open_list(ListKind::SortOrders, "Sort the loaded page", items.collect());
    }

    pub(in crate::app) fn sort_by(&mut self, order: SortOrder) {
        if let Some(reason) = self.order_unavailable(order) {
            return self.outbox.notify(Level::Warning, reason);
        }
        if let Some(options) = self.list_options_of(self.panes.focus) {
            options.order = order;
        }
    }

    /// Why the clusters cannot be sorted like this: the direction of a score must be known.
    fn order_unavailable(&self, order: SortOrder) -> Option<&'static str> {
        let page = self.page().filter(|_| order.by == SortKey::Score)?;
        (!can_sort_by_score(page)).then_some("these results have no scores to sort by")
    }
}
