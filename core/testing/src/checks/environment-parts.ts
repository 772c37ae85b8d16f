import type { PartsOf } from "../check/plugin-part.ts";
import { bindChecks, bindTogether } from "../check/plugin-part.ts";
import { startingOptions } from "../contract/starting-options.ts";
import { makeSubject, type Subject } from "../contract/subject.ts";
import { roleChecks } from "../contract/role-checks.ts";
import { sessionChecks } from "../contract/session-checks.ts";
import { transportCheck } from "../contract/transport-check.ts";
import { taskChecks } from "../contract/task-checks.ts";
import { inProcess, overGrpc, type Transport } from "../transports.ts";
import { contractChecks, failureChecks, firstChecks, playChecks } from "./environment-checks.ts";
import { openingChecks } from "./opening-checks.ts";

/** Returns the environments of a plugin, with the checks of {@link environmentContract} in their order: the cheapest and most general first. */
export const environmentParts: PartsOf = ({ plugin, plugins, directory, attack = {} }) =>
  (plugin.environments ?? []).map((definition) => {
    const subject = (transport: Transport) => async () => ({
      ...(await makeSubject(plugins, definition.id, transport, await startingOptions(definition))),
      directory,
    });
    const [local, remote] = [subject(inProcess), subject(overGrpc())];
    const close = (made: Subject): Promise<void> => made.close();
    return {
      subject: `environment:${definition.id}`,
      acknowledged: definition.acknowledged,
      checks: [
        ...bindChecks(openingChecks, local, close),
        ...bindTogether(contractChecks(definition), local, close),
        ...bindTogether(firstChecks, local, close),
        ...bindTogether(playChecks(attack), local, close),
        ...bindChecks(failureChecks, local, close),
        {
          code: "TRANSPORTS_DIFFER",
          name: "gives the same bytes over gRPC",
          run: () => transportCheck([local, remote]),
        },
        // Fixtures have the same bytes over gRPC: that was checked before.
        ...bindTogether([...sessionChecks, ...taskChecks, ...roleChecks(definition)], remote, close).map((check) => ({
          ...check,
          name: `${check.name}, over gRPC`,
          quick: false,
        })),
      ],
    };
  });
