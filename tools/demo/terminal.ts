// Terminal output of the demo: lines that stay, and below them, on a terminal, a live area that is redrawn in place. When the output
// is not a terminal, only the lines that stay are printed.
import { stripVTControlCharacters } from "node:util";

export class Terminal {
  readonly #output: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #live: readonly string[] = [];

  constructor(output = process.stdout) {
    this.#output = output;
  }

  get isTTY(): boolean {
    return this.#output.isTTY === true;
  }

  get colors(): boolean {
    return this.isTTY && !process.env.NO_COLOR;
  }

  get columns(): number {
    return this.#output.columns ?? 100;
  }

  /** Seconds since the demo started. */
  elapsed(): string {
    return ((performance.now() - this.#startedAt) / 1000).toFixed(1);
  }

  print(line: string): void {
    this.#erase();
    this.#output.write(`${line}\n`);
    this.#draw();
  }

  /** Prints text wrapped to the width of the terminal, every line indented. */
  printWrapped(text: string, indent: number): void {
    for (const line of wrap(text, this.columns - indent)) this.print(" ".repeat(indent) + line);
  }

  /** Replaces the live area. */
  redraw(lines: readonly string[]): void {
    if (!this.isTTY || lines.join("\n") === this.#live.join("\n")) return;
    this.#erase();
    this.#live = lines;
    this.#draw();
  }

  /** Waits for a setup step. Shows the elapsed seconds if it takes longer than two. */
  async step<T>(what: string, work: Promise<T>): Promise<T> {
    const began = performance.now();
    const seconds = () => Math.round((performance.now() - began) / 1000);
    const ticking = setInterval(() => {
      if (seconds() < 2) return;
      if (this.isTTY) this.redraw([`  ${what} … ${seconds()} s`]);
      else if (seconds() % 10 === 0) this.print(`  ${what} … ${seconds()} s`);
    }, 1000);
    try {
      return await work;
    } finally {
      clearInterval(ticking);
      this.redraw([]);
    }
  }

  #draw(): void {
    this.#output.write(this.#live.map((line) => `${line}\n`).join(""));
  }

  /** Moves up by rows, not lines: a line can take several rows after the terminal was made narrower. */
  #erase(): void {
    const rows = this.#live.reduce((sum, line) => sum + rowsOf(line, this.columns), 0);
    if (rows > 0) this.#output.write(`\u001b[${rows}A\u001b[J`);
  }
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns));
}

export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
