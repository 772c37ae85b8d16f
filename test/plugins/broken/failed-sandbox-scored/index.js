import { counting } from "../../../../core/testing/fixtures/counting/index.js";

const broken = {
  ...counting,
  id: "counting@1",
  requires: ["sandbox:javascript"],
  create: (context, options) => {
    const environment = counting.create(context, options);
    let next = "";
    return {
      reset: async (given) => {
        const [split, index] = given.task.split("/");
        next = (await context.tasks.get(split, Number(index))).private.next;
        return environment.reset(given);
      },
      step: async (action, rest) => {
        const result = await environment.step(action, rest);
        const answer = action.message.parts.map(({ text = "" }) => text).join("");
        const call = { name: "compare", arguments: [answer, next] };
        const ran = await context
          .sandbox("javascript")
          .run({ code: "function compare(a, b) { return a === b; }", call }, rest)
          // A sandbox that fails states nothing about the answer.
          .catch(() => ({ value: false }));
        const value = Number(ran.value === true);
        return { ...result, rewards: { agent: { scored: true, value, components: {} } } };
      },
    };
  },
};

export default { apiVersion: 1, name: "failed-sandbox-scored", environments: [broken] };
