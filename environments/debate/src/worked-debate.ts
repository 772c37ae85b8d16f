/** Debate of two turns about compulsory bicycle helmets, for fixtures. */
export const workedDebate = {
  question: "Cities should make bicycle helmets compulsory for all riders.",
  pro: [
    "According to Australian hospitals, admissions for skull fractures fell by a third after 1991. Riders still fell off as often as before, because streets were no smoother, but the foam took the blow instead of the bone. A rule costs a family thirty dollars once, while rehabilitation after brain damage can cost a million.",
    "My opponent fears that laws scare riders away. That fear was real in Perth, yet counts recovered within a decade, since newcomers never knew anything else. If teenagers see everyone wearing a helmet, nobody looks silly, so vanity stops killing boys of fifteen.",
  ],
  con: [
    "The safest places to cycle are Utrecht and Copenhagen, where almost nobody wears protection. Drivers there expect bicycles at every corner, so they turn slowly. For instance, Dutch cyclists die at half the rate of Americans per mile, even though Americans put on far more plastic.",
    "However gentle the police are, fines fall on the poor. Seattle repealed its rule in 2022 after records showed that homeless riders got nearly half of all tickets. Bike sharing failed in Melbourne because tourists carry no helmet in their luggage.",
  ],
  stuffing:
    "Because research shows evidence, therefore helmets are good. According to studies and data, 90 percent of riders agree, and as a result statistics prove it. Hence, for example, surveys report that helmets work.",
} as const;
