import { AGENT_CODES } from "./agent-codes.ts";
import { BRIDGE_CODES } from "./bridge-codes.ts";
import { ENDPOINT_CODES } from "./endpoint-codes.ts";
import { ENGINE_CODES } from "./engine-codes.ts";
import { PLUGIN_CODES } from "./plugin-codes.ts";
import { SAMPLER_CODES } from "./sampler-codes.ts";
import { STORE_CODES } from "./store-codes.ts";
import { TOOL_CODES } from "./tool-codes.ts";

interface CodeEntry {
  /** Condition under which the error is raised, as a sentence. */
  readonly meaning: string;
  /** Default hint: the action that solves the problem. */
  readonly hint: string;
  readonly retryable: boolean;
}

/** All codes, by their subject and then in alphabetical order. docs/reference/errors.md is generated from this table, and a test compares both. */
export const ERROR_CODES = {
  ADDRESS_INSECURE: {
    meaning: "A server that other machines can reach would start without a token or without TLS.",
    hint: "Give --token-file, --tls-cert and --tls-key; or --insecure on a network that you trust.",
    retryable: false,
  },
  ALGORITHM_INVALID: {
    meaning: "An algorithm broke its contract with the run, for example by a batch that its plan does not have.",
    hint: "Report this to the author of the algorithm.",
    retryable: false,
  },
  CALL_OUT_OF_ORDER: {
    meaning: "A numbered call reached the engine after a later one.",
    hint: "Use one controlling client for each engine.",
    retryable: false,
  },
  CANCELLED: {
    meaning: "The caller cancelled the work before its end.",
    hint: "No action is needed if the cancellation was intended.",
    retryable: false,
  },
  CASES_UNFIT: {
    meaning:
      "The cases of `mrlm improve` cannot show a gain: they are too few, or their scorer pays for answers that solve nothing.",
    hint: "Do what the message names.",
    retryable: false,
  },
  CHECKPOINT_INCOMPLETE: {
    meaning: "A checkpoint lacks files or their checksums differ.",
    hint: "Resume from an earlier checkpoint; `mrlm train --resume RUN` takes the newest complete one.",
    retryable: false,
  },
  CHECKPOINT_MISMATCH: {
    meaning: "A checkpoint belongs to another configuration.",
    hint: "Resume with the configuration that the run directory holds.",
    retryable: false,
  },
  CONFIG_INVALID: {
    meaning: "A configuration has an unknown key or a value that cannot work.",
    hint: "Correct the named key.",
    retryable: false,
  },
  CONFIG_NOT_FOUND: { meaning: "A configuration file does not exist.", hint: "Check the path.", retryable: false },
  DATA_FORBIDDEN: {
    meaning: "An option names a file outside of the folder that the server's operator shares.",
    hint: "Put the file there, and name it relative to that folder.",
    retryable: false,
  },
  DATA_INVALID: {
    meaning: "A row of a data file is not of the documented form.",
    hint: "Correct the named line.",
    retryable: false,
  },
  DEADLINE_EXCEEDED: {
    meaning: "A phase of an environment took longer than its deadline.",
    hint: "Raise the deadline of that phase or make the environment quicker.",
    retryable: true,
  },
  DEMONSTRATION_REFUSED: {
    meaning: "A demonstration was requested outside the training split, or the environment has none.",
    hint: "Ask for tasks of the `train` split of an environment with demonstrations.",
    retryable: false,
  },
  DEPENDENCY_MISSING: {
    meaning: "An optional package of npm is not installed.",
    hint: "Install the package that the message names.",
    retryable: false,
  },
  DIRECTORY_OCCUPIED: {
    meaning: "A checkpoint or an export would replace a directory that mrlm did not write.",
    hint: "Name a directory that does not exist, or move what is there.",
    retryable: false,
  },
  ENVIRONMENT_FAILED: {
    meaning:
      "An environment threw, returned something malformed, differed when a branch repeated its episode, ended its worker process, or was withdrawn after it had ended five of them.",
    hint: "The message names the environment and its fault; its author must repair it.",
    retryable: false,
  },
  ENVIRONMENT_NOT_FOUND: {
    meaning: "No environment has that name.",
    hint: "`mrlm info` lists those that are.",
    retryable: false,
  },
  EPISODE_ENDED: {
    meaning: "A step came after the episode had ended, or before any reset.",
    hint: "Call reset first.",
    retryable: false,
  },
  EPISODE_NOT_FOUND: {
    meaning: "A run or a file has kept no episodes.",
    hint: "Set `output.trajectories: true` to keep the episodes of a run.",
    retryable: false,
  },
  GRADIENT_SHAPE: {
    meaning: "A gradient does not have one number for each masked position.",
    hint: "Return arrays as long as the outputs.",
    retryable: false,
  },
  GRAPH_LOST: {
    meaning: "The graph of a micro-batch was released before its gradients arrived.",
    hint: "The engine computes it again by itself.",
    retryable: true,
  },
  INTERNAL: {
    meaning: "A fault in mrlm itself.",
    hint: "Please report it with the message and the stack.",
    retryable: false,
  },
  JOIN_REFUSED: {
    meaning: "A machine does not fit the run of several machines that it tries to join.",
    hint: "Use the same configuration and the same version of mrlm on all machines, and another --node-rank on each.",
    retryable: false,
  },
  JOIN_TIMEOUT: {
    meaning: "The machines of a run did not find each other in time.",
    hint: "Start `mrlm train` on machine 0 and `mrlm join --node-rank N` on each other one; check distributed.master_addr, distributed.master_port and firewalls; distributed.join_seconds is how long they wait.",
    retryable: false,
  },
  LORA_UNAVAILABLE: {
    meaning: "The configuration uses LoRA, and peft is not installed.",
    hint: "Run `mrlm engine setup --extra lora`.",
    retryable: false,
  },
  MEMORY_INSUFFICIENT: {
    meaning: "A run was estimated to need more memory than there is.",
    hint: "Do one of the things that the message names, or set `engine.check_memory: false` to try anyway.",
    retryable: false,
  },
  MESSAGE_INVALID: {
    meaning: "A message of the protocol lacks something or holds a value that it must not.",
    hint: "Update the older of client and server, or correct the caller.",
    retryable: false,
  },
  MODEL_DIRECTORY_INVALID: {
    meaning: "A directory is not a Hugging Face model.",
    hint: "It needs config.json, weights as safetensors, and tokenizer.json.",
    retryable: false,
  },
  MODEL_DIRECTORY_MISSING: {
    meaning: "A model directory does not exist.",
    hint: "Check the path. A model of the Hugging Face Hub is named `hub:ORG/NAME`.",
    retryable: false,
  },
  MODEL_DOWNLOAD_FAILED: {
    meaning: "A model of the Hugging Face Hub could not be fetched, or the disk has no room for a model.",
    hint: "Check the name, the network, HF_TOKEN and HF_ENDPOINT.",
    retryable: false,
  },
  MODEL_NOT_FOUND: { meaning: "The engine holds no model of that id.", hint: "Create it first.", retryable: false },
  NORMALIZER_INVALID: {
    meaning: "A normalizer is not a finite number above zero.",
    hint: "An empty batch has no gradient: skip it.",
    retryable: false,
  },
  NOT_TRAINABLE: {
    meaning: "A frozen model was used in training.",
    hint: "Create it with `trainable: true`.",
    retryable: false,
  },
  OFF_POLICY: {
    meaning: "The weights that learn are further from those that played than `play.max_kl` permits.",
    hint: "Lower play.lag or learning_rate, and resume from a checkpoint before; or raise play.max_kl.",
    retryable: false,
  },
  OPTIONS_INVALID: { meaning: "Options do not fit their schema.", hint: "Correct the named option.", retryable: false },
  ORIGIN_REFUSED: {
    meaning: "A request to an HTTP server names a host, or comes from a web page, that is not of this machine.",
    hint: "Use the address that the server listens on.",
    retryable: false,
  },
  OUTPUT_INVALID: {
    meaning: "No file can be made at the path that was named for results. No work began.",
    hint: "Name a directory in which you may write.",
    retryable: false,
  },
  OUT_OF_MEMORY: {
    meaning: "Memory ran out, and the work cannot be done in smaller parts.",
    hint: "Lower model.micro_batch_tokens or sampling.max_sequence_tokens, or set model.gradient_checkpointing.",
    retryable: false,
  },
  PORT_IN_USE: {
    meaning: "A server's port is taken.",
    hint: "Choose another: --port (0: any free one), or distributed.master_port.",
    retryable: false,
  },
  PROTOCOL_VERSION: {
    meaning: "Client and server use different major versions of a protocol.",
    hint: "Update the older one.",
    retryable: false,
  },
  PYTHON_NOT_FOUND: {
    meaning: "No suitable Python was found.",
    hint: "Install Python 3.10 to 3.13 or set MRLM_PYTHON to its path.",
    retryable: false,
  },
  PYTHON_VERSION: {
    meaning: "The Python that was found is too old or too new.",
    hint: "Install Python 3.10 to 3.13 or set MRLM_PYTHON to its path.",
    retryable: false,
  },
  REQUIREMENT_MISSING: {
    meaning: "Something that an environment requires is provided by no plugin.",
    hint: "Install a plugin that provides it.",
    retryable: false,
  },
  REQUIREMENT_UNDECLARED: {
    meaning: "An environment requested a service from its context that it does not declare.",
    hint: "Add it to `requires`.",
    retryable: false,
  },
  RESOURCE_EXHAUSTED: {
    meaning: "A server is at its capacity.",
    hint: "Try again after the delay, or raise the limits.",
    retryable: true,
  },
  ROLES_UNSUPPORTED: {
    meaning: "An environment has several agents, and the protocol of the client has one.",
    hint: "Use a client of the gRPC protocol.",
    retryable: false,
  },
  RUN_IN_USE: {
    meaning: "Another process is training the run.",
    hint: "Wait for it to end, or end it; a run that was killed can be resumed at once.",
    retryable: false,
  },
  RUN_NOT_FOUND: {
    meaning: "A path is neither a run directory nor a checkpoint of one.",
    hint: "Give the directory that `mrlm train` printed.",
    retryable: false,
  },
  SANDBOX_FAILED: {
    meaning: "A sandbox failed by itself; the submission has no verdict.",
    hint: "Try again; if it persists, see `mrlm info`.",
    retryable: true,
  },
  SANDBOX_UNSAFE: {
    meaning: "Untrusted code would run without an operating-system jail on a server that others can reach.",
    hint: "Install bubblewrap, listen on loopback only, or pass --unsafe-sandbox.",
    retryable: false,
  },
  SCORER_FAILED: {
    meaning: "A scorer or judge failed; the answer has no score.",
    hint: "The reward is unscored and counted.",
    retryable: false,
  },
  SCORER_REFERENCE_INVALID: {
    meaning: "The scorer cannot read the correct answer of a task, or cannot compare it with itself.",
    hint: "The reward is unscored and counted. Correct the answer in the data of the task; the message states the reason.",
    retryable: false,
  },
  SEED_REFUSED: {
    meaning: "A seed was given to an environment that cannot honour one.",
    hint: "Leave the seed out.",
    retryable: false,
  },
  SEQUENCE_INVALID: {
    meaning: "A sequence, mask or token id cannot be used by the model.",
    hint: "The message names the position.",
    retryable: false,
  },
  SEQUENCE_TOO_LONG: {
    meaning: "A sequence is longer than the model's positions.",
    hint: "Shorten the prompt or lower the token limit.",
    retryable: false,
  },
  SERVER_UNAVAILABLE: {
    meaning: "The environment server cannot be reached.",
    hint: "Check that it runs and that its address is right.",
    retryable: true,
  },
  SESSION_BUSY: {
    meaning: "A session was called while it was still working on an earlier call.",
    hint: "Wait for the answer first.",
    retryable: false,
  },
  SESSION_NOT_FOUND: {
    meaning:
      "A session does not exist (any more): its lease ended, it was closed, its worker process ended, or the server was restarted.",
    hint: "Start the episode again.",
    retryable: false,
  },
  SETUP_DOWNLOAD_FAILED: {
    meaning: "A package could not be downloaded.",
    hint: "Check the network, the proxy settings and pip's index.",
    retryable: true,
  },
  SETUP_FAILED: {
    meaning: "The engine's Python environment could not be made.",
    hint: "Read the quoted log.",
    retryable: false,
  },
  STEP_OUT_OF_ORDER: {
    meaning: "A step's epoch or index is not the one that comes next.",
    hint: "Use one client for each session.",
    retryable: false,
  },
  TASK_NOT_FOUND: {
    meaning: "A task id names no task of the environment.",
    hint: "Use `split/index` with an index below the split's size.",
    retryable: false,
  },
  TASK_NOT_SUPPORTED: {
    meaning: "A task was requested from an environment without enumerable tasks.",
    hint: "Leave the task out.",
    retryable: false,
  },
  TLS_FAILED: {
    meaning:
      "A client and a server cannot agree on an encrypted connection: one of them uses no TLS, or does not accept the certificate of the other.",
    hint: "Correct the certificate or the `tls` options that the message names.",
    retryable: false,
  },
  TOKENIZER_INVALID: {
    meaning: "A tokenizer cannot be loaded or lacks what its chat template needs.",
    hint: "Check tokenizer.json and tokenizer_config.json.",
    retryable: false,
  },
  TOKENIZER_MISMATCH: {
    meaning: "A model that reads the token ids of a policy has another tokenizer.",
    hint: "Name a model whose tokenizer.json has the same tokens under the same ids: usually one of the same family.",
    retryable: false,
  },
  TRACKER_FAILED: {
    meaning: "A tracker failed during a run, which continues without it.",
    hint: "metrics.jsonl in the run directory has everything.",
    retryable: false,
  },
  TRACKER_UNAVAILABLE: {
    meaning: "A tracker lacks something without which it cannot start.",
    hint: "The message names it; or take the tracker out of `trackers`.",
    retryable: false,
  },
  UNAUTHENTICATED: {
    meaning: "A call carries no valid token.",
    hint: "Give the token that the server or engine was started with.",
    retryable: false,
  },
  USAGE: {
    meaning: "A command was given arguments that it does not take.",
    hint: "See `mrlm --help`.",
    retryable: false,
  },
  VALUE_HEAD_MISSING: {
    meaning: "Values were requested from a model without a value head.",
    hint: "Create it with `valueHead: true`.",
    retryable: false,
  },
  WRITE_FAILED: {
    meaning: "A file could not be written: the disk is full, or rights are missing.",
    hint: "Make room on the disk or correct the rights; files that were written before are complete.",
    retryable: false,
  },
  ...AGENT_CODES,
  ...BRIDGE_CODES,
  ...ENDPOINT_CODES,
  ...ENGINE_CODES,
  ...PLUGIN_CODES,
  ...SAMPLER_CODES,
  ...STORE_CODES,
  ...TOOL_CODES,
} as const satisfies Record<string, CodeEntry>;
