//! Finds the originals that an action of this machine is about, and groups of near-duplicates among them. No route of
//! the API leads here, because only the user of this machine may move its files.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    fs::File,
    io::{BufReader, Read as _},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    slice,
};

use super::{ServiceError, export::require_none_missing};
use crate::{Deployment, LocalError, originals::storage_location, task::with_embeddings};
use tessera_curation::{
    FileContent, FoundOriginals, Original, SharedSidecar, Skipped,
    duplicates::{DuplicateImage, ObjectInImage, SimilarImages, SimilarPair},
};
use tessera_media::ingest::{
    CompanionFinder, EXCLUDED, SandboxedDir, is_parquet, parquet_images::containing_file,
    sidecar::may_name_classes,
};
use tessera_model::{
    DatasetId, EntityType, ExportTaskId, FileKind, LabeledRegion, MediaId, Search, SelectionItem,
    UserTags, file_kind::HIDDEN, is_metadata_label,
};
use tessera_search::{
    index::{Keypoints, quality},
    similarity::{Vectors, diverse_rows, near_duplicates, neighbor_graph},
};
use tessera_store::{
    Connection, QueryError, StoreError, indexed_files,
    media::{self, MediaRecord, SimilarImage},
    object, picture_features, sidecar, source,
};

/// Annotation files above this size are reported without being searched.
const MAX_SEARCHED_BYTES: u64 = 64 << 20;

impl Deployment {
    /// Finds the originals of the media items that a selection contains, in the order of their paths.
    pub fn selected_originals(
        &self,
        dataset: DatasetId,
        items: &[SelectionItem],
    ) -> Result<FoundOriginals, LocalError> {
        let find = || {
            let (rows, missing) = self.rows_of_items(dataset, items)?;
            if rows.is_empty() {
                require_none_missing(&missing)?;
            }
            let mut records = self.store.read(|c| media::pictures_of(c, dataset, &rows))?;
            let records = rows.iter().filter_map(|row| records.remove(row));
            let (frames, files): (Vec<_>, Vec<_>) =
                records.partition(|(record, _)| record.frame.is_some());
            let videos: BTreeSet<PathBuf> =
                frames.into_iter().map(|(record, folder)| folder.join(record.path)).collect();
            let mut found = self.with_companions(dataset, files)?;
            let reason = "only frames of it are selected; name the video with --files-from";
            found.refused.extend(videos.into_iter().map(|path| Skipped::new(path, reason)));
            let reason = "the dataset no longer has this media item";
            let missing = missing.into_iter().map(|id| id.to_string().into());
            found.refused.extend(missing.map(|id| Skipped::new(id, reason)));
            Ok(found)
        };
        find().map_err(unlistable)
    }

    /// Returns the media items that the dataset does not have.
    ///
    /// # Errors
    /// The dataset does not exist.
    pub fn missing_media(
        &self,
        dataset: DatasetId,
        media: &[MediaId],
    ) -> Result<Vec<MediaId>, LocalError> {
        let found = self.rows_of_items(dataset, &[SelectionItem::Media(media.to_vec())]);
        found.map(|(_, missing)| missing).map_err(unlistable)
    }

    /// Returns the number of members of a selected cluster, or `None` if the dataset has no such cluster.
    pub fn selected_cluster_size(
        &self,
        dataset: DatasetId,
        cluster: &SelectionItem,
    ) -> Result<Option<usize>, LocalError> {
        match self.rows_of_items(dataset, slice::from_ref(cluster)) {
            Err(ServiceError::NotFound(_)) => Ok(None),
            found => found.map(|(rows, _)| Some(rows.len())).map_err(unlistable),
        }
    }

    /// Returns the pictures of the objects among media items.
    pub fn pictures_of_objects(
        &self,
        dataset: DatasetId,
        media: &[MediaId],
    ) -> Result<HashMap<MediaId, MediaId>, LocalError> {
        Ok(self.store.read(|c| {
            let rows = media::rows_of(c, dataset, media)?;
            let listed: Vec<i64> = rows.values().copied().collect();
            let pictures = media::pictures_of(c, dataset, &listed)?;
            let picture = |(id, row)| Some((id, pictures.get(&row)?.0.id));
            Ok(rows.into_iter().filter_map(picture).filter(|(id, picture)| id != picture).collect())
        })?)
    }

