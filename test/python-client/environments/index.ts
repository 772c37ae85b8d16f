import { definePlugin } from "@mrlm/kit";
import { outcomes } from "./outcomes.ts";
import { relay } from "./relay.ts";

export default definePlugin({ name: "environments-of-python-tests", environments: [relay, outcomes] });
