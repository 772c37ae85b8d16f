/** Agent programs in workspaces: `agent@1`. */
import { definePlugin } from "@mrlm/kit";
import { agent } from "./definition.ts";

export default definePlugin({ name: "@mrlm/environment-agent", environments: [agent] });
