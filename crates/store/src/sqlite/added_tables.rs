//! The tables that later versions added, each by a migration.

use super::tables::checksummed;
use crate::rules::caption_tokenizer;

/// The texts in picture files.
pub(super) const EMBEDDED_TEXTS: &str = concat!(
    "
CREATE TABLE embedded_text (
  media   INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  caption TEXT,
  labels  TEXT NOT NULL,  -- JSON
",
    checksummed!("media, caption, labels"),
    "
) STRICT;
"
);

/// The language of the captions of each dataset. The full-text index is defined again, but not filled, because
/// [`NO_WORDS`] removes it.
pub(super) const CAPTION_LANGUAGES: &str = concat!(
    "
CREATE TABLE caption_language (
  dataset BLOB PRIMARY KEY REFERENCES dataset ON DELETE CASCADE,
  indexed TEXT NOT NULL,  -- the code of the language in the full-text index
  chosen  TEXT,           -- NULL: detected in the captions
",
    checksummed!("dataset, indexed, chosen"),
    "
) STRICT;

DROP TRIGGER media_described;
DROP TABLE words;
CREATE VIRTUAL TABLE words USING fts5(
  caption, content = '', contentless_delete = 1,
  tokenize = '",
    caption_tokenizer!(),
    "'
);
CREATE TRIGGER media_described AFTER UPDATE OF caption ON media
WHEN new.caption IS NOT old.caption BEGIN
  DELETE FROM words WHERE rowid = old.row;
  INSERT INTO words (rowid, caption)
    SELECT new.row,
           stemmed(new.caption, (SELECT indexed FROM caption_language WHERE dataset = new.dataset))
    WHERE new.caption IS NOT NULL;
END;
"
);

/// Which worker runs an unfinished task.
pub(super) const LEASES: &str = concat!(
    "
CREATE TABLE lease (
  task       TEXT PRIMARY KEY,
  holder     BLOB NOT NULL CHECK (length(holder) = 16),
  fence      INTEGER NOT NULL CHECK (fence > 0),  -- counts how often it was taken
  expires_at INTEGER NOT NULL,                    -- microseconds since 1970
",
    checksummed!("task, holder, fence, expires_at"),
    "
) STRICT, WITHOUT ROWID;
"
);

/// The files that an operation has to open, in ranges that several workers extract.
pub(super) const EXTRACTIONS: &str = concat!(
    "
CREATE TABLE extraction (
  operation INTEGER PRIMARY KEY REFERENCES operation ON DELETE CASCADE,
  files     INTEGER NOT NULL,  -- all of the source that is being indexed
  done      INTEGER NOT NULL,  -- how many of them need no extraction any more
  failure   TEXT,              -- why no further range is extracted
",
    checksummed!("operation, files, done, failure"),
    "
) STRICT;

CREATE TABLE extraction_range (
  row       INTEGER PRIMARY KEY,
  operation INTEGER NOT NULL REFERENCES extraction ON DELETE CASCADE,
  source    INTEGER NOT NULL REFERENCES source ON DELETE CASCADE,
",
    checksummed!("row, operation, source"),
    "
) STRICT;
CREATE INDEX extraction_range_operation ON extraction_range (operation);

-- Only those that have not been extracted.
CREATE TABLE extraction_file (
  range    INTEGER NOT NULL REFERENCES extraction_range ON DELETE CASCADE,
  path     BLOB NOT NULL,
  size     INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  content  BLOB,  -- BLAKE3 of the file when it was extracted before
",
    checksummed!("range, path, size, modified, content"),
    ",
  PRIMARY KEY (range, path)
) STRICT, WITHOUT ROWID;
"
);

/// The vectors of the user's own model. Encoders wrote theirs in place of those of captions, and are applied again.
pub(super) const MODEL_VECTORS: &str = concat!(
    "
CREATE TABLE applied_model (
  dataset     BLOB PRIMARY KEY REFERENCES dataset ON DELETE CASCADE,
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),  -- BLAKE3 of its files
  applied_at  INTEGER NOT NULL,                                -- microseconds since 1970
",
    checksummed!("dataset, fingerprint, applied_at"),
    "
) STRICT;

CREATE TABLE model_vector (
  media  INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  vector BLOB NOT NULL,  -- half-precision numbers, little-endian
",
    checksummed!("media, vector"),
    "
) STRICT;

CREATE TABLE anchor_model_vector (
  anchor BLOB PRIMARY KEY REFERENCES anchor ON DELETE CASCADE,
  vector BLOB NOT NULL,  -- half-precision numbers, little-endian
",
    checksummed!("anchor, vector"),
    "
) STRICT;

