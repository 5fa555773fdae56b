//! The searches of the past: run again, in this tab or a new one, or changed first. They outlive
//! the program, a list per deployment.

use crate::{
    app::{
        App, Effect, Level, Overlay, QueryImage, View,
        overlay::{Choice, Pick},
        view::title,
    },
    message::{Lane, Request},
};
use tessera_model::{Book, Entry, Failure, PastSearch, PictureSource, Query};

/// The searches, and whether they are read from and written to the state of the deployment.
#[derive(Debug, Default)]
pub struct History {
    /// The newest last.
    pub searches: Vec<PastSearch>,
    /// Whether those of earlier runs are among them.
    earlier: Earlier,
    /// Whether somebody needs those of earlier runs.
    wanted: bool,
    /// Whether there are some that are not written yet.
    unsaved: bool,
}

/// The searches of earlier runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Earlier {
    /// Nobody has asked for them yet.
    #[default]
    Unread,
    /// They are here.
    Read,
    /// They cannot be read: their file is left alone, and nothing is written over it.
    Unreadable,
}

impl App {
    /// Goes to a search, and remembers it.
    pub(in crate::app) fn run(&mut self, view: View) {
        let View { search, similar_to, query_image, .. } = view.clone();
        let region = query_image.as_ref().and_then(|image| image.region);
        let file = query_image.and_then(|image| match image.source {
            PictureSource::File(path) => Some(path),
            PictureSource::Link(_) | PictureSource::Entry(..) => None,
        });
        if search.query != Query::Browse || !search.filters.is_empty() {
            let past = PastSearch { search, similar_to, file, region };
            past.join(&mut self.history.searches);
            (self.history.unsaved, self.history.wanted) = (true, true);
        }
        self.results.go(view);
    }

    /// Opens the list, the newest first.
    pub(in crate::app) fn open_history(&mut self) {
        self.history.wanted = true;
        self.show_history();
    }

    /// Shows the list, or says that there is nothing in it.
    fn show_history(&mut self) {
        if self.history.searches.is_empty() && self.history.earlier != Earlier::Unread {
            self.overlay = None;
            self.notices.add(self.now, Level::Warning, "nothing was searched yet");
        } else {
            self.overlay = Some(Overlay::History(self.past_searches()));
        }
    }

    fn past_searches(&self) -> Pick<PastSearch> {
        let choices = self.history.searches.iter().rev().map(|past| {
            let search = &past.search;
            let name = self.store.dataset(search.dataset).map(|dataset| dataset.name.as_str());
            let note = format!(
                "{} · {} · granularity {}",
                name.unwrap_or("a dataset that is not listed"),
                search.entity.word(),
                search.granularity.level()
            );
            let words = title(&search.query, past.similar_to.as_ref(), search.filters.len());
            Choice::new(past.clone(), words).note(note).refused(name.is_none())
        });
        Pick::new(choices.collect())
    }

    /// Runs a past search again. A query image is registered again: its anchor may be gone.
    pub(in crate::app) fn run_again(&mut self, pick: &Pick<PastSearch>, effects: &mut Vec<Effect>) {
        let Some(PastSearch { search, similar_to, file, region }) = pick.chosen().cloned() else {
            return;
        };
        self.open_dataset(search.dataset);
        self.focus = crate::app::Pane::Results;
        match file {
            Some(file) => {
                self.register(QueryImage { region, ..QueryImage::file(file) }, search, effects);
            }
            None => self.run(View { similar_to, ..View::new(search) }),
        }
    }

    /// The list of earlier runs came, or cannot be had; what was searched since is newer.
    pub(in crate::app) fn history_recalled(&mut self, answer: Result<Option<Entry>, Failure>) {
        self.history.earlier = if answer.is_ok() { Earlier::Read } else { Earlier::Unreadable };
        match answer {
            Ok(Some(Entry::History(earlier))) => {
                let since = std::mem::replace(&mut self.history.searches, earlier);
                for past in since {
                    past.join(&mut self.history.searches);
                }
            }
            // The journal gives the book that was asked for.
            Ok(None | Some(Entry::Basket(..) | Entry::Jobs { .. } | Entry::Views(_))) => {}
            Err(failure) => self.notices.fail(self.now, &failure),
        }
        if matches!(self.overlay, Some(Overlay::History(_))) {
            self.show_history();
        }
    }

    /// Asks for the earlier searches once somebody needs them, and writes new ones after that.
    pub(in crate::app) fn keep_history(&mut self, effects: &mut Vec<Effect>) {
        let recall = Lane::Recall(Book::History);
        match self.history.earlier {
            Earlier::Unread if self.history.wanted && !self.tickets.is_open(&recall) => {
                self.send(recall, Request::Recall(Book::History), effects);
            }
            Earlier::Read if std::mem::take(&mut self.history.unsaved) => {
                let entry = Entry::History(self.history.searches.clone());
                self.send(Lane::Keep(Book::History), Request::Keep(entry), effects);
            }
            Earlier::Unread | Earlier::Read | Earlier::Unreadable => {}
        }
    }
}
