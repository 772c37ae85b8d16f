import { definePlugin, generatedTasks, score, singleTurn } from "@mrlm/kit";
import { fixtures } from "./fixtures.ts";
import { areCompatible, isAbout, KINDS, ruleOf } from "./rules.ts";

const TOPICS = (
  "apple autumn baby bank beach bear bee bicycle bird boat book bread bridge bus butter cake camera car cat chair cheese child city " +
  "clock cloud coat coffee computer cow dance desert dinner doctor dog door dream duck eagle earth egg elephant engine farm father " +
  "field film fire fish flower forest friend frog fruit garden gold grass guitar hand harvest hat heart holiday honey horse hospital " +
  "house ice island jacket journey juice jungle kitchen lake lamp language leaf lemon letter library light lion machine map market " +
  "milk mirror money monkey moon morning mother mountain mouse museum music night ocean orange paper park pencil piano planet plant " +
  "poem potato rain restaurant rice river road robot rose salt sand school science sea ship shoe silver sister sky snow soap song " +
  "soup spring stone storm story street student sugar summer sun table tea teacher thunder tiger time tomato tower town train tree " +
  "valley village violin wall water weather whale wheel wind window winter wolf wood world"
).split(" ");

const formats = singleTurn({
  id: "formats@1",
  description: "Write about a topic in a stated form, which a program checks.",
  rewardComponents: ["solved"],
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 10_000, share: 4 }, eval: { size: 500, share: 1 } },
      generate(random) {
        const topic = random.pick(TOPICS);
        const first = random.pick(Object.keys(KINDS));
        const others = Object.keys(KINDS).filter((kind) => areCompatible(first, kind));
        const kinds = random.next() < 0.7 ? [first] : [first, random.pick(others)];
        const rules = kinds.map((kind) => `${kind}/${random.integer(0, (KINDS[kind]?.length ?? 1) - 1)}`);
        return { public: { topic, rules }, private: {}, key: [topic, ...rules].sort().join(" ") };
      },
    }),
  // Without a length a small model writes until it is cut, and no answer is rewarded.
  prompt: ({ topic, rules }) => {
    const states = rules.map((rule) => ruleOf(rule).states).join(" ");
    return rules.some((rule) => /^(sentences|list)/.test(rule))
      ? `Write about the ${topic}, and name it. ${states}`
      : `Write one short sentence about the ${topic}, and name it. ${states}`;
  },
  score(text, { public: { topic, rules } }) {
    const solved = Number(isAbout(text, topic) && rules.every((rule) => ruleOf(rule).keeps(text.trim())));
    return score(solved, { solved });
  },
  fixtures,
});

export default definePlugin({ name: "formats-environment", environments: [formats] });
