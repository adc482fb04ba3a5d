// READMEs that are true: what their consoles show is run, and has to be said.
import { readFile } from "node:fs/promises";

export interface ReadmeStep {
  /** As somebody would type it. */
  readonly command: string;
  /** What it is expected to say, made comparable. */
  readonly says: string;
}

/** The commands of the first ```console of a file. */
export async function stepsIn(path: string): Promise<readonly ReadmeStep[]> {
  const [, text = ""] = /```console\n(.*?)```/s.exec(await readFile(path, "utf8")) ?? [];
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => part.split(/\n(.*)/s, 2))
    .map(([command = "", says = ""]) => ({ command, says: comparable(says) }));
}

/**
 * What two runs and all versions have in common. Seconds differ, and the width of columns with them; newer kubectls say where they
 * delete; older API servers name the type of a value that a rule refuses and not the value.
 */
export function comparable(text: string): string {
  return text
    .replace(/\b\d+(m\d+)?s\b/g, "…")
    .replace(/ from \S+ namespace/g, "")
    .replace(/Invalid value: [^:]+: /g, "Invalid value: …: ")
    .replace(/ +/g, " ")
    .trim();
}
