/** Cases of other tools' evaluations: `cases@1`. */
import { definePlugin } from "@mrlm/kit";
import { cases } from "./environment.ts";

export default definePlugin({ name: "@mrlm/environment-cases", environments: [cases] });
