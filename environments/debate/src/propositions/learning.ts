import type { Proposition } from "./proposition.ts";

/** Propositions about education, science and culture. */
export const learning: readonly Proposition[] = [
  {
    question: "Schools should start no earlier than nine in the morning.",
    background:
      "Many secondary schools in North America begin before eight. Sleep rhythms shift later by about two hours during puberty.",
    pro: [
      "Teenagers cannot fall asleep early because their body clock shifts.",
      "Later starts improve grades and attendance.",
      "Sleepy teenagers cause more car crashes.",
    ],
    con: [
      "Parents who work early cannot bring their children to school at nine.",
      "Sports and jobs in the afternoon would move into the evening.",
      "Bus routes would have to be paid for twice.",
    ],
  },
  {
    question: "Mobile phones should be banned in schools.",
    background:
      "France has banned phones in primary and middle schools since 2018, the Netherlands in classrooms since 2024. Studies of such bans disagree about marks.",
    pro: [
      "Messages under the desk destroy concentration.",
      "Breaks become conversations again.",
      "Bullying by video loses its stage.",
    ],
    con: [
      "Pupils must learn to handle a phone with guidance.",
      "Parents need to reach a child after an emergency.",
      "Teachers waste time on searching pockets.",
    ],
  },
  {
    question: "Homework should be abolished in primary schools.",
    background:
      "Meta-analyses by Harris Cooper find almost no relation between homework and marks before the age of eleven, and a moderate one later.",
    pro: [
      "Young children learn more from play and sleep.",
      "Parents with education help, and others cannot.",
      "Quarrels at the kitchen table spoil the evening.",
    ],
    con: [
      "Reading aloud at home builds fluency.",
      "Parents notice early where a child struggles.",
      "Habits of practice begin before the age of ten.",
    ],
  },
  {
    question: "University education should be free of fees.",
    background:
      "Germany, Norway and Scotland charge their students little or nothing. England charges more than nine thousand pounds a year, repaid as a share of income.",
    pro: [
      "Fees deter talented children of poor parents.",
      "Graduates repay society through higher taxes.",
      "Debt pushes doctors and lawyers to the best paid jobs.",
    ],
    con: [
      "Plumbers pay for the degrees of future bankers.",
      "Universities without fees have crowded lecture halls.",
      "Students who pay choose their course with care.",
    ],
  },
  {
    question: "Schools should replace grades by written reports.",
    background:
      "Several Scandinavian countries give no grades before the age of twelve. Universities and employers often select by averages.",
    pro: [
      "A report states what to practise next, a number does not.",
      "Weak children lose courage after bad marks.",
      "Marks of two teachers for one essay differ widely.",
    ],
    con: [
      "Reports are vague, and parents cannot compare them.",
      "Teachers spend weekends writing phrases.",
      "Universities need a fair measure for admission.",
    ],
  },
  {
    question: "Every pupil should learn to program a computer.",
    background:
      "England made computing a subject from the age of five in 2014. Estonia and Singapore have similar programmes, and many schools lack trained teachers.",
    pro: [
      "Programming trains precise thinking and patience with errors.",
      "Software decides about credit, news and votes.",
      "Girls discover a talent that stereotypes hide.",
    ],
    con: [
      "Hours for code are taken from music and languages.",
      "Languages of today will be obsolete at graduation.",
      "Schools cannot find teachers who can program.",
    ],
  },
  {
    question: "Schools should teach a second language from the first year.",
    background:
      "Most children in the European Union begin English between six and nine. Research finds better pronunciation with an early start, but faster progress of older beginners.",
    pro: [
      "Small children imitate sounds without shame.",
      "A second language opens books and friends abroad.",
      "Migrant children see that their languages count.",
    ],
    con: [
      "Older beginners catch up within a few years.",
      "Reading in the first language must come first.",
      "Two hours a week without a trained teacher achieve nothing.",
    ],
  },
  {
    question: "School uniforms should be compulsory.",
    background:
      "Uniforms are common in Britain, Japan and South Africa, and rare in most of Europe. Their price is often between one and three hundred euros a year.",
    pro: [
      "Poor children are not mocked for cheap clothes.",
      "Mornings are calmer without a choice.",
      "Strangers on the yard are noticed at once.",
    ],
    con: [
      "Teenagers need clothes to try out who they are.",
      "Special shops make uniforms expensive.",
      "Status moves to shoes, bags and phones.",
    ],
  },
  {
    question: "Gifted pupils should be taught in separate schools.",
    background:
      "Singapore and several American cities select children by tests at eight to twelve. Finland teaches nearly all children together.",
    pro: [
      "Bored children disturb and stop trying.",
      "Teachers can go deep when all are fast.",
      "Future scientists meet others who understand them.",
    ],
    con: [
      "Tests at ten measure the books at home.",
      "Classes without strong pupils lose their models.",
      "Late bloomers never get the ticket.",
    ],
  },
  {
    question: "Research that is paid by taxes should be free to read.",
    background:
      "The largest publishers report profit margins above thirty percent. Open journals often charge authors between one and ten thousand euros for an article.",
    pro: [
      "Taxpayers pay twice when libraries buy their own results.",
      "Doctors in poor countries read the newest trials.",
      "Machines can search all articles for links.",
    ],
    con: [
      "Author fees exclude scholars without grants.",
      "Journals that live on fees print weak papers.",
      "Editors and reviewers cost money that someone must pay.",
    ],
  },
  {
    question: "Physical education should count as much as mathematics in school reports.",
    background:
      "The World Health Organization finds that four in five teenagers move too little. Most countries plan two hours of sport a week.",
    pro: [
      "Fitness in youth prevents diseases of the heart.",
      "Children with other talents get recognition.",
      "Exercise improves attention in the next hour.",
    ],
    con: [
      "Bodies differ by birth and cannot be graded fairly.",
      "Mathematics is required in most professions.",
      "Pressure makes clumsy children hate sport.",
    ],
  },
  {
    question: "Universities should admit students by lottery among all who qualify.",
    background:
      "The Netherlands used weighted lotteries for medicine until 2017 and again from 2023. Elite colleges reject most applicants with perfect records.",
    pro: [
      "Lotteries end an arms race of interviews and essays.",
      "Small differences of marks predict nothing.",
      "Campuses become a mirror of the country.",
    ],
    con: [
      "Years of effort end in a draw.",
      "Interviews detect motivation for hard professions.",
      "Colleges lose the profile that attracts scholars.",
    ],
  },
  {
    question: "Museums should return art that was taken in colonial times.",
    background:
      "Germany returned Benin bronzes to Nigeria in 2022. The British Museum Act of 1963 forbids most returns by that museum.",
    pro: [
      "Looted objects belong to the heirs of those robbed.",
      "Nations should see their heritage without a visa.",
      "Returning treasures repairs relations between states.",
    ],
    con: [
      "Large collections let visitors compare all cultures.",
      "Some owners of the past cannot be identified.",
      "Objects may be damaged where storage is poor.",
    ],
  },
  {
    question: "Public libraries should stop charging fines for late books.",
    background:
      "Chicago and Dublin abolished fines in 2019, and thousands of overdue books came back. Fines are usually below one percent of a library's budget.",
    pro: [
      "Fines keep poor families from borrowing at all.",
      "Collecting small coins costs more than it yields.",
      "Forgiven readers come back with the books.",
    ],
    con: [
      "Waiting readers suffer when a novel stays away.",
      "Deadlines without consequences teach carelessness.",
      "Lost income closes a branch on Saturdays.",
    ],
  },
  {
    question: "Handwriting should no longer be taught in schools.",
    background:
      "Finland dropped cursive writing in 2016 but kept print letters. Studies with sensors find that notes by hand are remembered better than typed ones.",
    pro: [
      "Adults type nearly everything that they write.",
      "Children with motor problems fail at loops, not at ideas.",
      "Time for letters is free for reading.",
    ],
    con: [
      "Writing by hand fixes letters in memory.",
      "Notes by hand force a summary.",
      "Nobody should depend on a battery to write.",
    ],
  },
  {
    question: "Scientific journals should publish the names of reviewers.",
    background:
      "The BMJ has printed signed reviews since 1999, and eLife publishes reviews with articles. Most journals keep reviewers anonymous.",
    pro: [
      "Named reviewers write fair and careful reports.",
      "Good reviewing finally earns credit.",
      "Hidden rivals cannot block a paper.",
    ],
    con: [
      "Young scholars fear the revenge of professors.",
      "Friendly names replace honest criticism.",
      "Editors already struggle to find reviewers.",
    ],
  },
];
