// Progress of long-running work. Work of less than two seconds is not mentioned; longer work is shown with its duration: on a terminal
// as one line that is updated, in a log as a line every ten seconds.
//
//     const path = await progress.during("building etcd 3.7.3", () => build());
//
// Progress goes to stderr, because stdout is for results.
import type { Writable } from "node:stream";

export interface Progress {
  /** Runs the work and reports progress. `detail` sets a text that changes, such as "12 of 120 MB". */
  during<T>(what: string, work: (detail: (text: string) => void) => Promise<T>): Promise<T>;
  /** Prints one line at once. */
  say(line: string): void;
}

/** Prints nothing. */
export const silent: Progress = {
  during: (_what, work) => work(() => {}),
  say: () => {},
};

/** Where lines go, such as `process.stderr`. */
export type Screen = Pick<Writable, "write"> & { readonly isTTY?: boolean; readonly columns?: number };

/** Prints progress to a terminal or a log. */
export function progressOn(screen: Screen = process.stderr): Progress {
  return new Reporter(screen);
}

const quietSeconds = 2;
const logEverySeconds = 10;

interface Step {
  readonly what: string;
  readonly since: number;
  detail: string;
  /** The second of the next line in a log. Timers drift, so counting ticks would skip lines. */
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
    // Unreferenced, because progress must not keep the process alive.
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

  /** Rewrites the last line of the terminal, cut to its width, because a wrapped line cannot be rewritten. */
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
