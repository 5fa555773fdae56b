//! The stop words of Baltic and Slavic languages.

use super::Language;

pub(super) const LISTS: [(Language, &str); 6] = [
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
];
