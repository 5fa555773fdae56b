//! Searching by a picture: of the dataset, or a query image that is registered first.

use crate::{
    app::{App, QueryImage, View, pane::Registration},
    message::{Lane, Request},
};
use tessera_model::{Anchor, AnchorKind, Query, SafeText, Search};

impl App {
    pub(in crate::app) fn search_similar(&mut self) {
        let (Some(preview), Some(view)) = (self.preview(), self.view()) else { return };
        let anchor = Anchor { media: preview.media, kind: AnchorKind::Media };
        let (name, from) = (preview.title(), view.search.clone());
        self.open_similar_search(from, anchor, name, None);
    }

    /// Registers a query image; the response opens the results.
    pub(in crate::app) fn register_query_image(&mut self, image: QueryImage, search: Search) {
        let request = Request::RegisterAnchor {
            dataset: search.dataset,
            image: image.source.clone(),
            entity: search.entity,
            granularity: search.granularity,
            region: image.region,
        };
        self.results.recent_images.add(image.clone());
        self.results.registering = Some(Registration { image, search });
        self.outbox.send(Lane::Anchor, request);
    }

    pub(in crate::app) fn query_image_registered(&mut self, anchor: Anchor) {
        let Some(Registration { image, search }) = self.results.registering.take() else {
            return;
        };
        // The same image with another granularity replaces its view instead of adding one.
        match self.results.view_mut() {
            Some(view) if view.query_image.as_ref() == Some(&image) => {
                view.replace_search(Search { query: Query::Similar(anchor), page: 0, ..search });
            }
            _ => self.open_similar_search(search, anchor, image.label(), Some(image)),
        }
    }

    pub(in crate::app) fn open_similar_search(
        &mut self,
        from: Search,
        anchor: Anchor,
        name: SafeText,
        query_image: Option<QueryImage>,
    ) {
        let search = Search { query: Query::Similar(anchor), page: 0, ..from };
        self.run_search(View { similar_to: Some(name), query_image, ..View::new(search) });
    }

    /// Runs the search again from the first page, with another granularity or entity. An uploaded
    /// anchor is registered for one of each, so changing them registers its image again.
    pub(in crate::app) fn change_search(&mut self, change: impl FnOnce(&mut Search)) {
        let Some(view) = self.results.view_mut() else { return };
        let mut search = Search { page: 0, ..view.search.clone() };
        change(&mut search);
        match view.query_image.clone() {
            Some(image) => self.register_query_image(image, search),
            None => view.replace_search(search),
        }
    }
}