INSERT INTO applied_model (dataset, fingerprint, applied_at)
SELECT dataset, substr(bytes, 18, 32), 0 FROM space
WHERE substr(bytes, 1, 17) = CAST('tessera-encoders' || char(10) AS BLOB);
"
);

/// The pictures of query images, whose copies searches recognize.
pub(super) const ANCHOR_PICTURES: &str = concat!(
    "
CREATE TABLE anchor_picture (
  anchor    BLOB PRIMARY KEY REFERENCES anchor ON DELETE CASCADE,
  keypoints BLOB NOT NULL,
  thumbnail BLOB NOT NULL,  -- JPEG
",
    checksummed!("anchor, keypoints, thumbnail"),
    "
) STRICT;
"
);

/// The labels of the user's own model, and its files. Datasets with a model are encoded again, to get its labels.
pub(super) const MODEL_LABELS: &str = concat!(
    "
DELETE FROM model_vector;
DROP TABLE applied_model;
CREATE TABLE applied_model (
  dataset     BLOB PRIMARY KEY REFERENCES dataset ON DELETE CASCADE,
  fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),  -- SHA-256 of those of its files
  record      TEXT NOT NULL,                                   -- JSON
  applied_at  INTEGER NOT NULL,                                -- microseconds since 1970
",
    checksummed!("dataset, fingerprint, record, applied_at"),
    "
) STRICT;

CREATE TABLE model_label (
  media  INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  labels TEXT NOT NULL,  -- JSON
",
    checksummed!("media, labels"),
    "
) STRICT;
"
);

/// Whether a dataset has captions or labels is asked at each read of its record.
pub(super) const TEXT_COVERAGE: &str = "
CREATE INDEX media_with_caption ON media (dataset) WHERE caption IS NOT NULL;
CREATE INDEX media_with_labels ON media (dataset) WHERE labels <> '[]' AND parent IS NULL;
";

/// Defines the full-text index again, which [`NO_WORDS`] removes.
pub(super) const WORDS_WITH_MARKS: &str = concat!(
    "
DROP TABLE IF EXISTS words;
CREATE VIRTUAL TABLE words USING fts5(
  caption, content = '', contentless_delete = 1,
  tokenize = '",
    caption_tokenizer!(),
    "'
);
"
);

/// Pictures in a bucket: objects that each contain those of one transaction, in place of rows of `thumbnail` and
/// `frame_picture`.
pub(super) const PICTURE_PACKS: &str = concat!(
    "
CREATE TABLE picture_pack (
  row          INTEGER PRIMARY KEY,
  address      TEXT NOT NULL UNIQUE,  -- of the object
  unused_since INTEGER,               -- when no picture was in it any more, microseconds since 1970
",
    checksummed!("row, address, unused_since"),
    "
) STRICT;

CREATE TABLE packed_thumbnail (
  media   INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  pack    INTEGER NOT NULL REFERENCES picture_pack,
  start   INTEGER NOT NULL,  -- bytes
  length  INTEGER NOT NULL,  -- bytes
  content INTEGER NOT NULL,  -- the first eight bytes of its BLAKE3
",
    checksummed!("media, pack, start, length, content"),
    "
) STRICT;
CREATE INDEX packed_thumbnail_pack ON packed_thumbnail (pack);

CREATE TABLE packed_frame_picture (
  media   INTEGER PRIMARY KEY REFERENCES media ON DELETE CASCADE,
  pack    INTEGER NOT NULL REFERENCES picture_pack,
  start   INTEGER NOT NULL,  -- bytes
  length  INTEGER NOT NULL,  -- bytes
  content INTEGER NOT NULL,  -- the first eight bytes of its BLAKE3
",
    checksummed!("media, pack, start, length, content"),
    "
) STRICT;
CREATE INDEX packed_frame_picture_pack ON packed_frame_picture (pack);
"
);

/// Captions are searched in index files, so that additions and starts need not keep a second index.
pub(super) const NO_WORDS: &str = "
DROP TRIGGER IF EXISTS media_described;
DROP TRIGGER media_removed;
CREATE TRIGGER media_removed AFTER DELETE ON media BEGIN
  UPDATE dataset SET n_images = n_images - (old.kind = 'IMAGE'),
                     n_videos = n_videos - (old.frame IS 1),
                     n_frames = n_frames - (old.kind = 'FRAME'),
                     n_objects = n_objects - (old.kind = 'OBJECT') WHERE id = old.dataset;
END;
DROP TABLE IF EXISTS words;
";
