// Says what takes long. Work that ends within two seconds is never mentioned; anything longer shows what it is and for how
// long it has been going on: one line that counts the seconds on a terminal, a line every ten seconds in a log.
//
//     const path = await progress.during("building etcd 3.7.3", () => build());
//
// Progress goes to stderr: stdout belongs to what a command was asked for.
import type { Writable } from "node:stream";

export interface Progress {
  /** Runs the work, and says how it is getting on. `detail` adds a word that changes, such as "12 of 120 MB". */
  during<T>(what: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T>;
  /** One line, at once: for what a person should know even if it was quick. */
  say(line: string): void;
}

/** Says nothing at all. */
export const silent: Progress = {
  during: (_what, work) => work(() => {}),
  say: () => {},
};

/** Where lines go; `process.stderr` is one. */
export type Screen = Pick<Writable, "write"> & { readonly isTTY?: boolean; readonly columns?: number };

/** Progress for people: on a terminal, or in a log. */
export function progressOn(screen: Screen = process.stderr): Progress {
  return new Reporter(screen);
}

const quietSeconds = 2;
const logEverySeconds = 10;

interface Step {
  readonly what: string;
  readonly since: number;
  detail: string;
  /** The second at which a log hears of it next. Ticks drift, so "every tenth tick" would skip some. */
  nextLine: number;
}

class Reporter implements Progress {
  readonly #screen: Screen;
  readonly #steps = new Set<Step>();
  #ticking: NodeJS.Timeout | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  say(line: string): void {
    this.#erase();
    this.#screen.write(`${line}\n`);
  }

  async during<T>(what: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T> {
    const step: Step = { what, since: performance.now(), detail: "", nextLine: quietSeconds };
    this.#begin(step);
    let outcome = "failed after";
    try {
      const result = await work((text) => {
        step.detail = text;
      });
      outcome = "done in";
      return result;
    } finally {
      this.#end(step);
      if (seconds(step) >= quietSeconds) this.say(`${what}: ${outcome} ${seconds(step)} s`);
    }
  }

  #begin(step: Step): void {
    this.#steps.add(step);
    // Unreferenced: showing the time is no reason to keep a process alive.
    this.#ticking ??= setInterval(() => this.#tick(), 1000).unref();
  }

  #end(step: Step): void {
    this.#steps.delete(step);
    if (this.#steps.size > 0) return;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #tick(): void {
    const slow = [...this.#steps].filter((step) => seconds(step) >= quietSeconds);
    if (slow.length === 0) return;
    if (this.#screen.isTTY) this.#draw(slow.map(describe).join(", "));
    else this.#log(slow);
  }

  #log(slow: readonly Step[]): void {
    for (const step of slow.filter((each) => seconds(each) >= each.nextLine)) {
      this.say(`${describe(step)} …`);
      step.nextLine = seconds(step) + logEverySeconds;
    }
  }

  /** Rewrites the last line of the terminal, cut to its width: a line that wraps could not be rewritten. */
  #draw(line: string): void {
    const width = Math.max(20, (this.#screen.columns ?? 80) - 1);
    this.#erase();
    this.#screen.write(line.length > width ? `${line.slice(0, width - 1)}…` : line);
  }

  #erase(): void {
    if (this.#screen.isTTY) this.#screen.write("\r\u001b[K");
  }
}

function describe(step: Step): string {
  return `${step.what}${step.detail && ` (${step.detail})`}: ${seconds(step)} s`;
}

/** Whole seconds since the step began. */
function seconds({ since }: Step): number {
  return Math.floor((performance.now() - since) / 1000);
}
