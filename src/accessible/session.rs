//! The menu of the accessible interface, and searching and selecting with it.

use std::{collections::BTreeMap, io, path::PathBuf};

use super::{Announcer, sentences};
use tessera_client::{Client, QueryImageUpload};
use tessera_model::{
    Anchor, AnchorKind, ClusterId, Dataset, DatasetId, EntityType, Failure, Granularity, Page,
    Query, QueryText, SafeText, Search, polling::PollingIntervals, text::count_with_noun,
};

#[derive(Clone, Debug)]
pub struct AccessibleOptions {
    pub deployment: SafeText,
    /// The dataset to open first.
    pub dataset: Option<DatasetId>,
    /// Why this mode is on.
    pub reason: &'static str,
    pub downloads: PathBuf,
    /// Entity type and granularity of the first search.
    pub cluster_options: (EntityType, Granularity),
    pub cadence: PollingIntervals,
}

const MENU: [(&str, MenuAction); 11] = [
    ("read the results again", MenuAction::Read),
    ("next page", MenuAction::NextPage),
    ("previous page", MenuAction::PreviousPage),
    ("browse the whole dataset", MenuAction::Browse),
    ("search by caption", MenuAction::SearchCaptions),
    ("find items similar to a result", MenuAction::SimilarToResult),
    ("find items similar to a local file", MenuAction::SimilarToFile),
    ("select or deselect a result", MenuAction::Select),
    ("export", MenuAction::Export),
    ("watch the datasets until no operation is running", MenuAction::Watch),
    ("open another dataset", MenuAction::Datasets),
];

#[derive(Clone, Copy)]
enum MenuAction {
    Read,
    NextPage,
    PreviousPage,
    Browse,
    SearchCaptions,
    SimilarToResult,
    SimilarToFile,
    Select,
    Export,
    Watch,
    Datasets,
}

pub(super) enum MenuActionError {
    /// The user chose nothing, or the input ended.
    Cancelled,
    Error(String),
    /// Input or output failed, which ends the session.
    Io(io::Error),
}

impl From<Failure> for MenuActionError {
    fn from(failure: Failure) -> Self {
        Self::Error(failure.to_string())
    }
}

impl From<io::Error> for MenuActionError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs until the user quits or the input ends. Errors of the service are announced.
pub async fn run(
    client: Client,
    options: AccessibleOptions,
    announcer: Announcer,
) -> io::Result<()> {
    let AccessibleOptions { deployment, dataset, reason, downloads, cluster_options, cadence } =
        options;
    let mut session = AccessibleSession {
        client,
        announcer,
        downloads,
        cluster_options,
        cadence,
        open: None,
        selected: BTreeMap::new(),
    };
    session.announcer.status(format!("accessible mode is on, because {reason}"))?;
    session.announcer.status(format!("deployment {deployment}"))?;
    let opened = session.open_dataset(dataset).await;
    session.announce_end(opened)?;
    loop {
        for (number, (label, _)) in (1..).zip(MENU) {
            session.announcer.item(format!("{number} {label}"))?;
        }
        let Some(index) = session.announcer.prompt_choice("What now?", MENU.len()).await? else {
            return session.announcer.status("left; exports continue at the service");
        };
        let ended = session.run_action(MENU[index].1).await;
        session.announce_end(ended)?;
    }
}

pub(super) struct AccessibleSession {
    pub client: Client,
    pub announcer: Announcer,
    pub downloads: PathBuf,
    pub cluster_options: (EntityType, Granularity),
    pub cadence: PollingIntervals,
    pub open: Option<OpenDataset>,
    /// The selected clusters of the open dataset, with the search that found them.
    pub selected: BTreeMap<ClusterId, Search>,
}

pub(super) struct OpenDataset {
    pub dataset: Dataset,
    pub search: Search,
    pub similar_to: String,
    pub page: Page,
}

impl AccessibleSession {
    fn announce_end(&mut self, ended: Result<(), MenuActionError>) -> io::Result<()> {
        match ended {
            Ok(()) | Err(MenuActionError::Cancelled) => Ok(()),
            Err(MenuActionError::Error(message)) => self.announcer.error(message),
            Err(MenuActionError::Io(error)) => Err(error),
        }
    }

    async fn run_action(&mut self, action: MenuAction) -> Result<(), MenuActionError> {
        match action {
            MenuAction::Datasets => return self.open_dataset(None).await,
            MenuAction::Watch => return self.watch_datasets().await,
            _ => {}
        }
        let error = |message: &str| Err(MenuActionError::Error(message.to_owned()));
        let Some(open) = &self.open else {
            return error("no dataset is open; open one first");
        };
        let search = open.search.clone();
        match action {
            MenuAction::Read => Ok(self.read_results()?),
            MenuAction::NextPage if !open.page.may_have_next() => error("this is the last page"),
            MenuAction::NextPage => self.explore(Search { page: search.page + 1, ..search }).await,
            MenuAction::PreviousPage => match search.page.checked_sub(1) {
                Some(page) => self.explore(Search { page, ..search }).await,
                None => error("this is the first page"),
            },
            MenuAction::Browse => self.explore(self.new_browse_search(search.dataset)).await,
            MenuAction::SearchCaptions => self.search_captions(search).await,
            MenuAction::SimilarToResult => self.find_similar_to_result(search).await,
            MenuAction::SimilarToFile => self.find_similar_to_file(search).await,
            MenuAction::Select => self.toggle_selected().await,
            MenuAction::Export => self.export().await,
            MenuAction::Watch | MenuAction::Datasets => Ok(()),
        }
    }

