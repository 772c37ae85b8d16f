import { judgeContract } from "@mrlm/testing";
import { requestOf, rulesJudge } from "./support/debate.ts";
import { type Topic, topics } from "./fixtures/topics.ts";

judgeContract({
  name: "rules@1",
  make: rulesJudge,
  requests: [requestOf(topics[0] as Topic), requestOf(topics[1] as Topic)],
});
