//! The options that name media items and clusters, with exclusions.

use std::str::FromStr;

use clap::Args;

use tessera_model::{
    ClusterId, EntityType, EntryContent, Granularity, MediaId, SafeText, SelectedCluster,
    SelectionEntry,
};

#[derive(Debug, Args)]
pub struct ItemOptions {
    /// Media items, by ID; repeatable.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub media: Vec<MediaId>,
    /// All members of a cluster except those after `^`; repeatable.
    #[arg(long, value_name = "ID[^ID,..]")]
    pub cluster: Vec<ClusterItem>,
    /// Members of the clusters: images or objects.
    #[arg(long, value_name = "ENTITY", requires = "cluster", default_value = "images")]
    entity: EntityType,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClusterItem {
    pub cluster: ClusterId,
    pub exclude: Vec<MediaId>,
}

impl FromStr for ClusterItem {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (cluster, exclude) = text.split_once('^').unwrap_or((text, ""));
        let invalid = |kind: &str, id: &str| format!("`{id}` is not a valid {kind} ID");
        let media = exclude.split(',').filter(|id| !id.trim().is_empty());
        let exclude = media.map(|id| id.parse().map_err(|_| invalid("media item", id)));
        Ok(Self {
            cluster: cluster.parse().map_err(|_| invalid("cluster", cluster))?,
            exclude: exclude.collect::<Result<_, _>>()?,
        })
    }
}

impl ItemOptions {
    pub fn is_empty(&self) -> bool {
        self.media.is_empty() && self.cluster.is_empty()
    }

    pub fn entries(&self) -> impl Iterator<Item = SelectionEntry> {
        let entry = |name: String, entity, content| SelectionEntry {
            name: SafeText::name(&name),
            entity,
            granularity: Granularity::default(),
            content,
        };
        let media = self.media.iter().map(move |id| {
            entry(id.short(), EntityType::default(), EntryContent::MediaItem(*id, None))
        });
        let clusters = self.cluster.iter().map(move |members| {
            let content = EntryContent::Cluster(SelectedCluster {
                id: members.cluster,
                filters: Vec::new(),
                member_count: None,
                count_is_minimum: false,
                previewed: [].into(),
                excluded: members.exclude.iter().copied().collect(),
                stale: false,
            });
            entry(members.cluster.short(), self.entity, content)
        });
        media.chain(clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_parsed_with_its_exclusions() {
        let [cluster, one, two] = [1, 2, 3].map(|n: u128| uuid::Uuid::from_u128(n));
        let members: ClusterItem = format!("{cluster}^{one},{two}").parse().unwrap();
        assert_eq!(members.cluster, ClusterId(cluster));
        assert_eq!(members.exclude, [MediaId(one), MediaId(two)]);
        assert!(cluster.to_string().parse::<ClusterItem>().unwrap().exclude.is_empty());
        let invalid = format!("{cluster}^x").parse::<ClusterItem>().unwrap_err();
        assert_eq!(invalid, "`x` is not a valid media item ID");
        assert!("x".parse::<ClusterItem>().unwrap_err().contains("cluster"));
    }
}
