/** Arguments that fit most propositions, for a scripted side. `{proposition}` stands for the proposition. */
export const stockArguments: Readonly<Record<"pro" | "con", readonly string[]>> = {
  pro: [
    "If {proposition}, habits adapt within a few seasons, because routines follow the rules around them. Seat belts met ridicule in 1975; by 1990 drivers reached for the buckle without a thought.",
    "Voluntary appeals have been tried for a generation, and their record is thin. Brochures reach those who already behave, so only a binding step moves the stubborn remainder.",
    "The costs arrive once and the savings return annually. Auditors in several provinces calculated that comparable reforms repaid their budget within six winters.",
    "Consider who carries the burden at present: tenants, apprentices, patients without lawyers. When {proposition}, that weight shifts towards institutions with reserves.",
    "Neighbours who introduced it first did not collapse. Their newspapers predicted chaos, yet surveys of residents twelve months later found relief rather than regret.",
    "Exceptions for hardship can be drafted in a paragraph. A clause for emergencies therefore answers most objections without hollowing out the reform.",
  ],
  con: [
    "Where {proposition}, inspectors must enforce it, and their salaries come from clinics and kindergartens. Paperwork grows because every exemption requires a signature.",
    "Average benefits hide unequal losses. A shepherd, a midwife and a software tester live differently, so one uniform command fits none of them.",
    "Trials in friendly municipalities prove little. Volunteers join experiments since they expect success, whereas a nationwide mandate reaches sceptics who sabotage it quietly.",
    "Gentler instruments exist: clear labels, better timetables, patient advice. According to evaluations of nudges, such measures reach roughly half of the effect without coercion.",
    "Once {proposition}, lobbyists will bargain over definitions for decades. Loopholes reward whoever employs the cleverest attorneys, and honest applicants queue behind them.",
    "Prohibitions travel across borders badly. Customers drive ten miles further, suppliers register elsewhere, and the treasury collects nothing but resentment.",
  ],
};