    /// Finds originals by the absolute paths of their files.
    pub fn listed_originals(
        &self,
        dataset: DatasetId,
        files: Vec<PathBuf>,
    ) -> Result<FoundOriginals, LocalError> {
        let (mut records, mut unknown) = (Vec::new(), Vec::new());
        let sources = self.store.read(|c| source::of_dataset(c, dataset))?;
        for file in files {
            let find = |source: &source::SourceFolder| {
                let below = file.strip_prefix(&source.folder).ok()?;
                let record =
                    self.store.read(|c| media::of_file(c, source.row, below)).transpose()?;
                Some(record.map(|record| (record, source.folder.clone())))
            };
            if let Some(record) = sources.iter().find_map(find).transpose()? {
                records.push(record);
            } else {
                let reason = "it is not a picture or video of this dataset";
                unknown.push(Skipped::new(file, reason));
            }
        }
        let mut found = self.with_companions(dataset, records).map_err(unlistable)?;
        // A sidecar that is listed beside its picture goes with the picture.
        let companions = found.originals.iter().flat_map(Original::all_sidecars);
        let companions: HashSet<&Path> = companions.collect();
        unknown.retain(|skipped: &Skipped| !companions.contains(skipped.path.as_path()));
        found.refused.extend(unknown);
        Ok(found)
    }

    fn with_companions(
        &self,
        dataset: DatasetId,
        records: Vec<(MediaRecord, PathBuf)>,
    ) -> Result<FoundOriginals, ServiceError> {
        let mut found = FoundOriginals::default();
        let mut finder = self.companion_finder(dataset)?;
        for (record, folder) in records {
            match self.require_own_file(&record, &folder) {
                Ok(()) => found.originals.push(original(&record, folder, &mut finder)),
                Err(reason) => {
                    found.refused.push(Skipped::new(folder.join(&record.path), reason));
                }
            }
        }
        found.originals.sort_by(|one, other| one.path.cmp(&other.path));
        // An object and its image are one file.
        found.originals.dedup_by(|one, other| one.path == other.path);
        self.find_annotations(dataset, &mut found)?;
        if !found.annotations.is_empty() {
            found.namesakes = self.namesakes(dataset, &found.originals)?;
        }
        Ok(found)
    }

    fn companion_finder(&self, dataset: DatasetId) -> Result<CompanionFinder, StoreError> {
        let mut finder = CompanionFinder::default();
        self.for_each_file(dataset, |folder, path| finder.note_media(folder, path))?;
        Ok(finder)
    }

    /// Returns the other pictures and videos of a dataset with the name of an original.
    fn namesakes(
        &self,
        dataset: DatasetId,
        originals: &[Original],
    ) -> Result<Vec<PathBuf>, StoreError> {
        let paths: HashSet<&Path> = originals.iter().map(|it| it.path.as_path()).collect();
        let names: HashSet<_> = paths.iter().filter_map(|path| path.file_name()).collect();
        let mut namesakes = Vec::new();
        self.for_each_file(dataset, |folder, path| {
            if path.file_name().is_some_and(|name| names.contains(name)) {
                namesakes.push(folder.join(path));
            }
        })?;
        namesakes.retain(|path| !paths.contains(path.as_path()));
        Ok(namesakes)
    }

    /// Calls `each` with the folder and the path of every picture and video of a dataset.
    fn for_each_file(
        &self,
        dataset: DatasetId,
        mut each: impl FnMut(&Path, &Path),
    ) -> Result<(), StoreError> {
        for source in self.store.read(|c| source::of_dataset(c, dataset))? {
            self.store.read(|c| {
                media::for_each_path(c, source.row, |path| {
                    each(&source.folder, Path::new(OsStr::from_bytes(path)));
                })
            })?;
        }
        Ok(())
    }

