-- A store as version 2 of its schema left it, with one dataset of one image.

CREATE TABLE setting (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
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
  generation  INTEGER NOT NULL DEFAULT 0,  -- counts clusterings: what is cached belongs to one
  extractor   INTEGER NOT NULL             -- version of the features stored
) STRICT;

CREATE TABLE media (
  row        INTEGER PRIMARY KEY,
  id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  dataset    BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  path       BLOB NOT NULL,     -- relative to the folder
  size       INTEGER NOT NULL,  -- bytes
  modified   INTEGER NOT NULL,  -- nanoseconds since 1970
  content    BLOB NOT NULL,     -- BLAKE3 of the file
  width      INTEGER NOT NULL,
  height     INTEGER NOT NULL,
  hash       INTEGER NOT NULL,
  sharpness  REAL NOT NULL,
  brightness REAL NOT NULL,
  UNIQUE (dataset, path)
) STRICT;
CREATE INDEX media_in_order ON media (dataset, row);

CREATE TRIGGER media_added AFTER INSERT ON media BEGIN
  UPDATE dataset SET n_images = n_images + 1 WHERE id = new.dataset;
END;
CREATE TRIGGER media_removed AFTER DELETE ON media BEGIN
  UPDATE dataset SET n_images = n_images - 1 WHERE id = old.dataset;
END;

CREATE TABLE look (
  media      INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  descriptor BLOB NOT NULL      -- half-precision numbers, little-endian
) STRICT;

CREATE TABLE thumbnail (
  media INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  jpeg  BLOB NOT NULL
) STRICT;

CREATE TABLE skipped (
  dataset  BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  path     BLOB NOT NULL,
  size     INTEGER,  -- null when it was passed over without being opened
  modified INTEGER,
  reason   TEXT NOT NULL,
  PRIMARY KEY (dataset, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster (
  dataset  BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  level    INTEGER NOT NULL CHECK (level BETWEEN 0 AND 4),
  rank     INTEGER NOT NULL,  -- 0 is the largest
  id       BLOB NOT NULL CHECK (length(id) = 16),
  size     INTEGER NOT NULL,
  previews TEXT NOT NULL,     -- JSON, so that a page is one read
  PRIMARY KEY (dataset, level, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE place (
  media      INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  uniqueness REAL NOT NULL,
  rank_0     INTEGER NOT NULL,  -- rank of its cluster at each level
  rank_1     INTEGER NOT NULL,
  rank_2     INTEGER NOT NULL,
  rank_3     INTEGER NOT NULL,
  rank_4     INTEGER NOT NULL
) STRICT;

CREATE TABLE anchor (
  id         BLOB PRIMARY KEY CHECK (length(id) = 16),
  dataset    BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  entity     TEXT NOT NULL,
  level      INTEGER NOT NULL CHECK (level BETWEEN 0 AND 4),
  descriptor BLOB NOT NULL,
  created_at INTEGER NOT NULL
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
  created_at     INTEGER NOT NULL
) STRICT;

ALTER TABLE media ADD COLUMN caption TEXT;
ALTER TABLE media ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';    -- JSON
ALTER TABLE cluster ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';  -- JSON, most frequent first

CREATE TABLE sidecar (
  dataset  BLOB NOT NULL REFERENCES dataset ON DELETE CASCADE,
  path     BLOB NOT NULL,
  size     INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  PRIMARY KEY (dataset, path)
) STRICT, WITHOUT ROWID;

INSERT INTO dataset (id, name, folder, status, progress, created_at, extractor)
VALUES (zeroblob(16), 'demo', x'2F61', 'READY', 100, 7, 2);
INSERT INTO media (id, dataset, path, size, modified, content, width, height, hash, sharpness, brightness)
VALUES (zeroblob(16), zeroblob(16), x'612E6A7067', 1, 1, zeroblob(32), 4, 3, 0, 1.0, 0.5);
PRAGMA user_version = 2;
