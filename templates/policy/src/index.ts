import { definePlugin, textMessage } from "@mrlm/kit";
import { environment } from "./environment.ts";
import { reverser } from "./policy.ts";

export default definePlugin({
  name: "mrlm-my-policy",
  environments: [environment],
  policies: { "my-policy@1": reverser },
  // `mrlm check` and `pluginContract` play with these observations.
  examples: {
    policies: {
      "my-policy@1": {
        options: { noise: 0.5 },
        observations: [{ messages: [textMessage("user", "abc")] }, { messages: [textMessage("user", "def")] }],
      },
    },
  },
});
