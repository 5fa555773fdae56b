//! How a lenient service differs from a strict one.

/// Subject, without `--compat`, with it, reason.
pub const DIFFERENCES: &[[&str; 4]] = &[
    [
        "`entity_type` of `explore` and `search-image-similarity`",
        "required",
        "optional: that of the anchor, or else IMAGES",
        "public clients explore without any parameter",
    ],
    [
        "`anchor_type` of `explore`",
        "required with `anchor_media_id`",
        "optional: a registered query image with this identifier, or else a media item",
        "public clients send the identifier alone",
    ],
    [
        "`file_name` of `export_context_async`",
        "required",
        "optional: the identifier of the dataset",
        "public clients never send it",
    ],
    [
        "`caption_only_filter` of `explore` and `export_context_async`",
        "422",
        "filters as `text` with op `fts`",
        "older clients search captions with it",
    ],
    [
        "`labels`, `tags`",
        "a JSON array of strings",
        "also `[dog,cat]`",
        "older examples are written without quotes",
    ],
    [
        "`bounding_box` of `search-image-similarity`",
        "JSON, in fractions",
        "also `x,y,width,height` in pixels",
        "recorded clients send pixels",
    ],
    [
        "parameters without effect",
        "422",
        "those listed below are accepted",
        "public clients send them with every request",
    ],
    [
        "export of nothing",
        "FAILED",
        "REJECTED",
        "hosted services report it so, and public clients do not stop at FAILED",
    ],
    [
        "`download_uri` without login",
        "absolute",
        "relative to the address of the service",
        "recorded on premises; clients join it to their base URL",
    ],
    [
        "previews",
        "the fields of the interface document",
        "also `image_id` and `image_uri`",
        "public clients identify pictures by them",
    ],
    [
        "GETs that change something, without login",
        "need the header `X-Requested-With`",
        "need no header",
        "public clients do not send it",
    ],
];

/// Method and path, response, reason.
pub const OPERATIONS: &[[&str; 3]] = &[
    [
        "`GET /api/v1/healthcheck`",
        "status and version; no login",
        "clients ask for it before they start",
    ],
    ["`GET /api/v1/user_config`", "available searches", "clients choose their searches by it"],
    ["`GET /api/v1/datasets/sample_data`", "an empty array", "clients list it beside the datasets"],
    ["`GET /api/v1/dataset/{dataset_id}/stats`", "counts", "clients show them"],
    [
        "`GET /api/v1/dataset/{dataset_id}/export`",
        "`metadata.json` in the response",
        "clients export without a task",
    ],
    [
        "`GET /api/v1/dataset/{dataset_id}/export_media_id`",
        "CSV: `filename,media_id`",
        "scripts translate names with it",
    ],
    ["`GET /api/v1/image/{media_id}`", "one media item", "clients read single pictures"],
    [
        "`GET /api/v1/explore/{dataset_id}/similarity_cluster/{cluster_id}`",
        "the members that match the parameters of `explore`, 100 a page; null past the end",
        "clients page through a cluster",
    ],
    [
        "`GET /api/v1/explore/{dataset_id}/exploration_metadata`",
        "how often each label occurs, and the identifiers of the clusters, 100 a page",
        "clients discover clusters to export",
    ],
    [
        "`GET /api/v1/enrichment/{dataset_id}/list_models`",
        "the models behind the enrichments",
        "clients list them",
    ],
    [
        "`POST /api/v1/process/add_media`",
        "same as the GET",
        "a public document writes it as a POST",
    ],
];
