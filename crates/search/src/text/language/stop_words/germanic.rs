//! The stop words of Germanic languages.

use super::Language;

pub(super) const LISTS: [(Language, &str); 7] = [
    (
        Language::English,
        "a about above after am an and are around as at be been before behind being below between but by down for \
         from had has have he her his if in into is it its near next of off on onto or out over she some than that \
         the their them there these they this those through to under up was were where which while who with",
    ),
    (
        Language::Danish,
        "af alle at bag blev blive bliver de dem den denne der deres det dette disse du efter eller en er et for \
         foran fra gennem har hendes hos hun hvad hvis hvor i ikke imellem ind inde indenfor jeg kan langs man med \
         meget mellem men mens mig mod nogen noget nogle nu når og også om omkring op oppe os over på sammen samt \
         selv siden sig skal som så til ud uden udenfor under var ved vil være været",
    ),
    (
        Language::Dutch,
        "aan achter als bij daar dan dat de deze die dit doen door een en er haar heeft hem hen het hier hij hoe \
         hun ik in is kan langs maar meer men met na naar naast niet nog of om omdat onder ook op over rond rondom \
         samen te tegen tijdens toen tot tussen uit van vanaf veel voor waar was wat wel werd wie worden wordt ze \
         zich zijn zo zonder",
    ),
    (
        Language::German,
        "aber alle als am an auch auf aus bei beim bis da dabei dann das dass dem den der des die dieser dieses \
         dort durch ein eine einem einen einer eines er es für gegen haben hat hatte hinter ihm ihn ihr ihre ihrem \
         ihren ihrer im in ins ist kein keine man mehr mit nach neben nicht noch nur ob oder ohne sein seine seinem \
         seinen seiner seit sich sie sind so sowie um und unter vom von vor war wenn werden wie wird wurde während \
         zu zum zur zwischen über",
    ),
    (
        Language::Norwegian,
        "alle at av bak ble bli blir både da de deg dem den denne der deres det dette disse du eller en er et etter \
         for foran fra fram gjennom hadde har hun hva hvis hvor hvordan i ikke inn inne jeg kan langs man med meg \
         mellom men mens mer mot mye noe noen nå når og også om omkring opp oppå over på sammen seg selv siden skal \
         slik som så til under ut uten utenfor var ved vil være vært å",
    ),
    (
        Language::Swedish,
        "alla andra att av bakom bara blev blir bredvid både de dem den denna deras dess dessa det detta du där då \
         efter eller emot en ett fram framför från för genom ha hade han har hennes hon honom hur här i in inne \
         inom inte intill jag kan kring längs man med mellan men mer mot mycket ner nere nu när någon något några \
         och också om oss ovanpå på sedan sig sin sina sitt själv ska som så till under upp uppe ur ut utan utanför \
         vad var vara varit vi vid vilka vilken vilket än är åt över",
    ),
    (
        Language::Yiddish,
        "א אבער אדער אויב אויך אויס אויף אויפן אום און אונטער אז איבער איז אין אינמיטן אינעם איר אן ארויס ארום ביז \
         ביי ביים געווען דא דאזיקע דאס דארט דורך די דעם דער האבן האט הינטער וואו וואס ווי וועלכע וועלכער ווען ווערט \
         זי זיי זיין זיינע זיינען זייער זיך זענען לעבן מיט נאך נאר ניט נישט נעבן ס עס ער פאר פון פונעם צו צווישן \
         צום קעגן",
    ),
];
