//! The interface for screen readers and pipes (`--accessible`): numbered questions and sentences in
//! one direction. No other screen, no frames, nothing drawn over; the same client underneath.

mod export;
mod reading;
mod voice;

use std::{collections::BTreeMap, io, path::PathBuf};

pub use voice::Voice;

use tessera_client::{Client, QueryImage};
use tessera_model::{
    Anchor, AnchorKind, ClusterId, Dataset, DatasetId, EntityType, Granularity, Page, Query,
    QueryText, SafeText, Search, cadence::Cadence,
};

/// Where it begins, and what it says first.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The deployment in a word or two.
    pub place: SafeText,
    /// The dataset that is opened first.
    pub dataset: Option<DatasetId>,
    /// Why this mode is on.
    pub reason: &'static str,
    /// Folder that archives go to.
    pub downloads: PathBuf,
    /// What the members of clusters are, and how coarse these, when a dataset is opened.
    pub clusters: (EntityType, Granularity),
    /// How often is asked for what changes by itself.
    pub cadence: Cadence,
}

/// What can be done next, in the order of its numbers.
const WHAT: [(&str, What); 11] = [
    ("read the results again", What::Read),
    ("next page", What::NextPage),
    ("previous page", What::PreviousPage),
    ("browse the whole dataset", What::Browse),
    ("search by caption", What::Caption),
    ("find what is similar to a result", What::Similar),
    ("find what is similar to a file of this machine", What::File),
    ("mark a result, or take its mark away", What::Mark),
    ("export", What::Export),
    ("watch the datasets until nothing moves", What::Watch),
    ("open another dataset", What::Datasets),
];

#[derive(Clone, Copy)]
enum What {
    Read,
    NextPage,
    PreviousPage,
    Browse,
    Caption,
    Similar,
    File,
    Mark,
    Export,
    Watch,
    Datasets,
}

/// Runs until the person leaves or the answers end.
///
/// # Errors
/// Nobody listens any more, or the answers cannot be read. What the service refuses is told instead.
pub async fn run(client: Client, beginning: Beginning, mut voice: Voice) -> io::Result<()> {
    let Beginning { place, dataset, reason, downloads, clusters, cadence } = beginning;
    voice.status(format!("accessible mode is on, because {reason}"))?;
    voice.status(format!("deployment {place}"))?;
    let (open, marks) = (None, BTreeMap::new());
    let mut talk = Talk { client, voice, downloads, clusters, cadence, open, marks };
    talk.open(dataset).await?;
    loop {
        for (number, (words, _)) in (1..).zip(WHAT) {
            talk.voice.item(format!("{number} {words}"))?;
        }
        let Some(place) = talk.voice.choose("What now?", WHAT.len()).await? else {
            return talk.voice.status("left; exports go on at the service");
        };
        talk.act(WHAT[place].1).await?;
    }
}

/// A conversation over one deployment.
struct Talk {
    client: Client,
    voice: Voice,
    downloads: PathBuf,
    clusters: (EntityType, Granularity),
    cadence: Cadence,
    open: Option<Open>,
    /// What is marked in the open dataset, with a name for each.
    marks: BTreeMap<ClusterId, Search>,
}

/// The dataset that is open, with what was asked of it last.
struct Open {
    dataset: Dataset,
    search: Search,
    similar_to: String,
    page: Page,
}

impl Talk {
    async fn act(&mut self, what: What) -> io::Result<()> {
        match what {
            What::Datasets => return self.open(None).await,
            What::Watch => return self.watch().await,
            _ => {}
        }
        let Some(open) = &self.open else {
            return self.voice.error("no dataset is open; open one first");
        };
        let search = open.search.clone();
        match what {
            What::Read => self.read(),
            What::NextPage if !open.page.may_continue() => {
                self.voice.error("this is the last page")
            }
            What::NextPage => self.explore(Search { page: search.page + 1, ..search }).await,
            What::PreviousPage => match search.page.checked_sub(1) {
                Some(page) => self.explore(Search { page, ..search }).await,
                None => self.voice.error("this is the first page"),
            },
            What::Browse => self.explore(self.whole(search.dataset)).await,
            What::Caption => self.caption(search).await,
            What::Similar => self.similar(search).await,
            What::File => self.file(search).await,
            What::Mark => self.mark().await,
            What::Export => self.export().await,
            What::Watch | What::Datasets => Ok(()),
        }
    }

    /// The search that has everything in it.
    fn whole(&self, dataset: DatasetId) -> Search {
        let (entity, granularity) = self.clusters;
        Search { entity, granularity, ..Search::browse(dataset) }
    }