    fn new_browse_search(&self, dataset: DatasetId) -> Search {
        let (entity, granularity) = self.cluster_options;
        Search { entity, granularity, ..Search::browse(dataset) }
    }

    /// Opens the preferred dataset, or prompts if there are several.
    async fn open_dataset(&mut self, preferred: Option<DatasetId>) -> Result<(), MenuActionError> {
        let (list, _) = self.client.list_datasets().await?;
        self.announcer.status(count_with_noun(list.len(), "dataset", "datasets"))?;
        for (position, dataset) in (1..).zip(&list) {
            self.announcer.item(sentences::dataset(position, list.len(), dataset))?;
        }
        let preferred = preferred.and_then(|id| list.iter().position(|dataset| dataset.id == id));
        let index = match (preferred, list.len()) {
            (Some(index), _) => Some(index),
            (None, 0 | 1) => Some(0),
            (None, count) => self.announcer.prompt_choice("Which dataset?", count).await?,
        };
        let dataset = index.and_then(|index| list.into_iter().nth(index));
        let dataset = dataset.ok_or(MenuActionError::Cancelled)?;
        self.announcer.status(format!("dataset {} is open", dataset.name))?;
        self.selected.clear();
        let (is_busy, search) = (dataset.status.is_busy(), self.new_browse_search(dataset.id));
        let (similar_to, page) = (String::new(), Page::default());
        self.open = Some(OpenDataset { dataset, search: search.clone(), similar_to, page });
        if is_busy {
            let watched = self.watch_datasets().await;
            self.announce_end(watched)?;
        }
        self.explore(search).await
    }

    /// Loads a page and reads it. After an error the last result stays.
    async fn explore(&mut self, search: Search) -> Result<(), MenuActionError> {
        let page = self.client.explore(&search).await?;
        if let Some(open) = &mut self.open {
            (open.search, open.page) = (search, page);
        }
        Ok(self.read_results()?)
    }

    fn read_results(&mut self) -> io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        self.announcer.status(sentences::search(&open.search, &open.similar_to, &open.page))?;
        let (count, scale) = (open.page.clusters.len(), open.search.query.score_scale());
        for (position, cluster) in (1..).zip(&open.page.clusters) {
            let selected = self.selected.contains_key(&cluster.id);
            self.announcer.item(sentences::cluster(position, count, cluster, scale, selected))?;
        }
        Ok(())
    }

    async fn search_captions(&mut self, search: Search) -> Result<(), MenuActionError> {
        let input = self.announcer.prompt("Search captions for what? Type a few words").await?;
        let text = QueryText::new(&input.ok_or(MenuActionError::Cancelled)?)
            .map_err(|invalid| MenuActionError::Error(invalid.to_string()))?;
        let query = Query::Caption { text, max_score: None };
        self.explore(Search { query, page: 0, ..search }).await
    }

    async fn find_similar_to_result(&mut self, search: Search) -> Result<(), MenuActionError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let count = open.page.clusters.len();
        let index = self.announcer.prompt_choice("Similar to which?", count).await?;
        let cluster = open.page.clusters.get(index.ok_or(MenuActionError::Cancelled)?);
        let preview = cluster.and_then(|it| it.previews.first()).ok_or_else(|| {
            MenuActionError::Error("this cluster shows no member to compare with".to_owned())
        })?;
        open.similar_to = preview.title().to_string();
        let query = Query::Similar(Anchor { media: preview.media, kind: AnchorKind::Media });
        self.explore(Search { query, page: 0, ..search }).await
    }

    async fn find_similar_to_file(&mut self, search: Search) -> Result<(), MenuActionError> {
        let input = self.announcer.prompt("Which file? Type its path").await?;
        let input = input.ok_or(MenuActionError::Cancelled)?;
        let image = QueryImageUpload::read(input.as_ref()).await?;
        self.announcer.status("sending the query image")?;
        let Search { dataset, entity, granularity, .. } = search;
        let anchor = self.client.register_anchor(dataset, image, entity, granularity, None).await?;
        if let Some(open) = &mut self.open {
            open.similar_to = input;
        }
        self.explore(Search { query: Query::Similar(anchor), page: 0, ..search }).await
    }

    async fn toggle_selected(&mut self) -> Result<(), MenuActionError> {
        let Some(open) = &self.open else { return Ok(()) };
        let clusters = &open.page.clusters;
        let index = self.announcer.prompt_choice("Which one?", clusters.len()).await?;
        let index = index.ok_or(MenuActionError::Cancelled)?;
        let id = clusters[index].id;
        if self.selected.remove(&id).is_none() {
            self.selected.insert(id, open.search.clone());
        }
        let state = if self.selected.contains_key(&id) { "selected" } else { "deselected" };
        let count = count_with_noun(self.selected.len(), "cluster", "clusters");
        self.announcer.status(format!("{} is {state}; {count} selected in total", index + 1))?;
        Ok(())
    }
}
