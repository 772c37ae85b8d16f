/** The part of a transcript that is the model's own answer: without chat markup, thoughts and the turns that follow it. */

const TOKEN =
  /<\|(?:im_end|im_start|endoftext|end_of_text|begin_of_text|eot_id|eom_id|end|end_of_turn|start_header_id|user|assistant|system|endofprompt)\|>|<\/?s>|<(?:start|end)_of_turn>|\[\/?INST\]|<｜[^｜<>]{1,30}｜>/g;
/** The name of a role after the token that opens its turn. */
const ROLE = /^\s*(?:assistant|model|system|user|human)(?:\s*<\|end_header_id\|>|\s*(?=\n)|\s*$)/i;
const OTHER_ROLE = /^\s*(?:system|user|human)\b/i;
const OTHER_ROLE_TOKEN = /^(?:<\|(?:user|system)\|>|\[INST\]|<｜User｜>)$/i;
/** Line that begins the turn of another role, or the next problem of a prompt with examples. */
const NEXT_TURN =
  /\n[ \t]*(?:#{2,3} ?(?:Instruction|Input|User|Human|Problem|Question)\b|(?:\*\*)?(?:Human|User|Instruction|Problem|Question|Q)(?: ?\d{1,3})?(?:\*\*)? ?:)|(?<=\bis correct[.!]?)\s+(?:Problem|Question|User|Human|Q) ?:/gi;
const ANSWERED = /\\(?:boxed|fbox)\b|####|\bI hope (?:it|this|that) is correct\b|\banswer(?:\*\*)?\s*(?:is\b|:|=)/i;

export function ownTurn(text: string): string {
  let source = withoutMarkup(text);
  const thought = source.lastIndexOf("</think>");
  if (thought >= 0) source = source.slice(thought + 8);
  if (!source.includes(":") && !source.includes("#")) return source;
  let from = 0;
  let isAnswered = false;
  NEXT_TURN.lastIndex = 0;
  for (let match = NEXT_TURN.exec(source); match; match = NEXT_TURN.exec(source)) {
    isAnswered ||= ANSWERED.test(source.slice(from, match.index));
    if (isAnswered) return source.slice(0, match.index);
    from = match.index;
  }
  return source;
}

/** Returns the first turn of the model that is not empty. */
function withoutMarkup(text: string): string {
  if (!/[<[]/.test(text)) return text;
  TOKEN.lastIndex = 0;
  let from = 0;
  let opener = "";
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const turn = ofModel(text.slice(from, match.index), opener);
    if (turn !== undefined) return turn;
    from = match.index + match[0].length;
    opener = match[0];
  }
  return from === 0 ? text : (ofModel(text.slice(from), opener) ?? "");
}

function ofModel(content: string, opener: string): string | undefined {
  if (OTHER_ROLE_TOKEN.test(opener)) return undefined;
  const isNamed = /im_start|start_header|start_of_turn/.test(opener);
  if (isNamed && OTHER_ROLE.test(content)) return undefined;
  const turn = isNamed ? content.replace(ROLE, "") : content;
  return turn.replace(/^<\|end_header_id\|>/, "").trim() === "" ? undefined : turn;
}
