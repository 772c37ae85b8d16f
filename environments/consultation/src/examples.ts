import { type JudgedTurn, type PluginExamples, textMessage } from "@mrlm/kit";

const turn = (agent: string, text: string): JudgedTurn => ({ agent, message: textMessage("assistant", text) });

/** A consultation with the right diagnosis and one untrue answer, with which `mrlm check` tries the judge. */
export const examples: PluginExamples = {
  judges: {
    "consultation@1": [
      {
        request: {
          turns: [
            turn("doctor", "Have you a cough?"),
            turn("patient", "No."),
            turn("doctor", "Any nausea?"),
            turn("patient", "No."),
            turn("doctor", "Diagnosis: influenza"),
          ],
          agents: ["doctor", "patient"],
          task: {
            id: "train/0",
            public: { complaint: "fever", present: ["fever", "cough"], absent: ["nausea", "wheezing"] },
            private: { condition: 1 },
          },
          options: { style: "words", questions: 2, conditions: 12 },
        },
        best: "doctor",
      },
    ],
  },
};
