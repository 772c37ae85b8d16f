import { entries, Outside, pathAttempts } from "../../plugins/tool-files/test/support/traversal.ts";
import { PUBLIC, startPrivateNetwork } from "../../plugins/tool-web/test/support/private-network.ts";
import { locationAttempts, urlAttempts } from "../../plugins/tool-web/test/support/ssrf-attempts.ts";
import { resolverTricks, responseTricks, urlTricks } from "../../plugins/tool-web/test/support/ssrf-tricks.ts";

const EXCHANGES = 2_000;

/** Attempts to reach private addresses through the web tool. Needs Linux, which has 127.0.0.2 without configuration. */
export async function ssrfFigures(): Promise<Record<string, number>> {
  const network = await startPrivateNetwork();
  try {
    const { port } = network;
    const target = `http://127.0.0.1:${port}/`;
    const expected = /is not accepted|may be reached|cannot be resolved/;
    const known = new Set<string>();
    const attempt = async (template: string, path?: string): Promise<void> => {
      const url = template.replaceAll("$", String(port));
      if (known.has(url)) return;
      known.add(url);
      const { isThrough, text } = await network.attempt(url, path === undefined ? { expected } : { expected: null });
      if (isThrough) console.error(`through: ${JSON.stringify(url)}: ${text.slice(0, 200)}`);
    };
    for (const template of [...urlAttempts, ...Object.values(urlTricks).flat()]) await attempt(template);
    for (const [i, addresses] of resolverTricks.entries()) {
      network.names[`tricks${i}.test`] = [[...addresses]];
      await attempt(`http://tricks${i}.test:$/`);
    }
    network.names["rebind.test"] = [[PUBLIC], ["127.0.0.1"]];
    await attempt(`http://rebind.test:$/?${new URLSearchParams({ to: `http://rebind.test:${port}/` })}`);
    for (const [name, answer] of Object.entries(responseTricks)) {
      const path = `/trick-${known.size}`;
      network.paths[path] = (_request, response) => answer(response, target);
      await attempt(`http://public.test:$${path}?${new URLSearchParams({ name })}`, path);
    }
    for (const template of locationAttempts) {
      const to = template.replaceAll("$", String(port));
      for (const status of ["301", "303", "308"]) {
        const url = `http://public.test:$/?${new URLSearchParams({ to, status })}`;
        // The rules of WHATWG make this one a path of the same server, which is no refusal.
        await attempt(url, template === "http:127.0.0.1:$/" ? "/" : undefined);
      }
    }
    return { ssrf_attempts: network.attempts.all, ssrf_through: network.attempts.through };
  } finally {
    await network.close();
  }
}

/** Attempts to leave the root of the file tools: paths, entries that another program placed, and exchanges by another thread. */
export async function traversalFigures(): Promise<Record<string, number>> {
  const outside = await Outside.create();
  try {
    for (const path of pathAttempts(outside.path)) await outside.attackPath(path);
    for (const place of Object.values(entries)) await outside.attackEntry(place);
    for (const kind of ["directory", "file"] as const) await outside.attackDuringExchange(kind, EXCHANGES);
    for (const through of outside.through) console.error(`through: ${through}`);
    return { traversal_attempts: outside.attempts, traversal_through: outside.through.length };
  } finally {
    outside.close();
  }
}
