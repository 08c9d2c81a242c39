"""Word lists of the embedded extraction: which nouns head a name, which words never make one, which verbs carry what.

Plain data, chosen by hand from how engineers write about systems; names of particular systems do not stand here.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Head noun of a name -> type. A lower-case compound ending in one of these may be an entity ("token cache").
TYPE_OF_HEAD: dict[str, str] = {
    head: kind
    for kind, heads in {
        "service": (
            "service microservice api gateway server backend frontend app application portal dashboard website proxy "
            "endpoint daemon agent scheduler worker cron crawler indexer bot resolver orchestrator controller "
            "operator broker balancer router listener consumer producer engine webhook relay sidecar exporter "
            "collector notifier processor dispatcher renderer importer scraper"
        ),
        "database": "database db datastore warehouse ledger store storage replica",
        "cache": "cache",
        "queue": "queue topic stream bus mailbox",
        "cluster": "cluster node host vm pod namespace rack",
        "storage": "bucket volume disk",
        "flow": "flow pipeline workflow job batch funnel",
        "library": "library sdk framework client plugin module package",
        "tool": "tool cli console",
        "network": "network vpc subnet firewall cdn vpn",
        "team": "team squad guild crew",
        "runbook": "runbook playbook",
        "model": "model",
        "index": "index",
        "registry": "registry catalog catalogue vault",
        "platform": "platform mesh",
        "data center": "datacenter datacentre region",
        "page": "page form widget",
        "table": "table",
    }.items()
    for head in heads.split()
}
# Two-word heads, and heads that type a capitalised name but admit no lower-case compound.
TYPE_OF_PROPER_HEAD: dict[str, str] = {
    head: kind
    for kind, heads in {
        "organization": (
            "inc inc. corp corp. ltd ltd. llc gmbh ag plc company corporation university institute foundation agency "
            "ministry department bank association committee council office party group press church college school "
            "hospital union league club museum orchestra records studios airlines"
        ),
        "location": (
            "river lake mountain mountains island islands street road avenue square bridge airport station park "
            "county province district bay valley sea ocean peninsula"
        ),
        "event": "war battle festival championship championships cup olympics election conference summit tournament",
        "incident": "incident outage",
        "document": "handbook guide policy",
    }.items()
    for head in heads.split()
}
TYPE_OF_PREFIX = {
    "CVE": "vulnerability", "INC": "incident", "ADR": "decision", "PEP": "document", "RFC": "document",
    "ISO": "standard", "JIRA": "ticket", "SEV": "incident", "RB": "runbook",
}  # fmt: skip
# spaCy label -> type; labels that are not here (dates, numbers, ...) make no entity.
TYPE_OF_LABEL = {
    "PERSON": "person", "ORG": "organization", "GPE": "location", "LOC": "location", "FAC": "location",
    "NORP": "group", "PRODUCT": "product", "EVENT": "event", "WORK_OF_ART": "work", "LAW": "document",
    "LANGUAGE": "language",
}  # fmt: skip
# "X is a Y", "X, a Y,": noun -> type.
TYPE_OF_NOUN: dict[str, str] = {
    **TYPE_OF_HEAD,
    **{
        noun: kind
        for kind, nouns in {
            "person": (
                "engineer developer manager lead director founder author actor singer writer politician scientist "
                "architect consultant designer analyst player artist professor owner maintainer administrator officer "
                "president minister king queen lawyer"
            ),
            "organization": (
                "company organization organisation vendor provider startup bank agency university charity band label "
                "airline newspaper department supplier"
            ),
            "location": "city town village country state region river island mountain district municipality",
            "language": "language",
            "product": "product",
            "event": "incident outage conference festival",
            "vulnerability": "vulnerability",
        }.items()
        for noun in nouns.split()
    },
}

# Modifiers that do not name anything: "the new service", "another team".
EMPTY_MODIFIERS = words(
    "the a an this that these those my your our his her its their each every any some no all both either neither "
    "other another same such own new old whole entire single first second third last next previous current former "
    "latest final main key major minor small large big great good bad best better more most many much few several "
    "various different similar certain specific particular given general common usual normal typical simple complex "
    "full partial empty entire long short high low fast slow real actual right wrong only one two three four five six "
    "extra additional further existing available possible necessary required important relevant affected underlying "
    "downstream upstream dependent broken healthy unhealthy failed failing running live stale central shared "
    "dedicated separate single external internal third-party managed local remote private public on-call oncall "
    "critical core legacy which what whose certain sure overall per critical-path nearby whichever target source test "
    "demo sample example party reusable ownership limited"
)
# Heads of noun compounds that are no things one can depend on.
EMPTY_HEADS = words(
    "time day week month year morning evening night afternoon hour minute second moment way part lot number amount "
    "kind type sort case fact reason result problem issue thing people person man woman hand side end start beginning "
    "middle point level rate ratio percent percentage example use change changes update event message row record key "
    "file metric log audit error bug meeting office version release review meeting decision plan idea question answer "
    "list line word name value size length state status order request response error failure incident traffic load "
    "latency data information detail details section step process action item summary overview"
)
# Capitalised words that are not names when they stand alone (at a sentence start, in a heading, in a field).
ORDINARY_WORDS = words(
    "a about above according action actions add additionally after again against all almost alone along already also "
    "although always among an and another any anyone anything are around as aside at avoid background backlog be "
    "because before being below besides between both but by call can cannot check choose click close common "
    "conclusion consequences context copy could create currently date decision decisions default delete dependencies "
    "description despite did discussion do does done due during each either else enable ensure especially even "
    "eventually every everyone everything everybody example except few figure finally find first firstly follow "
    "following for former from further furthermore get give go had has have he hence her here hers him his how "
    "however i if impact important in indeed input instead introduction is issue it its itself just keep know last "
    "lastly later latest least less let like lessons links list look make many may maybe me meanwhile meta might mine "
    "more moreover most much must my name neither never nevertheless new next no nobody none nor not note notes "
    "nothing now of off often on once one only open options or other others otherwise our ours out output over "
    "overview own owner part per perhaps please possible prefer previously problem proposal purpose put question "
    "questions rather read reasons recently reference references related remember remove requirements resolution "
    "restart result results review root run same scope second see seems select set several severity shall she should "
    "similarly simple simply since so solution some someone something sometimes soon start status step steps still "
    "stop such summary symptoms table tags take than that the their them then there thereby therefore these they "
    "thing things third this those though three through throughout thus time timeline title to today together too "
    "toward true try turn two type under unless unlike until up update upon us use used usage using usually value "
    "verify version very via wait warning was we well were what when whenever where whereas whether which while who "
    "whom whose why will with within without work would write wrong yes yesterday yet you your yours zero january "
    "february march april may june july august september october november december jan feb mar apr jun jul aug sep "
    "sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri "
    "sat sun utc gmt cet cest bst est edt pst pdt am pm ok todo tbd fixme note nb faq tl;dr tldr ps eg ie etc vs aka "
    "asap eta rip lol omg wtf btw imo mr mrs ms dr prof sir chapter section appendix part volume page figure abstract "
    "rationale motivation specification copyright acknowledgements follow-up followup follow-ups postmortem "
    "mitigation detection contributing factors accepted rejected proposed superseded deprecated draft active final "
    "he'd he's i'm i've i'd i'll it's let's that's there's they're we're we've we'll what's who's you're you'll don't "
    "doesn't didn't can't won't isn't aren't false null none nil true integer string boolean object array float int "
    "str bool dict tuple bytes class function method"
)
# Words inside a run of capitals that join it: "Bank of China", "Department for Education".
JOINERS = words("of for the de la le du del der den van von di da dos y et zu")
FILE_SUFFIXES = words(
    "md txt rst html htm json jsonl yml yaml toml ini cfg conf csv tsv parquet py js ts rb go rs java c h cpp hpp sh "
    "bash sql xml pdf docx pptx xlsx png jpg jpeg gif svg zip gz tar tgz erb lock log tf css scss env"
)
RELATIVE_PRONOUNS = words("which that who whom whose")

# Predicates whose ends are things even when they are written small and have no known head: "login flow depends on ...".
STRONG_PREDICATES = words(
    "depends_on relies_on requires backed_by backs runs_on hosted_on hosted_by hosts owned_by owns uses used_by calls "
    "called_by reads_from writes_to connects_to stored_in powered_by powers built_on served_by serves part_of "
    "maintained_by maintains operated_by operates managed_by manages deployed_on deployed_to replaced_by replaces "
    "talks_to publishes_to subscribes_to consumes_from feeds supports queries proxies authenticates_with "
    "integrates_with monitors monitored_by replicates_to sends_to exposed_to dispatches_to routes_to responsible_for "
    "triggers triggered_by wraps protects invokes contains stores reads writes consumes publishes caches"
)
# Copula phrases and fixed synonyms -> predicate.
PREDICATE_SYNONYMS = {
    "is_dependent_on": "depends_on", "is_dependent_upon": "depends_on", "depends_upon": "depends_on",
    "is_reliant_on": "relies_on", "relies_upon": "relies_on", "is_owner_of": "owns", "is_part_of": "part_of",
    "is_member_of": "member_of", "is_responsible_for": "responsible_for", "is_maintainer_of": "maintains",
    "is_component_of": "part_of", "is_lead_of": "leads", "is_manager_of": "manages", "is_user_of": "uses",
    "is_consumer_of": "consumes", "is_client_of": "client_of", "is_author_of": "authors",
    "is_successor_of": "succeeds", "is_successor_to": "succeeds", "is_replacement_for": "replaces",
    "is_dependency_of": "dependency_of", "is_replica_of": "replica_of", "is_fork_of": "fork_of",
    "is_subsidiary_of": "subsidiary_of", "is_accountable_for": "accountable_for", "is_on_call_for": "on_call_for",
    "is_in_charge_of": "in_charge_of",
    "is_wrapper_around": "wraps",
}  # fmt: skip

NEGATIONS = words("not n't no never neither nor hardly barely rarely cannot without nobody none nothing")
# A statement under these is no fact now: modals, and verbs of wishing, doubt, ending.
MODALS = words("should would could might may must shall will 'd 'll wo ought can ca")
UNREAL_VERBS = words(
    "plan propose consider want intend refuse stop cease fail avoid need hope expect wish try attempt decide doubt "
    "deny suspect assume suppose think believe wonder ask suggest recommend prevent imagine pretend forget threaten "
    "prohibit forbid allow let migrate"
)
UNREAL_MARKS = words("if unless whether until lest")
# Verbs whose infinitive complement holds for the same subject: "continues to depend on".
CONTROL_VERBS = words(
    "continue start begin use configure build design help serve keep need_not happen tend choose manage"
)
FIELD_PREDICATES = {
    "owner": "owned_by", "owners": "owned_by", "owned by": "owned_by", "owning team": "owned_by", "team": "owned_by",
    "owner team": "owned_by", "service owner": "owned_by", "maintainer": "maintained_by",
    "maintainers": "maintained_by", "maintained by": "maintained_by", "depends on": "depends_on",
    "dependencies": "depends_on", "dependency": "depends_on", "hard dependencies": "depends_on",
    "upstream dependencies": "depends_on", "requires": "requires", "uses": "uses", "runs on": "runs_on",
    "hosted on": "hosted_on", "backed by": "backed_by", "calls": "calls", "reads from": "reads_from",
    "writes to": "writes_to", "part of": "part_of", "replaces": "replaces", "replaced by": "replaced_by",
    "superseded by": "superseded_by", "supersedes": "supersedes", "manager": "managed_by", "reports to": "reports_to",
    "stored in": "stored_in", "deployed on": "deployed_on", "deployed to": "deployed_to", "on-call": "on_call_by",
    "on call": "on_call_by", "lead": "led_by", "team lead": "led_by", "tech lead": "led_by", "members": "has_member",
    "owns": "owns", "owned services": "owns", "services owned": "owns", "author": "authored_by",
    "authors": "authored_by", "used by": "used_by", "root cause service": "caused_by", "affected services": "affects",
    "affects": "affects", "affected": "affects", "database": "uses", "datastore": "uses", "data store": "uses",
    "incident commander": "commanded_by", "deciders": "decided_by", "connects to": "connects_to",
    "consumes": "consumes", "publishes to": "publishes_to", "relies on": "relies_on",
}  # fmt: skip
GENERIC_ACRONYMS = words(
    "API APIs URL URLs URI URIs HTTP HTTPS ID IDs UI UIs UX CPU CPUs GPU RAM IO OS PR PRs CI CD SLA SLAs SLO SLOs SLI "
    "SLIs RTO RPO KPI KPIs OKR FAQ FAQs MTTR MTTD QPS RPS TTL TTLs POC MVP QA IP IPs CSV PDF P0 P1 P2 P3 P4 P5 S1 S2 "
    "SEV1 SEV2 SEV3 SEV-1 SEV-2 SEV-3 Q1 Q2 Q3 Q4 GB MB KB TB PDFs JSON YAML XML HTML GET POST PUT PATCH DELETE "
    "HEAD OPTIONS NOT AND OR MUST SHOULD MAY SHALL REQUIRED NULL TRUE FALSE OOM RCA DB DBs VM VMs II III IV VI VII"
)
# Verbs that the lite rules know in all their forms.
COMMON_VERBS = words(
    "depend rely run write read call use own back host send publish subscribe connect consume store talk serve power "
    "support require replace maintain manage monitor trigger query proxy route expose dispatch fetch pull push deploy "
    "build operate lead supersede cache index sync replicate feed authenticate integrate emit forward notify page "
    "poll contain belong report invoke wrap protect post listen relay stream charge load import export mirror keep "
    "hold save copy deliver ship sit live work sell buy found join acquire create design develop write make produce "
    "direct star play win marry teach head govern border cross"
)
# lemma -> (past, participle)
IRREGULAR_FORMS = {
    "run": ("ran", "run"), "write": ("wrote", "written"), "read": ("read", "read"), "send": ("sent", "sent"),
    "build": ("built", "built"), "lead": ("led", "led"), "feed": ("fed", "fed"), "keep": ("kept", "kept"),
    "hold": ("held", "held"), "sit": ("sat", "sat"), "sell": ("sold", "sold"), "buy": ("bought", "bought"),
    "make": ("made", "made"), "win": ("won", "won"), "teach": ("taught", "taught"), "ship": ("shipped", "shipped"),
    "wrap": ("wrapped", "wrapped"), "emit": ("emitted", "emitted"), "star": ("starred", "starred"),
}  # fmt: skip
# Verbs whose object is a word or a topic, not a thing they act on.
SPEECH_VERBS = words("say mean mention note explain hear describe discuss know")
CLOSED_WORDS = words(
    "a an the this that these those i you he she it we they me him her us them my your his its our their mine yours "
    "and or but nor so yet for of in on at by to from with into onto over under after before between through during "
    "without within about against among if when while where why how who whom whose which what as than because since "
    "until unless although though whether not no is are was were be been being am do does did has have had can could "
    "will would shall should may might must there here then now also only just very too more most less least some any "
    "false true none null each every all both either neither another other such same one two three however therefore "
    "thus hence please let"
)
CALENDAR_WORDS = words(
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays mon tue tues wed thu thur thurs fri sat sun utc gmt cet cest bst est edt pst "
    "pdt am pm spring summer autumn winter today tomorrow yesterday christmas easter q1 q2 q3 q4 h1 h2"
)
UNITS = words("gb mb kb tb gib mib kib ms s min km kg m cm mm ghz mhz hz rpm usd eur gbp k")
# Predicates whose ends are things in their own right, so that even a plain noun there is one.
CARRYING_PREDICATES = words(
    "depends_on relies_on requires backed_by backs runs_on hosted_on hosted_by hosts owned_by owns built_on stored_in "
    "connects_to powered_by served_by reads_from writes_to deployed_on maintained_by operated_by managed_by talks_to"
)
# What stands at the far end of these is something that other things are built of.
TECHNOLOGY_PREDICATES = words(
    "runs_on written_in backed_by built_on hosted_on powered_by deployed_on stored_in built_with written_with"
)
# Verbs that say nothing without their object: what follows their prepositions is no second object.
LIGHT_VERBS = words(
    "give make take have get put bring do go come see add show use support require provide allow change mean introduce "
    "need include contain spend"
)
# Heads that stay with "of PLACE": University of Oslo, Battle of Hastings; others are offices: Bishop of Naples.
INSTITUTIONS = frozenset(TYPE_OF_PROPER_HEAD) | words(
    "bank university board republic kingdom house court state states isle isles gulf treaty academy museum government "
    "parliament assembly chamber archdiocese diocese order society academy center centre city county province duchy "
    "principality empire federation confederation siege declaration constitution history list music voice people "
    "journal times"
)
HONORIFICS = words("mr mrs ms dr prof st sir rev gen col capt sgt lt hon messrs mme mlle")
# Words by which a corpus shows that it is about software.
TECHNICAL_WORDS = words(
    "service services database databases db api apis cluster clusters queue cache server servers gateway pipeline "
    "backend frontend app apps endpoint deployment repo repository"
)
# Nouns that stand for anybody or anything of a kind: no names of their own, unless people declare them.
GENERIC_NAMES = words(
    "engineer engineers developer developers access upload uploads redirect redirects manager managers deployment "
    "deployments runbook runbooks playbook role roles member members department departments subscriber subscribers "
    "user users admin admins administrator administrators url urls term terms html pull-request maintainer "
    "maintainers owner owners reviewer reviewers author authors customer customers client clients reader readers "
    "editor editors support supplier general primary secondary store transform action actions asset assets id ids ref "
    "refs api apis pep peps rfc motivation rationale specification abstract conclusion glossary appendix alternatives "
    "limitations examples document documents request requests response responses page pages branch branches commit "
    "commits ticket tickets alert alerts metric metrics log logs dashboard dashboards test tests release releases "
    "incident incidents child parent name names value values list lists tuple union array self none line source "
    "record project number instruction template templates header headers field fields screenshot screenshots team "
    "teams organisation organisations code"
) | {
    "pull request",
    "pull requests",
    "merge request",
    "merge requests",
    "get started",
    "before you start",
    "line manager",
}
# First words of titles that are instructions, so that "it" never means the title.
IMPERATIVES = words(
    "add allow apply build change check configure convert copy create debug delete deploy deprecate disable disallow "
    "drain enable find fix forbid generate install investigate make manage merge move publish query reject remove "
    "rename replace require reset restart restore revoke rotate run set setup support switch test transition "
    "troubleshoot understand update upgrade use view write"
)
