import { describe, test } from "@jest/globals";
import { pluginContract } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { makeWorkspaces, workspacePlugin } from "./support/open-shell.ts";

const workspaces = await makeWorkspaces();

if (typeof workspaces === "string") test.skip(`not here: ${workspaces}`, () => {});
else {
  await workspaces.close();
  pluginContract({ plugins: [plugin, workspacePlugin], registry: { describe, test } });
}
