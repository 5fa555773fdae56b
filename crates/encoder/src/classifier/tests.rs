use crate::classifier::*;

fn labels(names: &[&str]) -> Vec<Vec<String>> {
    class_labels(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
}

/// Returns all names of `ImageNet`.
fn imagenet() -> Vec<&'static str> {
    SYNSETS.classes.iter().map(|id| SYNSETS.by_id[id].name).collect()
}

#[test]
fn ids_of_synsets_become_words_with_what_they_are_kinds_of() {
    let expected = [
        (
            "n02099601",
            "golden retriever, retriever, sporting dog, hunting dog, dog, mammal, animal",
        ),
        ("n02084071", "dog, mammal, animal"),
        ("n02389026", "sorrel, horse, odd-toed ungulate, ungulate, mammal, animal"),
        ("n04285008", "sports car, car, motor vehicle, wheeled vehicle, vehicle"),
        ("n04099969", "rocking chair, chair, seat, furniture"),
        ("n07753592", "banana, edible fruit, food, fruit"),
        ("n99999999", "n99999999"),
    ];
    for (id, words) in expected {
        assert_eq!(labels(&[id])[0].join(", "), words);
    }
}

#[test]
fn a_general_word_finds_all_that_it_names() {
    let all = class_labels(&SYNSETS.classes.iter().map(|&id| id.to_owned()).collect::<Vec<_>>());
    assert_eq!(all.len(), 1_000);
    let count =
        |word: &str| all.iter().filter(|labels| labels[1..].iter().any(|it| it == word)).count();
    for (word, classes) in
        [("dog", 118), ("bird", 59), ("vehicle", 67), ("furniture", 22), ("animal", 398)]
    {
        assert_eq!(count(word), classes, "{word}");
    }
    for word in
        ["entity", "physical entity", "object", "whole", "artifact", "instrumentality", "placental"]
    {
        assert_eq!(count(word), 0, "{word}");
    }
    assert!(all.iter().all(|labels| labels.len() <= 8), "a picture has few labels");
}

#[test]
fn words_are_those_of_synsets_in_models_of_imagenet_only() {
    let one = |name| labels(&[name]).remove(0);
    assert_eq!(
        one("tench, Tinca tinca"),
        ["tench", "cypriniform fish", "soft-finned fish", "bony fish", "fish", "animal"]
    );
    assert_eq!(one("hot pot, hotpot"), one("n07590611"));
    // Two classes have this name.
    assert_eq!(one("crane"), ["crane"]);
    let all = labels(&imagenet());
    let [bird, machine] = ["n02012849", "n03126707"].map(|id| labels(&[id]).remove(0));
    assert!(all.contains(&bird) && all.contains(&machine) && bird != machine);
    // In other datasets such as COCO, a kite is a toy and a mouse is an animal.
    let other = labels(&["person", "kite", "mouse", "couch, or sofa"]);
    assert_eq!(other, [["person"], ["kite"], ["mouse"], ["couch, or sofa"]]);
}

#[test]
fn placeholders_are_no_labels() {
    assert_eq!(labels(&["LABEL_0", " ", "LABEL_A"]), [vec![], vec![], vec!["LABEL_A".to_owned()]]);
}

#[test]
fn only_confident_labels_are_given() {
    let classes = [vec!["cat"], vec!["poodle", "dog"], vec![]]
        .map(|labels| labels.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let labels = |scores: &[f32]| {
        confident_label(scores, &classes).map_or_else(Vec::new, |label| label.labels)
    };
    assert_eq!(labels(&[5.0, 0.0]), ["cat"]);
    assert!(labels(&[0.1, 0.2]).is_empty());
    // These scores are probabilities already.
    assert_eq!(labels(&[0.25, 0.75]), ["poodle", "dog"]);
    assert!(labels(&[0.35, 0.65]).is_empty());
    for damaged in [&[][..], &[f32::NAN, f32::NAN], &[0.0, 0.0, 9.0], &[0.0, 0.0, 0.0, 9.0]] {
        assert!(labels(damaged).is_empty());
    }
}
