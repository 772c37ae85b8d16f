import { judgeContract, pluginContract } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { requestOf, rulesJudge } from "./support/debate.ts";
import { type Topic, topics } from "./fixtures/topics.ts";

pluginContract({ plugins: [plugin] });

judgeContract({
  name: "rules@1 in debates of several rounds",
  make: rulesJudge,
  examples: [{ request: requestOf(topics[0] as Topic) }, { request: requestOf(topics[1] as Topic) }],
});
