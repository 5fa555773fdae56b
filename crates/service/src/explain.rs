//! `tessera serve --explain`: what the interface document leaves open and the choice taken here, what
//! `--compat` adds, how text is searched without a model, and the limits.

/// The explanation, as it is printed.
pub const SERVE_EXPLANATION: &str = "\
WHAT THE INTERFACE LEAVES OPEN, AND WHAT IS DONE HERE

  creating datasets      not offered over HTTP; each folder given to serve is one dataset, indexed at once
  GET datasets           a bare array of dataset records, oldest first; no parameters
  dataset record         also n_objects, fatal_error_msg, description, source_type, source_uri,
                         source_dataset_id, created_by, updated_at, preview_uri, filename, sample
  api_credentials        one key pair for each start; its secret is shown at the first call only
  tokens                 HS256, at most 24 hours from iat to exp, iat at most 60 s ahead
  caption and vql        parameters of GET explore/{dataset_id}, and of export_context_async
  browsing               explore without anchor, caption and filters: the clusters, largest first
  relevance_score        null where nothing ranks; cosine_distance, or bm25 for full text (lower is better)
  labels, user_tags      null, or a list of texts; null, or a list of {id, name}
  used_duckdb            always false: no DuckDB is behind it
  threshold              0 is the finest; without it 2
  bounding_box           of objects {x, y, width, height} in fractions of the image
  search-image-similarity answers 200 at once, never 202; an uploaded image can be searched for a day
  export task            INIT, IN_PROGRESS, COMPLETED or FAILED; also dataset_id, progress,
                         entities_count, result_message, created_at
  export archive         metadata.json or metadata.parquet; links open for an hour, archives stay for a day
  export_entities_async  cluster_filters takes vql and labels too; a second parameter, file_name
  add_media from PARTIAL INDEX   READ ONLY, then PARTIAL INDEX again
  ERROR                  work that failed; fatal_error_msg says why; another add_media is refused
  reindex                202 with an empty body
  process/add_media      only folders at or below those served or given with --allow-path; also auto_reindex
  use_spot, batch_n_*    checked, and without effect: there are no machines to choose from
  assume_role            checked, and refused with its reason where no STS can be reached
  enrichment context     what came with the images (captions, labels, boxes) and the text space
  422                    detail is a list of {type, loc, msg, input}; everywhere else it is a text
  parameters unknown     are ignored
  cancelling             not offered
  webhooks and events    not offered; poll status_new and export_status

SEARCHING BY TEXT

  text with op fts       full text over captions: stemming, ranking, AND, OR, -word, \"a phrase\", parentheses
  caption, op semantic   without a model: a text space trained on the captions and labels of this very
                         dataset. Words that it never saw mean nothing to it, and a dataset without
                         captions and labels answers 422. The enrichment context names what was used
  with encoders          (--image-encoder, --text-encoder, --tokenizer) texts and pictures in one space:
                         a text finds pictures that nobody described
  threshold of semantic  the least similarity; textual_similarity_threshold keeps scores below it

WITH --compat, WHAT PUBLIC CLIENTS SEND IS ACCEPTED

  explore                without entity_type (IMAGES); labels and tags as [dog,cat]
  export_context_async   without file_name
  search-image-similarity without entity_type; bounding_box as x,y,width,height in pixels
  process/add_media      as POST too
  booleans               in any case, as False (this is so without --compat, too)

  and these calls are answered (404 otherwise):
  GET  /api/v1/healthcheck                                 no login; status and version
  GET  /api/v1/user_config                                 which searches there are
  GET  /api/v1/datasets/sample_data                        an empty array
  GET  /api/v1/dataset/{dataset_id}/stats                  counts
  GET  /api/v1/dataset/{dataset_id}/export                 metadata.json at once
  GET  /api/v1/dataset/{dataset_id}/export_media_id        CSV: filename,media_id
  GET  /api/v1/image/{media_id}                            one image
  GET  /api/v1/explore/{dataset_id}/similarity_cluster/{cluster_id}   the members, 100 a page; null past the end
  GET  /api/v1/explore/{dataset_id}/exploration_metadata   how often each label occurs
  POST /api/v1/process/add_media                           as the GET

LIMITS

  connections            256; 10 s for the first byte and for a head, 75 s between requests,
                         30 s for the next piece of a body or for taking the next piece of an answer
  expensive requests     4 at a time (questions, query images, selections); after 30 s of waiting 503
  query image            32 MiB
  selection              32 MiB, 10000 items
  upload                 50 GiB and what the disk leaves; 256 MiB a file, 4 GiB a video
  vql                    64 KiB, 16 filters; a text of 1000 characters
  from object storage    1000000 media; a manifest of 64 MiB

The interface as programs read it: GET /api/v1/openapi.json (no login).
";
