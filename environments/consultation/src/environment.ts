import {
  type Action,
  anyTask,
  type EnvironmentContext,
  type JudgedTurn,
  messageText,
  type Observation,
  type ResetOptions,
  type SimulatedEnvironment,
  type StepResult,
  type Task,
  taskById,
} from "@mrlm/kit";
import { CONDITIONS } from "./conditions.ts";
import { diagnosisIn } from "./language.ts";
import type { ConsultationOptions } from "./options.ts";
import { answerTo, openingOf, questionTo } from "./prompts.ts";
import type { PrivateCase, PublicCase } from "./tasks.ts";

const ROLES = ["doctor", "patient"] as const;

/** Consultation: the doctor asks, the patient answers, and the doctor ends with a diagnosis. A judge then scores both. */
export class ConsultationEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext<PublicCase, PrivateCase>;
  readonly #options: ConsultationOptions;
  #task!: Task<PublicCase, PrivateCase>;
  #turns: JudgedTurn[] = [];

  constructor(context: EnvironmentContext<PublicCase, PrivateCase>, options: ConsultationOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed = 0, task = anyTask(this.#context, seed) }: ResetOptions): Promise<Observation> {
    this.#task = await taskById(this.#context.tasks, task);
    this.#turns = [];
    return { agent: "doctor", messages: [openingOf(this.#task.public, this.#options)] };
  }

  async step(
    { agent, message, finishReason }: Action,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<StepResult> {
    if (finishReason === "exhausted") return this.#end(signal, agent);
    this.#turns.push({ agent, message });
    const text = messageText(message);
    const answered = this.#turns.filter((turn) => turn.agent === "patient").length;
    if (agent === "patient") {
      const isLast = answered === this.#options.questions;
      return observed({ agent: "doctor", messages: [answerTo(text, this.#options, isLast)] });
    }
    if (diagnosisIn(text, this.#options, answered === this.#options.questions) !== undefined) return this.#end(signal);
    const question = questionTo(text, this.#task.public, this.#options, answered === 0);
    return observed({ agent: "patient", messages: [question] });
  }

  /** @param exhausted agent whose context is full, if that is the reason. The consultation is judged as it stands */
  async #end(signal: AbortSignal, exhausted?: string): Promise<StepResult> {
    const { judge, judge_options: given, style, questions, conditions } = this.#options;
    const { complaint } = this.#task.public;
    const { condition } = this.#task.private;
    const { rewards } = await this.#context.judge(judge).judge(
      {
        question: `A doctor questions a patient, who reports ${complaint}, and makes a diagnosis. The right one is ${CONDITIONS[condition - 1]?.name}.`,
        turns: this.#turns,
        agents: ROLES,
        task: this.#task,
        options: judge.startsWith("consultation@") ? { style, questions, conditions, ...given } : { ...given },
      },
      { signal },
    );
    return {
      observation: { agent: "", messages: [] },
      rewards,
      terminated: Object.fromEntries(ROLES.map((role) => [role, role !== exhausted])),
      truncated: Object.fromEntries(ROLES.map((role) => [role, role === exhausted])),
    };
  }
}

function observed(observation: Observation): StepResult {
  return { observation, rewards: {}, terminated: {}, truncated: {} };
}
