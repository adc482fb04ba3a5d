// What a command needs of the world: where its output goes, and the environment.
import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

interface Screen {
  write(text: string): boolean;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Terminal {
  /** For what was asked for: a script may read it. */
  readonly out: Screen;
  /** For everything else. */
  readonly err: Screen;
  readonly env: NodeJS.ProcessEnv;
}

/** Colours for people only: not in a pipe, and not where NO_COLOR is set. */
export function paint(style: Style, text: string, { out, env }: Terminal): string {
  return out.isTTY === true && !env.NO_COLOR ? styleText(style, text, { validateStream: false }) : text;
}

/** What people type to get here: an npm script has its own way of passing arguments on. */
export function ownName({ env }: Terminal): string {
  return env.npm_lifecycle_event === "localcluster" ? "npm run localcluster --" : "localcluster";
}

export function say({ out }: Terminal, ...lines: readonly string[]): void {
  for (const line of lines) out.write(`${line}\n`);
}