    /// Fails unless a media item is a whole file in a folder that the user has opened.
    fn require_own_file(&self, record: &MediaRecord, folder: &Path) -> Result<(), &'static str> {
        if storage_location(folder).is_some() {
            return Err("it is in object storage");
        }
        if self.originals.uploads.contains(folder)
            || folder.starts_with(self.store.opened_archives_dir())
        {
            return Err("it was uploaded or unpacked, so its file belongs to the index");
        }
        if containing_file(folder, &record.path) != folder.join(&record.path) {
            return Err("it is inside a Parquet file");
        }
        Ok(())
    }

    /// Finds the annotation files that name one of the originals among other files, and the class names of their labels.
    fn find_annotations(
        &self,
        dataset: DatasetId,
        found: &mut FoundOriginals,
    ) -> Result<(), ServiceError> {
        let FoundOriginals { originals, annotations, class_names, .. } = found;
        // A file that several pictures share can name further ones.
        let sidecars = originals.iter().flat_map(|it| &it.sidecars);
        let sidecars: HashSet<&Path> = sidecars.map(PathBuf::as_path).collect();
        let names = originals.iter().filter_map(|original| original.path.file_name());
        let names = FileNames::new(names.map(OsStr::as_encoded_bytes));
        let touched: HashSet<&Path> =
            originals.iter().map(|original| original.folder.as_path()).collect();
        let has_labels = sidecars.iter().any(|it| it.extension().is_some_and(|end| end == "txt"));
        for source in self.store.read(|c| source::of_dataset(c, dataset))? {
            if !touched.contains(source.folder.as_path()) {
                continue;
            }
            let read = self.store.read(|c| sidecar::read_files(c, source.row))?;
            // A file with a mistake in one entry is listed as skipped, and names files nevertheless.
            let skipped = self.store.read(|c| indexed_files::skipped_in_source(c, source.row))?;
            let incomplete = skipped.into_iter().filter(|(path, reason)| {
                FileKind::from_name(&path.to_string_lossy()) == FileKind::Sidecar
                    && ![HIDDEN, EXCLUDED].contains(&reason.as_str())
            });
            let files = read.into_iter().chain(incomplete.map(|(path, _)| path));
            let files = files.map(|file| source.folder.join(file));
            for file in files.filter(|file| !sidecars.contains(file.as_path())) {
                if has_labels && may_name_classes(&file) {
                    class_names.push(file);
                } else if may_name(&file, &names) {
                    annotations.push(file);
                }
            }
        }
        Ok(())
    }

    /// Returns sets of images that are connected by near-duplicates. Every pair is verified again, because a cluster at
    /// the finest granularity can contain several groups of near-duplicates.
    pub fn similar_images(
        &self,
        dataset: DatasetId,
        min_similarity: f64,
    ) -> Result<Vec<SimilarImages>, LocalError> {
        let mut sets = Vec::new();
        let mut finder = self.companion_finder(dataset)?;
        let mut cluster: Vec<SimilarImage> = Vec::new();
        self.store.read(|c| {
            let mut finish = |cluster: &mut Vec<SimilarImage>| {
                let images = std::mem::take(cluster);
                sets.extend(self.similar_in_cluster(c, images, min_similarity, &mut finder)?);
                Ok(())
            };
            media::for_each_with_duplicates(c, dataset, |image| {
                if cluster.first().is_some_and(|first| first.cluster_rank != image.cluster_rank) {
                    finish(&mut cluster)?;
                }
                cluster.push(image);
                Ok::<_, QueryError>(())
            })?;
            finish(&mut cluster)
        })?;
        Ok(sets)
    }

    /// Chooses the images and frames that look least like each other, among those of a selection or of the whole
    /// dataset. Returns their identifiers and paths, the most typical one first.
    pub fn diverse_media(
        &self,
        dataset: DatasetId,
        among: Option<&[SelectionItem]>,
        count: usize,
    ) -> Result<Vec<(MediaId, PathBuf)>, LocalError> {
        let among = among.map(|items| self.rows_of_items(dataset, items));
        let among = among.transpose().map_err(unlistable)?;
        self.choose_diverse(dataset, among.map(|(rows, _)| rows), count)
    }

    /// Chooses like [`Self::diverse_media`] among the images and frames that a search finds.
    pub fn diverse_media_found(
        &self,
        search: &Search,
        count: usize,
    ) -> Result<Vec<(MediaId, PathBuf)>, LocalError> {
        let found = self.rows_of_search(search.dataset, &search.into()).map_err(unlistable)?;
        self.choose_diverse(search.dataset, found, count)
    }

    /// Returns the identifiers and paths of the images and frames that a search finds and a selection does not contain.
    pub fn rest_of_search(
        &self,
        search: &Search,
        selected: &[SelectionItem],
    ) -> Result<Vec<(MediaId, PathBuf)>, LocalError> {
        let mut rows = self.rows_of_rest(search, selected).map_err(unlistable)?;
        rows.sort_unstable();
        self.named_media(search.dataset, rows.into_iter())
    }

    fn choose_diverse(
        &self,
        dataset: DatasetId,
        among: Option<Vec<i64>>,
        count: usize,
    ) -> Result<Vec<(MediaId, PathBuf)>, LocalError> {
        let among = among.map(|rows| self.with_pictures(rows)).transpose().map_err(unlistable)?;
        let (mut rows, mut descriptors) = (Vec::new(), Vec::new());
        self.store.read(|c| {
            let all = 0..=i64::MAX;
            picture_features::for_each(c, dataset, EntityType::Images, None, all, |features| {
                if among.as_ref().is_none_or(|rows| rows.contains(&features.media)) {
                    rows.push(features.media);
                    descriptors.push(features.descriptor());
                }
                Ok::<_, QueryError>(())
            })
        })?;
        // The order of the store is arbitrary, but the same media are chosen each time.
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|position| rows[*position]);
        let mut vectors = Vectors::new(descriptors.first().map_or(1, Vec::len));
        for position in &order {
            vectors.push(&descriptors[*position]);
        }
        drop(descriptors);
        let sorted: Vec<i64> = order.iter().map(|position| rows[*position]).collect();
        let position = |row| sorted.binary_search(&row).ok();
        let weighted = with_embeddings(&self.store, dataset, &vectors, position)?;
        let vectors = weighted.unwrap_or(vectors);
        let chosen = diverse_rows(&vectors, count, |_| true);
        self.named_media(dataset, chosen.into_iter().map(|row| sorted[row]))
    }

    fn named_media(
        &self,
        dataset: DatasetId,
        rows: impl Iterator<Item = i64>,
    ) -> Result<Vec<(MediaId, PathBuf)>, LocalError> {
        let rows: Vec<i64> = rows.collect();
        let pictures = self.store.read(|c| media::pictures_of(c, dataset, &rows))?;
        let named = rows.iter().filter_map(|row| pictures.get(row));
        Ok(named.map(|(record, _)| (record.id, record.path.clone())).collect())
    }

    fn similar_in_cluster(
        &self,
        connection: &Connection,
        images: Vec<SimilarImage>,
        min_similarity: f64,
        finder: &mut CompanionFinder,
    ) -> Result<Option<SimilarImages>, QueryError> {
        let mut left_out = Vec::new();
        let is_own_file = |SimilarImage { media, folder, .. }: &SimilarImage| {
            let refused = self.require_own_file(media, folder).err();
            left_out.extend(refused.map(|reason| Skipped::new(folder.join(&media.path), reason)));
            refused.is_none()
        };
        let mut images: Vec<SimilarImage> = images.into_iter().filter(is_own_file).collect();
        let pairs = verified_pairs(&images, min_similarity);
        if pairs.is_empty() {
            images.clear();
        }
        if images.is_empty() && left_out.is_empty() {
            return Ok(None);
        }
        let mut objects = object::of_pictures(connection, images.iter().map(|it| it.media.row))?;
        let image = |image: SimilarImage| DuplicateImage {
            media: image.media.id.to_string(),
            pixels: u64::from(image.media.width) * u64::from(image.media.height),
            size: (image.media.width, image.media.height),
            blur_percent: percent(quality::blur_score(image.media.sharpness)),
            given: UserTags {
                tags: image.media.all_tags().cloned().collect(),
                rating: image.media.given.rating,
            },
            caption: image.media.caption.clone(),
            labels: own_labels(&image.media),
            objects: objects
                .remove(&image.media.row)
                .map_or_else(Vec::new, |found| found.into_iter().map(object_in_image).collect()),
            original: original(&image.media, image.folder, finder),
            extra_columns: image.media.extra_columns,
        };
        let images = images.into_iter().map(image).collect();
        Ok(Some(SimilarImages { images, pairs, left_out }))
    }
}

