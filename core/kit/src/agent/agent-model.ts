import { MrlmError, type RoleId } from "@mrlm/spec";
import { listen, listenAt } from "./listener.ts";
import { bodyTooLarge, type ProgramCalls } from "./program-calls.ts";
import type { AgentModel } from "./types.ts";

/** Address that no name server knows (RFC 6761, section 6.4): a client that ignores `fetch` fails at once. */
const BASE_URL = "http://mrlm.invalid/v1";

/** Returns the model of a role. @param calls answers its requests */
export function agentModel(calls: ProgramCalls, role: RoleId): AgentModel {
  return {
    name: role,
    baseURL: BASE_URL,
    apiKey: calls.apiKey,
    role(id) {
      requireRole(calls.roles, id);
      return agentModel(calls, id);
    },
    async listen(socket) {
      if (socket !== undefined) await listenAt(calls, socket.socketPath);
      const baseURL = socket === undefined ? await listen(calls) : (socket.baseURL ?? "http://localhost/v1");
      const { apiKey } = calls;
      return {
        baseURL,
        env: {
          OPENAI_BASE_URL: baseURL,
          OPENAI_API_KEY: apiKey,
          // Clients of Anthropic add the version themselves.
          ANTHROPIC_BASE_URL: baseURL.slice(0, -"/v1".length),
          ANTHROPIC_API_KEY: apiKey,
        },
      };
    },
    async fetch(input, init) {
      const request = new Request(input, init);
      if (!request.url.startsWith(`${BASE_URL}/`))
        throw new TypeError(`The fetch of the model answers requests to ${BASE_URL} alone, not ${request.url}.`);
      return calls.handle({
        method: request.method,
        path: request.url.slice(BASE_URL.length).split("?", 1)[0] as string,
        headers: request.headers,
        signal: init?.signal ?? request.signal,
        async text(maxBytes) {
          const text = await request.text();
          if (Buffer.byteLength(text) > maxBytes) throw bodyTooLarge(maxBytes);
          return text;
        },
      });
    },
  };
}

/** Throws PLUGIN_INVALID for a role that an environment does not have. */
export function requireRole(roles: readonly RoleId[], id: RoleId): void {
  if (!roles.includes(id))
    throw new MrlmError("PLUGIN_INVALID", `The environment has no role "${id}". Its roles: ${roles.join(", ")}.`);
}
