//! The tables of a new store; the database enforces the rules that one row can violate. Every row carries a
//! checksum of its columns, which the database computes itself and checks.

use crate::rules::allowed_transitions;

/// The columns `checksum`, of the other columns, and `intact`, whether they still have it.
macro_rules! checksummed {
    ($columns:literal) => {
        concat!(
            "  checksum INTEGER NOT NULL AS (crc32(",
            $columns,
            ")) STORED,\n  intact INTEGER AS (checksum = crc32(",
            $columns,
            ")) CHECK (intact)"
        )
    };
}

pub(super) use checksummed;

/// Written once: changes are migrations.
pub(super) const TABLES: &str = concat!(
    "
CREATE TABLE setting (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL,
",
    checksummed!("name, value"),
    "
) STRICT, WITHOUT ROWID;

CREATE TABLE dataset (
  id          BLOB PRIMARY KEY CHECK (length(id) = 16),
  name        TEXT NOT NULL,
  folder      BLOB NOT NULL UNIQUE,
  status      TEXT NOT NULL
              CHECK (status IN ('READY', 'PARTIAL INDEX', 'READ ONLY', 'INDEXING', 'ERROR')),
  progress    INTEGER NOT NULL CHECK (progress BETWEEN 0 AND 100),
  created_at  INTEGER NOT NULL,  -- microseconds since 1970
  fatal_error TEXT,
  n_images    INTEGER NOT NULL DEFAULT 0,  -- kept by triggers
  n_videos    INTEGER NOT NULL DEFAULT 0,  -- kept by triggers
  n_frames    INTEGER NOT NULL DEFAULT 0,  -- kept by triggers
  n_objects   INTEGER NOT NULL DEFAULT 0,  -- kept by triggers
  generation  INTEGER NOT NULL DEFAULT 0,  -- counts clusterings: what is cached belongs to one
  extractor   INTEGER NOT NULL,  -- version of the features stored
",
    checksummed!(
        "id, name, folder, status, progress, created_at, fatal_error, n_images, \
     n_videos, n_frames, n_objects, generation, extractor"
    ),
    "
) STRICT;

CREATE TABLE export (
  id             BLOB PRIMARY KEY CHECK (length(id) = 16),
  dataset        BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  file_name      TEXT NOT NULL,
  format         TEXT NOT NULL CHECK (format IN ('json', 'parquet')),
  include_images INTEGER NOT NULL CHECK (include_images IN (0, 1)),
  origin         TEXT NOT NULL,  -- scheme, host and port it was asked at
  status         TEXT NOT NULL
                 CHECK (status IN ('INIT', 'IN_PROGRESS', 'COMPLETED', 'FAILED')),
  progress       REAL NOT NULL CHECK (progress BETWEEN 0.0 AND 1.0),
  entities       INTEGER NOT NULL,
  message        TEXT,
  created_at     INTEGER NOT NULL,
  selective      INTEGER NOT NULL DEFAULT 0,  -- whether it contains only what `chosen` lists
",
    checksummed!(
        "id, dataset, file_name, format, include_images, origin, status, progress, \
     entities, message, created_at, selective"
    ),
    "
) STRICT;

-- Where the files of a dataset are: its own folder, and one for each batch of added media.
CREATE TABLE source (
  row     INTEGER PRIMARY KEY,
  dataset BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  folder  BLOB NOT NULL,  -- absolute
",
    checksummed!("row, dataset, folder"),
    ",
  UNIQUE (dataset, folder)
) STRICT;

CREATE TABLE media (
  row        INTEGER PRIMARY KEY,
  id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  dataset    BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  source     INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
  kind       TEXT NOT NULL CHECK (kind IN ('IMAGE', 'FRAME', 'OBJECT')),
  parent     INTEGER REFERENCES media ON DELETE CASCADE,  -- what an object is in
  region     TEXT,              -- where an object is, JSON [x, y, width, height] in fractions
  path       BLOB NOT NULL,     -- relative to the source's folder; an object has its parent's
  frame      INTEGER,           -- number of a frame in its video, from 1
  seconds    REAL,              -- where a frame is in its video
  size       INTEGER NOT NULL,  -- bytes
  modified   INTEGER NOT NULL,  -- nanoseconds since 1970
  content    BLOB NOT NULL,     -- BLAKE3 of the file
  width      INTEGER NOT NULL,
  height     INTEGER NOT NULL,
  hash       INTEGER NOT NULL,
  sharpness  REAL NOT NULL,
  brightness REAL NOT NULL,
  caption    TEXT,
  labels     TEXT NOT NULL DEFAULT '[]',  -- JSON
  tags       TEXT NOT NULL DEFAULT '[]',  -- JSON
",
    checksummed!(
        "row, id, dataset, source, kind, parent, region, path, frame, seconds, size, modified, content, \
     width, height, hash, sharpness, brightness, caption, labels, tags"
    ),
    ",
  CHECK ((kind = 'OBJECT') = (parent IS NOT NULL) AND (kind = 'OBJECT') = (region IS NOT NULL)),
  CHECK ((kind = 'FRAME') = (frame IS NOT NULL) AND (kind = 'FRAME') = (seconds IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX media_file ON media (source, path, coalesce(frame, 0)) WHERE parent IS NULL;
CREATE INDEX media_in_order ON media (dataset, row);
CREATE INDEX media_inside ON media (parent) WHERE parent IS NOT NULL;

CREATE TRIGGER media_added AFTER INSERT ON media BEGIN
  UPDATE dataset SET n_images = n_images + (new.kind = 'IMAGE'),
                     n_videos = n_videos + (new.frame IS 1),
                     n_frames = n_frames + (new.kind = 'FRAME'),
                     n_objects = n_objects + (new.kind = 'OBJECT') WHERE id = new.dataset;
END;
CREATE TRIGGER media_removed AFTER DELETE ON media BEGIN
  UPDATE dataset SET n_images = n_images - (old.kind = 'IMAGE'),
                     n_videos = n_videos - (old.frame IS 1),
                     n_frames = n_frames - (old.kind = 'FRAME'),
                     n_objects = n_objects - (old.kind = 'OBJECT') WHERE id = old.dataset;
  DELETE FROM words WHERE rowid = old.row;
END;

-- The captions as full text, by the row of their media.
CREATE VIRTUAL TABLE words USING fts5(
  caption, content = '', contentless_delete = 1,
  tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER media_described AFTER UPDATE OF caption ON media
WHEN new.caption IS NOT old.caption BEGIN
  DELETE FROM words WHERE rowid = old.row;
  INSERT INTO words (rowid, caption) SELECT new.row, new.caption WHERE new.caption IS NOT NULL;
END;

CREATE TABLE look (
  media      INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  descriptor BLOB NOT NULL,  -- half-precision numbers, little-endian
  keypoints  BLOB NOT NULL,
",
    checksummed!("media, descriptor, keypoints"),
    "
) STRICT;

-- What a media means, as a vector of the dataset's text space or of the user's encoders.
CREATE TABLE meaning (
  media  INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  vector BLOB NOT NULL,  -- half-precision numbers, little-endian
",
    checksummed!("media, vector"),
    "
) STRICT;

-- The text space of a dataset, trained on its captions and labels.
CREATE TABLE space (
  dataset BLOB PRIMARY KEY REFERENCES dataset ON DELETE CASCADE,
  bytes   BLOB NOT NULL,
",
    checksummed!("dataset, bytes"),
    "
) STRICT;

CREATE TABLE thumbnail (
  media INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  jpeg  BLOB NOT NULL,
",
    checksummed!("media, jpeg"),
    "
) STRICT;

-- The pictures of frames; those of images are in their files.
CREATE TABLE frame_picture (
  media INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  jpeg  BLOB NOT NULL,
",
    checksummed!("media, jpeg"),
    "
) STRICT;

CREATE TABLE skipped (
  source   INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
  path     BLOB NOT NULL,
  size     INTEGER,  -- null when it was passed over without being opened
  modified INTEGER,
  reason   TEXT NOT NULL,
",
    checksummed!("source, path, size, modified, reason"),
    ",
  PRIMARY KEY (source, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE sidecar (
  source   INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
  path     BLOB NOT NULL,
  size     INTEGER NOT NULL,
  modified INTEGER NOT NULL,
",
    checksummed!("source, path, size, modified"),
    ",
  PRIMARY KEY (source, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster (
  dataset  BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  entity   TEXT NOT NULL CHECK (entity IN ('IMAGES', 'OBJECTS')),
  level    INTEGER NOT NULL CHECK (level BETWEEN 0 AND 4),
  rank     INTEGER NOT NULL,  -- 0 is the largest; those of a batch follow
  id       BLOB NOT NULL CHECK (length(id) = 16),
  images   INTEGER NOT NULL,
  videos   INTEGER NOT NULL,
  frames   INTEGER NOT NULL,
  objects  INTEGER NOT NULL,
  previews TEXT NOT NULL,     -- JSON, so that a page is one read
  labels   TEXT NOT NULL,     -- JSON, most frequent first
  tags     TEXT NOT NULL,     -- JSON, most frequent first
",
    checksummed!(
        "dataset, entity, level, rank, id, images, videos, frames, objects, previews, \
     labels, tags"
    ),
    ",
  PRIMARY KEY (dataset, entity, level, rank)
) STRICT, WITHOUT ROWID;
CREATE INDEX cluster_id ON cluster (id);

CREATE TABLE place (
  media      INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  uniqueness REAL NOT NULL,     -- 0.0 has twins to 1.0 nothing like it
  twin       REAL NOT NULL,     -- similarity of its best near-duplicate; 0.0 without
  outlier    REAL NOT NULL,     -- confidence that it is one
  mislabel   REAL NOT NULL,     -- confidence that its label is wrong
  stranger   REAL NOT NULL,     -- confidence that it is unlike the others of its label
  odd_aspect REAL NOT NULL,     -- confidence that it is stretched unlike the others
  odd_size   REAL NOT NULL,     -- confidence that it is larger or smaller than the others
  rank_0     INTEGER NOT NULL,  -- rank of its cluster at each level
  rank_1     INTEGER NOT NULL,
  rank_2     INTEGER NOT NULL,
  rank_3     INTEGER NOT NULL,
  rank_4     INTEGER NOT NULL,
",
    checksummed!(
        "media, uniqueness, twin, outlier, mislabel, stranger, odd_aspect, odd_size, \
     rank_0, rank_1, rank_2, rank_3, rank_4"
    ),
    "
) STRICT;

CREATE TABLE anchor (
  id         BLOB PRIMARY KEY CHECK (length(id) = 16),
  dataset    BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  entity     TEXT CHECK (entity IN ('IMAGES', 'OBJECTS')),  -- null: any
  level      INTEGER CHECK (level BETWEEN 0 AND 4),  -- null: any
  descriptor BLOB NOT NULL,
  created_at INTEGER NOT NULL,
",
    checksummed!("id, dataset, entity, level, descriptor, created_at"),
    "
) STRICT;

CREATE TABLE operation (
  row        INTEGER PRIMARY KEY,
  dataset    BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  kind       TEXT NOT NULL CHECK (kind IN ('DATASET_CREATION', 'MEDIA_ADDITION', 'REINDEX')),
  stage      TEXT NOT NULL CHECK (stage IN ('RUNNING', 'COMPLETED', 'FAILED')),
  batch      TEXT,              -- JSON: what an addition takes in
  reindex    INTEGER NOT NULL CHECK (reindex IN (0, 1)),  -- whether one follows an addition
  created_at INTEGER NOT NULL,
",
    checksummed!("row, dataset, kind, stage, batch, reindex, created_at"),
    ",
  CHECK ((kind = 'MEDIA_ADDITION') = (batch IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX one_operation ON operation (dataset) WHERE stage = 'RUNNING';

CREATE TRIGGER transition BEFORE UPDATE OF status ON dataset
WHEN new.status <> old.status AND (old.status || ' > ' || new.status) NOT IN (",
    allowed_transitions!(),
    ") BEGIN
  SELECT raise(ABORT, 'no such transition of a dataset');
END;

-- The media of a selective export; a full one has none here.
CREATE TABLE chosen (
  export     BLOB NOT NULL REFERENCES export ON DELETE CASCADE,
  media      INTEGER NOT NULL REFERENCES media ON DELETE CASCADE,
  cluster    BLOB CHECK (length(cluster) = 16),  -- the cluster by which it was selected
  confidence REAL CHECK (confidence BETWEEN 0.0 AND 1.0),  -- its similarity to what was searched for
",
    checksummed!("export, media, cluster, confidence"),
    ",
  PRIMARY KEY (export, media)
) STRICT, WITHOUT ROWID;
"
);
