//! The responses to calls that public clients make although the API document does not list them.

use serde::Serialize;
use utoipa::ToSchema;

use tessera_model::ClusterId;

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

/// A label, and how often it occurs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LabelCountBody {
    /// The label, raw.
    pub name: String,
    /// Number of media with this label.
    pub count: u64,
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
