// What the person sees: lines, and below them, on a terminal, the pods as they change. Elsewhere a line for every change.
import type { Pod, Stored } from "@memhog/runtime";

export interface Screen {
  say(line: string): void;
  /** Reads again and again, shows pods if that is what it reads, until it holds. Fails after a minute, and says what it saw last. */
  until<T>(what: string, read: () => Promise<T>, holds: (value: T) => boolean, signal: AbortSignal): Promise<T>;
  seconds(): string;
  stop(): void;
}

const patienceMs = 60_000;

export function startScreen(output = process.stdout): Screen {
  const since = performance.now();
  const seconds = () => ((performance.now() - since) / 1000).toFixed(1);
  const live = new Live(output);
  return {
    seconds,
    say: (line) => live.print(line),
    async until(what, read, holds, signal) {
      const began = performance.now();
      for (;;) {
        signal.throwIfAborted();
        const value = await read();
        const pods = Array.isArray(value) ? podLines(value) : [];
        if (holds(value)) {
          live.show([]);
          live.print([...pods, `  ✓ ${what} (${seconds()} s)`].join("\n"));
          return value;
        }
        live.show(pods);
        if (performance.now() - began > patienceMs)
          throw new Error(`expected within a minute: ${what}; found:\n${pods.join("\n")}`);
        await new Promise((turn) => setTimeout(turn, 50));
      }
    },
    stop: () => live.show([]),
  };
}

function podLines(pods: readonly Stored<Pod>[]): readonly string[] {
  return [...pods]
    .sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))
    .map((pod) => `  ${markOf(pod)} ${pod.metadata.name}`);
}

function markOf({ metadata, status }: Stored<Pod>): string {
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  const ready = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
  return (ready ? "Ready" : (status?.phase ?? "Pending")).padEnd("Terminating".length);
}

/** Lines that are replaced in place on a terminal, and left out elsewhere: there only what lasts is printed. */
class Live {
  readonly #output: NodeJS.WriteStream;
  #shown: readonly string[] = [];

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  print(line: string): void {
    this.#erase();
    this.#output.write(`${line}\n`);
  }

  show(lines: readonly string[]): void {
    if (!this.#output.isTTY || lines.join("\n") === this.#shown.join("\n")) return;
    this.#erase();
    this.#output.write(lines.map((line) => `${line}\n`).join(""));
    this.#shown = lines;
  }

  #erase(): void {
    if (this.#shown.length > 0) this.#output.write(`\u001b[${this.#shown.length}A\u001b[J`);
    this.#shown = [];
  }
}
