import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PluginHost } from "@mrlm/runtime";
import { MrlmError, type Sandbox } from "@mrlm/spec";
import { type HostileProgram, readCorpora } from "@mrlm/testing";

const root = new URL("../../../", import.meta.url);
/** The kinds of each plugin that has more than one, by options. */
const KINDS: Readonly<Record<string, readonly string[]>> = { "@mrlm/sandbox-python": ["pyodide", "native"] };

/** One kind of sandbox, and the hostile programs that are known for its language. */
export interface Soaked {
  readonly name: string;
  readonly sandbox: Sandbox;
  readonly corpus: readonly HostileProgram[];
}

/** Opens every kind of every installed sandbox. Kinds that this machine lacks are reported. */
export async function openSandboxes(): Promise<{ readonly soaked: readonly Soaked[]; close(): Promise<void> }> {
  const directory = fileURLToPath(root);
  const hosts: PluginHost[] = [];
  const soaked: Soaked[] = [];
  const { entries } = (await PluginHost.discover({ directory })).registry;
  for (const { name: plugin, provides } of entries) {
    for (const provision of provides.filter((each) => each.startsWith("sandbox:"))) {
      const language = provision.slice("sandbox:".length);
      for (const kind of KINDS[plugin] ?? [undefined]) {
        const host = await PluginHost.discover({
          directory,
          ...(kind === undefined ? {} : { plugins: { [plugin]: { kind } } }),
        });
        hosts.push(host);
        const name = kind ?? language;
        const sandbox = await host.service("sandbox", language, "the soak").catch((error: Error) => error);
        if (!(sandbox instanceof Error)) soaked.push({ name, sandbox, corpus: corpusOf(language) });
        else if (MrlmError.isInstance(sandbox)) console.error(`without ${name}: ${sandbox.message}`);
        else throw sandbox;
      }
    }
  }
  return { soaked, close: async () => void (await Promise.all(hosts.map((host) => host.close()))) };
}

function corpusOf(language: string): HostileProgram[] {
  const folder = new URL(`plugins/sandbox-${language}/test/hostile/`, root);
  return existsSync(folder) ? readCorpora(folder).flatMap(({ programs }) => programs) : [];
}