pub(super) fn unlistable(error: ServiceError) -> LocalError {
    match error {
        ServiceError::NotFound(sentence) => LocalError::NotFound(sentence),
        other => LocalError::Unusable(other.sentence()),
    }
}

/// Returns the labels that neither a camera nor a folder gives, so that somebody has worked for them. A rating says how
/// good a picture is, so it is such a label.
fn own_labels(media: &MediaRecord) -> Vec<String> {
    let is_of_camera = |label: &str| is_metadata_label(label) && !label.starts_with("rating:");
    let is_of_folder = |label: &str| {
        media.path.parent().is_some_and(|folder| folder.iter().any(|name| name == label))
    };
    let labels = media.labels.iter();
    labels.filter(|label| !is_of_camera(label) && !is_of_folder(label)).cloned().collect()
}

fn original(record: &MediaRecord, folder: PathBuf, finder: &mut CompanionFinder) -> Original {
    let companions = finder.find(&folder, &record.path);
    let shared_sidecars = companions.shared_sidecars.into_iter();
    let shared_sidecars = shared_sidecars.map(|(path, pictures)| SharedSidecar { path, pictures });
    Original {
        path: folder.join(&record.path),
        folder,
        content: FileContent {
            size: record.size,
            modified: record.modified,
            hash: Some(record.content_hash),
        },
        sidecars: companions.sidecars,
        shared_sidecars: shared_sidecars.collect(),
        pair: companions.pair,
    }
}

