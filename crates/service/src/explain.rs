//! The text of `tessera serve --explain`: choices where the interface document is open, the additions of
//! `--compat`, text search without a model, and the limits.

pub const SERVE_EXPLANATION: &str = "\
CHOICES WHERE THE INTERFACE DOCUMENT IS OPEN

  creating datasets      not offered over HTTP; each folder given to serve is one dataset, indexed at once
  GET datasets           a bare array of dataset records, oldest first; no parameters
  dataset record         also n_objects, fatal_error_msg, description, source_type, source_uri,
                         source_dataset_id, created_by, updated_at, preview_uri, filename, sample
  api_credentials        one key pair per start; its secret is in the first response only
  tokens                 HS256, at most 24 hours from iat to exp, iat at most 60 s ahead
  caption and vql        parameters of GET explore/{dataset_id}, and of export_context_async
  browsing               explore without anchor, caption and filters: the clusters, largest first
  relevance_score        null if the query does not rank; cosine_distance, or bm25 for full text (lower is better)
  labels, user_tags      null or a list of strings; null or a list of {id, name}
  used_duckdb            always false: DuckDB is not used
  threshold              0 is the finest; default 2
  bounding_box           of objects {x, y, width, height} in fractions of the image
  search-image-similarity responds 200 at once, never 202; an uploaded image can be used for a day
  export task            INIT, IN_PROGRESS, COMPLETED or FAILED; also dataset_id, progress,
                         entities_count, result_message, created_at
  export archive         metadata.json or metadata.parquet; links are valid for an hour, archives are kept for a day
  export_entities_async  cluster_filters takes vql and labels too; a second parameter, file_name
  add_media from PARTIAL INDEX   READ ONLY, then PARTIAL INDEX again
  ERROR                  an operation failed; fatal_error_msg contains the reason; add_media is refused
  reindex                202 with an empty body
  process/add_media      only folders at or below those served or given with --allow-path; also auto_reindex
  use_spot, batch_n_*    checked, without effect: there are no machines to choose from
  assume_role            checked, and refused with the reason if STS cannot be reached
  enrichment context     what came with the images (captions, labels, boxes) and the text space
  422                    detail is a list of {type, loc, msg, input}; otherwise it is a string
  unknown parameters     are ignored
  cancelling             not offered
  webhooks and events    not offered; poll status_new and export_status

SEARCHING BY TEXT

  text with op fts       full text over captions: stemming, ranking, AND, OR, -word, \"a phrase\", parentheses
  caption, op semantic   without a model: a text space trained on the captions and labels of the dataset.
                         It ignores words that are not in them. A dataset without captions and labels
                         responds 422. The enrichment context lists what is used
  with encoders          (--image-encoder, --text-encoder, --tokenizer) texts and images in one space:
                         a text finds images without captions
  threshold of semantic  the minimum similarity; textual_similarity_threshold keeps scores below it

WITH --compat, REQUESTS OF PUBLIC CLIENTS ARE ACCEPTED

  explore                without entity_type (IMAGES); labels and tags as [dog,cat]
  export_context_async   without file_name
  search-image-similarity without entity_type; bounding_box as x,y,width,height in pixels
  process/add_media      also by POST
  booleans               in any case, as False (also without --compat)

  and these operations exist (404 otherwise):
  GET  /api/v1/healthcheck                                 no login; status and version
  GET  /api/v1/user_config                                 available searches
  GET  /api/v1/datasets/sample_data                        an empty array
  GET  /api/v1/dataset/{dataset_id}/stats                  counts
  GET  /api/v1/dataset/{dataset_id}/export                 metadata.json in the response
  GET  /api/v1/dataset/{dataset_id}/export_media_id        CSV: filename,media_id
  GET  /api/v1/image/{media_id}                            one image
  GET  /api/v1/explore/{dataset_id}/similarity_cluster/{cluster_id}   the members, 100 a page; null past the end
  GET  /api/v1/explore/{dataset_id}/exploration_metadata   how often each label occurs
  POST /api/v1/process/add_media                           same as the GET

LIMITS

  connections            256; 10 s until the first byte and for a head, 75 s between requests,
                         30 s for the next part of a body or of a response
  expensive requests     4 at a time (searches, query images, selections); 503 after 30 s of waiting
  query image            32 MiB
  selection              32 MiB, 10000 items
  upload                 50 GiB, limited by free disk space; 256 MiB per file, 4 GiB per video
  vql                    64 KiB, 16 filters; texts of 1000 characters
  from object storage    1000000 media; a manifest of 64 MiB

The OpenAPI description: GET /api/v1/openapi.json (no login).
";
