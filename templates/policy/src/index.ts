import { definePlugin } from "@mrlm/kit";
import { environment } from "./environment.ts";
import { repeater } from "./policy.ts";

export default definePlugin({
  name: "mrlm-my-policy",
  environments: [environment],
  policies: { "my-policy@1": repeater },
});
