"""Word lists of relations: which verbs, nouns and adjectives relate the two names at their ends, and which do not.

Plain data, chosen by hand from relations that real documents gave rightly and wrongly.
"""

from __future__ import annotations

from graphrag.nlp.lexicon import words

# Verbs that move their object somewhere, so that what follows the object's preposition is an end of the relation too.
MOVING_VERBS = words(
    "send write publish push deliver forward copy move replicate export upload store save read fetch pull get load "
    "import receive route proxy submit stream ship sync synchronise synchronize deploy host report emit post mirror "
    "dispatch expose migrate pass relay hand return stage archive put place keep hold record log page notify hang "
    "cache install dump transfer distribute serve feed charge take collect download buy sell lease rent connect link "
    "add attach bind join merge convert transform redirect persist register query request split charge run render "
    "call back prove validate check compare match encrypt decrypt sign seal unseal authenticate authorise authorize "
    "verify share exchange consume scrape poll subscribe"
)
# These need a preposition: without one, the parser has lost it.
INTRANSITIVE_VERBS = words(
    "interacts depends relies belongs communicates connects listens subscribes consists talks migrates corresponds "
    "refers relates applies exists lives sits works goes comes happens looks"
)
# Verbs that say nothing of how two things hang together.
EMPTY_VERBS = words(
    "has gets tells sees does takes gives wants reaches goes comes makes puts says shows lets becomes seems looks "
    "needs_to raises proposes adds changes proposed"
) - words("proposed proposes makes")
# Nouns in the plural that the tagger takes for verbs: "GDS teams in London", "the config repos".
PLURAL_NOUNS = words(
    "repos teams resources tables services tests apps issues names types jobs nodes keys files documents images labels "
    "tags models packages modules groups roles users events plans"
)
OBJECTS_OF_FOR = words(
    "responsible_for accountable_for on_call_for argued_for works_for stands_for waits_for built_for designed_for"
)
OBJECTS_OF_OF = words(
    "consists_of part_of fork_of member_of client_of replica_of subsidiary_of dependency_of made_of composed_of "
    "in_charge_of front_of split_out_of cut_out_of moved_out_of ran_out_of died_of knows_of"
)
# "X is a ... of Y": the nouns that relate X to Y and to nothing else.
RELATING_NOUNS = words(
    "subset superset subclass superclass successor predecessor child parent variant extension implementation member "
    "branch descendant dialect derivative capital founder creator son daughter brother sister wife husband father "
    "mother author head director president king queen leader chairman editor producer composer designer inventor "
    "student pupil friend colleague rival competitor customer partner supplier sponsor patron host mirror backup fork "
    "clone port rewrite flavor flavour suburb district municipality province county region neighbourhood tributary "
    "citizen native resident"
)
# "X is ... to Y": the adjectives and participles whose preposition relates two things.
RELATING_ADJECTIVES = words(
    "responsible accountable dependent reliant compatible available interoperable equivalent identical subject "
    "necessary required critical essential based located situated adjacent next close native owned written"
)
# Idioms and slips of the parser, seen in real documents.
MISREAD_PREDICATES = words("released_with holds_in calls_on calls_in holds_for opened_on")
# Without an object, their past form is a participle: "The ABI specified in PEP 384".
TRANSITIVE_VERBS = words(
    "specify disable enable define describe host maintain introduce implement deploy install build store manage "
    "configure own document declare generate replace deprecate add remove bundle publish"
)
