#include "recall/text/language.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace skein {
namespace {

struct Known {
  Language language;
  const char* stemmer;
  std::string_view stop_words;
};

// Frequent words of grammar, as fold_text writes them. They tell languages apart, and are left out
// of questions.
constexpr Known kKnown[] = {
    {Language::kEnglish, "english",
     "a about above after again against all also am an and any are aren as at be because been "
     "before being below between both but by can cannot could couldn d did didn do does doesn "
     "doing don down during each few for from further get gets getting got had hadn has hasn have "
     "haven having he her here hers herself him himself his how i if in into is isn it its itself "
     "just ll m many may me might mine more most much must my myself no nor not now of off on "
     "once one only or other our ours ourselves out over own re s same shall she should shouldn so "
     "some such t than that the their theirs them themselves then there these they this those "
     "through to too under until up upon us ve very was wasn we were weren what when where "
     "whether which while who whom whose why will with won would wouldn yes yet you your yours "
     "yourself yourselves"},
    {Language::kGerman, "german",
     "aber als am an auch auf aus bei bin bis bist da das dass dein dem den der des die dir doch "
     "du durch ein eine einem einen einer eines er es euch für hab habe haben hast hat hatte ich "
     "ihm ihn ihr im in ist ja kann kein keine mein mich mir mit nach nicht noch nur oder schon "
     "sein sich sie sind so über um und uns unser von vor war waren was wenn wer wie wir wird wo "
     "zu zum zur"},
    {Language::kFrench, "french",
     "a ai au aux avec avez avons c ce ces cette comme d dans de des du elle elles en es est et "
     "eu il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on "
     "ont ou où par pas pour qu quand que quel quelle qui quoi s sa sans se ses si son sont sur t "
     "ta te tes toi ton tu un une vos votre vous y été être"},
    {Language::kSpanish, "spanish",
     "al algo ante antes como con cuando cuál cuándo cómo de del desde donde dónde el ella ellas "
     "ellos en entre era es esta este esto está estoy fue ha había han hasta hay he la las le les "
     "lo los me mi mis muy más nada ni no nos nosotros o os para pero por porque que quién qué se "
     "ser si sin sobre son su sus sí también te tengo tiene tu tus un una uno y ya yo"},
    {Language::kItalian, "italian",
     "a ai al alla anche che chi ci come con cosa cui da dal dalla degli dei del della delle di "
     "dove e ed era gli ha hai hanno ho i il in io l la le lei lo loro lui ma mi mia mio ne nel "
     "nella no noi non o per perché più quale quando questo qui se sei si sono su sua sul suo ti "
     "tu tuo un una uno vi voi è"},
    {Language::kPortuguese, "portuguese",
     "a ao aos as até com como da das de dela dele do dos e ela ele eles em entre era essa esse "
     "esta este eu foi foram há isso já lhe mais mas me meu meus minha muito na nas nem no nos "
     "não nós o onde os ou para pela pelo por porque qual quando que quem se sem ser seu seus sua "
     "são só também te tem tenho um uma você vocês à às é"},
    {Language::kDutch, "dutch",
     "aan als bij dan dat de deze die dit door een en er had heb heeft hem het hier hij hoe hun ik "
     "in is ja je jij kan maar me met mij mijn naar niet nog nu of om ons ook op over te toen tot "
     "u uit van veel voor waar was wat we wel werd wie wij worden zal ze zich zij zijn zo zou"},
    {Language::kSwedish, "swedish",
     "alla att av blev de dem den det dig din du där efter eller en ett från för ha hade han har "
     "henne hon hur här i icke inte ja jag kan med men mig min mot mycket ni nu när och om oss på "
     "sedan sig sin skulle som så till under upp ut vad var vara vi vid är över"},
    {Language::kDanish, "danish",
     "af alle at blev da de dem den der det dig din du efter eller en er et for fra ham han har "
     "havde hun hvad hvis hvor i ikke ind jeg kan kunne man med meget men mig min mod ned noget nu "
     "når og også om op os på se sig sin skal som så til ud var vi vil være"},
    {Language::kNorwegian, "norwegian",
     "alle at av ble bli da de deg dem den denne der det din du eller en er et etter for fra ha "
     "hadde han har hun hva hvem hvor hvordan i ikke jeg kan kom man med meg men mitt mot når nå "
     "og også om oss på seg si sin skal som så til ut var ved vi vil være"},
    {Language::kFinnish, "finnish",
     "ei eli en et että ette hän he ja jo joka jos kanssa kuin kuka kun me mikä minkä minä mitä "
     "mukaan mutta mä ne niin nyt nämä on ole oli olla ovat se sekä siellä sinä sitä tai te tuo "
     "tämä vai vain voi"},
    {Language::kHungarian, "hungarian",
     "a abban az azt azért be csak de egy el ez ezt fel hogy hol ha hanem igen is itt kell ki "
     "lesz ma már még meg mert mi mikor mint mit most még nagyon nem nincs ott olyan pedig s sem "
     "szerint volt van vagy vannak és ő úgy"},
    {Language::kRomanian, "romanian",
     "a acest acum ai al ale am ar are aş aţi ca care ce cu cum când că da dacă de din după e ea "
     "el este eu fi fost iar în la le lor lui mai mi ne noi nu o pe pentru prin sa se si sunt său "
     "un una unde unei unui va voi vor și şi"},
    {Language::kTurkish, "turkish",
     "acaba ama ben beni bana bir biri biz bu bunu da daha de değil diye en gibi hem hep her hiç "
     "için ile ise kadar ki kim mi mu mü mı nasıl ne neden nerede o olan olarak onlar onu sen siz "
     "ve veya ya yani çok şu"},
    {Language::kCatalan, "catalan",
     "a als amb aquest aquesta això com de del dels des el ella ells els en encara entre era es "
     "està està estem et ets fins ha han hi i jo l la les li lo m me meu molt més no nosaltres o "
     "on però per perquè quan que qui què s se sense seu si sobre són també te tu un una va vaig "
     "vam és"},
    {Language::kRussian, "russian",
     "а без бы был была были было быть в вам вас во вот все всё вы где да для до его ее её если "
     "есть еще ещё же за и из или им их к как когда кто ли меня мне мой мы на надо нас не нет но "
     "ну о об он она они от по под при с со так также там то только ты у уже что чтобы это я"},
    {Language::kGreek, "greek",
     "αλλα αν απο από για δεν εγω εγώ ειναι είναι εσυ εσύ η θα και κατα κατά με μας μου να ο οι "
     "οταν όταν οτι ότι που πού πως πώς σε στη στην στο στον τα τη την της τι το τον του των ως"},
    {Language::kArabic, "arabic",
     "أن إلى إن التي الذي انا أنا أنت او أو اي أي بعد ثم في قد كان كل كما كيف لا لم لن ما متى مع "
     "من "
     "هذا هذه هل هو هي و يا على عن عند لماذا"},
    {Language::kHindi, "hindi",
     "और इस उस एक कब कर का कि की के को क्या कौन था थी थे ने पर भी मुझे मेरा मेरी मैं में यह ये वह वे "
     "से हम ही है हैं हो नहीं तो जो"},
    {Language::kTamil, "tamil", "அது அந்த இது இந்த ஒரு என் என்று என்ன எப்போது நான் நீ மற்றும்"},
    {Language::kArmenian, "armenian",
     "այդ այլ այն այս դու եմ են ենք ես եք է էի էր ըստ թե ի ին իսկ իր կամ համար հետ մեջ մի նա որ ու "
     "և"},
};

struct LanguageSet {
  std::uint32_t bits = 0;
  bool has(Language language) const { return (bits >> static_cast<unsigned>(language) & 1) != 0; }
  void add(Language language) { bits |= 1U << static_cast<unsigned>(language); }
};

using StopWords = std::unordered_map<std::string_view, LanguageSet>;

const StopWords& stop_words() {
  static const StopWords words = [] {
    StopWords made;
    for (const Known& known : kKnown) {
      std::string_view rest = known.stop_words;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        made[rest.substr(0, end)].add(known.language);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return made;
  }();
  return words;
}

}  // namespace

const char* stemmer_name(Language language) {
  for (const Known& known : kKnown) {
    if (known.language == language) return known.stemmer;
  }
  return nullptr;
}

Language language_of_script(char32_t c) {
  if (c >= 0x0370 && c <= 0x03FF) return Language::kGreek;
  if (c >= 0x0400 && c <= 0x052F) return Language::kRussian;
  if (c >= 0x0530 && c <= 0x058F) return Language::kArmenian;
  if (c >= 0x0600 && c <= 0x06FF) return Language::kArabic;
  if (c >= 0x0900 && c <= 0x097F) return Language::kHindi;
  if (c >= 0x0B80 && c <= 0x0BFF) return Language::kTamil;
  return Language::kUnknown;
}

bool is_stop_word(Language language, std::string_view folded) {
  const auto found = stop_words().find(folded);
  return found != stop_words().end() && found->second.has(language);
}

Language detect_language(std::span<const std::string_view> words) {
  // A word that several languages have speaks for each of them a little.
  std::array<float, kLanguages> votes{};
  for (const std::string_view word : words) {
    const auto found = stop_words().find(word);
    if (found == stop_words().end()) continue;
    const float share = 1.0F / static_cast<float>(__builtin_popcount(found->second.bits));
    for (std::size_t i = 1; i < kLanguages; ++i) {
      if (found->second.has(static_cast<Language>(i))) votes[i] += share;
    }
  }
  const auto best = std::max_element(votes.begin(), votes.end());
  constexpr float kEnough = 1.5F;  // two words that it has nearly to itself
  if (*best < kEnough) return Language::kUnknown;
  return static_cast<Language>(best - votes.begin());
}

}  // namespace skein
