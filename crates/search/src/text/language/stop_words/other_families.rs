//! The stop words of languages whose family has one or two here.

use super::Language;

pub(super) const LISTS: [(Language, &str); 10] = [
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
