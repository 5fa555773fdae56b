//! Reads COCO files, which are JSON with `images`, `categories` and `annotations`. Annotations are captions, boxes in
//! pixels, polygons, masks, or categories of whole pictures. A large file is read in parts, once for each list, because
//! the categories usually follow the annotations.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, hash_map::Entry},
    io::Read as _,
};

use super::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use tessera_model::Mask;

use super::{
    bounding_box::turned_box,
    box_columns::parse_box,
    description::{POINT_OR_LINE, UNNAMED},
    file_index::FileIndex,
    sidecar_reader::unreadable,
    streamed_json::{ListEnd, MAX_STREAMED_BYTES, earlier_lists, read_list},
};
use crate::ingest::{OriginalFiles, text_encoding};

#[derive(Deserialize)]
pub(super) struct CocoDocument<'a> {
    #[serde(borrow)]
    images: &'a RawValue,
    annotations: &'a RawValue,
    categories: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CocoImage<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    file_name: Option<&'a RawValue>,
    filename: Option<&'a RawValue>,
    /// The address of the picture, which LVIS has in the place of a file name.
    coco_url: Option<&'a RawValue>,
    width: Option<&'a RawValue>,
    height: Option<&'a RawValue>,
}

impl<'a> CocoImage<'a> {
    fn name(&self) -> Option<&'a RawValue> {
        self.file_name.or(self.filename).or(self.coco_url)
    }
}

#[derive(Deserialize)]
struct CocoCategory<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CocoAnnotation<'a> {
    #[serde(borrow)]
    image_id: Option<&'a RawValue>,
    category_id: Option<&'a RawValue>,
    bbox: Option<&'a RawValue>,
    segmentation: Option<&'a RawValue>,
    caption: Option<&'a RawValue>,
    score: Option<&'a RawValue>,
    keypoints: Option<&'a RawValue>,
    iscrowd: Option<&'a RawValue>,
    attributes: Option<&'a RawValue>,
    /// The objects of a picture, in annotations that cover the whole picture (panoptic).
    segments_info: Option<&'a RawValue>,
}

/// What CVAT adds to an annotation.
#[derive(Deserialize)]
struct CvatAttributes<'a> {
    /// The degrees by which the box is turned about its center, clockwise.
    #[serde(borrow)]
    rotation: Option<&'a RawValue>,
}

impl CocoAnnotation<'_> {
    /// Returns the box and the degrees by which it is turned.
    fn turned_box(&self) -> Option<([f64; 4], f64)> {
        let attributes: CvatAttributes<'_> = documents::parse_object(self.attributes?.get())?;
        let degrees = documents::parse_number(attributes.rotation?).filter(|it| *it != 0.0)?;
        Some((parse_box(self.bbox?)?, degrees))
    }
}

const IMAGES: &str = "images";
const CATEGORIES: &str = "categories";
const ANNOTATIONS: &str = "annotations";

/// The lists of a document, in memory or in a file.
pub(super) trait CocoLists {
    /// Passes each element of a list to `take`. Returns what is wrong with the list as a whole.
    fn for_each(&self, list: &str, take: &mut dyn FnMut(&RawValue)) -> Result<(), String>;
}

impl CocoLists for CocoDocument<'_> {
    fn for_each(&self, list: &str, take: &mut dyn FnMut(&RawValue)) -> Result<(), String> {
        let values = match list {
            IMAGES => self.images,
            ANNOTATIONS => self.annotations,
            _ => match self.categories {
                Some(categories) => categories,
                None => return Ok(()),
            },
        };
        documents::for_each_element(values.get(), take)
            .ok_or_else(|| format!("its {list} are not a list"))
    }
}

/// A document that is too large to keep.
struct CocoFile<'a> {
    folder: &'a dyn OriginalFiles,
    sidecar: &'a Path,
    /// The lists of the document.
    lists: Vec<String>,
}

