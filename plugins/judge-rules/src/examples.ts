import { textMessage } from "@mrlm/kit";
import type { JudgeExample } from "@mrlm/kit/service";

const QUESTION = "Cities should make bicycle helmets compulsory for all riders.";

const task = {
  id: "train/0",
  public: { background: "Australia and New Zealand have required helmets since the 1990s." },
  private: {
    key_points: {
      pro: ["Helmets reduce serious head injuries in falls and collisions."],
      con: ["Helmet laws reduce the number of people who cycle."],
    },
  },
};

/** Returns a debate of one round. */
const debate = (pro: string, con: string): JudgeExample["request"] => ({
  question: QUESTION,
  turns: [
    { agent: "pro", message: textMessage("assistant", pro) },
    { agent: "con", message: textMessage("assistant", con) },
  ],
  agents: ["pro", "con"],
  task,
});

const ARGUMENT =
  "According to Australian hospitals, admissions for skull fractures fell by a third after 1991, because the foam of a helmet took the blow instead of the bone. A helmet therefore reduces serious head injuries.";

/** Debates for the checks of the judge. */
export const examples: readonly [JudgeExample, ...JudgeExample[]] = [
  { request: debate(ARGUMENT, "No."), best: "pro" },
  {
    request: debate("Yes.", "Fewer people cycle where a law requires helmets, because riders find them inconvenient."),
    best: "con",
  },
];
