//! Captions in all languages.

use tessera_search::text::language::Language;

/// Captions that native speakers could have written. Serbian is written in two scripts.
pub const CAPTIONS: [(Language, [&str; 4]); 36] = [
    (
        Language::English,
        [
            "A brown dog runs along the beach with a ball.",
            "Two women are sitting at a table in a café.",
            "An old red train is standing at the station.",
            "A child with an umbrella walks through the rain.",
        ],
    ),
    (
        Language::Arabic,
        [
            "رجل يركب دراجة في شارع المدينة القديمة",
            "امرأتان تجلسان على مقعد خشبي أمام البحر",
            "كلب أسود يركض مع طفل في الحديقة",
            "قطة بيضاء نائمة على الأريكة بجانب النافذة",
        ],
    ),
    (
        Language::Armenian,
        [
            "Մի շուն վազում է լողափով գնդակի հետևից",
            "Երկու կին նստած են սեղանի շուրջ և խոսում են",
            "Սպիտակ կատուն քնած է բազմոցի վրա",
            "Երեխան խաղում է այգում իր ընկերոջ հետ",
        ],
    ),
    (
        Language::Basque,
        [
            "Txakur bat hondartzan korrika dabil pilota batekin",
            "Bi emakume mahai baten inguruan eserita daude",
            "Katu zuri bat sofaren gainean lo dago",
            "Mutiko batek parkean jolasten du bere lagunekin",
        ],
    ),
    (
        Language::Catalan,
        [
            "Un gos marró corre per la platja amb una pilota",
            "Dues dones seuen a la taula d'un cafè amb els amics",
            "Un gat blanc dorm sobre el sofà davant de la finestra",
            "Els nens juguen al parc amb aquest cotxe vermell",
        ],
    ),
    (
        Language::Czech,
        [
            "Hnědý pes běží po pláži s červeným míčem",
            "Dvě ženy sedí u stolu před malou kavárnou",
            "Bílá kočka spí na pohovce vedle okna",
            "Děti si hrají v parku a muž je fotografuje",
        ],
    ),
    (
        Language::Danish,
        [
            "En brun hund løber langs stranden med en bold",
            "To kvinder sidder ved et bord foran en café",
            "En hvid kat sover oven på sofaen ved siden af vinduet",
            "En mand og hans søn cykler gennem byen efter regnen",
        ],
    ),
    (
        Language::Dutch,
        [
            "Een bruine hond rent met een bal over het strand",
            "Twee vrouwen zitten aan een tafel voor het café",
            "Een witte kat slaapt op de bank naast het raam",
            "De kinderen spelen in het park met hun vrienden",
        ],
    ),
    (
        Language::Esperanto,
        [
            "Bruna hundo kuras laŭ la plaĝo kun pilko",
            "Du virinoj sidas ĉe tablo antaŭ malgranda kafejo",
            "Blanka kato dormas sur la sofo apud la fenestro",
            "La infanoj ludas en la parko kun siaj amikoj",
        ],
    ),
    (
        Language::Estonian,
        [
            "Pruun koer jookseb palliga mööda randa",
            "Kaks naist istuvad kohviku ees laua taga",
            "Valge kass magab diivani peal akna kõrval",
            "Lapsed mängivad pargis ja mees pildistab neid",
        ],
    ),
    (
        Language::Finnish,
        [
            "Ruskea koira juoksee rannalla pallon kanssa",
            "Kaksi naista istuu pöydän ääressä kahvilan edessä",
            "Valkoinen kissa nukkuu sohvalla ikkunan vieressä",
            "Lapset leikkivät puistossa ja mies kuvaa heitä",
        ],
    ),
    (
        Language::French,
        [
            "Un chien brun court sur la plage avec un ballon",
            "Deux femmes sont assises à la table d'un café",
            "Un chat blanc dort sur le canapé près de la fenêtre",
            "Des enfants jouent dans le parc avec leurs amis",
        ],
    ),
    (
        Language::German,
        [
            "Ein brauner Hund läuft mit einem Ball über den Strand",
            "Zwei Frauen sitzen an einem Tisch vor dem Café",
            "Eine weiße Katze schläft auf dem Sofa neben dem Fenster",
            "Die Kinder spielen im Park und ein Mann sieht zu",
        ],
    ),
    (
        Language::Greek,
        [
            "Ένας σκύλος τρέχει στην παραλία με μια μπάλα",
            "Δύο γυναίκες κάθονται σε ένα τραπέζι μπροστά στο καφέ",
            "Μια άσπρη γάτα κοιμάται πάνω στον καναπέ",
            "Τα παιδιά παίζουν στο πάρκο με τους φίλους τους",
        ],
    ),
    (
        Language::Hindi,
        [
            "एक भूरा कुत्ता गेंद के साथ समुद्र तट पर दौड़ रहा है",
            "दो महिलाएँ मेज़ के पास बैठी हुई हैं",
            "सफ़ेद बिल्ली खिड़की के बगल में सोफ़े पर सो रही है",
            "बच्चे पार्क में अपने दोस्तों के साथ खेल रहे हैं",
        ],
    ),
    (
        Language::Hungarian,
        [
            "Egy barna kutya fut a tengerparton egy labdával",
            "Két nő ül az asztalnál a kávézó előtt",
            "A fehér macska az ablak mellett alszik és álmodik",
            "A gyerekek a parkban játszanak a barátaikkal",
        ],
    ),
    (
        Language::Indonesian,
        [
            "Seekor anjing cokelat berlari di pantai dengan bola",
            "Dua wanita sedang duduk di meja di depan kafe",
            "Kucing putih tidur di atas sofa di dekat jendela",
            "Anak-anak bermain di taman bersama teman mereka",
        ],
    ),
    (
        Language::Irish,
        [
            "Tá madra donn ag rith ar an trá le liathróid",
            "Tá beirt bhan ina suí ag bord os comhair an chaife",
            "Tá cat bán ina chodladh ar an tolg in aice na fuinneoige",
            "Páistí ag súgradh sa pháirc lena gcairde",
        ],
    ),
    (
        Language::Italian,
        [
            "Un cane marrone corre sulla spiaggia con una palla",
            "Due donne sono sedute al tavolo davanti a un bar",
            "Un gatto bianco dorme sul divano accanto alla finestra",
            "I bambini giocano nel parco con i loro amici",
        ],
    ),
    (
        Language::Lithuanian,
        [
            "Rudas šuo bėga paplūdimiu su kamuoliu",
            "Dvi moterys sėdi prie stalo priešais kavinę",
            "Balta katė miega ant sofos šalia lango",
            "Vaikai žaidžia parke ir vyras juos fotografuoja",
        ],
    ),
    (
        Language::Nepali,
        [
            "एउटा खैरो कुकुर बल लिएर समुद्र किनारमा दौडिरहेको छ",
            "दुई महिलाहरू टेबलको वरिपरि बसेका छन्",
            "सेतो बिरालो झ्यालको नजिकै सोफामा सुतिरहेको छ",
            "बच्चाहरू पार्कमा आफ्ना साथीहरूसँग खेलिरहेका छन्",
        ],
    ),
    (
        Language::Norwegian,
        [
            "En brun hund løper langs stranden med en ball",
            "To kvinner sitter ved et bord foran en kafé",
            "En hvit katt sover oppå sofaen ved siden av vinduet",
            "En mann og sønnen hans sykler gjennom byen etter regnet",
        ],
    ),
    (
        Language::Persian,
        [
            "یک سگ قهوه‌ای با توپ در ساحل می‌دود",
            "دو زن پشت میز جلوی کافه نشسته‌اند",
            "گربه سفیدی کنار پنجره روی مبل خوابیده است",
            "بچه‌ها در پارک با دوستان خود بازی می‌کنند",
        ],
    ),
    (
        Language::Polish,
        [
            "Brązowy pies biegnie po plaży z piłką",
            "Dwie kobiety siedzą przy stole przed kawiarnią",
            "Biały kot śpi na kanapie obok okna",
            "Dzieci bawią się w parku i mężczyzna robi im zdjęcie",
        ],
    ),
    (
        Language::Portuguese,
        [
            "Um cão castanho corre pela praia com uma bola",
            "Duas mulheres estão sentadas à mesa de um café",
            "Um gato branco dorme no sofá ao lado da janela",
            "As crianças brincam no parque com os seus amigos",
        ],
    ),
    (
        Language::Romanian,
        [
            "Un câine maro aleargă pe plajă cu o minge",
            "Două femei stau la masă în fața unei cafenele",
            "O pisică albă doarme pe canapea lângă fereastră",
            "Copiii se joacă în parc și un bărbat îi fotografiază",
        ],
    ),
    (
        Language::Russian,
        [
            "Коричневая собака бежит по пляжу с мячом",
            "Две женщины сидят за столом перед кафе",
            "Белая кошка спит на диване у окна",
            "Дети играют в парке, и мужчина их фотографирует",
        ],
    ),
    (
        Language::Serbian,
        [
            "Смеђи пас трчи по плажи са лоптом",
            "Две жене седе за столом испред кафића",
            "Бела мачка спава на каучу поред прозора",
            "Деца се играју у парку и човек их слика",
        ],
    ),
    (
        Language::Serbian,
        [
            "Smeđi pas trči po plaži sa loptom",
            "Dve žene sede za stolom ispred kafića",
            "Bela mačka spava na kauču pored prozora",
            "Deca se igraju u parku i čovek ih slika",
        ],
    ),
    (
        Language::Sesotho,
        [
            "Ntja e sootho e matha lebopong la lewatle ka bolo",
            "Basadi ba babedi ba dutse tafoleng ka pela kafe",
            "Katse e tshweu e robetse hodima sofa haufi le fensetere",
            "Bana ba bapala phakeng le metswalle ya bona",
        ],
    ),
    (
        Language::Spanish,
        [
            "Un perro marrón corre por la playa con una pelota",
            "Dos mujeres están sentadas en la mesa de un café",
            "Un gato blanco duerme sobre el sofá junto a la ventana",
            "Los niños juegan en el parque con sus amigos",
        ],
    ),
    (
        Language::Swedish,
        [
            "En brun hund springer längs stranden med en boll",
            "Två kvinnor sitter vid ett bord framför ett kafé",
            "En vit katt sover på soffan bredvid fönstret",
            "Barnen leker i parken och en man fotograferar dem",
        ],
    ),
    (
        Language::Tamil,
        [
            "ஒரு பழுப்பு நாய் கடற்கரையில் பந்துடன் ஓடுகிறது",
            "இரண்டு பெண்கள் மேசையின் அருகில் அமர்ந்திருக்கிறார்கள்",
            "வெள்ளைப் பூனை சோபாவின் மீது தூங்குகிறது",
            "குழந்தைகள் பூங்காவில் தங்கள் நண்பர்களுடன் விளையாடுகிறார்கள்",
        ],
    ),
    (
        Language::Turkish,
        [
            "Kahverengi bir köpek sahilde topla koşuyor",
            "İki kadın bir kafenin önünde masada oturuyor",
            "Beyaz bir kedi pencerenin yanında koltukta uyuyor",
            "Çocuklar parkta arkadaşları ile oynuyor",
        ],
    ),
    (
        Language::Ukrainian,
        [
            "Коричневий собака біжить пляжем з м'ячем",
            "Дві жінки сидять за столом перед кав'ярнею",
            "Біла кішка спить на дивані біля вікна",
            "Діти граються в парку, і чоловік їх фотографує",
        ],
    ),
    (
        Language::Yiddish,
        [
            "אַ ברוינער הונט לויפֿט אויפֿן ברעג ים מיט אַ פּילקע",
            "צוויי פֿרויען זיצן בײַ אַ טיש פֿאַר דער קאַפֿע",
            "אַ ווײַסע קאַץ שלאָפֿט אויף דער סאָפֿע לעבן דעם פֿענצטער",
            "די קינדער שפּילן זיך אין פּאַרק מיט זייערע חבֿרים",
        ],
    ),
];
