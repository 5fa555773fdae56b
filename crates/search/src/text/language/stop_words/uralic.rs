//! The stop words of Uralic languages.

use super::Language;

pub(super) const LISTS: [(Language, &str); 3] = [
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
];