impl CocoFile<'_> {
    /// Passes the elements of a list to `take`. Returns the lists of the document, and what is wrong with it.
    fn read_list(
        &self,
        list: &str,
        is_whole: bool,
        take: &mut dyn FnMut(&RawValue),
    ) -> Result<ListEnd, String> {
        let unreadable = |cause| unreadable(&cause);
        let file = self.folder.open_file(self.sidecar).map_err(unreadable)?;
        let file = text_encoding::utf8_reader(file.take(MAX_STREAMED_BYTES)).map_err(unreadable)?;
        let names = [IMAGES, CATEGORIES, ANNOTATIONS];
        Ok(read_list(file, &names, list, earlier_lists(&self.lists, list), is_whole, take))
    }
}

impl CocoLists for CocoFile<'_> {
    fn for_each(&self, list: &str, take: &mut dyn FnMut(&RawValue)) -> Result<(), String> {
        self.read_list(list, false, take)?.end
    }
}

/// Returns `None` for other JSON.
pub(super) fn parse(text: &str) -> Option<CocoDocument<'_>> {
    documents::parse_object(text)
}

/// Reads a file that is larger than other files may be. Returns `false` for other JSON.
pub(super) fn read_large(reader: &mut SidecarReader<'_>, sidecar: &Path) -> bool {
    let mut file = CocoFile { folder: reader.folder(), sidecar, lists: Vec::new() };
    match file.read_list("", true, &mut |_| {}) {
        Ok(ListEnd { found, .. }) if !is_coco(&found) => return false,
        Ok(ListEnd { end: Ok(()), found }) => {
            file.lists = found;
            read(reader, sidecar, &file);
        }
        Ok(ListEnd { end: Err(why), .. }) | Err(why) => reader.report_problem(sidecar, why),
    }
    true
}

fn is_coco(names: &[String]) -> bool {
    [IMAGES, ANNOTATIONS].iter().all(|list| names.iter().any(|name| name == list))
}

pub(super) fn read(reader: &mut SidecarReader<'_>, sidecar: &Path, lists: &dyn CocoLists) {
    reader.mark_used(sidecar);
    let mut categories = CategoryNames::new();
    let bad_categories =
        read_elements(lists, CATEGORIES, "category", |value| add_category(&mut categories, value));
    // What is wrong with the images is reported when they are read.
    let _ = lists.for_each(IMAGES, &mut |value| {
        if let Some(name) = documents::parse_object::<CocoImage<'_>>(value.get())
            .and_then(|image| documents::parse_name(image.name()?))
        {
            reader.files.note_name(&name, None, sidecar);
        }
    });
    let mut images = CocoPictures::new();
    let bad_images = read_elements(lists, IMAGES, "image", |value| {
        add_image(&mut images, value, &reader.files, sidecar)
    });
    let mut described =
        DescribedPictures { descriptions: BTreeMap::new(), objects: 0, coordinates: 0 };
    let bad_annotations = read_elements(lists, ANNOTATIONS, "annotation", |value| {
        described.add(value, &images, &categories)
    });
    for (media, description) in described.descriptions {
        reader.add_description(media, sidecar, description);
    }
    let problems: Vec<_> =
        [bad_categories, bad_images, bad_annotations].into_iter().flatten().collect();
    if !problems.is_empty() {
        reader.report_problem(sidecar, problems.join("; "));
    }
}

/// Passes each element of a list to `take`. Returns what is wrong with the elements and the list.
fn read_elements(
    lists: &dyn CocoLists,
    plural: &'static str,
    noun: &'static str,
    mut take: impl FnMut(&RawValue) -> Result<(), Reason>,
) -> Option<String> {
    let mut diagnostics = SidecarDiagnostics::new(noun, plural);
    let end = lists.for_each(plural, &mut |value| {
        diagnostics.next_position();
        diagnostics.check(take(value));
    });
    let problems: Vec<String> = diagnostics.summary().into_iter().chain(end.err()).collect();
    (!problems.is_empty()).then(|| problems.join("; "))
}

/// Normalizes an identifier, which may be a number or a string. A number may have a decimal point, because tables
/// with missing values have no whole numbers.
fn parse_id(value: &RawValue) -> Cow<'_, str> {
    let text = value.get().trim_matches('"');
    let text = documents::whole_number(text).unwrap_or(text);
    let is_decimal = text.contains(['.', 'e', 'E']);
    match text.parse::<f64>().ok().filter(|number| is_decimal && number.fract() == 0.0) {
        Some(number) => number.to_string().into(),
        None => text.into(),
    }
}

