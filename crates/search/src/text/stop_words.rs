//! Stop words: the articles, prepositions, conjunctions, pronouns and auxiliary verbs that are frequent in captions.
//!
//! The lists are our own selection from the lists of the Snowball project and of `stopwords-iso` (MIT). Nepali, Serbian
//! and Yiddish are in neither source.

use std::sync::LazyLock;

use super::language::{Language, LanguageSet, WordTable};

/// Whether a word, as returned by `words`, occurs in captions of any picture.
pub(super) fn is_stop_word(word: &str, language: Language) -> bool {
    languages_of(word).contains(language)
}

/// Returns the languages in which a word is a stop word.
pub(super) fn languages_of(word: &str) -> LanguageSet {
    static LANGUAGES: LazyLock<WordTable> = LazyLock::new(|| WordTable::new(STOP_WORDS));
    LANGUAGES.languages(word)
}

/// The stop words of each language, separated by spaces.
const STOP_WORDS: [(Language, &str); 35] = [
    // Germanic languages.
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
    // Romance languages.
    (
        Language::Catalan,
        "a al als altra altre altres amb aquell aquella aquest aquesta aquestes aquests cap com costat d dalt \
         damunt darrere davant de del dels des dins dintre durant el ella elles ells els em en entre era es estan \
         estava està fins fora ha han hi i l la les li mentre molt més no o on pel pels per perquè però prop quan \
         que qui què s sense ser seu seus seva seves si sobre sota són també tenen tot tota té un una unes uns vora \
         és",
    ),
    (
        Language::French,
        "après au aussi autour autre autres aux avant avec c car ce ces cette chez comme contre d dans de derrière \
         des devant dont du durant elle elles en entre est et eux hors ici il ils jusque l la le les leur leurs \
         lors lui mais même n ne on ont ou où par pas pour près qu quand que quelques qui s sa sans se ses si son \
         sont sous sur tandis tous tout toute toutes très un une vers y à été être",
    ),
    (
        Language::Italian,
        "a accanto ad agli ai al alcune alcuni alla alle allo anche attorno attraverso che chi col come con contro \
         cui da dai dal dall dalla dalle davanti degli dei del dell della delle dello dentro di dietro dopo durante \
         e ed era erano essere fino fra fuori gli ha hanno i il in intorno la le lo loro ma mentre nei nel nell \
         nella nelle nello non o ogni oltre per perché però più presso quale quando quella quelle quello questa \
         queste questi questo senza si sia sono sopra sotto su sua sue sugli sui sul sull sulla sulle sullo suo \
         suoi tra tutti tutto un una uno verso vicino è",
    ),
    (
        Language::Portuguese,
        "a abaixo acima ainda algumas alguns ao aos as atrás até cada cima com contra da das de debaixo dela dele \
         deles dentro depois desde dessa desse desta deste do dos durante e ela elas ele eles em enquanto entre era \
         essa esse esta estava este está estão foi fora foram há isso junto já lhe mais mas mesmo muito na nas nem \
         nesta neste no nos num numa não o onde os ou outra outras outro outros para pela pelas pelo pelos perto \
         por porque qual quando que quem se sem ser seu seus sob sobre sua suas são só também tem tudo têm um uma \
         umas uns vários à às é",
    ),
    (
        Language::Romanian,
        "a aceasta această acest aceste acestea acestui al ale alt alta alte altă alături am aproape ar are asupra \
         au ca care ce cea cei cel cele cu cum când către dacă dar de deasupra deja despre din dintr dintre două \
         după e ea ei el ele era erau este fi fie fiind foarte fost fără iar ieși jos la le lor lui lângă mai mult \
         ne nici nu o ori pe pentru peste pot prin printre s sa sale sau se spate spre sub sunt să său te toate tot \
         un unde unei unele unor unui unul va vor în înainte înaintea într între și",
    ),
    (
        Language::Spanish,
        "a al alrededor ante aunque bajo bien cada cerca como con contra cual cuando de debajo del delante dentro \
         desde detrás donde durante e el ella ellas ellos en encima entre era es ese eso esos esta estaba estas \
         este esto estos está están fue fuera fueron ha hacia han hasta hay junto la las le les lo los mi mientras \
         muy más ni no nos o otra otras otro otros para pero por porque que quien qué se sea ser sido sin sino \
         sobre solo son su sus también tan tiene tienen todo todos tras un una unas unos y ya él",
    ),
    // Baltic and Slavic languages.
    (
        Language::Czech,
        "a aby ale ani až bez blízko by byl byla bylo byly během co do i jak jako je jeho jejich její jen ještě \
         jsou k kde kdo kdy když ke kolem která které kterém který kteří ku ležící mají mezi mimo mu má na nad nebo \
         není o od okolo on ona oni pak po pod podle podél pro proti před přes při s se sebe sebou si svou své svém \
         svých svým svými svůj ta tak také tato ten tento to toho tom tomto tu tyto té tím těch u uvnitř už v ve \
         vedle venku z za ze že",
    ),
    (
        Language::Lithuanian,
        "ant apie aplink ar arba arti aš be bei bet buvo būti dar dėl greta iki ir iš jau jei ji jie jis jo jos \
         juos jų kad kai kaip kas kita kitas kitų kur kuri kuria kuriame kurie kuriems kurio kurioje kurios kuris \
         kurių kurį link lyg nei nes nuo o pagal palei pas per po prie prieš priešais pro savo su tai taip tame \
         tarp ten ties tik to toje tos tuo už viduje viduryje virš viršuje yra į šalia ši šie šio šioje šios šis \
         šią šį",
    ),
    (
        Language::Polish,
        "a aby albo ale ani aż bez blisko bo by być był była było były co czy dla do dookoła gdy gdzie go i ich im \
         jak jako je jego jej jest jeszcze już ją koło która które którego której który których którym którymi \
         którzy lecz lub ma mają między mu na nad naprzeciwko nich nie niego niej nim nimi nią o obok od on ona one \
         oni oraz po pod podczas pomiędzy ponad poza przed przez przy się swoim swoimi swoje swojego swojej swoją \
         są ta tak także tam te tego tej ten to tuż tych tylko tym u w we wewnątrz wokół wraz wśród z za ze że",
    ),
    (
        Language::Russian,
        "а без был была были было в вас вдоль весь вместе во возле вокруг вот все всех всё где да даже для до его \
         ее ей ему если есть ещё её же за и из или им их к как ко когда которая которого которое которой котором \
         которую которые который которым которых либо между мимо мы на над напротив не него нее ней нем нет неё ни \
         ним них но нём о однако около он она они от перед по под позади после посреди при рядом с своего своей \
         своем свои своими своих свой свою своём сквозь со среди так также такой там то того тоже только том тут у \
         уже чем через что чтобы эта эти этих это этого этой этом этот",
    ),
    (
        Language::Serbian,
        "a ali bez bi bila bile bili bilo bio blizu da do dok duž ga gde gdje i ih ili ima imaju ispod ispred iz \
         iza između iznad ja je još ka kada kako kao kod koja koje kojem koji kojim kojima kojoj koju kraj kroz li \
         me mu na nad nakon ne neka neke neki nije nisu njega njegov njegova njen njena njihov o od oko on ona oni \
         ova ovaj ove ovo pa po pod pokraj pored posle poslije preko prema pri prije s sa samo se sebe sebi smo su \
         sve svi svog svoj svoja svoje svojim svojom svoju ta taj te ti to u unutar uz van već za će а али без би \
         била биле били било био близу ван већ га где гдје да до док дуж за и из иза између изнад или има имају \
         испод испред их ка када како као код која које којем који којим којима којој коју крај кроз ли ме му на \
         над након не нека неке неки нису није о ова овај ове ово од око он она они па по под покрај поред после \
         послије преко према при прије с са само све сви свог свој своја своје својим својом своју се себе себи смо \
         су та тај те ти то у уз унутар ја је још њега његов његова њен њена њихов ће",
    ),
    (
        Language::Ukrainian,
        "а або але без був була були було біля в вже вздовж ви вона вони воно все від він де для до ж з за зверху \
         зі й його йому коли коло крім ми між на навколо навпроти над не нею неї ним ними них нього о однак перед \
         по поблизу повз поза позаду поміж попереду поруч поряд при про проти під після свою своєму своєї свої \
         своїй своїм своїми своїх серед та так там те тим то той у уздовж це цей цих ця ці через чи що щоб як яка \
         яке який яким якими яких якого якому якої які якій є і із їй їм їх її",
    ),
    // Uralic languages.
    (
        Language::Estonian,
        "aga all alla alt ees ega ehk ei enda enne ette ja juurde juures kas keda kelle kes keset koos kui kuid \
         kuidas kus kõik kõrval küljes läbi lähedal ma me mida mille millega millel mingi mis mu mööda nad nagu \
         need neid nende nii ning ole oleks oli olid olla oma on oses peal peale pealt pärast samal seda see sees \
         seljas selle sellel selles siin siis sisse ta taga tagant taha te teine teise tema vahel vaid vastu veel \
         välja väljas või äärde ääres ühe ühel üks üle ümber",
    ),
    (
        Language::Finnish,
        "alas alla alta edessä ei eikä eli ennen että he heidän hyvin hän hänen häntä ilman ja jo joka jolla \
         jolloin jonka jos jossa jota jotka jälkeen kaikki kanssa kautta keskellä kohti koska kuin kuinka kun \
         lisäksi luona lähellä läpi mitä mukaan mutta myös ne niin noin nyt näiden nämä ole oli olivat olla ollessa \
         ollut on osa ovat pitkin poikki puolella päälle päällä päältä saa samalla se sekä sen siellä siihen siinä \
         siitä silloin sillä sisällä sitten sitä tai takana tuo tuolla tällä tämä tämän tässä tätä ulkona vaan vain \
         vastaan vasten vielä viereen vieressä voi vähän välissä yhdessä yksi yli yllä ympäri ympärillä ääressä",
    ),
    (
        Language::Hungarian,
        "a ahol aki akik alatt alá amely amelyek ami amikor az azok azt be belül benne csak de egy el elé előtt ez \
         ezek ezt fel felett felé fölé fölött ha hogy is itt ki kívül körül közben között le lesz levő lévő meg \
         mellett mellé mely mind mint már még míg mögött nem néhány nélkül olyan ott pedig rajta rá s sem szemben \
         szerint számára tele után vagy valami való van vannak vele volt voltak által át és össze ő",
    ),
    // Indo-Iranian languages.
    (
        Language::Hindi,
        "अंदर अपना अपनी अपने आगे इन इनके इस इसका इसकी इसके इसमें उन उनका उनकी उनके उस उसका उसकी उसके उसे ऊपर एक एवं \
         और कर करता करती करते करने का कि की कुछ के को कोई गई गए गया चारों जब जहाँ जहां जिन जिस जिसका जिसकी जिसके \
         जिसमें जो तक तथा तो था थी थे द्वारा नहीं नीचे ने पर पास पीछे बगल बाहर बीच भी भीतर में यह यहाँ या ये रहा \
         रही रहे लिए लिये लेकिन वह वहाँ वाला वाली वाले वे साथ सामने से ही हुआ हुई हुए है हैं हो होता होती होते",
    ),
    (
        Language::Nepali,
        "अगाडि अगाडी अनि अन्य अरू आफ्ना आफ्नी आफ्नो उनको उनी उनीहरू उसको उसले ऊ एउटा एउटी एक का कि किनारमा की कुनै \
         केही को गरिरहेका गरिरहेकी गरिरहेको गरी गरेका गरेको गरेर गर्छ गर्दै गर्न गर्ने छ छन छन् छिन् छैन जना जब \
         जसको जसमा जहाँ जुन जो तथा तर तल तिनीहरू तिर त्यस त्यहाँ त्यो थिए थियो देखि द्वारा नजिक नजिकै नै पछाडि \
         पछाडी पछि पनि बाट बाहिर बिच बिचमा बीच बीचमा भएका भएकी भएको भएर भने भन्ने भित्र मा माथि मुनि यस यसको यहाँ \
         यी यो र रहेका रहेकी रहेको लाई लागि ले वटा वरिपरि वा सँग सँगै संग सम्म सहित साथ साथमा हरू हुन् हुन्छ हो",
    ),
    (
        Language::Persian,
        "آن آنها از است اما اند او این با باشد بالای بدون بر برای به بود بودند بیرون بین تا تحت توسط جلو جلوی حال \
         خود خودش داخل دارد دارند داشت در درون دیگر را رو روبروی روی زیر سپس شان شد شده شود می میان میشود میکند \
         میکنند نزدیک نمی نه نیز نیست ها های هر هست هستند هم همراه همه هنگام و وسط ولی پایین پس پشت پیش چون کرد \
         کردند کرده کنار کند کنند که یا یک یکی",
    ),
    // Languages that are the only one or one of two in their family here.
    (
        Language::Arabic,
        "أثناء أحد أمام أن أو أي أيضا إذا إلى إن التي الذي الذين اللذين بجانب بدون بعد بعض به بها بين بينما تحت \
         تكون تلك ثم حتى حول حيث خارج خلال خلف داخل دون ذات ذلك ضد على عليه عليها عن عند غير فوق في فيه فيها قبل قد \
         قرب كان كانت كانوا كل كما لا لكن لم لن له لها لهم ما مع من منذ منه منها نحو هذا هذه هم هناك هو هي و وسط \
         وفي ومن وهو وهي يكون",
    ),
    (
        Language::Armenian,
        "այդ այլ այն այնտեղ այս այստեղ առանց առջև բայց գտնվող դեպի դեռ դրա դրանք եմ են ենք ետևում եք է էին էր ըստ \
         թե ի իր իրար իրեն իրենց կա կամ կան կողքին համար հանդեպ հետ հետո հետևում մեկ մեջ մեջից մեջտեղում մի միայն \
         մինչ մինչև միջև մոտ մոտիկ նա նաև ներսում ներքո նրա նրան նրանք շուրջ որ որը որի որին որից որոնց որոնք որպես \
         որտեղ ու ում չեն չի պես վերև վերևում վրա վրայով տակ և",
    ),
    (
        Language::Basque,
        "al ala alboan aldean arabera ari artean atzean aurka aurrean azpian baina barruan barrutik bat batean \
         batek batekin baten batera batzuekin batzuk bere beste bezala bidez bitartean da dago daude dela den dira \
         diren ditu dituen dituzte du duen dute duten edo egon ere ertzean eta ez gabe gain gainean goian hau hauek \
         hori horiek hura inguruan izan kanpoan kontra nahiz noiz non nor ondoan ondoren pean zehar zein zen zer \
         ziren zuen zuten",
    ),
    (
        Language::Esperanto,
        "al ankaŭ antaŭ apud aŭ da de dum ekster el en estas estis havas ili ilia iliaj ilian ilin inter iu iuj ja \
         je kaj ke kelkaj kie kiel kiu kiuj kiun kontraŭ krom kun la laŭ li lia liaj lian lin malantaŭ mem ne nek \
         nun nur ol oni per plej pli plu por post preter pri pro se sed sen si sia siaj siajn sian sin sub super \
         sur tiel tio tiu tiuj tra trans tre unu ĉar ĉe ĉi ĉirkaŭ ĉiu ĉiuj ĉu ĝi ĝia ĝiaj ĝian ĝin ĝis ŝi ŝia ŝiaj \
         ŝian ŝin",
    ),
    (
        Language::Greek,
        "ένα ένας έξω έχει έχουν ή ήταν αλλά αν ανάμεσα από αυτά αυτές αυτή αυτοί αυτού αυτό αυτός για γύρω δίπλα \
         δεν είναι εδώ εκεί ενώ επάνω η κάθε κάποιος κάτω και κατά κι κοντά μέσα μία μαζί με μετά μια μπορεί \
         μπροστά να ο οι πάνω πίσω πολύ που πριν προς σαν σας σε στα στη στην στις στο στον στους τα τη την της τι \
         τις το τον του τους των τότε υπό χωρίς ως όλα όπως όταν ότι",
    ),
    (
        Language::Indonesian,
        "ada adalah agar akan antara antaranya atas atau bagi bahwa bawah beberapa belakang belum berada bersama \
         bisa dalam dan dapat dari daripada dekat dengan depan di dia hanya hingga ia ialah ini itu jika juga kami \
         karena ke kepada ketika kita lain lebih luar maka mereka milik namun nya oleh pada para saat saja sambil \
         sampai samping sang sangat sebagai sebelah sebuah secara sedang seekor sehingga sekitar selembar sementara \
         semua seorang seperti serta setelah setiap suatu tanpa tapi telah tengah tentang terhadap tersebut tetapi \
         tidak untuk yaitu yang",
    ),
    (
        Language::Irish,
        "a ach acu ag agus ai aice aici aige air amach amuigh an ann ar araon arna as atá atáthar bhfuil bhí bhíonn \
         chomh chuig chun cois cé dar de den do don dá ea faoi faoin féin gach gan go gur i iad idir in ina ins \
         inár is isteach istigh le leis lena leo léi mar mé na nach nuair ná nár ní níl nó orthu os roimh sa san \
         seo siad sin sna suas sé sí síos taobh tar thar thart thuas thíos trí tríd trína tá uaidh uirthi um é éis \
         í ó ón",
    ),
    (
        Language::Sesotho,
        "a ba bane bao bo bona boo e ea eaba ela empa ena eo eona esita ha hae haeba haholo hape hara hare haufi ho \
         hobane hodima hodimo hona hore jwale jwalo jwaloka ka kahoo kantle kapa kapele ke kgauswi ko la le leo li \
         lona ma mane mme mo mona mong moo morao ne o oa ona pakeng pela re sa se sena seo teng tlasa tlase tloha \
         tsa tse tsena tseo tsona wa wena wona ya yane yena yeo yona",
    ),
    (
        Language::Tamil,
        "அங்கு அதன் அதில் அது அந்த அருகில் அருகே அல்லது அவன் அவர் அவர்கள் அவள் அவை ஆக ஆகும் ஆனால் இங்கு இடையே இதன் \
         இது இந்த இருக்கின்றன இருக்கிறது இருக்கிறார் இருந்து இல் இவை உடன் உள்ள உள்ளது உள்ளன உள்ளே என என்று ஒன்று \
         ஒரு கீழே கீழ் கூட கொண்ட கொண்டிருக்கிறது கொண்டிருக்கிறார் கொண்டிருக்கிறார்கள் கொண்டு சில சுற்றி தனது தன் \
         தான் நடுவில் நோக்கி பக்கத்தில் பற்றி பல பின் பின்னர் பின்னால் பிறகு போது போன்ற போல மட்டும் மத்தியில் \
         மற்றும் மிகவும் மீது முன் முன்னால் முன்பு மூலம் மேலும் மேலே மேல் வரை வழியாக வெளியே",
    ),
    (
        Language::Turkish,
        "altında ama ancak arasında arkasında aynı bazı bir birkaç birlikte bu bunlar bunu bunun böyle da daha de \
         değil diye diğer dolayı doğru en etrafında fakat gibi göre hem hep her hiç iken ile ise için içinde \
         içindeki kadar karşı karşısında kenarında kendi kendisine ki mi mu ne o olan olarak oldu olduğu olması \
         onlar onu onun ortasında sadece sonra tarafından tüm var ve veya ya yakınında yanında yine yok yoktur çok \
         çünkü önünde üstünde üzere üzerinde üzerindeki şu",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::words;

    #[test]
    fn every_language_has_a_list_of_words_as_they_occur_in_texts() {
        for language in Language::all() {
            let mut lists = STOP_WORDS.into_iter().filter(|(of, _)| *of == language);
            let (_, list) = lists.next().unwrap();
            assert_eq!(lists.next(), None, "{language:?}");
            let listed: Vec<&str> = list.split_whitespace().collect();
            assert!((45..=260).contains(&listed.len()), "{language:?}: {}", listed.len());
            assert_eq!(words(list).collect::<Vec<_>>(), listed, "{language:?}");
            let mut unique = listed.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), listed.len(), "{language:?}");
        }
    }
}
