"""Checks that extracted exports are read by pycocotools, labelformat, webdataset, pandas and `datasets`, with the same
boxes and with the columns of the user's own."""

import sys
from pathlib import Path

import datasets
import pandas
import webdataset
from labelformat.formats import (
    COCOObjectDetectionInput,
    PascalVOCObjectDetectionInput,
    YOLOv8InstanceSegmentationInput,
    YOLOv8ObjectDetectionInput,
)
from pycocotools.coco import COCO

# A label with left, top, right and bottom, for each object of an image.
Boxes = dict[str, list[tuple[str, list[float]]]]


def same(one: Boxes, other: Boxes) -> None:
    assert sorted(one) == sorted(other), (sorted(one), sorted(other))
    for name, boxes in one.items():
        assert len(boxes) == len(other[name]), name
        for (label, sides), (other_label, other_sides) in zip(sorted(boxes), sorted(other[name])):
            near = all(abs(a - b) < 0.01 for a, b in zip(sides, other_sides))
            assert label == other_label and near, (name, label, sides, other_label, other_sides)


def corners(left: float, top: float, width: float, height: float) -> list[float]:
    return [left, top, left + width, top + height]


def read_coco(folder: Path) -> Boxes:
    """Reads boxes, and checks masks, keypoints and captions."""
    coco = COCO(str(folder / "annotations/instances.json"))
    names = {category["id"]: category["name"] for category in coco.loadCats(coco.getCatIds())}
    assert list(names) == list(range(1, len(names) + 1)) and list(names.values()) == sorted(names.values())
    boxes: Boxes = {image["file_name"]: [] for image in coco.loadImgs(coco.getImgIds())}
    outlined = posed = 0
    for annotation in coco.loadAnns(coco.getAnnIds()):
        image = coco.imgs[annotation["image_id"]]
        boxes[image["file_name"]].append((names[annotation["category_id"]], corners(*annotation["bbox"])))
        if "segmentation" in annotation:
            pixels = int(coco.annToMask(annotation).sum())
            assert abs(pixels - annotation["area"]) <= 0.1 * annotation["area"] + 20, annotation
            outlined += 1
        if annotation.get("num_keypoints"):
            category = coco.cats[annotation["category_id"]]
            assert len(annotation["keypoints"]) == 3 * len(category["keypoints"]), annotation
            posed += 1
    assert outlined >= 2 and posed >= 1, "polygons, a mask and keypoints"
    captions = COCO(str(folder / "annotations/captions.json"))
    assert all(caption["caption"] for caption in captions.loadAnns(captions.getAnnIds()))
    return boxes


def read_labels(source) -> Boxes:
    """Reads boxes by labelformat. Its reader of YOLO omits images without objects."""
    return {
        label.image.filename: [
            (found.category.name, [found.box.xmin, found.box.ymin, found.box.xmax, found.box.ymax])
            for found in label.objects
        ]
        for label in source.get_labels()
    }


def check_columns(rows) -> None:
    """Checks that only one image has values in the columns of the user's own."""
    found = [(row["weather"], int(row["count"])) for row in rows if not pandas.isna(row["weather"])]
    assert found == [("fog", 3)], found


def read_web_dataset(folder: Path) -> Boxes:
    boxes: Boxes = {}
    rows = []
    shards = sorted(f"file:{shard.resolve()}" for shard in folder.glob("*.tar"))
    for sample in webdataset.WebDataset(shards, shardshuffle=False).decode("pil"):
        row = sample["json"]
        rows.append(row)
        picture = next(sample[end] for end in ("jpg", "png") if end in sample)
        assert picture.size == (row["width"], row["height"])
        assert sample["txt"] == row.get("caption", "")
        boxes[Path(row["file_path"]).name] = [(it["label"], corners(*it["bbox"])) for it in row.get("objects", [])]
    check_columns([{"weather": None, **row} for row in rows])
    return boxes


def read_hugging_face(folder: Path, name_column: str | None) -> Boxes:
    loaded = datasets.load_dataset(str(folder))
    assert list(loaded) == ["train"], loaded
    images = loaded["train"]
    assert isinstance(images.features["image"], datasets.Image), images.features
    boxes: Boxes = {}
    for row in images:
        assert row["image"].size == (row["width"], row["height"])
        name = row[name_column] if name_column else Path(row["file_path"]).name
        boxes[name] = [(it["label"], corners(*it["bbox"])) for it in row["objects"]]
    check_columns(images)
    return boxes


def main() -> None:
    folder = Path(sys.argv[1])
    boxes = read_coco(folder / "coco")
    labels = sorted({label for found in boxes.values() for label, _ in found})
    assert sum(map(len, boxes.values())) > 20
    same(boxes, read_labels(COCOObjectDetectionInput(input_file=folder / "coco/annotations/instances.json")) | {
        name: [] for name, found in boxes.items() if not found
    })
    for name in ("yolo", "yolo-segment"):
        source = {"yolo": YOLOv8ObjectDetectionInput, "yolo-segment": YOLOv8InstanceSegmentationInput}[name]
        source = source(input_file=folder / name / "data.yaml", input_split="train")
        assert sorted(category.name for category in source.get_categories()) == labels
        if name == "yolo":
            same({it: found for it, found in boxes.items() if found}, {it: found for it, found in read_labels(source).items() if found})
        else:
            objects = sum(len(label.objects) for label in source.get_labels())
            assert objects == sum(map(len, boxes.values())), objects
    voc = PascalVOCObjectDetectionInput(input_folder=folder / "voc/Annotations", category_names=",".join(labels))
    same(boxes, read_labels(voc))
    same(boxes, read_web_dataset(folder / "webdataset"))
    same(boxes, read_hugging_face(folder / "imagefolder", "image_filename"))
    same(boxes, read_hugging_face(folder / "hf-parquet", None))
    check_columns(pandas.read_csv(folder / "csv/metadata.csv").to_dict("records"))
    print(len(boxes), "images")


main()
