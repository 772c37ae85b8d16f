import type { Proposition } from "./proposition.ts";

/** Propositions about the state, work and health. */
export const society: readonly Proposition[] = [
  {
    question: "Voting should be compulsory.",
    background:
      "Australia fines citizens who do not vote about twenty dollars, and its turnout is near ninety percent. In many democracies fewer than two thirds vote.",
    pro: [
      "Governments then answer to the poor and the young too.",
      "Parties need not spend money on moving supporters to the polls.",
      "Paying a small duty is fair for the rights of a citizen.",
    ],
    con: [
      "Freedom includes the right to stay away.",
      "Careless ballots add noise to the result.",
      "Fines hit those who are ill or homeless.",
    ],
  },
  {
    question: "The voting age should be sixteen.",
    background:
      "Austria has let citizens of sixteen vote since 2007, Scotland since 2014. Turnout of that group there is higher than that of voters of twenty.",
    pro: [
      "Young people live longest with climate and debt.",
      "First elections during school form a habit.",
      "At sixteen many work and pay taxes.",
    ],
    con: [
      "Brains mature and impulses calm only after twenty.",
      "Parents and teachers can steer the ballot.",
      "Adults' duties such as contracts begin at eighteen.",
    ],
  },
  {
    question: "A universal basic income should replace most welfare benefits.",
    background:
      "Finland paid 2,000 unemployed people 560 euros a month in 2017 and 2018; they worked slightly more and felt better. Kenya and Stockton ran other trials.",
    pro: [
      "Nobody falls through gaps between offices and forms.",
      "Work always pays because the income stays.",
      "Carers and volunteers get a floor.",
    ],
    con: [
      "A payment that is enough costs a third of all income.",
      "Disabled people need more than an equal sum.",
      "Employers can lower wages when the state pays.",
    ],
  },
  {
    question: "The working week should have four days at full pay.",
    background:
      "A British trial of 61 companies in 2022 kept revenue stable with 80 percent of the hours, and most continued. Hospitals and factories took little part.",
    pro: [
      "Rested employees make fewer errors and resign less.",
      "Fathers share care when both have a free day.",
      "Meetings shrink when time is scarce.",
    ],
    con: [
      "Nurses and shops need more staff for the same week.",
      "Volunteer companies of a trial are no fair sample.",
      "Exporters compete with countries that work five days.",
    ],
  },
  {
    question: "Organ donation should be automatic unless a person objects.",
    background:
      "Spain, Austria and Wales presume consent. Spain has the highest rate of donors in the world, and its doctors credit coordinators in hospitals.",
    pro: [
      "Most people agree but never fill in a form.",
      "Waiting patients die for lack of kidneys.",
      "A clear default spares relatives a decision in shock.",
    ],
    con: [
      "Silence is no consent to surgery.",
      "Trained coordinators raise donation more than the default.",
      "Mistrust grows among minorities with bad experiences.",
    ],
  },
  {
    question: "Governments should tax sugary drinks.",
    background:
      "More than fifty countries tax sweetened drinks. Mexico and the United Kingdom introduced well-known taxes in 2014 and 2018.",
    pro: [
      "Higher prices reduce how much sugar people drink.",
      "Producers change their recipes to avoid the tax.",
      "Revenue can pay for health care.",
    ],
    con: [
      "The tax takes a larger share of the income of poor families.",
      "People switch to other sweet food.",
      "Adults may choose what they drink.",
    ],
  },
  {
    question: "Vaccination against measles should be required for entry to school.",
    background:
      "Measles needs about 95 percent of immune people to stop spreading. Italy, France and Germany introduced duties between 2017 and 2020.",
    pro: [
      "Infants and cancer patients depend on the immunity of others.",
      "Outbreaks close classes and fill hospitals.",
      "Reminders alone did not reach the last ten percent.",
    ],
    con: [
      "Coercion hardens the distrust of doubtful parents.",
      "Children lose schooling for a decision of adults.",
      "Easy appointments raise rates without a duty.",
    ],
  },
  {
    question: "Supermarkets should be obliged to give unsold food to charities.",
    background:
      "France has fined supermarkets that destroy edible food since 2016. About a tenth of food in Europe is thrown away, more than half of it by households.",
    pro: [
      "Food banks feed families from what was waste.",
      "Growing and cooling discarded food harms the climate.",
      "A fine makes managers plan orders better.",
    ],
    con: [
      "Charities need trucks and fridges to use the gifts.",
      "Most waste happens in private kitchens.",
      "Donated food near its date can make people ill.",
    ],
  },
  {
    question: "Tipping in restaurants should be abolished in favour of higher wages.",
    background:
      "In the United States servers may be paid 2.13 dollars an hour before tips. In Japan tips are unusual, and in Germany they are an addition to a full wage.",
    pro: [
      "Guests should not decide about a worker's rent.",
      "Attractive and white servers get larger tips.",
      "Cooks in the kitchen share in fair pay.",
    ],
    con: [
      "Good servers earn more by tips than by any wage.",
      "Menu prices rise and frighten guests.",
      "A reward after the meal encourages care.",
    ],
  },
  {
    question: "Prisons should be replaced by electronic monitoring for crimes without violence.",
    background:
      "A day with an ankle tag costs about a tenth of a day in prison in most of Europe. Studies from Sweden and France find fewer new crimes after tags.",
    pro: [
      "Offenders keep their job and family.",
      "Cells teach beginners new crimes.",
      "Saved money can compensate victims.",
    ],
    con: [
      "Fraud that ruined hundreds deserves a cell.",
      "Rich villas become comfortable prisons.",
      "Tags spread to people who would have been fined.",
    ],
  },
  {
    question: "Inheritances above one million euros should be taxed at half.",
    background:
      "Japan taxes large inheritances at up to 55 percent, Sweden abolished its tax in 2004. About half of private wealth in France and Germany is inherited.",
    pro: [
      "Chances should follow effort and not birth.",
      "Fortunes grow faster than wages when untaxed.",
      "Heirs lose no income that they worked for.",
    ],
    con: [
      "Family firms must sell machines to pay.",
      "The money was taxed when it was earned.",
      "Wealthy owners move abroad before they die.",
    ],
  },
  {
    question: "Zoos should be closed.",
    background:
      "The Arabian oryx and Przewalski's horse survived in zoos and were released. Most species in zoos are not threatened, and large animals often show disturbed behaviour.",
    pro: [
      "Elephants and bears suffer in small enclosures.",
      "Few animals are ever released into the wild.",
      "Films show natural behaviour better than cages.",
    ],
    con: [
      "Breeding saved species that had vanished in nature.",
      "Visitors who meet animals donate for their protection.",
      "Vets learn treatments that help wild herds.",
    ],
  },
  {
    question: "Companies should publish the salaries of all employees.",
    background:
      "Norway has published tax records for decades. An EU directive gives employees the right to average pay of their group from 2026 on.",
    pro: [
      "Women discover that colleagues earn more for equal work.",
      "Applicants negotiate with knowledge.",
      "Managers must explain favourites.",
    ],
    con: [
      "Envy poisons teams that work well.",
      "Competitors use the list to poach.",
      "Employers level pay downwards to avoid disputes.",
    ],
  },
  {
    question: "Elections should be financed by the state alone.",
    background:
      "Germany pays parties by votes and donations, the United States spent about sixteen billion dollars on the elections of 2024, mostly private money.",
    pro: [
      "Donors expect laws in return for cheques.",
      "Candidates without rich friends get a chance.",
      "Politicians spend their days on voters and not on dinners.",
    ],
    con: [
      "Subsidies protect the parties that already exist.",
      "Citizens may support what they value with money.",
      "Private spending hides behind associations.",
    ],
  },
  {
    question: "Alcohol advertising should be prohibited.",
    background:
      "Norway has banned it since 1975, France allows it in print with warnings. Alcohol causes about seven percent of early deaths in Europe.",
    pro: [
      "Advertising recruits drinkers below the legal age.",
      "Recovering addicts meet temptation on every screen.",
      "Tobacco sales fell after the same ban.",
    ],
    con: [
      "Advertising moves drinkers between brands only.",
      "Small breweries cannot make themselves known.",
      "Streams from abroad ignore a national law.",
    ],
  },
  {
    question: "Jury trials should be replaced by panels of judges.",
    background:
      "England and the United States use juries in serious cases, the Netherlands uses professional judges alone. Juries give no reasons for their verdicts.",
    pro: [
      "Judges must give reasons that can be appealed.",
      "Laymen misread statistics and experts.",
      "Long trials cost jurors their jobs.",
    ],
    con: [
      "Twelve citizens resist a government's pressure.",
      "Different lives in one room correct prejudice.",
      "Trust in verdicts rises when neighbours decide.",
    ],
  },
];
