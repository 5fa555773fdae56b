//! What the interface document leaves open: subject, choice, reason.

pub const CHOICES: &[[&str; 3]] = &[
    [
        "creating datasets",
        "not offered over HTTP; each folder given to `serve` is one dataset, indexed at once",
        "the document describes no operation for it",
    ],
    [
        "`GET datasets`",
        "a bare array of dataset records, oldest first; no parameters",
        "public clients iterate over the body itself; the oldest dataset keeps its place",
    ],
    [
        "dataset record",
        "also `n_objects`, `fatal_error_msg`, `description`, `source_type`, `source_uri`, \
         `source_dataset_id`, `created_by`, `updated_at`, `preview_uri`, `filename`, `sample`; times are UTC",
        "hosted services send these fields, and clients read them",
    ],
    [
        "`progress` at rest",
        "100 after an operation that completed",
        "it belongs to the last operation",
    ],
    [
        "`status`",
        "UPDATING while `status_new` is READ ONLY, READY while PARTIAL INDEX, FATAL_ERROR while ERROR",
        "the values that hosted services had before `status_new`",
    ],
    [
        "`api_credentials`",
        "one second key pair, kept over restarts; its secret is in the first response only",
        "the document says that a secret is shown once",
    ],
    [
        "tokens",
        "HS256 only; at most 24 hours from `iat` to `exp`, `iat` at most 60 s ahead, 30 s of leeway after `exp`",
        "clients use 10 to 60 minutes, and clocks differ",
    ],
    [
        "order of checks",
        "login (401), parameters (422 or 400), dataset (404), permission (403), status (409), then the body",
        "a refused request should not cost an upload",
    ],
    [
        "path of caption and VQL search",
        "`GET explore/{dataset_id}`, and the same parameters for `export_context_async`",
        "public documents and clients use them there",
    ],
    [
        "response of caption and VQL search",
        "the Explore response",
        "clients read the same fields from all searches",
    ],
    [
        "browsing",
        "`explore` without anchor, caption and filters: the clusters, largest first; also while not READY",
        "clients list clusters this way, and reading changes nothing",
    ],
    [
        "pages past the end",
        "an empty `clusters` array with 200",
        "clients count pages up until one is empty",
    ],
    [
        "unknown parameters",
        "422 with the name, for every operation; also a parameter that is given twice",
        "a filter that is ignored gives a wrong result in silence",
    ],
    [
        "unknown fields of `cluster_filters`",
        "422 with the name",
        "the export would contain more than what was selected",
    ],
    [
        "other unknown fields of JSON and forms",
        "ignored",
        "they select nothing, and browsers send fields of their own",
    ],
    [
        "optional parameters of an anchor",
        "one that was not given at registration or at the search constrains nothing: the value of the other \
         request is used, or else the default; two different values are 400",
        "the document requires equal values, which is possible only if there are two",
    ],
    [
        "`threshold`",
        "0 is the finest; default 2",
        "at 2, a page shows groups instead of single pictures",
    ],
    [
        "anchor and caption together",
        "the anchor ranks, and the caption limits",
        "all parameters of a request hold",
    ],
    [
        "lifetime of an uploaded query image",
        "a day",
        "long enough for a session, and only its descriptor is stored",
    ],
    [
        "`search-image-similarity`",
        "responds 200 when the image is ready to be searched with, never 202",
        "nothing remains to be done then",
    ],
    [
        "`bounding_box` of an object",
        "`{x, y, width, height}` in fractions of the image",
        "the same shape as in a request",
    ],
    [
        "`relevance_score`",
        "null if the query does not rank; `cosine_distance`, or `bm25` for full text (lower is better)",
        "a number without a meaning would be sorted by",
    ],
    [
        "previews of a cluster",
        "at most 9: the most central members, or the best matches of a query",
        "hosted services send as many",
    ],
    [
        "`labels`, `user_tags`, `captions`",
        "null, or a list of strings, of `{id, name}`, and of one string",
        "a client needs the identifier of a tag to filter by it",
    ],
    ["`used_duckdb`", "always false", "DuckDB is not used"],
    [
        "`bounded` in `metadata`",
        "true if a search by similarity considered only the nearest 10,000 media of more than a million; otherwise absent",
        "a client should know that later pages are missing",
    ],
    [
        "cluster identifiers",
        "the same after a reindex if the most central member is the same; different at each threshold",
        "a saved selection should survive a reindex",
    ],
    [
        "export task",
        "INIT, IN_PROGRESS, then COMPLETED or FAILED; also `dataset_id`, `progress`, `entities_count`, \
         `result_message`, `created_at`, at the start and in `export_status`",
        "hosted services send the whole task, and clients read its status at the start",
    ],
    [
        "export of nothing",
        "a task that is FAILED at once, with the reason in `result_message`",
        "the request was right, and an empty archive would hide a mistake",
    ],
    [
        "links",
        "`download_uri` is valid for an hour, the archive is kept for a day; links of pictures, also those in \
         an archive, need no login and work as long as the picture exists",
        "an archive is opened later, by programs without a login",
    ],
    [
        "`metadata.json`, `metadata.parquet`",
        "one row per image and frame: identifier, names, size, scores, issues, caption, labels, tags, objects, \
         cluster and link; the JSON file is named `metadata.json`",
        "the names of hosted services, so that their readers work",
    ],
    [
        "`cluster_id` in an archive",
        "the cluster by which a row was selected; of several, the first; without one, the cluster at the \
         threshold that was given, or at the default",
        "a client looks for the identifier that it sent",
    ],
    [
        "`search_confidence` in an archive",
        "1 minus the cosine distance, for exports that rank by similarity",
        "hosted services add this column to such exports",
    ],
    [
        "exporting objects",
        "the images that contain the selected objects",
        "an archive contains files",
    ],
    [
        "`cluster_filters`",
        "`entity_type`, and also `vql` and `labels`",
        "a search narrows a cluster in the same way",
    ],
    [
        "`export_entities_async`",
        "a second parameter, `file_name`; default `selection.zip`",
        "the full export has one",
    ],
    [
        "add_media from PARTIAL INDEX",
        "READ ONLY, then PARTIAL INDEX again",
        "the dataset is not clustered again",
    ],
    [
        "ERROR",
        "an operation failed; `fatal_error_msg` contains the reason; add_media is refused",
        "rule 1 of the document allows add_media only in READY and PARTIAL INDEX",
    ],
    ["`reindex`", "202 with an empty body", "the status of the dataset reports everything else"],
    [
        "`process/add_media`",
        "only folders at or below those served or given with `--allow-path`; also `auto_reindex`",
        "a request must not read any folder of this machine",
    ],
    [
        "without login",
        "`GET process/add_media` and `export_context_async` need the header `X-Requested-With`",
        "an old browser sends a GET for an image on any page",
    ],
    ["`use_spot`, `batch_n_*`", "checked, without effect", "everything runs on this machine"],
    [
        "`assume_role`",
        "checked, and refused with the reason if STS cannot be reached",
        "media of another account must not be read with the wrong role",
    ],
    [
        "labels of a model",
        "after those of the dataset, with the source `Model` in exports; wrong labels are searched among those of the \
         dataset only, and caption search compares them of media without a caption only",
        "labels of a dataset are deliberate, and no model makes caption search worse",
    ],
    [
        "labels from folders",
        "the folder's name is a label only if no sidecar gives labels to the file",
        "a sidecar is deliberate, and a folder's name a guess",
    ],
    [
        "videos",
        "files by content, not by name; still pictures in a video container (HEIC, AVIF, CR3) are pictures",
        "a photograph must not count as a video",
    ],
    [
        "frames of videos",
        "a video is sampled into media of their own: scene changes, at most one every two seconds and 100 per video; \
         previews have type `VIDEO`, `frame_timestamp` in seconds, `original_uri` (the path of the video) and \
         `video_uri`; clusters have `n_frames`, and `n_videos` counts the videos that they are from",
        "frames are searched like pictures; the fields are those of hosted services",
    ],
    [
        "issue values",
        "`mislabels`, `outliers`, `duplicates`, `blur`, `dark`, `bright`, `normal`, `label_outlier`; \
         any other value matches nothing",
        "the values that public clients send",
    ],
    [
        "enrichment context",
        "what came with the images (captions, labels, boxes), the text space, and a model of yours, with the time and \
         the SHA-256 of its files; a model without texts has the type `IMAGE_ENCODING`",
        "these are what searches use, and `MULTIMODEL_IMAGE_ENCODING` promises a search by texts",
    ],
    [
        "errors",
        "`detail` is a list of `{type, loc, msg, input}` for 422, and otherwise a string",
        "hosted services write 422 in this form",
    ],
    [
        "HEAD",
        "like GET without a body; 405 where a GET changes something",
        "a link checker must not start an export",
    ],
    ["cancelling", "not offered", "the document describes no operation for it"],
    [
        "webhooks and events",
        "not offered; poll `status_new` and `export_status`",
        "the document describes none",
    ],
    [
        "health",
        "`GET /healthz` and `GET /readyz`, without login and for any host name; 503 for every request while the \
         service shuts down",
        "load balancers and supervisors use these names",
    ],
    [
        "versions",
        "only `/api/v1`; the product version is in the OpenAPI description",
        "the document describes no other",
    ],
];

