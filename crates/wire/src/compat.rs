//! The responses to calls that public clients make although the API document does not list them.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    fields::{Fields, count, first_text},
    vql::write_scalar,
};
use tessera_model::{
    ClusterId, ColumnFacets, Distribution, DistributionBar, Facet, Overview, SafeText, TagId,
    vql::{ColumnName, ColumnValue, FileProperty},
};

/// `GET healthcheck`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HealthBody {
    /// `Green`: the service is up.
    pub status: &'static str,
    /// The error, or `none`.
    #[serde(rename = "service-health-message")]
    pub message: &'static str,
    /// Version of the product.
    pub version: &'static str,
}

/// `GET user_config`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UserConfigBody {
    /// What the user may do.
    pub features: Vec<FeatureBody>,
}

/// A feature of a user.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FeatureBody {
    /// Name of the feature: `TEXTUAL_SEARCH_IMAGE`.
    pub feature_key: &'static str,
    /// The options of the feature.
    pub feature_options: TextSearchBody,
}

/// Which searches by text are available.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct TextSearchBody {
    /// Search by labels.
    pub labels_search: bool,
    /// Search by captions.
    pub captions_search: bool,
    /// Search by meaning.
    pub semantic_search: bool,
}

/// `GET dataset/{id}/stats`.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct StatsBody {
    /// Number of images.
    pub n_images: u64,
    /// Number of videos.
    pub n_videos: u64,
    /// Number of objects.
    pub n_objects: u64,
    /// Number of clusters at the default granularity.
    pub n_clusters: u64,
}

/// `GET explore/{id}/exploration_metadata`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OverviewBody {
    /// Display name, raw.
    pub dataset_name: String,
    /// Number of clusters at the threshold.
    pub clusters_count: u64,
    /// Number of media.
    pub media_count: u64,
    /// The labels, most frequent first.
    pub labels: Vec<LabelCountBody>,
    /// The user tags, most frequent first.
    pub user_tags: Vec<TagCountBody>,
    /// The words in captions, most frequent first.
    #[schema(max_items = 1000)]
    pub caption_words: Vec<LabelCountBody>,
    /// The folders, including the folders in them, the fullest first.
    #[schema(max_items = 1000)]
    pub folders: Vec<LabelCountBody>,
    /// The columns of the user's own, by name.
    pub columns: Vec<ColumnCountBody>,
    /// The dates, and the sizes of files and pictures, each in their order.
    pub distributions: Vec<DistributionBody>,
    /// One page of the clusters at the threshold, largest first; empty past the end.
    #[schema(max_items = 100)]
    pub clusters: Vec<ClusterCountBody>,
}

/// The number of media in a cluster.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct ClusterCountBody {
    /// Cluster identifier.
    #[schema(value_type = Uuid)]
    pub cluster_id: ClusterId,
    /// Number of images.
    pub n_images: u64,
    /// Number of videos.
    pub n_videos: u64,
    /// Number of objects.
    pub n_objects: u64,
}

/// A label or a word, and how often it occurs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LabelCountBody {
    /// The label or word, raw.
    pub name: String,
    /// Number of media in which it occurs.
    pub count: u64,
}

/// A column of the user's own.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ColumnCountBody {
    /// The name, raw.
    pub name: String,
    /// The values, most frequent first; empty if there are more than 50.
    pub values: Vec<ValueCountBody>,
}

/// A value of a column, and how often it occurs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ValueCountBody {
    /// A text, a number or a flag.
    pub value: Value,
    /// Number of media with this value.
    pub count: u64,
}

/// How many media have a property in each of some ranges.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DistributionBody {
    /// `date`, `size` or `width`, as in filters.
    pub property: &'static str,
    /// The ranges, in their order.
    pub bars: Vec<DistributionBarBody>,
}

/// A range of values, and how many media are in it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DistributionBarBody {
    /// First value: a number, or a period like `2024-05`.
    pub from: Value,
    /// Last value: a number, or the same period.
    pub to: Value,
    /// Number of media.
    pub count: u64,
}

