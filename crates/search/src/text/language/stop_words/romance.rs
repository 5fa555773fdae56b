//! The stop words of Romance languages.

use super::Language;

pub(super) const LISTS: [(Language, &str); 6] = [
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
];
