//! The menu of the accessible interface, and searching and selecting with it.

use std::{collections::BTreeMap, io, path::PathBuf};

use super::{Announcer, sentences};
use tessera_client::{Client, QueryImageUpload};
use tessera_model::{
    Anchor, AnchorKind, ClusterId, Dataset, DatasetId, EntityType, Granularity, Page, Query,
    QueryText, SafeText, Search, polling::PollingIntervals, text::count_with_noun,
};

#[derive(Clone, Debug)]
pub struct AccessibleOptions {
    /// The name of the deployment.
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

/// Runs until the user quits or the input ends. Errors of the service are announced.
///
/// # Errors
/// Input or output failed.
pub async fn run(
    client: Client,
    options: AccessibleOptions,
    mut announcer: Announcer,
) -> io::Result<()> {
    let AccessibleOptions {
        deployment,
        dataset,
        reason,
        downloads,
        cluster_options: clusters,
        cadence,
    } = options;
    announcer.status(format!("accessible mode is on, because {reason}"))?;
    announcer.status(format!("deployment {deployment}"))?;
    let (open, marks) = (None, BTreeMap::new());
    let mut session = AccessibleSession {
        client,
        announcer,
        downloads,
        cluster_options: clusters,
        cadence,
        open,
        selected: marks,
    };
    session.open_dataset(dataset).await?;
    loop {
        for (number, (words, _)) in (1..).zip(MENU) {
            session.announcer.item(format!("{number} {words}"))?;
        }
        let Some(index) = session.announcer.prompt_choice("What now?", MENU.len()).await? else {
            return session.announcer.status("left; exports continue at the service");
        };
        session.run_action(MENU[index].1).await?;
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

/// The open dataset and its last result.
pub(super) struct OpenDataset {
    pub dataset: Dataset,
    pub search: Search,
    pub similar_to: String,
    pub page: Page,
}

impl AccessibleSession {
    async fn run_action(&mut self, what: MenuAction) -> io::Result<()> {
        match what {
            MenuAction::Datasets => return self.open_dataset(None).await,
            MenuAction::Watch => return self.watch_datasets().await,
            _ => {}
        }
        let Some(open) = &self.open else {
            return self.announcer.error("no dataset is open; open one first");
        };
        let search = open.search.clone();
        match what {
            MenuAction::Read => self.read_results(),
            MenuAction::NextPage if !open.page.may_have_next() => {
                self.announcer.error("this is the last page")
            }
            MenuAction::NextPage => self.explore(Search { page: search.page + 1, ..search }).await,
            MenuAction::PreviousPage => match search.page.checked_sub(1) {
                Some(page) => self.explore(Search { page, ..search }).await,
                None => self.announcer.error("this is the first page"),
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

    /// Opens the wanted dataset, or prompts if there are several.
    async fn open_dataset(&mut self, preferred: Option<DatasetId>) -> io::Result<()> {
        let Some((list, _)) = self.announcer.announce_failure(self.client.list_datasets().await)?
        else {
            return Ok(());
        };
        self.announcer.status(count_with_noun(list.len(), "dataset", "datasets"))?;
        for (position, dataset) in (1..).zip(&list) {
            self.announcer.item(sentences::dataset(position, list.len(), dataset))?;
        }
        let preferred = preferred.and_then(|id| list.iter().position(|dataset| dataset.id == id));
        let index = match (preferred, list.len()) {
            (Some(index), _) => Some(index),
            (None, 0 | 1) => list.first().map(|_| 0),
            (None, count) => self.announcer.prompt_choice("Which dataset?", count).await?,
        };
        let Some(dataset) = index.and_then(|index| list.into_iter().nth(index)) else {
            return Ok(());
        };
        self.announcer.status(format!("dataset {} is open", dataset.name))?;
        self.selected.clear();
        let search = self.new_browse_search(dataset.id);
        let (similar_to, page) = (String::new(), Page::default());
        self.open = Some(OpenDataset { dataset, search: search.clone(), similar_to, page });
        if self.open.as_ref().is_some_and(|open| open.dataset.status.is_busy()) {
            self.watch_datasets().await?;
        }
        self.explore(search).await
    }

    /// Loads a page and reads it. After an error the last result stays.
    async fn explore(&mut self, search: Search) -> io::Result<()> {
        let result = self.client.explore(&search).await;
        let Some(page) = self.announcer.announce_failure(result)? else { return Ok(()) };
        if let Some(open) = &mut self.open {
            (open.search, open.page) = (search, page);
        }
        self.read_results()
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

    async fn search_captions(&mut self, search: Search) -> io::Result<()> {
        let Some(input) =
            self.announcer.prompt("Search captions for what? Type a few words").await?
        else {
            return Ok(());
        };
        match QueryText::new(&input) {
            Ok(text) => {
                let query = Query::Caption { text, max_score: None };
                self.explore(Search { query, page: 0, ..search }).await
            }
            Err(invalid) => self.announcer.error(invalid),
        }
    }

    async fn find_similar_to_result(&mut self, search: Search) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(index) =
            self.announcer.prompt_choice("Similar to which?", open.page.clusters.len()).await?
        else {
            return Ok(());
        };
        let Some(preview) = open.page.clusters.get(index).and_then(|it| it.previews.first()) else {
            return self.announcer.error("this cluster shows no member to compare with");
        };
        open.similar_to = preview.file_name.to_string();
        let query = Query::Similar(Anchor { media: preview.media, kind: AnchorKind::Media });
        self.explore(Search { query, page: 0, ..search }).await
    }

    async fn find_similar_to_file(&mut self, search: Search) -> io::Result<()> {
        let Some(input) = self.announcer.prompt("Which file? Type its path").await? else {
            return Ok(());
        };
        let image = QueryImageUpload::read(input.as_ref()).await;
        let Some(image) = self.announcer.announce_failure(image)? else { return Ok(()) };
        self.announcer.status("sending the query image")?;
        let Search { dataset, entity, granularity, .. } = search;
        let anchor = self.client.register_anchor(dataset, image, entity, granularity, None).await;
        let Some(anchor) = self.announcer.announce_failure(anchor)? else { return Ok(()) };
        if let Some(open) = &mut self.open {
            open.similar_to = input;
        }
        self.explore(Search { query: Query::Similar(anchor), page: 0, ..search }).await
    }

    async fn toggle_selected(&mut self) -> io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        let clusters = &open.page.clusters;
        let Some(index) = self.announcer.prompt_choice("Which one?", clusters.len()).await? else {
            return Ok(());
        };
        let id = clusters[index].id;
        if self.selected.remove(&id).is_none() {
            self.selected.insert(id, open.search.clone());
        }
        let state = if self.selected.contains_key(&id) { "selected" } else { "deselected" };
        let count = count_with_noun(self.selected.len(), "cluster", "clusters");
        self.announcer.status(format!("{} is {state}; {count} selected in total", index + 1))
    }
}