/// The names of the categories by identifier.
type CategoryNames = HashMap<Box<str>, String>;

fn add_category(categories: &mut CategoryNames, value: &RawValue) -> Result<(), Reason> {
    let category: Option<CocoCategory<'_>> = documents::parse_object(value.get());
    let category = category.ok_or("it is not a JSON object")?;
    let id = parse_id(category.id.ok_or("it has no id")?);
    let name = category.name.and_then(documents::parse_name);
    let name = name.and_then(|name| normalized_name(&name));
    // A category without a name is called by its number, so that its boxes are kept.
    let end = name.as_ref().map(drop).ok_or("it has no name".into());
    let name = name.unwrap_or_else(|| format!("class {id}"));
    if categories.get(&*id).is_some_and(|known| *known != name) {
        return Err("its id belongs to an earlier category, which is used".into());
    }
    categories.insert(id.into(), name);
    end
}

/// The file of an image, and its size in the document. The file is `None` if it is missing or not certain.
struct CocoPicture<'f> {
    media: Option<&'f Path>,
    size: Option<StatedSize>,
}

/// The media files by image identifier.
type CocoPictures<'f> = HashMap<Box<str>, CocoPicture<'f>>;

fn add_image<'f>(
    images: &mut CocoPictures<'f>,
    value: &RawValue,
    files: &FileIndex<'f>,
    sidecar: &Path,
) -> Result<(), Reason> {
    let image: Option<CocoImage<'_>> = documents::parse_object(value.get());
    let image = image.ok_or("it is not a JSON object")?;
    let (id, name) = image.id.zip(image.name()).ok_or("it has no id or no file_name")?;
    let name = documents::parse_name(name).ok_or("its file_name is not a text".into());
    let found = name.and_then(|name| files.resolve(&name, sidecar));
    let media = found.as_ref().ok().copied();
    match images.entry(parse_id(id).into()) {
        Entry::Occupied(known) if known.get().media == media => found.map(drop),
        Entry::Occupied(mut known) => {
            known.get_mut().media = None;
            Err("its id belongs to another image, too, so annotations of this id are not used"
                .into())
        }
        Entry::Vacant(entry) => {
            let pixels = |side: Option<&RawValue>| side.and_then(documents::parse_number);
            let (width, height) = (pixels(image.width), pixels(image.height));
            let size = StatedSize::new(width, height);
            entry.insert(CocoPicture { media, size });
            found.map(drop)
        }
    }
}

/// Maximum number of objects of a document, which take about 1 GB.
const MAX_FILE_OBJECTS: usize = 5_000_000;
/// Maximum number of coordinates in the outlines of a document, which take 800 MB.
const MAX_FILE_COORDINATES: usize = 100_000_000;

/// The descriptions of the media files, whose objects and outlines are limited over the whole document.
struct DescribedPictures<'f> {
    descriptions: BTreeMap<&'f Path, MediaDescription>,
    objects: usize,
    coordinates: usize,
}

impl<'f> DescribedPictures<'f> {
    fn add(
        &mut self,
        value: &RawValue,
        images: &CocoPictures<'f>,
        categories: &CategoryNames,
    ) -> Result<(), Reason> {
        let annotation = documents::parse_object::<CocoAnnotation<'_>>(value.get());
        let annotation = annotation.ok_or("it is not a JSON object")?;
        let image = annotation.image_id.and_then(|id| images.get(&*parse_id(id)));
        let image = image.ok_or("its image_id is not in images")?;
        // A missing image has already been reported.
        let Some(media) = image.media else { return Ok(()) };
        let Some(segments) = annotation.segments_info else {
            return self.add_annotation(&annotation, (media, image), categories);
        };
        let mut end = Ok(());
        documents::for_each_element(segments.get(), |segment| {
            let segment = documents::parse_object::<CocoAnnotation<'_>>(segment.get());
            let segment = segment.ok_or("its segments_info are not JSON objects".into());
            let added = segment.and_then(|it| self.add_annotation(&it, (media, image), categories));
            if end.is_ok() {
                end = added;
            }
        });
        end
    }

