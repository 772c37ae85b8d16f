import { toChatMessages } from "@mrlm/kit/learning";
import { directoryRenderer, configuredPlugins, PluginHost, type ResolvedConfig, trainedPolicy } from "@mrlm/runtime";
import { type JsonObject, type Observation, roleOf } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import { promptText } from "../console/prompt-text.ts";
import type { RenderOptions } from "../declarations/render.ts";
import { openEnvironments, unlessLost } from "../services/environments.ts";
import { namedEnvironment } from "../services/rollout-session.ts";
import { rolloutSessionConfig } from "../services/rollout-session-config.ts";
import { modelFetcher } from "../services/stored-models.ts";

/** Prints a task's first prompt as the model receives it: as text and as tokens. Starts no engine. */
export async function render(context: CommandContext, args: RenderOptions): Promise<void> {
  const { console, directory } = context;
  const split = args.task.split("/")[0] as string;
  const {
    config: found,
    loaded,
    path: configPath,
    overrides,
    modelDirectory,
    notice,
  } = await rolloutSessionConfig({ ...args, split }, modelFetcher(context));
  const config: ResolvedConfig = { ...found, server: { ...found.server, spawn: false } };
  if (notice !== undefined) console.note(`note: ${notice}`);
  const { model } = trainedPolicy(found);
  // An adapter renders as its base model.
  const { renderer, maxPositions } = directoryRenderer(model.path ?? modelDirectory, model);
  const { options } = args;
  const plugins = await PluginHost.discover({
    directory,
    logger: lineLogger((line) => console.note(line)),
    ...configuredPlugins(loaded),
  });
  try {
    const environments = await openEnvironments({
      config,
      configPath,
      overrides,
      directory,
      plugins,
      json: console.json,
      ...(options === undefined ? {} : { dataDirectory: directory }),
      notice: (line) => console.note(`note: ${line}`),
    });
    try {
      const { ref, description, known } = await namedEnvironment(environments.host, config, args.environment, options);
      const observation = await unlessLost(environments.lost, firstObservation());
      const { messages, tools, agent } = observation;
      const { policy } = trainedPolicy(found);
      const player = known?.players?.[roleOf(agent)];
      if (player !== undefined && !("policy" in player && player.policy === policy))
        console.note(`note: the first turn is that of ${agent}, which ${policy} does not play in this configuration`);
      const { tokens } = renderer.render(messages, tools);
      const maxTokens = config.sampling.max_tokens;
      const prompt = {
        environment: ref.id,
        task: args.task,
        agent,
        text: renderer.decode(tokens),
        tokens: Array.from(tokens),
        pieces: Array.from(tokens, (id) => renderer.decode(Int32Array.of(id))),
        max_positions: maxPositions ?? null,
        max_tokens: maxTokens,
      };
      console.print(promptText(prompt, args.ids === true));
      console.emit({
        event: "prompt",
        ...prompt,
        messages: JSON.parse(JSON.stringify(messages.flatMap(toChatMessages))) as JsonObject[],
      });

      async function firstObservation(): Promise<Observation> {
        const session = await environments.host.open(ref);
        try {
          return await session.reset({
            task: args.task as `${string}/${number}`,
            ...(description.determinism === "none" ? {} : { seed: config.seed }),
            signal: new AbortController().signal,
          });
        } finally {
          await session.close();
        }
      }
    } finally {
      await environments.stop();
    }
  } finally {
    await plugins.close();
  }
}
