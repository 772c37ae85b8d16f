import { algorithmProvisionChecks } from "../algorithm-contract/algorithm-contract.ts";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import type { PartsOf, PluginPart } from "../check/plugin-part.ts";
import { judgeProvisionChecks } from "../judge-contract/judge-contract.ts";
import { policyProvisionChecks } from "../policy-contract/policy-contract.ts";
import { bindProvision } from "../provision/bind-provision.ts";
import type { Source } from "../provision/source.ts";
import { workspaceProvisionChecks } from "../workspace-contract/workspace-contract.ts";
import { sandboxProvisionChecks } from "../sandbox-contract/sandbox-contract.ts";
import { scorerProvisionChecks } from "../scorer-contract/scorer-contract.ts";
import { toolChecks } from "../tool-contract/tool-contract.ts";
import { type ExampleKind, idsOf } from "./example-checks.ts";
import { pluginSource } from "./plugin-source.ts";

const ASKER = "The check";

/** Returns the scorers, judges, tools, sandboxes, workspaces, policies and algorithms of a plugin, with the checks of their contracts. */
export const provisionParts: PartsOf = (subject) => {
  const { plugin } = subject;
  const { examples = {}, acknowledged } = plugin;
  const parts: Record<string, readonly Check<void>[]> = {};
  for (const id of idsOf(plugin.scorers)) {
    const [own, source] = [examples.scorers?.[id], pluginSource(subject, (host) => host.service("scorer", id, ASKER))];
    parts[`scorer:${id}`] = own ? scorerProvisionChecks(source, own) : withoutExamples("scorers", id, source);
  }
  for (const id of idsOf(plugin.judges)) {
    const [own, source] = [examples.judges?.[id], pluginSource(subject, (host) => host.service("judge", id, ASKER))];
    parts[`judge:${id}`] = own ? judgeProvisionChecks(source, own) : withoutExamples("judges", id, source);
  }
  for (const id of idsOf(plugin.tools)) {
    const [own, source] = [examples.tools?.[id], pluginSource(subject, (host) => host.service("tool", id, ASKER))];
    parts[`tool:${id}`] = own ? toolChecks(source, own) : withoutExamples("tools", id, source);
  }
  for (const id of idsOf(plugin.sandboxes))
    parts[`sandbox:${id}`] = sandboxProvisionChecks(
      pluginSource(subject, (host) => host.service("sandbox", id, ASKER)),
    );
  for (const id of idsOf(plugin.workspaces))
    parts[`workspace:${id}`] = workspaceProvisionChecks(
      pluginSource(subject, (host) => host.service("workspace", id, ASKER)),
    );
  for (const id of idsOf(plugin.policies)) {
    const source = pluginSource(subject, (host) => host.policy(id));
    parts[`policy:${id}`] = policyProvisionChecks(source, examples.policies?.[id] ?? {});
  }
  for (const algorithm of plugin.algorithms ?? []) {
    const { id } = algorithm;
    const own = examples.algorithms?.[id];
    parts[`algorithm:${id}`] = own ? algorithmProvisionChecks(algorithm, own) : withoutExamples("algorithms", id);
  }
  return Object.entries(parts).map(([name, checks]): PluginPart => ({ subject: name, checks, acknowledged }));
};

/** Returns the checks of a provision without examples: that it can be made and closed, and the warning. */
function withoutExamples(kind: ExampleKind, id: string, source?: Source<unknown>): Check<void>[] {
  const run = async (): Promise<never> => {
    throw new Defect("EXAMPLES_MISSING", `\`examples.${kind}\` of the plugin lacks "${id}".`);
  };
  const made = source === undefined ? [] : bindProvision([], source, { subjectOf: () => undefined });
  return [...made, { code: "EXAMPLES_MISSING", name: "has examples", run }];
}