    fn add_annotation(
        &mut self,
        annotation: &CocoAnnotation<'_>,
        (media, image): (&'f Path, &CocoPicture<'f>),
        categories: &CategoryNames,
    ) -> Result<(), Reason> {
        let description = self.descriptions.entry(media).or_default();
        if description.objects.is_empty() {
            description.stated_size = image.size;
        } else if image.size.is_some() && description.stated_size != image.size {
            return Err("its image has another size than an earlier image of the same file".into());
        }
        let before = description.objects.len();
        let end = add_annotation(annotation, description, categories);
        if let [object] = &mut description.objects[before..] {
            self.objects += 1;
            if let (None, Some(mask)) = (&description.stated_size, &object.annotation.mask) {
                let [height, width] = mask.size.map(|side| Some(f64::from(side)));
                description.stated_size = StatedSize::new(width, height);
            }
            let outlines = &mut object.annotation.polygons;
            self.coordinates += outlines.iter().map(Vec::len).sum::<usize>();
            if self.objects > MAX_FILE_OBJECTS {
                description.objects.pop();
                return Err("only the first 5,000,000 objects of a file are kept".into());
            }
            if self.coordinates > MAX_FILE_COORDINATES {
                outlines.clear();
                return Err("only outlines with 100,000,000 coordinates in all are kept".into());
            }
        }
        end.map_err(Reason::from)
    }
}

fn add_annotation(
    annotation: &CocoAnnotation<'_>,
    description: &mut MediaDescription,
    categories: &CategoryNames,
) -> Result<(), &'static str> {
    if let Some(caption) = annotation.caption {
        description
            .push_caption(&documents::parse_name(caption).ok_or("its caption is not a string")?);
    }
    let turned = || {
        let (sides, degrees) = annotation.turned_box()?;
        Some(Ok(Segmentation::Polygons(vec![turned_box(sides, degrees).into_flattened()])))
    };
    let segmentation = annotation.segmentation.filter(|value| !is_blank(value));
    let segmentation = segmentation.map(read_segmentation).or_else(turned);
    let has_box = annotation.bbox.is_some_and(|bbox| !is_blank(bbox));
    if !has_box && segmentation.is_none() && annotation.category_id.is_none() {
        return match annotation.caption {
            Some(_) => Ok(()),
            None => Err("it has neither bbox nor segmentation nor category nor caption"),
        };
    }
    let extent = annotation_extent(annotation, segmentation.as_ref(), description.stated_size);
    let label = annotation.category_id.and_then(|key| categories.get(&*parse_id(key)));
    // Datasets of classification have neither a box nor a segmentation.
    let has_area = has_box || segmentation.is_some() || matches!(extent, Ok(Some(_)));
    if let (false, Some(label)) = (has_area, label) {
        push_name(&mut description.labels, label);
    }
    let known = label.map(drop).ok_or("its category_id is not in categories");
    let Some(extent) = extent? else { return known };
    // An object of an unknown category is called by its number, so that its box is kept.
    let number = || annotation.category_id.filter(|id| id.get() != "null").map(parse_id);
    let unknown = || number().map_or(UNNAMED.to_owned(), |id| format!("class {id}"));
    let label = label.cloned().or_else(|| normalized_name(&unknown())).ok_or("it has no name")?;
    let details = read_details(annotation, segmentation);
    let end = details.as_ref().map(drop).map_err(|why| *why);
    description.push_annotated(label, extent, details.unwrap_or_default()).and(end).and(known)
}

/// Whether a value is an empty list or contains only zeros, as tools write it for a box or segmentation that is
/// missing.
fn is_blank(value: &RawValue) -> bool {
    value.get().bytes().all(|byte| b"[],.0 \t\r\n{}".contains(&byte))
}

