import type { Proposition } from "./proposition.ts";

/** Propositions about technology, nature and the world. */
export const technology: readonly Proposition[] = [
  {
    question: "Countries should build new nuclear power plants.",
    background:
      "France gets about two thirds of its electricity from reactors, Germany closed its last ones in 2023. Recent plants in Finland and Britain took more than fifteen years.",
    pro: [
      "Reactors deliver power without carbon at night and in calm weather.",
      "Deaths per unit of energy are lower than for coal and gas.",
      "A plant needs little land.",
    ],
    con: [
      "Construction takes longer than the climate allows.",
      "Waste stays dangerous for thousands of years.",
      "Wind and batteries deliver cheaper electricity.",
    ],
  },
  {
    question: "Social networks should be closed to children below sixteen.",
    background:
      "Australia passed such a law in 2024. Depression among teenagers has risen since about 2012, and researchers disagree about how much networks cause it.",
    pro: [
      "Endless feeds take sleep from growing brains.",
      "Comparing bodies makes girls unhappy.",
      "A law frees parents from fighting alone.",
    ],
    con: [
      "Lonely children find friends with the same illness or interest.",
      "Age checks demand identity cards from everyone.",
      "Teenagers evade bans and hide their problems.",
    ],
  },
  {
    question: "Artificial intelligence should not decide about loans and jobs without a human.",
    background:
      "The AI Act of the European Union treats such systems as of high risk. Amazon stopped a hiring model in 2018 because it preferred men.",
    pro: [
      "Models repeat the discrimination in their data.",
      "A rejected person needs reasons and someone to ask.",
      "Nobody is liable for an error of software.",
    ],
    con: [
      "Human officers are biased and tired too.",
      "Machines can be audited and corrected for all cases.",
      "Waiting for a clerk delays loans for weeks.",
    ],
  },
  {
    question: "Lethal autonomous weapons should be banned by treaty.",
    background:
      "Treaties ban mines and blinding lasers. Talks in Geneva about weapons that select targets themselves have continued since 2014 without a result.",
    pro: [
      "A machine cannot weigh surrender and mercy.",
      "Cheap swarms lower the threshold of war.",
      "Errors escalate faster than diplomats can call.",
    ],
    con: [
      "Enemies that ignore a treaty gain an advantage.",
      "Precise systems may spare civilians.",
      "Inspectors cannot verify software.",
    ],
  },
  {
    question: "Genetically modified crops should be treated like any other crops.",
    background:
      "Americans have eaten modified maize and soya since 1996. The European Union requires approval and labels, and Golden Rice was approved in the Philippines in 2021 and stopped by a court in 2024.",
    pro: [
      "Academies found no harm in decades of meals.",
      "Resistant plants need fewer sprays.",
      "Rice with vitamins prevents blindness of children.",
    ],
    con: [
      "Patents make farmers dependent on few seed firms.",
      "Pollen carries genes into wild relatives.",
      "Buyers deserve a label to choose.",
    ],
  },
  {
    question: "People should eat no meat on two days of each week in public canteens.",
    background:
      "French schools serve one meal without meat a week since 2019. Livestock causes about a seventh of greenhouse gases of humans.",
    pro: [
      "Less beef saves land, water and methane.",
      "Guests discover dishes that they later cook.",
      "Vegetables cost kitchens less.",
    ],
    con: [
      "Guests should decide about their own plate.",
      "Children leave unfamiliar food and stay hungry.",
      "Farmers in hilly regions can raise only cattle.",
    ],
  },
  {
    question: "Flights should be taxed by the number that a person has taken in the year.",
    background:
      "In Britain fifteen percent of people take seventy percent of the flights. Kerosene for international flights is free of fuel tax under rules from 1944.",
    pro: [
      "Frequent flyers cause most emissions of aviation.",
      "A family's single holiday stays cheap.",
      "Business travellers can switch to video calls.",
    ],
    con: [
      "Counting flights needs a register of all journeys.",
      "Migrants visit parents on several continents.",
      "Airlines move their hubs across the border.",
    ],
  },
  {
    question: "Humans should settle on Mars.",
    background:
      "A flight takes about seven months, the air is mostly carbon dioxide and radiation is high. Robots have explored the surface since 1976.",
    pro: [
      "A second home insures mankind against disaster.",
      "Hard goals produce inventions for the Earth.",
      "Geologists on site discover more than rovers.",
    ],
    con: [
      "Robots explore for a hundredth of the price.",
      "Settlers would suffer from radiation and weak bones.",
      "Billions are needed for climate and hunger.",
    ],
  },
  {
    question: "Wolves should be protected wherever they return.",
    background:
      "About twenty thousand wolves live in the European Union. They killed some 65,000 farm animals in a year, most of them sheep, and states pay compensation.",
    pro: [
      "Wolves keep deer from eating young forests.",
      "Fences and dogs reduce attacks on sheep.",
      "Humans must share land with the animals that lived there.",
    ],
    con: [
      "Alpine shepherds cannot fence steep pastures.",
      "Wolves lose their fear without hunting.",
      "Compensation arrives late and covers no stress.",
    ],
  },
  {
    question: "Cash should be abolished.",
    background:
      "In Sweden fewer than one in ten purchases uses coins or notes. A law of 2021 obliges large Swedish banks to provide cash services.",
    pro: [
      "Tax fraud and robbery lose their tool.",
      "Printing and guarding notes costs billions.",
      "Digital receipts help to keep a budget.",
    ],
    con: [
      "Old people and the homeless have no account.",
      "Power failures stop every purchase.",
      "Banks and states could watch each payment.",
    ],
  },
  {
    question: "Single-use plastic packaging should be forbidden for fruit and vegetables.",
    background:
      "France banned it for most produce under 1.5 kilograms from 2022. A wrapped cucumber stays fresh about three times as long.",
    pro: [
      "Wrappers drift into rivers and the sea.",
      "Shoppers buy the amount that they need.",
      "Reusable crates work in transport.",
    ],
    con: [
      "Unwrapped produce rots and wastes its energy.",
      "Paper and glass can cause more emissions.",
      "Berries and salads are crushed in transit.",
    ],
  },
  {
    question: "Encrypted messengers should give police access with a warrant.",
    background:
      "Signal and WhatsApp encrypt messages so that their operators cannot read them. Proposals in Britain and the European Union would require scanning or access.",
    pro: [
      "Courts may open letters and homes with a warrant.",
      "Abuse of children is organised in closed chats.",
      "Terror plots leave no other trace.",
    ],
    con: [
      "A door for police is a door for thieves and spies.",
      "Criminals change to programs without it.",
      "Journalists lose the safety of their sources.",
    ],
  },
  {
    question: "Robots that replace workers should be taxed.",
    background:
      "South Korea reduced a tax deduction for automation in 2018. Wages are taxed at about a third in rich countries, machines much less.",
    pro: [
      "Pensions depend on contributions from wages.",
      "A tax slows change so that people can retrain.",
      "Profits of automation reach those who lose jobs.",
    ],
    con: [
      "Nobody can define what a robot is.",
      "Factories move to countries without the tax.",
      "Productivity pays for higher wages in the end.",
    ],
  },
  {
    question: "The clock change between summer and winter time should end.",
    background:
      "The European Parliament voted in 2019 for an end, but states have not agreed on a common time. Studies find more heart attacks in the week after the change in spring.",
    pro: [
      "Broken sleep causes heart attacks and crashes.",
      "Savings of electricity have disappeared with modern lamps.",
      "Farm animals and babies ignore the law.",
    ],
    con: [
      "Permanent summer time makes winter mornings dark.",
      "Light evenings help sport and restaurants.",
      "Neighbouring states might choose different times.",
    ],
  },
  {
    question: "Deep-sea mining should be prohibited.",
    background:
      "Nodules with nickel, cobalt and manganese lie at depths of four to six kilometres. More than thirty states support a pause, and no mine works at commercial scale.",
    pro: [
      "Sediment clouds smother life that nobody has described.",
      "Recycling and new batteries reduce the demand for cobalt.",
      "Damage at such depth lasts for centuries.",
    ],
    con: [
      "Mines on land destroy rainforest and villages.",
      "Batteries need metals that few states control.",
      "Rules and monitoring can limit the harm.",
    ],
  },
  {
    question: "News sites should not be allowed to let readers comment anonymously.",
    background:
      "South Korea required real names on large sites from 2007 until a court ended it in 2012. Insults fell by about one percent.",
    pro: [
      "People insult less under their own name.",
      "Bots and paid trolls lose their masks.",
      "Editors can trace threats.",
    ],
    con: [
      "Employees who expose abuses need protection.",
      "Real names did not stop insults where it was tried.",
      "Databases of names are stolen.",
    ],
  },
];
