//! The trained text space.

use proptest::prelude::*;
use tessera_sample::plan;
use tessera_search::text::{language::Language, lsa::TextSpace, words::content_stems};

const HARBOR: [&str; 12] = [
    "a boat with white sails in the harbor",
    "a ship with white sails in the harbor",
    "a boat on the calm sea at the harbor",
    "a ship on the calm sea with sails",
    "a small boat on the waves of the sea",
    "a great ship on the waves of the sea",
    "a car in a narrow street",
    "a red car before a house",
    "a house in a narrow street",
    "a tree before a red house",
    "two cars in the street before a house",
    "a tree in the street",
];

fn stems(text: &str) -> Vec<String> {
    content_stems(text, Language::English)
}

fn train<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Option<TextSpace> {
    TextSpace::train(Language::English, texts)
}

fn distance(space: &TextSpace, a: &str, b: &str) -> f32 {
    let (a, b) = (space.embed(a).unwrap(), space.embed(b).unwrap());
    1.0 - a.iter().zip(&b).map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>()
}

#[test]
fn related_words_are_nearer_than_others() {
    let space = train(HARBOR).unwrap();
    let to = |caption| distance(&space, "boat", caption);
    assert!(to(HARBOR[0]) < 0.4, "its own word: {}", to(HARBOR[0]));
    for ship in [HARBOR[1], HARBOR[3], HARBOR[5]] {
        assert!((0.3..0.6).contains(&to(ship)), "{ship}: {}", to(ship));
    }
    for street in &HARBOR[6..] {
        assert!(to(street) > 0.6, "{street}: {}", to(street));
    }
}

#[test]
fn the_order_of_the_texts_changes_nothing() {
    let texts: Vec<String> = plan(300, 7).iter().map(|image| image.caption.clone()).collect();
    let space = train(&texts).unwrap();
    let mut others = texts.clone();
    others.reverse();
    assert!(train(&others).unwrap() == space);
    others.sort_by_key(String::len);
    assert!(train(&others).unwrap() == space);
}

#[test]
fn sample_captions_are_found_by_their_words() {
    let texts: Vec<String> = plan(300, 7)
        .iter()
        .map(|image| format!("{}\n{}", image.caption, image.labels.join("\n")))
        .collect();
    let space = train(&texts).unwrap();
    for query in ["sailing boats", "a planet", "lighthouse", "camel", "pyramids", "tulips"] {
        let words = stems(query);
        let says = |text: &String| words.iter().all(|word| stems(text).contains(word));
        let (with, without): (Vec<_>, Vec<_>) = texts.iter().partition(|text| says(text));
        let far = |text: &&String| distance(&space, query, text);
        let strong = with.iter().filter(|text| far(text) < 0.45).count();
        assert!(strong * 10 >= with.len() * 9, "{query}: {strong} of {}", with.len());
        let loose = without.iter().filter(|text| far(text) > 0.6).count();
        assert!(loose * 10 >= without.len() * 8, "{query}: {loose} of {}", without.len());
    }
}

#[test]
fn only_texts_with_known_words_have_a_vector() {
    let space = train(HARBOR).unwrap();
    assert_eq!(space.embed("submarine"), None);
    assert_eq!(space.embed("in the"), None);
    assert_eq!(space.embed("submarine boats"), space.embed("boat"));
    assert_eq!(train([""; 3]), None);
    assert_eq!(train::<&str>([]), None);
    assert!(train(["one"]).unwrap().embed("one").is_some());
}

#[test]
fn a_stored_text_space_is_restored_or_rejected() {
    let space = train(HARBOR).unwrap();
    let bytes = space.to_bytes();
    assert_eq!(TextSpace::from_bytes(&bytes).unwrap(), space);
    assert_eq!(train(HARBOR).unwrap(), space);
    assert_ne!(train(&HARBOR[1..]).unwrap(), space);
    for offset in (0..bytes.len()).step_by(37) {
        let mut damaged = bytes.clone();
        damaged[offset] ^= 4;
        assert_eq!(TextSpace::from_bytes(&damaged), None);
        assert_eq!(TextSpace::from_bytes(&bytes[..offset]), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn text_vectors_have_unit_length(texts in prop::collection::vec("[a-f ]{0,20}", 1..20)) {
        if let Some(space) = train(&texts) {
            let vectors: Vec<_> = texts.iter().filter_map(|text| space.embed(text)).collect();
            for vector in &vectors {
                prop_assert!(vector.len() <= 256);
                prop_assert_eq!(vector.len(), vectors[0].len());
                let squares = vector.iter().map(|value| value.to_f32().powi(2));
                prop_assert!((squares.sum::<f32>() - 1.0).abs() < 0.005);
            }
        }
    }
}

#[test]
fn word_forms_share_a_stem() {
    assert_eq!(stems("Two SAILING boats; the dog's 3"), ["two", "sail", "boat", "dog", "3"]);
    assert_eq!(stems("A boat sails"), ["boat", "sail"]);
    assert_eq!(stems("the of – \u{0} !"), Vec::<String>::new());
    assert_eq!(stems(&"x".repeat(65)), Vec::<String>::new());
}
