//! The menu of orders for what is loaded.

use crate::app::{
    App, Overlay, Pane,
    overlay::{Choice, Pick},
    view::arrange::{By, Order, sorts_by_score},
};

impl App {
    /// Opens the menu for the list that has the focus, at the order it has.
    pub(in crate::app) fn ask_for_order(&mut self) {
        let pane = self.focus;
        let Some(now) = self.arrangement_of(pane).map(|arrangement| arrangement.order) else {
            return;
        };
        let orders = if pane == Pane::Datasets { By::DATASETS } else { By::CLUSTERS };
        let both = orders.iter().flat_map(|&by| {
            let ways = if by == By::Service { &[false][..] } else { &[false, true] };
            ways.iter().map(move |&reversed| Order { by, reversed })
        });
        let choices = both.map(|order| {
            let refusal = self.order_refusal(order);
            Choice::new(order, order.name())
                .note(refusal.unwrap_or_default())
                .refused(refusal.is_some())
        });
        let pick = Pick::new(choices.collect()).at(|order| *order == now);
        self.overlay = Some(Overlay::Sort(pick));
    }

    /// Puts the list that has the focus into the chosen order.
    pub(in crate::app) fn sort(&mut self, pick: &Pick<Order>) {
        let Some(&order) = pick.chosen() else { return };
        if let Some(reason) = self.order_refusal(order) {
            return self.notices.add(self.now, crate::app::Level::Warning, reason);
        }
        let pane = self.focus;
        if let Some(arrangement) = self.arrangement_of(pane) {
            arrangement.order = order;
        }
    }

    /// Why the clusters cannot be sorted so: only a known score has a direction (M50).
    fn order_refusal(&self, order: Order) -> Option<&'static str> {
        let page = self.page().filter(|_| order.by == By::Score)?;
        (!sorts_by_score(page)).then_some("no scores here whose direction is known")
    }
}
