import { expect, test } from "@jest/globals";
import { type AgentId, type JsonObject, textMessage } from "@mrlm/kit";
import { consultationJudge } from "../src/judge.ts";

const { signal } = new AbortController();
const task = {
  id: "train/0",
  public: { complaint: "fever", present: ["fever", "cough"], absent: ["nausea", "wheezing"] },
  private: { condition: 1 },
};
const options: JsonObject = { style: "words", questions: 2, conditions: 12 };

/** Judges a dialogue that the doctor begins. */
async function judged(messages: readonly string[], changes: JsonObject = {}): Promise<readonly unknown[]> {
  const turns = messages.map((text, i) => ({
    agent: (i % 2 === 0 ? "doctor" : "patient") as AgentId,
    message: textMessage("assistant", text),
  }));
  const request = { turns, agents: ["doctor", "patient"], task, options: { ...options, ...changes } };
  const { rewards, verdict } = await consultationJudge.judge(request, { signal });
  const valueOf = (agent: AgentId): number | undefined => {
    const reward = rewards[agent];
    return reward?.scored === true ? Math.round(reward.value * 1000) / 1000 : undefined;
  };
  return [verdict, valueOf("doctor"), valueOf("patient")];
}

test.each<readonly [string, readonly string[], readonly [string, number, number]]>([
  [
    "two questions, two truths",
    ["Have you a cough?", "Yes", "Any nausea?", "No.", "Diagnosis: influenza"],
    ["right", 1, 1],
  ],
  ["a lie", ["Have you a cough?", "No.", "Any nausea?", "no", "Diagnosis: flu"], ["right", 1, 0.5]],
  ["a question twice", ["A cough?", "Yes", "Do you cough?", "No", "Flu"], ["right", 0.9, 1]],
  ["a question of two findings", ["Cough or nausea?", "Yes", "Fever?", "Yes", "Flu"], ["right", 0.9, 1]],
  ["a wrong diagnosis", ["A cough?", "Yes", "Fever?", "Yes", "Diagnosis: gout"], ["wrong", 0.2, 1]],
  ["two diagnoses", ["Diagnosis: gout or flu"], ["wrong", 0, 0]],
  ["a diagnosis within another word", ["Diagnosis: fluid"], ["wrong", 0, 0]],
  ["no diagnosis", ["A cough?", "Yes"], ["wrong", 0.1, 1]],
  ["no turn", [], ["wrong", 0, 0]],
])("%s", async (_name, messages, expected) => {
  expect(await judged(messages)).toEqual(expected);
});

test("another task or options of another environment are unscored, never 0", async () => {
  expect(await judged(["Diagnosis: flu"], { questions: 0 })).toEqual(["undecided", undefined, undefined]);
});