/// Returns the box of an annotation, or the box around its segmentation or its keypoints.
fn annotation_extent(
    annotation: &CocoAnnotation<'_>,
    segmentation: Option<&Result<Segmentation, &'static str>>,
    stated_size: Option<StatedSize>,
) -> Result<Option<BoundingBox>, &'static str> {
    let segmentation = segmentation.map(|it| it.as_ref().map_err(|why| *why));
    let is_of_picture = |it: &&Segmentation| it.has_size(stated_size);
    let outlined = || segmentation?.ok().filter(is_of_picture)?.extent();
    let is_box = |bbox: &&RawValue| !is_blank(bbox) && annotation.turned_box().is_none();
    let Some(bbox) = annotation.bbox.filter(is_box) else {
        return match segmentation {
            Some(Ok(it)) if !it.has_size(stated_size) => Err(WRONG_SIZE),
            Some(_) => outlined().ok_or(WRONG_SEGMENTATION).map(Some),
            None => extent_of_keypoints(annotation),
        };
    };
    let sides = parse_box(bbox).ok_or("its bbox is not a list of four numbers");
    let extent = sides.and_then(|sides| {
        BoundingBox::pixels(sides).ok_or("its bbox is empty or outside the picture")
    });
    extent.or_else(|why| outlined().ok_or(why)).map(Some)
}

/// Returns the box around the labeled keypoints of an annotation. Returns `None` if there are none.
fn extent_of_keypoints(
    annotation: &CocoAnnotation<'_>,
) -> Result<Option<BoundingBox>, &'static str> {
    let Some(keypoints) = annotation.keypoints else { return Ok(None) };
    let keypoints = documents::parse_numbers(keypoints).ok_or(WRONG_NUMBERS)?;
    let labeled = keypoints.as_chunks().0.iter().filter(|[_, _, visibility]| *visibility > 0.0);
    let points: Vec<_> = labeled.map(|&[x, y, _]| [x, y]).collect();
    match BoundingBox::around(&points) {
        None if !points.is_empty() => Err(POINT_OR_LINE),
        extent => Ok(extent),
    }
}

const WRONG_SEGMENTATION: &str = "its segmentation is neither polygons nor a mask";

const WRONG_SIZE: &str = "its mask has another size than its image";

const WRONG_NUMBERS: &str = "its score or keypoints are not numbers";

/// Returns the score, segmentation and keypoints of an annotation. The error says what is malformed.
fn read_details(
    annotation: &CocoAnnotation<'_>,
    segmentation: Option<Result<Segmentation, &'static str>>,
) -> Result<Annotation, &'static str> {
    let (polygons, mask) = match segmentation.transpose()? {
        Some(Segmentation::Polygons(polygons)) => (polygons, None),
        Some(Segmentation::Mask(size, runs)) => (Vec::new(), Some(Mask::from_runs(size, &runs))),
        None => (Vec::new(), None),
    };
    let keypoints = annotation.keypoints.map(documents::parse_numbers);
    let keypoints = keypoints.map_or(Some(Vec::new()), |it| it).ok_or(WRONG_NUMBERS)?;
    let score = annotation.score.map(|it| documents::parse_number(it).ok_or(WRONG_NUMBERS));
    // Datasets without keypoints write a zero for each.
    let is_labeled = keypoints.iter().any(|&number| number != 0.0);
    let keypoints = if is_labeled { keypoints } else { Vec::new() };
    let is_crowd = annotation
        .iscrowd
        .is_some_and(|flag| matches!(flag.get().trim_matches('"'), "1" | "1.0" | "true"));
    Ok(Annotation { score: score.transpose()?, polygons, mask, keypoints, is_crowd })
}

/// Runs of pixels, column by column. The first run is outside the object.
#[derive(Deserialize)]
struct RunLengthMask<'a> {
    /// Height and width of the picture.
    #[serde(borrow)]
    size: &'a RawValue,
    /// The lengths as a list, or in the form in which the COCO API writes them.
    counts: &'a RawValue,
}

impl RunLengthMask<'_> {
    /// Returns the size and the runs, which do not go beyond it. The numbers may have a decimal point.
    fn read(&self) -> Option<([u32; 2], Vec<u64>)> {
        let size = documents::parse_numbers(self.size)?.into_iter().map(documents::whole);
        let size: Vec<u32> = size.map(|side| side?.try_into().ok()).collect::<Option<_>>()?;
        let size = <[u32; 2]>::try_from(size).ok()?;
        let runs = match documents::parse_string(self.counts) {
            Some(counts) => Mask { size, counts: without_bytes_mark(counts) }.runs()?,
            None => documents::parse_numbers(self.counts)?
                .into_iter()
                .map(documents::whole)
                .collect::<Option<_>>()?,
        };
        Mask::are_inside(size, &runs).then_some((size, runs))
    }
}

