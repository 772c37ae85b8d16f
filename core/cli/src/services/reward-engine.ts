import { connectEngine } from "@mrlm/client";
import { type PluginHost, RewardModels } from "@mrlm/runtime";

/** Provider of the engine of a command whose configuration names none. */
const PROVIDER = "torch";

/** Gives reward models of the plugins an engine of their own, for commands that hold no other. It is started at the first score, and stopped with the plugins. */
export function startRewardEngine(plugins: PluginHost, note: (line: string) => void): void {
  const open = async () => {
    const provider = await plugins.engine(PROVIDER);
    note("starting the engine of the reward model (loading torch)");
    const launched = await provider.launch({ mode: "deterministic", notice: note });
    const engine = await connectEngine(launched.address, { token: launched.token }).catch(async (error: unknown) => {
      await launched.stop();
      throw error;
    });
    return {
      engine,
      async close() {
        await engine.close();
        await launched.stop();
      },
    };
  };
  plugins.useRewardModels(new RewardModels(open));
}
