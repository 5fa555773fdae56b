//! Keeps how much of a cluster's members is loaded. The members beyond the previews of a cluster are loaded page by
//! page while the user goes through them, and are appended to the previews of the cluster, so that tiles, the viewer
//! and comparisons need not distinguish the two.

use std::{collections::HashSet, time::Duration};

use tessera_model::{ClusterId, FailureKind, MediaId};

use crate::app::prelude::*;
use crate::remote::{Remote, Uptime};

/// The pages of members that were loaded of one cluster.
#[derive(Debug)]
struct MemberPages {
    /// The search that found the cluster.
    search: Search,
    cluster: ClusterId,
    /// The number of pages that were loaded.
    count: Remote<u32>,
    is_complete: bool,
}

/// The members of the cluster that the user went through last.
#[derive(Debug, Default)]
pub struct MemberList {
    pages: Option<MemberPages>,
    /// Whether the service lists members, or only previews. `None` before the first response.
    is_supported: Option<bool>,
}

/// Why the members of a cluster are not all loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum MissingMembers<'a> {
    /// Members are loaded as the user goes on.
    NotYet,
    /// The service lists only previews.
    NotListed,
    Failed(&'a Failure),
}

impl MemberList {
    fn of(&self, search: &Search, cluster: ClusterId) -> Option<&MemberPages> {
        self.pages.as_ref().filter(|it| it.cluster == cluster && it.search == *search)
    }

    fn entry(&mut self, search: &Search, cluster: ClusterId) -> &mut MemberPages {
        if self.of(search, cluster).is_none() {
            self.pages = None;
        }
        self.pages.get_or_insert_with(|| MemberPages {
            search: search.clone(),
            cluster,
            count: Remote::default(),
            is_complete: false,
        })
    }

    /// Forgets what was loaded of the clusters of a page, because the page was loaded again. A service that seemed to
    /// list no members is asked again, because the reason may have been a cluster of the former page.
    pub(in crate::app) fn forget(&mut self, search: &Search) {
        self.is_supported = self.is_supported.filter(|is_supported| *is_supported);
        self.pages = self.pages.take().filter(|it| it.search != *search);
    }

    /// Returns the number of the next page of members and when it is due, unless there is none. A page that failed is
    /// due again after `retry`, but only after a connection failure.
    pub(in crate::app) fn next_page(
        &self,
        search: &Search,
        cluster: &Cluster,
        retry: impl Fn(u32) -> Duration,
    ) -> Option<(u32, Uptime)> {
        match self.missing(search, cluster)? {
            MissingMembers::NotListed => return None,
            MissingMembers::Failed(failure) if !failure.is_connection_failure() => return None,
            MissingMembers::Failed(_) | MissingMembers::NotYet => {}
        }
        let Some(pages) = self.of(search, cluster.id) else { return Some((0, Uptime::ZERO)) };
        let due = match pages.count.failures() {
            0 => Some(Uptime::ZERO),
            failures => pages.count.due(Some(retry(failures))),
        };
        Some((pages.count.value().copied().unwrap_or(0), due?))
    }

    /// Appends a page of members to the previews of its cluster.
    pub(in crate::app) fn add_page(
        &mut self,
        search: &Search,
        cluster: &mut Cluster,
        members: Vec<Preview>,
        now: Uptime,
    ) {
        self.is_supported = Some(true);
        let pages = self.entry(search, cluster.id);
        let count = pages.count.value().map_or(1, |count| count + 1);
        pages.count.finish(now, Ok(count));
        pages.is_complete = members.is_empty();
        let known: HashSet<MediaId> = cluster.previews.iter().map(|it| it.media).collect();
        let new = members.into_iter().filter(|preview| !known.contains(&preview.media));
        cluster.previews.extend(new);
    }

    /// Stores the failure of a page of members. A local service lists members, so there only the cluster is missing.
    pub(in crate::app) fn page_failed(
        &mut self,
        search: &Search,
        cluster: ClusterId,
        failure: Failure,
        is_local: bool,
        now: Uptime,
    ) {
        if failure.kind == FailureKind::NotFound && !is_local {
            self.is_supported.get_or_insert(false);
        }
        self.entry(search, cluster).count.finish(now, Err(failure));
    }

    /// Returns why the members of a cluster are not all loaded. Returns `None` if they are.
    pub(in crate::app) fn missing(
        &self,
        search: &Search,
        cluster: &Cluster,
    ) -> Option<MissingMembers<'_>> {
        if cluster.size().is_some_and(|size| size <= cluster.previews.len() as u64) {
            return None;
        }
        if self.is_supported == Some(false) {
            return Some(MissingMembers::NotListed);
        }
        match self.of(search, cluster.id) {
            Some(pages) if pages.is_complete => None,
            Some(pages) => {
                let failed = pages.count.failure().map(MissingMembers::Failed);
                Some(failed.unwrap_or(MissingMembers::NotYet))
            }
            None => Some(MissingMembers::NotYet),
        }
    }
}