/// Returns the text in bytes as Python shows them: `b'52207'`.
fn without_bytes_mark(counts: String) -> String {
    let bytes = counts.strip_prefix("b'").and_then(|rest| rest.strip_suffix('\''));
    bytes.map(|bytes| bytes.replace(r"\\", r"\")).unwrap_or(counts)
}

/// The pixels of an object.
enum Segmentation {
    /// Outlines, each as `[x, y, x, y, …]`.
    Polygons(Vec<Vec<f64>>),
    /// The height and width of the picture, and the runs.
    Mask([u32; 2], Vec<u64>),
}

/// Reads a segmentation. An empty outline counts as none.
fn read_segmentation(segmentation: &RawValue) -> Result<Segmentation, &'static str> {
    if let Some(mask) = documents::parse_object::<RunLengthMask<'_>>(segmentation.get()) {
        let (size, runs) = mask.read().ok_or(WRONG_SEGMENTATION)?;
        return Ok(Segmentation::Mask(size, runs));
    }
    // Some tools write a single polygon without the outer list, or polygons as lists of points.
    let json = segmentation.get();
    let single = |_| serde_json::from_str(json).map(|polygon| vec![polygon]);
    let of_points = |_| {
        let polygons: Vec<Vec<[f64; 2]>> = serde_json::from_str(json)?;
        Ok(polygons.into_iter().map(Vec::into_flattened).collect())
    };
    let polygons = serde_json::from_str(json).or_else(single).or_else(of_points);
    let mut polygons: Vec<Vec<f64>> =
        polygons.map_err(|_: serde_json::Error| WRONG_SEGMENTATION)?;
    if polygons.len() > 2 && polygons.iter().all(|point| point.len() == 2) {
        polygons = vec![polygons.concat()];
    }
    polygons.retain(|polygon| !polygon.is_empty());
    Ok(Segmentation::Polygons(polygons))
}

impl Segmentation {
    /// Whether a mask has the size of its picture, if that is known.
    fn has_size(&self, size: Option<StatedSize>) -> bool {
        match (self, size) {
            (Self::Mask([height, width], _), Some(size)) => {
                size.size() == (f64::from(*width), f64::from(*height))
            }
            _ => true,
        }
    }

    /// Returns the box around the segmentation. Returns `None` if it is empty or outside the picture.
    fn extent(&self) -> Option<BoundingBox> {
        match self {
            Self::Mask([height, _], runs) => around_runs((*height).into(), runs),
            Self::Polygons(polygons) => {
                // Two points are no outline, but still a box, if there is nothing else.
                let has_outline = polygons.iter().any(|polygon| Annotation::is_outline(polygon));
                let is_used = |it: &&Vec<f64>| !has_outline || Annotation::is_outline(it);
                let outlines = polygons.iter().filter(is_used);
                let points = outlines.flat_map(|polygon| polygon.as_chunks().0);
                BoundingBox::around(&points.copied().collect::<Vec<_>>())
            }
        }
    }
}

/// Returns the box around the pixels of every second run. These pixels are the object.
fn around_runs(height: u64, runs: &[u64]) -> Option<BoundingBox> {
    let (mut left, mut right, mut top, mut bottom) = (u64::MAX, 0, u64::MAX, 0);
    let mut end = 0_u64;
    for (number, &length) in runs.iter().enumerate() {
        let start = end;
        end = start.checked_add(length)?;
        if number % 2 == 0 || length == 0 {
            continue;
        }
        let (first, last) = (start.checked_div(height)?, (end - 1) / height);
        (left, right) = (left.min(first), right.max(last + 1));
        // A run over several columns touches the upper and the lower border.
        let rows =
            if first == last { (start % height, (end - 1) % height + 1) } else { (0, height) };
        (top, bottom) = (top.min(rows.0), bottom.max(rows.1));
    }
    if right == 0 {
        return None;
    }
    let number = |count: u64| u32::try_from(count).ok().map(f64::from);
    let (x, y) = (number(left)?, number(top)?);
    BoundingBox::pixels([x, y, number(right)? - x, number(bottom)? - y])
}
