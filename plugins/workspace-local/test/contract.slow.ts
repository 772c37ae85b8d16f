import { describe, test } from "@jest/globals";
import { pluginContract } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { missingJail } from "./support/missing-jail.ts";

if (missingJail === undefined) pluginContract({ plugins: [plugin], registry: { describe, test } });
else test.skip(`not here: ${missingJail}`, () => {});
