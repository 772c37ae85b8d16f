import type { Proposition } from "./proposition.ts";

/** Propositions about cities, transport and housing. */
export const cities: readonly Proposition[] = [
  {
    question: "Cities should close their centres to private cars.",
    background:
      "Pontevedra in Spain has had almost no cars in its centre since 1999. Many towns have pedestrian streets, but deliveries, residents and tradespeople still drive there.",
    pro: [
      "Streets without cars have cleaner air and less noise.",
      "Shops gain customers who stroll and stay longer.",
      "Children and old people can cross without danger.",
    ],
    con: [
      "People with disabilities depend on reaching a door by car.",
      "Traffic moves to the districts around the closed zone.",
      "Craftsmen and deliveries lose hours on every job.",
    ],
  },
  {
    question: "Public transport should be free for everyone.",
    background:
      "Luxembourg abolished fares for trains, trams and buses in 2020, and Tallinn did so for its residents in 2013. Fares usually pay between a fifth and a half of the cost of a network.",
    pro: [
      "Free rides help poor families to reach jobs.",
      "Fewer ticket machines and inspectors save money.",
      "Drivers leave their cars when a bus costs nothing.",
    ],
    con: [
      "Lost fares take money from more frequent service.",
      "Mostly pedestrians and cyclists switch, not drivers.",
      "Tourists and rich commuters get a subsidy that they do not need.",
    ],
  },
  {
    question: "Cities should make bicycle helmets compulsory for all riders.",
    background:
      "Australia and New Zealand have required helmets since the 1990s. Most European countries require them for children alone or not at all.",
    pro: [
      "Helmets reduce serious head injuries in falls and collisions.",
      "Treating brain injuries costs public hospitals a lot of money.",
      "A rule for everyone makes wearing a helmet normal for teenagers.",
    ],
    con: [
      "Helmet laws reduce the number of people who cycle.",
      "Fewer cyclists on the road make each of them less safe.",
      "Bike sharing schemes cannot provide a helmet with each bicycle.",
    ],
  },
  {
    question: "The speed limit in towns should be 30 kilometres per hour.",
    background:
      "Brussels, Bologna and Wales lowered their general limits to 30 km/h or 20 miles per hour between 2021 and 2024. In most countries the limit in towns is 50 km/h.",
    pro: [
      "A pedestrian hit at 30 usually survives, at 50 often not.",
      "Slow traffic is quieter for those who live beside it.",
      "Trips in towns hardly take longer because crossings decide the time.",
    ],
    con: [
      "Buses become slower and need more vehicles for the same timetable.",
      "Drivers ignore limits that do not fit the width of a road.",
      "Main roads lose their use, and drivers cut through side streets.",
    ],
  },
  {
    question: "Rents in large cities should be capped by law.",
    background:
      "Berlin froze rents in 2020 until a court annulled the law in 2021; Catalonia limits increases in tight markets. Economists have studied caps in San Francisco, Stockholm and New York.",
    pro: [
      "Caps let nurses and teachers stay near their work.",
      "Landlords earn windfalls from scarcity that they did not create.",
      "Stable rents protect neighbourhoods from sudden eviction.",
    ],
    con: [
      "Builders construct fewer flats when returns are limited.",
      "Owners sell flats or leave them unrepaired.",
      "Insiders keep cheap leases while newcomers find nothing.",
    ],
  },
  {
    question: "Short-term holiday rentals of whole flats should be banned in cities.",
    background:
      "New York has allowed only rentals with the host at home since 2023, and Barcelona plans to end tourist licences in 2028. Platforms list hundreds of thousands of flats.",
    pro: [
      "Flats return to residents and rents rise less.",
      "Neighbours sleep without suitcases and parties in the stairwell.",
      "Hotels already obey safety and tax rules that flats avoid.",
    ],
    con: [
      "Families earn money from a home that they leave for a month.",
      "Visitors spend in districts without hotels.",
      "Hotels raise prices when their competitors disappear.",
    ],
  },
  {
    question: "Parking in the street should always cost money.",
    background:
      "A parked car takes about twelve square metres of public land. Donald Shoup estimated that drivers in one district of Los Angeles drove a million miles a year in search of a free space.",
    pro: [
      "Prices end the search for a space that jams streets.",
      "Those who own no car no longer pay for land that others use.",
      "Income from meters can repair pavements.",
    ],
    con: [
      "Low wage workers with night shifts cannot avoid driving.",
      "Visitors go to malls outside where parking is free.",
      "Collecting the fees needs inspectors and machines in every lane.",
    ],
  },
  {
    question: "High-speed trains should replace domestic flights shorter than 500 kilometres.",
    background:
      "France banned flights on a few routes where a train takes less than two and a half hours. Spain built almost 4,000 kilometres of fast lines in thirty years.",
    pro: [
      "A train emits a small part of the carbon of a plane.",
      "Stations in the centre save the trip to an airport.",
      "Free runway slots can serve long routes.",
    ],
    con: [
      "New tracks cost billions and take decades.",
      "Transfer passengers need the connection by air.",
      "Thin routes will never fill a train.",
    ],
  },
  {
    question: "Electric scooters for hire should be banned from city streets.",
    background:
      "Paris ended its rental scheme in 2023 after a vote in which eight percent of voters took part. Other cities limit speed and require parking bays.",
    pro: [
      "Scooters on pavements make blind people stumble.",
      "Hospitals treat broken wrists and faces of riders without practice.",
      "Most trips replace walking and not driving.",
    ],
    con: [
      "Scooters bridge the last mile to a station.",
      "Parking bays and speed limits solve the nuisance.",
      "Cars injure far more people and stay allowed.",
    ],
  },
  {
    question: "New buildings should not be taller than ten storeys.",
    background:
      "Paris limits most towers to 37 metres, while Hong Kong and Singapore house millions in high towers. Height influences light, cost and the energy of a building.",
    pro: [
      "Streets between towers are windy and dark.",
      "Low blocks reach high density with courtyards.",
      "Lifts and pumps of towers waste energy.",
    ],
    con: [
      "Limits push suburbs over fields and forests.",
      "Scarce floors make homes expensive.",
      "Towers near stations let people live without a car.",
    ],
  },
  {
    question: "Cities should pay residents to leave their cars.",
    background:
      "Some Belgian and Finnish programmes give a sum or a travel pass for deregistering a car. The average European car stands still for 95 percent of the day.",
    pro: [
      "A payment convinces where lectures fail.",
      "Freed spaces become trees and benches.",
      "Cheaper than building another ring road.",
    ],
    con: [
      "People who would sell anyway pocket the money.",
      "Taxpayers without a car finance those with one.",
      "A family may buy a new vehicle a year later.",
    ],
  },
  {
    question: "Museums that receive public money should be free to enter.",
    background:
      "The national museums of the United Kingdom have been free since 2001, and visits rose by more than half. The Louvre and the Prado charge most visitors.",
    pro: [
      "Children from poor homes enter without a hurdle.",
      "Taxpayers have already paid for the collection.",
      "Short visits become normal when leaving costs nothing.",
    ],
    con: [
      "Tickets of tourists pay for restoration.",
      "Crowds grow without reaching new groups.",
      "Smaller museums lose visitors to the free giants.",
    ],
  },
  {
    question: "Shops should be allowed to open on Sundays.",
    background:
      "Germany and Austria keep most shops closed on Sundays, Sweden and Poland have gone in opposite directions. Online orders are possible at any time.",
    pro: [
      "Workers with long weeks need a day for errands.",
      "Local shops can compete with online orders.",
      "Students find jobs at the weekend.",
    ],
    con: [
      "A common day off lets families and clubs meet.",
      "Sales spread over more hours without growing.",
      "Small owners cannot staff a seventh day.",
    ],
  },
  {
    question: "City councils should ban billboards in public space.",
    background:
      "São Paulo removed about fifteen thousand billboards in 2007, and Grenoble replaced many by trees in 2015. Outdoor advertising pays for bus shelters in many cities.",
    pro: [
      "Nobody can switch off a billboard as one closes a page.",
      "Facades and trees become visible again.",
      "Drivers look at the road and not at screens.",
    ],
    con: [
      "Advertising pays for bus shelters and toilets.",
      "Small theatres lose their way to announce plays.",
      "Companies move the same budget to phones.",
    ],
  },
  {
    question: "Every new home should have solar panels.",
    background:
      "California has required them on most new houses since 2020, and several German states since 2022. Panels have become about ninety percent cheaper in ten years.",
    pro: [
      "Installing panels during construction is cheapest.",
      "Roofs produce power without using land.",
      "Residents pay smaller bills for decades.",
    ],
    con: [
      "Shaded and northern roofs yield little.",
      "Higher prices keep young buyers out.",
      "Large fields produce the same power at half the cost.",
    ],
  },
  {
    question: "Drivers older than 75 should pass a test every two years.",
    background:
      "Denmark abolished such tests in 2017, Japan requires memory tests from 75 on. Older drivers cause few crashes in total but more per mile.",
    pro: [
      "Eyesight and reaction fade without the driver noticing.",
      "Relatives need not quarrel over the keys.",
      "Commercial pilots and train drivers are tested too.",
    ],
    con: [
      "Tests have not reduced crashes where they were studied.",
      "Villages without buses leave old people isolated.",
      "Young men cause more deaths and face no such rule.",
    ],
  },
];
