/** The checks' answers as a script. There is no wire, so nothing is said of what was sent. */
import type { scripted as Scripted, ScriptedAnswer } from "../../src/providers/scripted.ts";
import type { PlayedAnswer, PlayModel } from "../../src/testing/conformance/model-fixtures.ts";

export function playScript(scripted: typeof Scripted): PlayModel {
  return async (answers) => {
    let asked = 0;
    const next = (): ScriptedAnswer => {
      asked += 1;
      return answerOf(answers[Math.min(asked, answers.length) - 1] ?? {});
    };
    return { model: scripted([next]), [Symbol.asyncDispose]: async () => undefined };
  };
}

function answerOf(answer: PlayedAnswer): ScriptedAnswer {
  if ("fails" in answer) {
    const { fails, retryAfterMs } = answer;
    return { error: fails, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }
  if ("cutAfter" in answer) return { error: "model-unreachable" };
  if ("silentAfter" in answer) return { text: answer.silentAfter, pauseMs: 3_600_000 };
  const { pieces = 4, ...reply } = answer;
  return { ...reply, pieces };
}
