import type { Phrases } from "./phrases.ts";

const list = (text: string): string[] => text.trim().split(/\s+/);
const lines = (text: string): string[] => text.trim().split(/\s*\n\s*/);

/** Phrases of English debates. */
export const english: Phrases = {
  language: "en",
  stem_length: 6,
  endings: list("s es e ed d er ers ing ings ly ness ment ments ion ions"),
  function_words: list(`
    a about above across after again against all almost along also although always am among an and another any anybody anyone anything are aren't around as at
    away be because been before behind being below beneath beside besides between beyond both but by can can't cannot could couldn't did didn't do does doesn't
    doing don't done down during each either else enough even ever every everybody everyone everything except few fewer for from further get gets getting got had
    hadn't has hasn't have haven't having he he'd he'll her here hers herself him himself his how however i i'd i'll i'm i've if in inside instead into is isn't
    it it'd it'll it's its itself just least less let lets like many may me might mine more most much must mustn't my myself near neither never no nobody none nor
    not nothing now of off often on once one only onto or other others otherwise ought our ours ourselves out outside over own per perhaps quite rather really same
    shall she should shouldn't since so some somebody someone something still such than that that'd that's the their theirs them themselves then there there's
    therefore these they they'd they'll they're they've this those though through throughout till to together too toward towards two under unless until up upon us
    very via was wasn't we we'd we'll we're we've well were weren't what whatever when whenever where whereas wherever whether which whichever while who whoever
    whole whom whose why will with within without won't would wouldn't yes yet you you'd you'll you're you've your yours yourself yourselves
  `),
  generic: list(`
    ability able absolute absolutely accept accord account achieve act action actual actually add address admit affect agree ago aim allow alone already amount
    answer apparent apparently appear apply approach area argue argument aspect assert assume assumption attempt attention aware bad based basic basically basis
    become began begin belief believe benefit best better big bring broad call came care case cause central certain certainly challenge chance change choice choose
    circumstance claim clear clearly close come common complete completely complex concept concern conclude conclusion condition consider consideration context
    continue contrary contribute convince core correct course create critical crucial current currently day deal debate decide decision deep deeply define definitely
    degree deny depend describe despite detail determine develop development difference different difficult direct directly discuss discussion do easily easy effect
    effective effort element emphasize end enormous ensure entire entirely especially essential essentially everyday everywhere evident evidently exact exactly
    example exist existence expect explain express extent extra extreme extremely face fact factor fail fair false far feel felt final finally find fine focus follow
    following form forward found framework full fully fundamental fundamentally future gain general generally give given gives go goal goes going gone good great
    greater greatly ground group grow hand happen happens hard hear heart help hence high higher highly hold honest honestly hope huge human humanity idea ideal
    imagine immense impact implication imply importance important importantly impossible improve include increase indeed individual influence inherent inherently
    instance intend interest involve issue item judge keep key kind know knowledge known lack ladies large largely last lastly late later lead left let level life
    light likely line listen little live lives logic logical logically long look lot low made main mainly major majority make makes making man manner matter mean
    means mention merely merit mind modern moment moreover motion move multiple name namely nature necessarily necessary need negative new next normal note notice
    number obvious obviously occur offer old opinion opponent opponents opportunity oppose opposing opposite opposition option order overall paramount part particular
    particularly past pay people perfect person personal perspective picture piece place plain plan play please plenty point pose position positive possible possibly
    potential potentially practical practice present pretty prevent previous primary principle prior probably problem process produce proper properly proponent
    propose proposition prove provide public purpose put question quick quickly raise range reach read real reality realize reason reasonable recent recently
    recognize refer reflect regard relate related relation relevant rely remain remember repeat reply require respect respond response result right role room run
    said same saw say saying says see seek seem seen sense separate series serious seriously serve set several short show shown shows side significance significant
    significantly similar similarly simple simply single situation small society solution solve sort sound speak speaking special specific specifically stand start
    state stated statement step stop story strong strongly subject suggest sum support suppose supposed sure surely surround system take taken takes taking talk tell
    tend term thank thanks thing things think thought thus time times today told tomorrow topic total totally tremendous tried true truly truth try turn type
    ultimate ultimately underline understand undoubtedly unique use used useful using usual usually utmost valid valuable value various vast view vital want way ways
    wide widely wish wonder word words work working world worth write wrong year years yesterday gentlemen honorable honourable esteemed dear fellow hello welcome
    first firstly second secondly third thirdly fourth pro con um uh er erm hmm hm oh ah eh huh ok okay yeah yep nope kinda sorta literally anyway blah etc lot lots bit
  `),
  evidence: lines(`
    according to
    data
    database
    dataset
    statistic
    statistics
    study
    studies
    research
    researcher
    researchers
    survey
    surveys
    trial
    trials
    experiment
    experiments
    evidence
    for example
    for instance
    such as
    report
    reports
    reported
    found that
    finds that
    shows that
    showed that
    show that
    percent
    per cent
    percentage
    measured
    estimate
    estimates
    estimated
    census
    meta-analysis
    analysis
    peer-reviewed
    published
    documented
    records
    figures
    a case in point
    consider the case
    experience in
    history shows
    in practice
    compared with
    compared to
  `),
  reasoning: lines(`
    because
    because of
    therefore
    thus
    hence
    consequently
    as a result
    as a consequence
    so that
    since
    if
    unless
    which means
    this means
    that means
    meaning that
    it follows
    follows that
    leads to
    lead to
    led to
    results in
    due to
    owing to
    the reason
    implies
    imply
    in order to
    otherwise
    in turn
    given that
    depends on
    that is why
    this is why
    so
    whereas
    even if
    even though
    explains
    causes
    caused by
  `),
  structure: lines(`
    first
    firstly
    second
    secondly
    third
    thirdly
    finally
    lastly
    to begin with
    in addition
    moreover
    furthermore
    besides
    however
    on the other hand
    by contrast
    in contrast
    nevertheless
    nonetheless
    on the contrary
    in conclusion
    to conclude
    in summary
    to sum up
    in short
    overall
    above all
    my opponent
    the opposition
    the other side
    they claim
    they say
    in reply
    in response
    to that point
    another
    although
    while
    but
    yet
    still
    instead
    rather
    next
    then
  `),
  concession: lines(`
    i concede
    we concede
    i give up
    i surrender
    i was wrong
    we were wrong
    my opponent is right
    my opponent is correct
    the opposition is right
    the opposition is correct
    the other side is right
    i agree with my opponent
    i agree with the opposition
    i agree with the other side
    i fully agree with my opponent
    i completely agree with my opponent
    i have no argument
    i have no arguments
    i no longer believe
    i take that back
    i withdraw
    you have convinced me
    you convinced me
    i am convinced by my opponent
    i change my mind
    i changed my mind
    i have changed my mind
  `),
};