pub const TEXT_SEARCH: &[[&str; 3]] = &[
    [
        "`text` with op `fts`",
        "full text over captions: stemming, ranking, `AND`, `OR`, `-word`, `\"a phrase\"`, parentheses",
        "the syntax that public documents describe",
    ],
    [
        "the language of captions",
        "detected by stop words and letters when a dataset is indexed, and named in the enrichment context; \
         `--caption-language` chooses another one",
        "stems differ between languages, and the same captions always give the same one",
    ],
    [
        "`caption`, and `text` with op `semantic`",
        "without a model: a text space trained on the captions and labels of the dataset. Words that are not \
         in them are ignored; a dataset without captions and labels responds 422",
        "no model has to be downloaded, and the enrichment context lists what is used",
    ],
    [
        "copies in a visual search",
        "the nearest 100 media are compared with the anchor by their corners, mirrored or not, and so are those with \
         nearly the perceptual hash of the anchor turned by quarters; a copy has a distance of at most .16",
        "the vector of a cropped or turned copy is often farther than those of other pictures",
    ],
    [
        "near-duplicates",
        "the similarity of a copy is .84 to 1 by the share of its corners that match, or one minus its distance if that \
         is more",
        "filters from .9 and .95 keep copies only, and most of them",
    ],
    [
        "`--model`",
        "look-alikes are ranked by .85 of the similarity by the model and .15 by our descriptor; near-duplicates only \
         by our own. Texts rank captions and labels that match first, and all other media by the model",
        "a model finds more of the same kind, and takes different pictures of the same kind for copies",
    ],
    [
        "thresholds",
        "the threshold of op `semantic` is a minimum similarity; `textual_similarity_threshold` keeps scores \
         below it",
        "the document says so; public documents contradict each other",
    ],
    [
        "`textual_similarity_threshold` without a caption",
        "limits the distances from the anchor or of the filter that ranks; 422 if nothing ranks by similarity",
        "a limit that is ignored gives a wrong result in silence",
    ],
    [
        "several filters that rank",
        "anchor before caption before the first filter that ranks; all of them limit",
        "a result has one order",
    ],
];
