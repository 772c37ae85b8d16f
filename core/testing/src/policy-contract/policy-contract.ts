import { textMessage } from "@mrlm/kit";
import { outsidePlayer } from "@mrlm/runtime";
import { type JsonObject, type PolicyEpisode, type PolicyExamples, type PolicySource, roleOf } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import { never } from "../contract/play.ts";
import { bindProvision } from "../provision/bind-provision.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";
import { madeBy, type Source } from "../provision/source.ts";
import { policyChecks } from "./policy-checks.ts";

// Each source has options of another type.
// oxlint-disable-next-line typescript/no-explicit-any
type AnySource = PolicySource<any>;

/** Options of the contract suite. */
export interface PolicyContractOptions extends ContractOptions, Omit<PolicyExamples, "options"> {
  /** Makes the source. */
  readonly make: () => AnySource | Promise<AnySource>;
  /** Options of the player; default none. */
  readonly options?: JsonObject;
  /** Episodes that are open at once; default 8. */
  readonly episodes?: number;
}

/**
 * Registers a test for each property of a source of policies: options, valid actions, repeated episodes, separate episodes, abort, close. Policies are called as a
 * host calls them. The tests share one source, and the last one closes it: afterwards no process or handle remains.
 */
export function policyContract(options: PolicyContractOptions): void {
  registerChecks(
    options,
    policyProvisionChecks(
      madeBy(() => options.make()),
      options,
      options,
    ),
  );
}

const QUESTIONS = ["Hello.", "What do you do next?", "And then?"].map((text) => ({
  messages: [textMessage("user", text)],
}));

/** Returns the checks of a source of policies, which share it. */
export function policyProvisionChecks(
  source: Source<AnySource>,
  { options = {}, observations = QUESTIONS }: PolicyExamples,
  { episodes = 8, timeoutMs }: Pick<PolicyContractOptions, "episodes" | "timeoutMs"> = {},
): Check<void>[] {
  return bindProvision(policyChecks, source, {
    timeoutMs,
    async subjectOf({ value, context }) {
      const parsed = await parse(value, typeof options === "function" ? options(context) : options);
      const player = outsidePlayer("tested@1", value, parsed);
      const episode = (seed: number, agent: string): PolicyEpisode => ({
        ...{ environment: "any@1", task: "train/0", role: roleOf(agent), agent },
        ...{ seed, sampling: { temperature: 1, maxTokens: 64 }, signal: never },
      });
      return {
        ...{ source: value, observations, episodes },
        open: (seed, agent = "player") => player.open(episode(seed, agent)),
        openBare: async (seed) => value.open(episode(seed, "player"), parsed),
      };
    },
  });
}

async function parse({ options }: AnySource, given: JsonObject): Promise<unknown> {
  const result = await options?.["~standard"].validate(given);
  if (result?.issues !== undefined)
    throw new Defect("EXAMPLES_INVALID", `The options of the player are refused: ${JSON.stringify(result.issues)}`);
  return result?.value ?? {};
}
