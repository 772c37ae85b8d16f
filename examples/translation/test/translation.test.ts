import { environmentContract } from "@mrlm/testing";
import plugin from "../translation.ts";

environmentContract({ plugins: [plugin], environment: "translation@1" });
