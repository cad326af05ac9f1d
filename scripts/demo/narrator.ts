/** Calm lines: the time, who, its process, what. Colours only for a terminal that wants them. */
import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

export interface Line {
  readonly who: string;
  readonly pid?: number;
  readonly says: string;
  readonly style?: Style;
}

const whoWidth = 9;
const pidWidth = 8;

export function createNarrator(): { line(line: Line): void; text(text: string, style?: Style): void } {
  const since = performance.now();
  return {
    line({ who, pid, says, style = "reset" }) {
      const time = `${((performance.now() - since) / 1_000).toFixed(1)} s`.padStart(7);
      const number = (pid === undefined ? "" : String(pid)).padEnd(pidWidth);
      console.log(`${dim(time)}  ${styleText(style, who.padEnd(whoWidth))} ${dim(number)} ${styleText(style, says)}`);
    },
    text: (text, style = "reset") => console.log(styleText(style, text)),
  };
}

function dim(text: string): string {
  return styleText("dim", text);
}
