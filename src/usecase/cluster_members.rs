//! Fetches the members of clusters beyond their previews. Only local services and those like `serve --compat` list all
//! members, so the members that other services do not list are counted.

use std::collections::HashSet;

use futures_util::{StreamExt as _, stream};

use tessera_client::Client;
use tessera_model::{
    Cluster, Failure, FailureKind, Fraction, Preview, Search,
    text::{count_with_noun, grouped_with_noun},
};

/// The number of clusters whose members are fetched at a time.
const CONCURRENT_CLUSTERS: usize = 6;

/// Which members of a cluster are needed, best first.
#[derive(Clone, Copy, Debug, Default)]
pub struct WantedMembers {
    /// The number of members. More are fetched, which shows that they exist.
    pub count: Option<usize>,
    /// The score from which on members are not needed. It cannot be given if the members are in the order of files.
    pub max_score: Option<Fraction>,
}

pub struct MemberReader<'a> {
    client: &'a Client,
    wanted: WantedMembers,
    /// Whether the service lists members, or `None` before the first response.
    is_supported: Option<bool>,
    /// The number of members that the service counted but did not list.
    pub missing: u64,
    /// The number of clusters whose size is unknown and of which only the previews were listed.
    pub uncounted: usize,
    /// Why the first of the missing members could not be fetched.
    pub failure: Option<Failure>,
}

/// The members of a cluster that were listed, and why there are no more of them.
type Members = (Vec<Preview>, Option<Failure>);

impl<'a> MemberReader<'a> {
    pub fn new(client: &'a Client, wanted: WantedMembers) -> Self {
        Self { client, wanted, is_supported: None, missing: 0, uncounted: 0, failure: None }
    }

    pub fn is_complete(&self) -> bool {
        self.missing == 0 && self.uncounted == 0
    }

    /// Returns a sentence about the members that are missing, or `None` if there are none.
    pub fn missing_warning(&self) -> Option<String> {
        let reason = match &self.failure {
            Some(failure) if self.is_supported != Some(false) => failure.to_string(),
            _ => "this service lists only the previews of clusters".to_owned(),
        };
        let media =
            grouped_with_noun(self.missing, "matching media item is", "matching media items are");
        let clusters = count_with_noun(self.uncounted, "cluster", "clusters");
        match (self.missing, self.uncounted) {
            (0, 0) => None,
            (0, _) => Some(format!(
                "members of {clusters} may be missing: {reason}, without their number"
            )),
            (_, 0) => Some(format!("{media} missing: {reason}")),
            _ => Some(format!("{media} missing, and members of {clusters} may be: {reason}")),
        }
    }

    /// Returns the members of each of the clusters that `search` has found, best first. If the service does not list
    /// them, the previews are returned.
    pub async fn members(&mut self, clusters: &[Cluster], search: &Search) -> Vec<Vec<Preview>> {
        let mut listed = Vec::with_capacity(clusters.len());
        let mut rest = clusters.iter();
        // The first request shows whether the service lists members, so that no further ones are sent in vain.
        while self.is_supported.is_none()
            && let Some(cluster) = rest.next()
        {
            let members = self.fetch(cluster, search).await;
            listed.push(self.accept(cluster, members));
        }
        let this = &*self;
        let fetch = async |cluster| (cluster, this.fetch(cluster, search).await);
        let fetched: Vec<_> =
            stream::iter(rest).map(fetch).buffered(CONCURRENT_CLUSTERS).collect().await;
        for (cluster, members) in fetched {
            listed.push(self.accept(cluster, members));
        }
        listed
    }

    /// Returns `None` if the previews are enough, or if nothing more can be fetched.
    async fn fetch(&self, cluster: &Cluster, search: &Search) -> Option<Members> {
        if self.is_enough(cluster, &cluster.previews) || self.is_supported == Some(false) {
            return None;
        }
        let (mut members, mut known) = (Vec::new(), HashSet::new());
        let mut page = Search { page: 0, ..search.clone() };
        loop {
            let listed = match self.client.cluster_members(&page, cluster.id).await {
                Ok(listed) => listed,
                Err(failure) => return Some((members, Some(failure))),
            };
            let before = members.len();
            members.extend(listed.into_iter().filter(|it| known.insert(it.media)));
            if self.is_enough(cluster, &members) || members.len() == before {
                return Some((members, None));
            }
            page.page = page.page.saturating_add(1);
        }
    }

    fn is_enough(&self, cluster: &Cluster, listed: &[Preview]) -> bool {
        let count = listed.len();
        self.wanted.count.is_some_and(|wanted| count > wanted)
            || cluster.size().is_some_and(|size| count as u64 >= size)
            || self.ends_beyond(listed)
    }

    /// Returns whether the members that follow have scores that are not needed.
    fn ends_beyond(&self, listed: &[Preview]) -> bool {
        let Some(max) = self.wanted.max_score else { return false };
        let is_beyond =
            |it: &Preview| it.relevance.as_ref().is_some_and(|score| score.is_beyond(max));
        // The API document does not say that members are sorted.
        listed.last().is_some_and(is_beyond) && listed.is_sorted_by_key(is_beyond)
    }

    fn accept(&mut self, cluster: &Cluster, members: Option<Members>) -> Vec<Preview> {
        let is_fetched = members.is_some();
        let (mut listed, failure) = members.unwrap_or_default();
        if let Some(failure) = failure {
            if failure.kind == FailureKind::NotFound && self.is_supported.is_none() {
                self.is_supported = Some(false);
            }
            self.failure.get_or_insert(failure);
        } else if is_fetched {
            self.is_supported = Some(true);
        }
        if listed.len() < cluster.previews.len() {
            listed.clone_from(&cluster.previews);
        }
        let wanted = self.wanted.count.map_or(u64::MAX, |count| count as u64);
        match cluster.size() {
            _ if self.ends_beyond(&listed) => {}
            Some(size) => self.missing += size.min(wanted).saturating_sub(listed.len() as u64),
            None if !is_fetched || self.is_supported == Some(false) => self.uncounted += 1,
            None => {}
        }
        listed
    }
}
