import { environmentContract } from "@mrlm/testing";
import plugin from "../summaries.ts";

environmentContract({ plugins: [plugin], environment: "summaries@1" });