    /// Opens the wanted dataset, or lets the person choose when there are several.
    async fn open(&mut self, wanted: Option<DatasetId>) -> io::Result<()> {
        let Some((list, _)) = self.voice.heard(self.client.datasets().await)? else {
            return Ok(());
        };
        self.voice.status(reading::number(list.len() as u64, "dataset"))?;
        for (place, dataset) in (1..).zip(&list) {
            self.voice.item(reading::dataset(place, list.len(), dataset))?;
        }
        let wanted = wanted.and_then(|id| list.iter().position(|dataset| dataset.id == id));
        let place = match (wanted, list.len()) {
            (Some(place), _) => Some(place),
            (None, 0 | 1) => list.first().map(|_| 0),
            (None, count) => self.voice.choose("Which dataset?", count).await?,
        };
        let Some(dataset) = place.and_then(|place| list.into_iter().nth(place)) else {
            return Ok(());
        };
        self.voice.status(format!("dataset {} is open", dataset.name))?;
        self.marks.clear();
        let search = self.whole(dataset.id);
        let (similar_to, page) = (String::new(), Page::default());
        self.open = Some(Open { dataset, search: search.clone(), similar_to, page });
        if self.open.as_ref().is_some_and(|open| open.dataset.status.is_moving()) {
            self.watch().await?;
        }
        self.explore(search).await
    }

    /// Asks for a page and reads it out. A refusal leaves what was there.
    async fn explore(&mut self, search: Search) -> io::Result<()> {
        let answer = self.client.explore(&search).await;
        let Some(page) = self.voice.heard(answer)? else { return Ok(()) };
        if let Some(open) = &mut self.open {
            (open.search, open.page) = (search, page);
        }
        self.read()
    }

    fn read(&mut self) -> io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        self.voice.status(reading::search(&open.search, &open.similar_to, &open.page))?;
        let (count, scale) = (open.page.clusters.len(), open.search.query.scale());
        for (place, cluster) in (1..).zip(&open.page.clusters) {
            let marked = self.marks.contains_key(&cluster.id);
            self.voice.item(reading::cluster(place, count, cluster, scale, marked))?;
        }
        Ok(())
    }

    async fn caption(&mut self, search: Search) -> io::Result<()> {
        let Some(answer) =
            self.voice.ask("What should the captions mean? Type a few words").await?
        else {
            return Ok(());
        };
        match QueryText::new(&answer) {
            Ok(text) => {
                let query = Query::Caption { text, max_score: None };
                self.explore(Search { query, page: 0, ..search }).await
            }
            Err(invalid) => self.voice.error(invalid),
        }
    }

    async fn similar(&mut self, search: Search) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let Some(place) = self.voice.choose("Similar to which?", open.page.clusters.len()).await?
        else {
            return Ok(());
        };
        let Some(preview) = open.page.clusters.get(place).and_then(|it| it.previews.first()) else {
            return self.voice.error("this cluster shows no member to compare with");
        };
        open.similar_to = preview.file_name.to_string();
        let query = Query::Similar(Anchor { media: preview.media, kind: AnchorKind::Media });
        self.explore(Search { query, page: 0, ..search }).await
    }

    async fn file(&mut self, search: Search) -> io::Result<()> {
        let Some(answer) = self.voice.ask("Which file? Type its path").await? else {
            return Ok(());
        };
        let image = QueryImage::read(answer.as_ref()).await;
        let Some(image) = self.voice.heard(image)? else { return Ok(()) };
        self.voice.status("sending the query image")?;
        let Search { dataset, entity, granularity, .. } = search;
        let anchor = self.client.register_anchor(dataset, image, entity, granularity, None).await;
        let Some(anchor) = self.voice.heard(anchor)? else { return Ok(()) };
        if let Some(open) = &mut self.open {
            open.similar_to = answer;
        }
        self.explore(Search { query: Query::Similar(anchor), page: 0, ..search }).await
    }

    async fn mark(&mut self) -> io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        let clusters = &open.page.clusters;
        let Some(place) = self.voice.choose("Which one?", clusters.len()).await? else {
            return Ok(());
        };
        let id = clusters[place].id;
        if self.marks.remove(&id).is_none() {
            self.marks.insert(id, open.search.clone());
        }
        let marked = if self.marks.contains_key(&id) { "marked" } else { "not marked any more" };
        let count = reading::number(self.marks.len() as u64, "cluster");
        self.voice.status(format!("{} is {marked}; {count} marked in all", place + 1))
    }
}
