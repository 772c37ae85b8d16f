import { type JsonObject, type Judge, type JudgeRequest, textMessage } from "@mrlm/kit";
import { readPhrases } from "../../src/read-phrases.ts";
import { RulesJudge } from "../../src/judge.ts";
import { rulesOptions } from "../../src/options.ts";
import type { Topic } from "../fixtures/topics.ts";

/** Creates the judge with options as a user writes them. */
export function rulesJudge(options: JsonObject = {}): Judge {
  const parsed = rulesOptions.parse(options);
  return new RulesJudge(parsed, readPhrases(parsed.phrases));
}

/** Returns a debate in which the sides alternate. */
export function requestOf(
  { question, background, keyPoints, ...written }: Topic,
  change: { readonly pro?: readonly string[]; readonly con?: readonly string[] } = {},
): JudgeRequest {
  const { pro, con } = { ...written, ...change };
  const rounds = Math.max(pro.length, con.length);
  return {
    question,
    turns: Array.from({ length: rounds }, (_, i) => [...turn("pro", pro[i]), ...turn("con", con[i])]).flat(),
    agents: ["pro", "con"],
    task: {
      id: "train/0",
      public: { background },
      private: { key_points: { pro: [...keyPoints.pro], con: [...keyPoints.con] } },
    },
  };
}

function turn(agent: string, text: string | undefined): JudgeRequest["turns"] {
  return text === undefined ? [] : [{ agent, message: textMessage("assistant", text) }];
}