fn object_in_image(object: LabeledRegion) -> ObjectInImage {
    let LabeledRegion { label, region, annotation } = object;
    let outlines = [
        !annotation.polygons.is_empty(),
        annotation.mask.is_some(),
        !annotation.keypoints.is_empty(),
    ];
    ObjectInImage { label, region, outlines }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
fn percent(score: f32) -> u8 {
    (score.clamp(0.0, 1.0) * 100.0).round() as u8
}

/// Names that are looked for in annotation files.
struct FileNames<'a> {
    /// The names by their last word.
    by_last_word: HashMap<&'a [u8], Vec<&'a [u8]>>,
    /// Whether a format may write one of the names in another way.
    has_escaped: bool,
}

impl<'a> FileNames<'a> {
    fn new(names: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut by_last_word: HashMap<_, Vec<_>> = HashMap::new();
        let mut has_escaped = false;
        for name in names {
            let last_word = name.rsplit(|byte| is_delimiter(*byte)).next().unwrap_or(name);
            by_last_word.entry(last_word).or_default().push(name);
            has_escaped |= name.iter().any(|byte| !is_unescaped(*byte));
        }
        Self { by_last_word, has_escaped }
    }

    fn are_in(&self, text: &[u8]) -> bool {
        let mut start = 0;
        let ends = text.iter().enumerate().filter(|(_, byte)| is_delimiter(**byte));
        ends.map(|(at, _)| at).chain([text.len()]).any(|end| {
            let names = self.by_last_word.get(&text[start..end]);
            start = end + 1;
            names.is_some_and(|names| names.iter().any(|name| text[..end].ends_with(name)))
        })
    }
}

/// Whether JSON and XML always contain this byte as it is. Python writes other letters than those of ASCII as escapes.
fn is_unescaped(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_control() && !b"\"'&<>\\".contains(&byte)
}

fn is_delimiter(byte: u8) -> bool {
    b"\"'<>,;:|/\\\t\r\n []{}".contains(&byte)
}

/// Whether an annotation file contains one of the names. A file that is not searched may contain them.
fn may_name(file: &Path, names: &FileNames<'_>) -> bool {
    let Ok(opened) = File::open(file) else { return false };
    let is_searchable = !is_parquet(file) && !names.has_escaped;
    if !is_searchable || opened.metadata().is_ok_and(|it| it.len() > MAX_SEARCHED_BYTES) {
        return true;
    }
    let mut bytes = Vec::new();
    let read = BufReader::new(opened).take(MAX_SEARCHED_BYTES).read_to_end(&mut bytes);
    read.is_err() || names.are_in(&bytes)
}

