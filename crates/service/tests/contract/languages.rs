//! Captions in several languages: inflected words are found, in the language that is detected or chosen.

use serde_json::{Value, json};
use tessera_service::{DeploymentSettings, EXTRACTOR_VERSION};

use crate::{
    described::{escaped, found, set, vql},
    support::{Place, Service, picture},
};

/// A language with three captions and a search that finds each.
type Captions = (&'static str, [(&'static str, &'static str); 3]);

const CAPTIONS: [Captions; 15] = [
    (
        "German",
        [
            ("Zwei Häuser am Ufer des Sees.", "haus"),
            ("Ein Hund läuft über die Wiese.", "Hunde"),
            ("Die Kinder sind im Garten.", "kind gärten"),
        ],
    ),
    (
        "French",
        [
            ("Des chevaux dans les prés.", "cheval"),
            ("Une petite maison blanche près de la mer.", "petites maisons blanches"),
            ("Le chat est sur la table.", "chats"),
        ],
    ),
    (
        "Spanish",
        [
            ("Dos niños con una pelota en la playa.", "niño pelotas"),
            ("Un perro junto a la casa.", "perros casas"),
            ("Las flores del jardín.", "flor"),
        ],
    ),
    (
        "Italian",
        [
            ("Due gatti sul divano.", "gatto"),
            ("La casa rossa con il giardino.", "case rosse"),
            ("Un bambino e il mare.", "bambini"),
        ],
    ),
    (
        "Portuguese",
        [
            ("Dois meninos na praia.", "menino"),
            ("Uma casa branca com flores.", "casas brancas"),
            ("O cão está em um jardim.", "cães"),
        ],
    ),
    (
        "Dutch",
        [
            ("Twee honden lopen in het park.", "hond"),
            ("Een huis met bomen.", "boom"),
            ("De tafels zijn op het strand.", "tafel"),
        ],
    ),
    (
        "Swedish",
        [
            ("Två hundar leker i snön.", "hund"),
            ("En flicka med en röd båt.", "flickor båtar"),
            ("Bilen är vid sjön.", "bil"),
        ],
    ),
    (
        "Russian",
        [
            ("Старый дом у реки.", "река дома"),
            ("Две собаки на снегу.", "собака"),
            ("Дети в саду и кошка.", "кошки"),
        ],
    ),
    (
        "Polish",
        [
            ("Dwa koty śpią na kanapie.", "kot"),
            ("Kobieta z psem w parku.", "kobiety"),
            ("Drzewo przy drodze i dom.", "drzewa domy"),
        ],
    ),
    (
        "Serbian",
        [
            ("Мачка спава поред прозора.", "mačke"),
            ("Kuća pored reke i drvo.", "кући"),
            ("Деца се играју на улици.", "ulica"),
        ],
    ),
    (
        "Indonesian",
        [
            ("Seekor anjing dengan bolanya.", "anjingnya bola"),
            ("Anak-anak bermain di taman.", "permainan"),
            ("Rumah itu berada di dekat sungai.", "rumahnya"),
        ],
    ),
    (
        "Hindi",
        [
            ("दो कुत्ते समुद्र तट पर दौड़ रहे हैं", "कुत्ता"),
            ("एक लड़की पार्क में खेल रही है", "लड़कियाँ"),
            ("मेज़ पर किताबें हैं", "किताब"),
        ],
    ),
    (
        "Persian",
        [
            ("کتاب‌ها روی میز است.", "کتاب"),
            ("یک گربه در کنار پنجره است.", "گربه"),
            ("ماشین قرمز در خیابان است.", "ماشینها"),
        ],
    ),
    (
        "Tamil",
        [
            ("ஒரு பூனை சோபாவின் மீது உள்ளது", "பூனைகள்"),
            ("இரண்டு வீடுகள் மற்றும் ஒரு மரம்", "வீடு"),
            ("நாய் கடற்கரையில் ஓடுகிறது", "நாய்கள்"),
        ],
    ),
    (
        "Yiddish",
        [
            ("די קינדער שפּילן אין פּאַרק.", "קינד"),
            ("אַ שיף אויפֿן ים.", "שיפֿן"),
            ("צוויי בילדער לעבן דעם טיש.", "בילד טישן"),
        ],
    ),
];

fn place(captions: &[(&str, &str)]) -> Place {
    let name = |number: usize| format!("{number}.png");
    let row = |(number, (caption, _)): (usize, &(&str, &str))| {
        json!({"file_name": name(number), "caption": caption}).to_string()
    };
    let rows: Vec<String> = captions.iter().enumerate().map(row).collect();
    let pictures: Vec<String> = (0..captions.len()).map(name).collect();
    let mut files: Vec<(&str, Vec<u8>)> =
        pictures.iter().zip(0..).map(|(name, number)| (name.as_str(), picture(number))).collect();
    files.push(("metadata.jsonl", rows.join("\n").into_bytes()));
    Place::new(&files)
}

fn full_text(query: &str) -> String {
    vql(&json!([{"text": {"op": "fts", "value": query}}]))
}

/// What the enrichment context contains about captions.
async fn description(service: &Service) -> String {
    let body = service.good(&format!("/api/v1/enrichment/{}/context", service.dataset)).await;
    let models = &body["dataset_enrichment_models"]["enrichment_models"];
    let text = models["CAPTION_IMAGES"]["metadata"]["description"].as_str();
    text.map_or_else(|| panic!("{body}"), str::to_owned)
}

async fn assert_language(service: &Service, language: &str, origin: &str) {
    let text = description(service).await;
    let expected = format!("; the captions are searched in {language}, {origin}");
    assert!(text.ends_with(&expected), "{text}");
}

#[tokio::test]
async fn inflected_words_are_found_in_the_detected_language() {
    for (language, captions) in CAPTIONS {
        let service = Service::at_with(place(&captions), DeploymentSettings::default()).await;
        assert_language(&service, language, "as detected in them").await;
        for (number, (_, query)) in captions.into_iter().enumerate() {
            let file = format!("{number}.png");
            assert_eq!(found(&service, &full_text(query)).await, set(&[&file]), "{query}");
            let parameter = format!("caption={}", crate::described::escaped(query));
            assert_eq!(service.names(&parameter).await[0], file, "{query}");
        }
    }
}

#[tokio::test]
async fn captions_without_stop_words_are_in_english() {
    let captions = [("red boats", ""), ("green hills", "")];
    let service = Service::at_with(place(&captions), DeploymentSettings::default()).await;
    assert_language(&service, "English", "as detected in them").await;
    assert_eq!(found(&service, &full_text("boat")).await, set(&["0.png"]));
}

#[tokio::test]
async fn a_chosen_language_replaces_the_detected_one_until_another_is_chosen() {
    let choose = |code: &str| DeploymentSettings {
        caption_language: Some(code.parse().unwrap()),
        ..DeploymentSettings::default()
    };
    let captions = [("drei Häuser", ""), ("the ships of an admiral", ""), ("Segel", "")];
    let service = Service::at_with(place(&captions), choose("de")).await;
    assert_language(&service, "German", "as chosen").await;
    assert_eq!(found(&service, &full_text("haus")).await, set(&["0.png"]));
    assert_eq!(found(&service, &full_text("ship")).await, set(&[]));

    let service = service.again(DeploymentSettings::default()).await;
    assert_language(&service, "German", "as chosen").await;

    let place = service.stop().await;
    let service = Service::at_with(place, choose("auto")).await;
    assert_language(&service, "English", "as detected in them").await;
    assert_eq!(found(&service, &full_text("ship")).await, set(&["1.png"]));
    assert_eq!(found(&service, &full_text("haus")).await, set(&[]));
    let record: Value = service.record().await;
    assert_eq!(record["status_new"], "READY");
}

#[tokio::test]
async fn words_are_found_in_every_script_and_spelling() {
    for (captions, word) in [
        ([("一只黑猫坐在墙上", ""), ("一只狗", "")], "黑猫"),
        ([("東京タワーの夜景", ""), ("海", "")], "東京"),
        ([("แมวนอนอยู่บนโซฟา", ""), ("ถ้ำ", "")], "แมว"),
        ([("Duvarın önünde kırmızı bir araba", ""), ("Mavi bir ev", "")], "KIRMIZI"),
        ([("Un cœur rouge sur le mur", ""), ("Une maison", "")], "coeur"),
    ] {
        let service = Service::at_with(place(&captions), DeploymentSettings::default()).await;
        let first = set(&["0.png"]);
        assert_eq!(found(&service, &full_text(word)).await, first, "{word}");
        let near = format!("caption={}&textual_similarity_threshold=0.5", escaped(word));
        assert_eq!(found(&service, &near).await, first, "{word}");
    }
}

#[tokio::test]
async fn words_are_not_found_by_parts_of_their_letters() {
    let captions = [("एक लड़का पार्क में है", ""), ("यह कमल है", "")];
    let service = Service::at_with(place(&captions), DeploymentSettings::default()).await;
    // The consonants of both begin with it.
    assert_eq!(found(&service, &full_text("का")).await, set(&[]));
    assert_eq!(found(&service, &full_text("\"पार्क में\"")).await, set(&["0.png"]));
}

#[tokio::test]
async fn captions_of_another_extractor_get_the_stems_of_this_one() {
    let captions = [("एक लड़की पार्क में है", ""), ("दो लड़के मेज़ पर हैं", ""), ("किताबें", "")];
    let service = Service::at_with(place(&captions), DeploymentSettings::default()).await;
    let place = service.stop().await;
    if place.store.address().is_some() {
        place.change("UPDATE words SET words = 'former', count = 1");
    }
    place.change("UPDATE dataset SET extractor = extractor - 1");
    let service = Service::at_with(place, DeploymentSettings::default()).await;
    let both = set(&["0.png", "1.png"]);
    assert_eq!(found(&service, &full_text("लड़कियाँ")).await, both);
    let extractor: u32 = service.place.row("SELECT extractor FROM dataset", |row| row.get(0));
    assert_eq!(extractor, EXTRACTOR_VERSION);
}

#[test]
fn an_unknown_language_is_refused_with_the_known_ones() {
    let error = "xx".parse::<tessera_search::text::language::LanguageChoice>().unwrap_err();
    assert!(error.starts_with("expected auto or one of en, ar, hy, eu, ca, cs, da,"), "{error}");
}
