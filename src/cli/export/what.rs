//! What is exported when it is not the whole dataset: a selection by its name, from a file, or put
//! together on the command line (M24).

use std::{path::PathBuf, str::FromStr};

use clap::Args;

use crate::{
    cli::{Connection, Context, Ended, Exit, read_argument},
    journal,
    model::{
        ClusterId, Dataset, EntityType, Granularity, Mark, Marked, MarkedCluster, MediaId,
        SafeText, Selection,
    },
};

/// The options that choose.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is exported; else all of the dataset")]
pub struct What {
    /// The selection that was kept under this name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["media", "cluster", "selection_file"])]
    selection: Option<String>,
    /// The selection in a file, or `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["media", "cluster"])]
    selection_file: Option<PathBuf>,
    /// These media; repeatable.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    media: Vec<MediaId>,
    /// The members of this cluster, without those after `^`; repeatable.
    #[arg(long, value_name = "ID[^ID,..]")]
    cluster: Vec<Members>,
    /// What the members of the clusters are: images or objects.
    #[arg(long, value_name = "ENTITY", requires = "cluster", default_value = "images",
          value_parser = entity)]
    entity: EntityType,
}

/// A cluster without some of its members.
#[derive(Clone, Debug, PartialEq)]
struct Members {
    cluster: ClusterId,
    exclude: Vec<MediaId>,
}

impl FromStr for Members {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (cluster, exclude) = text.split_once('^').unwrap_or((text, ""));
        let wrong = |what: &str, id: &str| format!("`{id}` is no id of a {what}");
        let media = exclude.split(',').filter(|id| !id.trim().is_empty());
        Ok(Self {
            cluster: cluster.parse().map_err(|_| wrong("cluster", cluster))?,
            exclude: media
                .map(|id| id.parse().map_err(|_| wrong("medium", id)))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn entity(text: &str) -> Result<EntityType, String> {
    EntityType::parse(text).ok_or_else(|| "images or objects".to_owned())
}

impl What {
    /// The name of the selection, if it has one.
    pub(super) fn name(&self) -> Option<&str> {
        self.selection.as_deref()
    }

    /// What is exported; `None` for the whole dataset.
    ///
    /// # Errors
    /// There is no such selection, it is of another dataset, or nothing is in it.
    pub(super) fn selection(
        &self,
        context: &Context,
        connection: &Connection,
        dataset: &Dataset,
    ) -> Result<Option<Selection>, Ended> {
        let selection = if let Some(name) = &self.selection {
            connection.journal.named(name, dataset.id)?.ok_or_else(|| {
                let sentence = format!("no selection is called `{name}`");
                Ended::new(Exit::NotFound, sentence).remedy("tessera selection list")
            })?
        } else if let Some(path) = &self.selection_file {
            let source = read_argument(path)?;
            journal::read_selection(&source, dataset.id).map_err(|reason| {
                Ended::new(Exit::Usage, format!("{}: {reason}", path.display()))
            })?
        } else if self.media.is_empty() && self.cluster.is_empty() {
            return Ok(None);
        } else {
            self.marks().collect()
        };
        if selection.is_empty() {
            return Err(Ended::new(Exit::Usage, "nothing is marked in this selection"));
        }
        let stale = selection.totals().stale;
        if stale > 0 {
            context.note.warn(format!(
                "{stale} clusters are from before the dataset was clustered anew and may be gone"
            ));
        }
        Ok(Some(selection))
    }

    /// What the command line names.
    fn marks(&self) -> impl Iterator<Item = Mark> {
        let mark = |name: String, entity, what| Mark {
            name: SafeText::name(&name),
            entity,
            granularity: Granularity::default(),
            what,
        };
        let media = self
            .media
            .iter()
            .map(move |id| mark(id.short(), EntityType::default(), Marked::Medium(*id, None)));
        let clusters = self.cluster.iter().map(move |members| {
            let what = Marked::Cluster(MarkedCluster {
                id: members.cluster,
                filters: Vec::new(),
                members: None,
                at_least: false,
                seen: [].into(),
                exclude: members.exclude.iter().copied().collect(),
                stale: false,
            });
            mark(members.cluster.short(), self.entity, what)
        });
        media.chain(clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m24_a_cluster_is_named_with_what_is_left_out() {
        let [cluster, one, two] = [1, 2, 3].map(|n: u128| uuid::Uuid::from_u128(n));
        let members: Members = format!("{cluster}^{one},{two}").parse().unwrap();
        assert_eq!(members.cluster, ClusterId(cluster));
        assert_eq!(members.exclude, [MediaId(one), MediaId(two)]);
        assert!(cluster.to_string().parse::<Members>().unwrap().exclude.is_empty());
        let wrong = format!("{cluster}^x").parse::<Members>().unwrap_err();
        assert_eq!(wrong, "`x` is no id of a medium");
        assert!("x".parse::<Members>().unwrap_err().contains("cluster"));
    }
}
