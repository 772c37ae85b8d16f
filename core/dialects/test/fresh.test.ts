import { expect, test } from "@jest/globals";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { SessionTable } from "@mrlm/server/sessions";
import { Episode } from "../src/episode.ts";

test("an episode whose conversation starts over is refused: a client would read the old one on", async () => {
  const shown = [textMessage("user", "again")];
  const plugin = definePlugin({
    name: "test",
    environments: [
      {
        id: "summary@1",
        description: "Starts over.",
        determinism: "full",
        create: () => ({
          reset: async () => observe(shown),
          step: async () => ({ ...singleStep({}), observation: { ...observe(shown), isFresh: true } }),
        }),
      },
    ],
  });
  const host = new LocalHost({ source: await PluginHost.of([plugin]) });
  const sessions = new SessionTable(host, {}, silentLogger);
  const { signal } = new AbortController();
  try {
    const episode = await Episode.start(sessions, "test", { environment: { id: "summary@1" } }, signal);
    await expect(episode.act(textMessage("assistant", "a"), signal)).rejects.toMatchObject({
      code: "ROLES_UNSUPPORTED",
    });
    expect(episode.isOver).toBe(true);
  } finally {
    await sessions.stop(0);
    await host.close();
  }
});
