import { commands } from "./commands.ts";
import { gymnasium } from "./gymnasium.ts";
import { openenv } from "./openenv.ts";
import type { Rows } from "./row.ts";
import { verifiers } from "./verifiers.ts";

export const nemoGym: Rows = {
  "`SimpleResourcesServer` with `seed_session`, `verify`": gymnasium["`gymnasium.Env`"] as Rows[string],
  "`GymnasiumServer` with `reset`, `step`": verifiers[
    "`MultiTurnEnv` with `env_response`, `is_completed`"
  ] as Rows[string],
  "a row of JSONL with `responses_create_params`": verifiers[
    "`SingleTurnEnv(dataset=..., rubric=...)`"
  ] as Rows[string],
  "routes of tools, `POST /{tool}`": verifiers["`ToolEnv(tools=[...])`"] as Rows[string],
  "`reward`, `reward_components`": verifiers["`Rubric(funcs=[...], weights=[...])`"] as Rows[string],
  "`mask_sample`, `failure_kind`": gymnasium["`reward` is a number"] as Rows[string],
  "`JudgeError`, models as judges": verifiers["`JudgeRubric`"] as Rows[string],
  "`responses_api_agents`, `responses_api_models`": commands.evalEndpoint,
  "`gym env init`": commands.create,
  "`gym env test`": commands.check,
  "`gym env start`": openenv["`create_fastapi_app(env, ...)`, a container for each environment"] as Rows[string],
};
