// What the person sees: lines that stay, and below them, on a terminal, lines that are replaced as things move. Elsewhere only what
// lasts is printed.
export class Live {
  readonly #output: NodeJS.WriteStream;
  readonly #since = performance.now();
  #shown: readonly string[] = [];

  constructor(output = process.stdout) {
    this.#output = output;
  }

  get isTerminal(): boolean {
    return this.#output.isTTY === true;
  }

  get colours(): boolean {
    return this.isTerminal && !process.env.NO_COLOR;
  }

  /** Seconds since the demo began. */
  seconds(): string {
    return ((performance.now() - this.#since) / 1000).toFixed(1);
  }

  say(line: string): void {
    this.#erase();
    this.#output.write(`${line}\n`);
    this.#draw();
  }

  /** Replaces what was shown last. */
  show(lines: readonly string[]): void {
    if (!this.isTerminal || lines.join("\n") === this.#shown.join("\n")) return;
    this.#erase();
    this.#shown = lines.map((line) => this.#fitted(line));
    this.#draw();
  }

  /** A step of setting up: says what it is about if it takes longer than two seconds, and how long it took. */
  async step<T>(what: string, work: Promise<T>): Promise<T> {
    const began = performance.now();
    const seconds = () => Math.round((performance.now() - began) / 1000);
    const ticking = setInterval(() => {
      if (seconds() < 2) return;
      if (this.isTerminal) this.show([`  ${what} … ${seconds()} s`]);
      else if (seconds() % 10 === 0) this.say(`  ${what} … ${seconds()} s`);
    }, 1000);
    try {
      return await work;
    } finally {
      clearInterval(ticking);
      this.show([]);
    }
  }

  #draw(): void {
    this.#output.write(this.#shown.map((line) => `${line}\n`).join(""));
  }

  #erase(): void {
    if (this.#shown.length > 0) this.#output.write(`\u001b[${this.#shown.length}A\u001b[J`);
  }

  /** A line that wraps would be erased by half. */
  #fitted(line: string): string {
    const columns = this.#output.columns ?? 120;
    return line.includes("\u001b") || line.length < columns ? line : line.slice(0, columns - 1);
  }
}
