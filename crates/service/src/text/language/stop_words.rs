//! Stop words: the articles, prepositions, conjunctions, pronouns and auxiliary verbs that are frequent in captions.
//!
//! Our own selection. For the languages that have one, it was made from the lists of the Snowball project.

use std::{collections::HashMap, sync::LazyLock};

use super::Language;

pub(super) const LANGUAGE_COUNT: usize = STOP_WORDS.len();

const STOP_WORDS: [(Language, &str); 18] = [
    (
        Language::English,
        "a after am an and are as at be been before being but by for from had has have he her his if in into is it \
         its of on or she some than that the their them there these they this those to was were which while who with",
    ),
    (
        Language::Arabic,
        "في من على إلى عن مع هذا هذه ذلك تلك التي الذي و أو ثم بين عند كان كانت هو هي ما لا إن أن قد كل بعض حول \
         فوق تحت أمام خلف بجانب",
    ),
    (
        Language::Danish,
        "af alle at bag blev den denne der deres det dette disse efter eller en er et foran for fra har hendes hos \
         hun hvor i ikke ind jeg kan man med meget men mod nogle når og om op over på sig som til ud under var ved",
    ),
    (
        Language::Dutch,
        "aan achter als bij dat de deze die dit door een en er haar heeft het hij hun in is maar met naar naast niet \
         of om onder ook op over te tegen tot tussen uit van voor was wordt zich zijn zonder",
    ),
    (
        Language::Finnish,
        "alla edessä että hän ja joka jonka jossa jotka kanssa ei he kun kuin luona mutta myös ne ovat on oli olla \
         päällä sekä se sen siinä sitten tai takana tämä tässä vieressä vielä yllä",
    ),
    (
        Language::French,
        "à au aux avec c ce ces cette d dans de derrière des devant du elle en entre est et il ils je l la le les \
         leur lui mais n ne ou où par pas pour près qu que qui s sa se ses son sont sous sur un une vers",
    ),
    (
        Language::German,
        "aber als am an auf aus bei beim das dem den der des die durch ein eine einem einen einer eines er es für hat \
         hinter im in ist mit nach neben nicht oder sich sie sind über um und unter vom von vor war wird zu zum zur \
         zwischen",
    ),
    (
        Language::Greek,
        "από αυτή αυτό για δεν δίπλα ένα ένας είναι εκεί έχει η ή και κάτω με μέσα μια μία μπροστά να ο οι όπως που \
         προς πάνω πίσω σε στα στη στην στις στο στον στους τα τη την της τις το τον του τους των",
    ),
    (
        Language::Hungarian,
        "a alatt amely az ahol és egy előtt ez ezek fölött hogy is itt közben között mellett meg mint mögött nem ott \
         pedig s szerint vagy van vannak volt",
    ),
    (
        Language::Italian,
        "a accanto ad ai al alla alle con da dal dalla davanti degli dei del della delle dello di dietro e ed gli i \
         il in la le lo ma nei nel nella nelle non o per più presso si sono sopra sotto su sugli sui sul sulla tra un \
         una uno è",
    ),
    (
        Language::Norwegian,
        "alle at av bak ble de den denne dette der det disse eller en er et etter foran for fra har hun hvor i ikke \
         inn jeg kan man med mellom men mot noen når og om opp over på seg som til under ut var ved",
    ),
    (
        Language::Portuguese,
        "a ao aos as às com da das de do dos e ela ele em entre era está estão foi há mas na nas no nos não o os ou \
         para pela pelas pelo pelos por que se seu sua são sob sobre um uma à é",
    ),
    (
        Language::Romanian,
        "a al ale care ce cu de deasupra din după e este fi fost iar într la lângă lui mai nu o pe pentru prin sau se \
         spre sub sunt un unei unui și în între",
    ),
    (
        Language::Russian,
        "а без был была были в во возле для до же за и из или к как ко который которые между на над не но о около он \
         она они от перед по под при рядом с со у что это",
    ),
    (
        Language::Spanish,
        "a al ante bajo con como de del desde detrás donde e el ella en entre era es esta este está están hacia hasta \
         hay junto la las lo los no o para pero por que se sin sobre son su sus un una unas unos y",
    ),
    (
        Language::Swedish,
        "alla att av bakom bredvid de dem den denna deras det dessa där efter eller en ett framför från för ha har \
         hennes hon i inte intill jag kan man med mellan men mot när och om på sig som till under ut var vid är över",
    ),
    (
        Language::Tamil,
        "ஒரு மற்றும் இந்த அந்த இது அது என்று என உள்ள மீது மேல் கீழ் அருகில் முன் பின் இல் ஆகும் உடன் ஆனால் அல்லது \
         போல இருந்து",
    ),
    (
        Language::Turkish,
        "altında ama arasında arkasında bir bu da daha de değil en gibi ile için ise ki mi mu o olan olarak önünde \
         sonra şu üzerinde üstünde var ve veya yanında ya",
    ),
];

/// Whether a word in lower case occurs in captions of any picture.
pub fn is_stop_word(word: &str, language: Language) -> bool {
    languages_of(word).contains(&language)
}

/// The languages in which a word is a stop word.
pub(super) fn languages_of(word: &str) -> &'static [Language] {
    static LANGUAGES: LazyLock<HashMap<&str, Vec<Language>>> = LazyLock::new(|| {
        let mut languages: HashMap<&str, Vec<Language>> = HashMap::new();
        for (language, words) in STOP_WORDS {
            for word in words.split_whitespace() {
                languages.entry(word).or_default().push(language);
            }
        }
        languages
    });
    LANGUAGES.get(word).map_or(&[], Vec::as_slice)
}
