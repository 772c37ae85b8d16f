/** Topic of a debate with honest arguments of different lengths and styles. */
export interface Topic {
  readonly question: string;
  readonly background: string;
  readonly keyPoints: { readonly pro: readonly string[]; readonly con: readonly string[] };
  readonly pro: readonly string[];
  readonly con: readonly string[];
}

export const topics: readonly Topic[] = [
  {
    question: "Cities should make bicycle helmets compulsory for all riders.",
    background:
      "Australia and New Zealand have required helmets since the 1990s. Most European countries require them for children alone, or for nobody.",
    keyPoints: {
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
    pro: [
      "A helmet turns a fractured skull into a headache. Surgeons see the difference every weekend.",
      "According to Australian hospitals, admissions for skull fractures fell by a third after 1991. Riders still fell off as often as before, because streets were no smoother, but the foam took the blow instead of the bone. A rule costs a family thirty dollars once, while rehabilitation after brain damage can cost a million.",
      "My opponent says that laws scare riders away. That fear was real in Perth, yet counts recovered within a decade, since newcomers never knew anything else. Seat belts had the same history: drivers grumbled, then forgot. If we accept a small inconvenience in cars for the sake of survival, we can accept it on two wheels.",
      "Teenagers rarely protect themselves when their friends do not. If everyone must wear one, nobody looks silly, so vanity stops killing boys of fifteen.",
    ],
    con: [
      "Perth lost a third of its commuters by bike within two years of the law, and the sofa kills more of them than asphalt ever did.",
      "The safest places to ride are Utrecht and Copenhagen, where almost nobody wears protection. Drivers there expect bicycles at every corner, so they turn slowly. For instance, Dutch riders die at half the rate of Americans per mile, even though Americans put on far more plastic. A law that empties the lanes therefore takes away what really guards a rider: company.",
      "Melbourne's rental scheme failed because tourists don't carry a helmet in their luggage. Dublin, without such a rule, counts several trips a day for each of its rental machines.",
      "However gentle the police are, fines fall on the poor. Seattle repealed its rule in 2022 after records showed that homeless riders got nearly half of all tickets.",
    ],
  },
  {
    question: "Schools should start no earlier than nine in the morning.",
    background:
      "Many secondary schools in North America begin before eight. Sleep rhythms shift later by about two hours during puberty.",
    keyPoints: {
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
    pro: [
      "Waking a fifteen-year-old at six is like waking an adult at four. Nobody learns algebra at that hour.",
      "When Seattle moved its bell to 8:45, pupils gained thirty-four minutes of rest each night, measured by wristbands rather than by memory. Marks in biology rose by four percent, and the poorer of the two campuses saw far fewer absences. These gains came from a timetable alone, without a single new teacher.",
      "Practice after dark is a small price, because tired athletes get hurt more. Coaches in Minnesota complained for one season; then their injury lists got shorter.",
    ],
    con: [
      "Nurses begin at seven. Who watches a ten-year-old between breakfast and nine?",
      "Rural districts run the same buses three times each morning, for the little ones first. If the last round begins at nine, drivers meet rush hour, and a county such as Ours would need forty more vehicles. That money then comes out of libraries and music.",
      "Bedtime follows the alarm. Studies of Korean academies found that students stayed up later after the change, so the extra hour was gone by the second spring. A phone under the pillow steals more rest than any bell does.",
    ],
  },
  {
    question: "Governments should tax sugary drinks.",
    background:
      "More than fifty countries tax sweetened drinks. Mexico and the United Kingdom introduced well-known taxes in 2014 and 2018.",
    keyPoints: {
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
    pro: [
      "Britain's levy had two steps, so factories cut syrup from their recipes before the first penny was due. Half of the sugar vanished without anyone giving up a can.",
      "In Mexico purchases fell by about eight percent over two years, and most among households with little money, who also suffer most from diabetes. Clinics there amputate seventy thousand feet a year. Therefore a peso on a bottle is the cheapest medicine that the country has.",
      "They claim that it is a matter of liberty. But the bill for dialysis is not private: insurers spread it over everybody, including those who drink water. Whoever wants to keep the pleasure can keep it, and pay for a part of its consequences.",
    ],
    con: [
      "A cashier spends a bigger slice of her wage on groceries than a banker, so she pays the levy and he does not notice.",
      "Danes simply drove to Germany, and Copenhagen dropped its tax after a few years. In Philadelphia shops beyond the border sold what those inside had lost, so the waistlines stayed while jobs left.",
      "Chocolate, juice and ice cream stay untaxed. A child who loses cola takes a milkshake instead, because the craving has not gone anywhere.",
    ],
  },
];