/// The number of near-duplicates of an image that are looked for in large clusters. Files with the same bytes are always
/// found.
const MIN_PARTNERS: usize = 64;
/// In clusters with fewer pairs, all images are compared with each other, so that a second search finds nothing among the
/// images that stay.
const MAX_PAIRS: usize = 1 << 19;

/// Finds the pairs of near-duplicates among the images of a cluster.
fn verified_pairs(images: &[SimilarImage], min_similarity: f64) -> Vec<SimilarPair> {
    let Some(first) = images.first() else { return Vec::new() };
    let mut vectors = Vectors::new(first.descriptor.len());
    for image in images {
        vectors.push(&image.descriptor);
    }
    let keypoints: Vec<Keypoints> =
        images.iter().map(|image| Keypoints::from_bytes(&image.keypoints)).collect();
    let others = (images.len() - 1).min(MIN_PARTNERS.max(MAX_PAIRS / images.len()));
    let Some(graph) = neighbor_graph(&vectors, others, |_| true) else { return Vec::new() };
    let Ok(found) = near_duplicates(keypoints.as_slice(), &graph, |_| true);
    let found = found.unwrap_or_default().into_iter().map(|pair| SimilarPair {
        images: (pair.rows.0 as usize, pair.rows.1 as usize),
        similarity: pair.similarity,
    });
    found.filter(|pair| f64::from(pair.similarity) >= min_similarity).collect()
}

impl Deployment {
    /// Returns the file of a finished archive. Returns `None` if there is no archive, or if it is in a bucket.
    pub fn archive_file(&self, export: ExportTaskId) -> Option<PathBuf> {
        let path = self.store.export_archive_path(export.0);
        path.is_file().then_some(path)
    }

    /// Returns the file that is or contains the original of a media item: the video of a frame, or the Parquet file of
    /// an image in it. Returns `None` if the original is in a bucket, or has changed since it was indexed.
    pub fn original_path(&self, id: MediaId) -> Option<PathBuf> {
        let (media, folder) = self.find_media(id).ok()?;
        let file = containing_file(&folder, &media.path);
        let is_whole_file = file == folder.join(&media.path);
        let is_current = !is_whole_file || is_current(&media, &folder);
        (storage_location(&folder).is_none() && is_current).then_some(file)
    }

    /// Returns the original of a media item. Returns `None` if the original is not a whole file of this machine: a
    /// frame of a video, an image inside a Parquet file, an object in a bucket, or a file that is gone or has changed.
    pub fn original_file(&self, id: MediaId) -> Option<PathBuf> {
        let (media, folder) = self.find_media(id).ok()?;
        let is_whole_file = media.frame.is_none() && storage_location(&folder).is_none();
        let is_current = is_whole_file && is_current(&media, &folder);
        is_current.then(|| folder.join(&media.path))
    }
}

/// Whether the file of a media item is a file below its folder, and still the indexed one by its size and time.
fn is_current(media: &MediaRecord, folder: &Path) -> bool {
    let opened = SandboxedDir::open(folder)
        .and_then(|files| media.indexed_content().open(&files, &media.path, 0));
    opened.is_ok()
}

#[cfg(test)]
mod tests {
    use super::FileNames;

    #[test]
    fn names_are_found_with_their_spaces() {
        let names = ["rocks.jpg", "My photo.jpg", "IMG_1 (1).jpg", "[x]"].map(str::as_bytes);
        let names = FileNames::new(names.into_iter());
        for (text, is_in) in [
            ("rocks.jpg", true),
            ("a,b/rocks.jpg,1", true),
            ("1|rocks.jpg|2", true),
            ("{\"file_name\": \"My photo.jpg\"}", true),
            ("<filename>IMG_1 (1).jpg</filename>", true),
            ("see [x] here", true),
            ("", false),
            ("a photo.jpg of rocks", false),
            ("myrocks.jpg", false),
            ("(1).jpg", false),
        ] {
            assert_eq!(names.are_in(text.as_bytes()), is_in, "{text}");
        }
        assert!(!names.has_escaped);
        assert!(FileNames::new([&b"a\"b.jpg"[..]].into_iter()).has_escaped);
    }
}
