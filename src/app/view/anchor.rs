//! Searching by a picture: one of the dataset, or a query image that is registered first.

use crate::{
    app::{App, Effect, QueryImage, View, pane::Registration},
    message::{Lane, Request},
};
use tessera_model::{
    Anchor, AnchorKind, EntityType, Granularity, MediaId, Query, SafeText, Search,
};

impl App {
    /// Searches by the preview on screen.
    pub(in crate::app) fn search_similar(&mut self) {
        let (Some(preview), Some(view)) = (self.preview(), self.view()) else { return };
        let anchor = Anchor { media: preview.media, kind: AnchorKind::Media };
        let (name, from) = (preview.file_name.clone(), view.search.clone());
        self.go_to_anchor(from, anchor, name, None);
    }

    /// Searches by a medium that need not be on screen.
    pub(in crate::app) fn search_around(
        &mut self,
        media: MediaId,
        name: SafeText,
        entity: EntityType,
        granularity: Granularity,
    ) {
        let anchor = Anchor { media, kind: AnchorKind::Media };
        if let Some(view) = self.view() {
            let search = Search { entity, granularity, ..Search::browse(view.search.dataset) };
            self.go_to_anchor(search, anchor, name, None);
        }
    }

    /// Registers a query image; its answer opens the results.
    pub(in crate::app) fn register(
        &mut self,
        image: QueryImage,
        search: Search,
        effects: &mut Vec<Effect>,
    ) {
        let request = Request::RegisterAnchor {
            dataset: search.dataset,
            image: image.source.clone(),
            entity: search.entity,
            granularity: search.granularity,
            region: image.region,
        };
        self.recent.add(image.clone());
        self.results.registering = Some(Registration { image, search });
        self.send(Lane::Anchor, request, effects);
    }

    /// A query image was registered.
    pub(in crate::app) fn registered(&mut self, anchor: Anchor) {
        let Some(Registration { image, search }) = self.results.registering.take() else {
            return;
        };
        // The same image with another granularity replaces its view instead of adding one.
        if self.view().is_some_and(|view| view.query_image.as_ref() == Some(&image)) {
            let query = Query::Similar(anchor);
            return self.ask_anew(Search { query, ..search });
        }
        self.go_to_anchor(search, anchor, image.label(), Some(image));
    }

    pub(in crate::app) fn go_to_anchor(
        &mut self,
        from: Search,
        anchor: Anchor,
        name: SafeText,
        query_image: Option<QueryImage>,
    ) {
        let search = Search { query: Query::Similar(anchor), page: 0, ..from };
        self.run(View { similar_to: Some(name), query_image, ..View::new(search) });
    }

    /// Changes the granularity of what is on screen.
    pub(in crate::app) fn regroup(&mut self, granularity: Granularity, effects: &mut Vec<Effect>) {
        if let Some(view) = self.view() {
            let search = Search { granularity, ..view.search.clone() };
            self.ask_otherwise(search, effects);
        }
    }

    /// Images instead of objects, and back.
    pub(in crate::app) fn toggle_entity(&mut self, effects: &mut Vec<Effect>) {
        if let Some(view) = self.view() {
            let entity = view.search.entity.other();
            self.ask_otherwise(Search { entity, ..view.search.clone() }, effects);
        }
    }

    /// An uploaded anchor holds for the granularity and kind it was registered with, so for others
    /// its image is registered again (M47).
    fn ask_otherwise(&mut self, search: Search, effects: &mut Vec<Effect>) {
        match self.view().and_then(|view| view.query_image.clone()) {
            Some(image) => self.register(image, search, effects),
            None => self.ask_anew(search),
        }
    }
}