impl From<&Distribution> for DistributionBody {
    fn from(distribution: &Distribution) -> Self {
        let bar = |bar: &DistributionBar| DistributionBarBody {
            from: write_scalar(&bar.from),
            to: write_scalar(&bar.to),
            count: bar.count,
        };
        Self {
            property: distribution.property.as_str(),
            bars: distribution.bars.iter().map(bar).collect(),
        }
    }
}

/// A user tag, and how often it occurs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TagCountBody {
    /// The identifier used in filters.
    #[schema(value_type = Uuid)]
    pub id: TagId,
    /// The name, raw.
    pub name: String,
    /// Number of media with this tag.
    pub count: u64,
}

/// The maximum number of caption words in an overview.
pub const MAX_CAPTION_WORDS: usize = 1_000;

/// The maximum number of folders in an overview.
pub const MAX_FOLDERS: usize = 1_000;

/// Reads how often labels, tags and words occur in a dataset. Public clients expect only the labels, so a service may
/// send nothing else. Returns `None` if there is no list of labels.
pub fn read_overview(overview: Fields<'_>) -> Option<Overview> {
    let facets = |key: &'static str, rows: &Vec<Value>| -> Vec<Facet> {
        rows.iter().filter_map(|row| read_facet(overview.element(key, row))).collect()
    };
    let labels = overview.list("labels")?;
    let optional = |key| {
        let rows = overview.read(key, Value::as_array);
        rows.map(|rows| facets(key, rows)).unwrap_or_default()
    };
    Some(Overview {
        media: count(overview, "media_count"),
        labels: facets("labels", labels),
        tags: optional("user_tags"),
        words: optional("caption_words"),
        folders: optional("folders"),
        columns: overview.read("columns", read_columns).unwrap_or_default(),
        distributions: overview.read("distributions", read_distributions).unwrap_or_default(),
    })
}

fn read_columns(rows: &Value) -> Option<Vec<ColumnFacets>> {
    let value = |row: &Value| {
        let value: ColumnValue = serde_json::from_value(row.get("value")?.clone()).ok()?;
        Some((value, count(row, "count")?))
    };
    let column = |row: &Value| {
        let name = ColumnName::new(row.get("name")?.as_str()?).ok()?;
        let values = row.get("values")?.as_array()?.iter().map(value);
        Some(ColumnFacets { name, values: values.collect::<Option<_>>()? })
    };
    rows.as_array()?.iter().map(column).collect()
}

fn read_distributions(rows: &Value) -> Option<Vec<Distribution>> {
    let value = |row: &Value, key| serde_json::from_value(row.get(key)?.clone()).ok();
    let bar = |row: &Value| {
        let count = count(row, "count")?;
        Some(DistributionBar { from: value(row, "from")?, to: value(row, "to")?, count })
    };
    let distribution = |row: &Value| {
        let property = FileProperty::from_keyword(row.get("property")?.as_str()?)?;
        let bars = row.get("bars")?.as_array()?.iter().map(bar).collect::<Option<_>>()?;
        Some(Distribution { property, bars })
    };
    rows.as_array()?.iter().map(distribution).collect()
}

fn read_facet(row: Fields<'_>) -> Option<Facet> {
    let name = row.needed("name", first_text(row, &["name"]));
    let count = row.needed_count("count");
    let tag = first_text(row, &["id"]).and_then(|id| id.parse().ok());
    Some(Facet { name: SafeText::name(&name?), tag, count: count? })
}

/// One element of `GET enrichment/{id}/list_models`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ListedModelBody {
    /// Identifier of the model, as in the enrichment context.
    pub id: &'static str,
    /// Display name of the model.
    pub name: &'static str,
    /// The enrichment that the model gives, for example `CAPTION_IMAGES`.
    pub r#type: &'static str,
    /// `Active`: the model can be used.
    pub status: &'static str,
    /// Who made the model.
    pub vendor: &'static str,
    /// What the model does.
    pub description: &'static str,
    /// Models that this model needs, or null if it needs none.
    pub dependencies: Option<Vec<String>>,
}
