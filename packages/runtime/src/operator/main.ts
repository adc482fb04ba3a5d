// The frame of a program. What people got wrong (a flag, a kubeconfig, a port that is taken) ends it with one line and an exit
// code; a stack would bury the line. What the program got wrong ends it with its stack, as ever.
import { isForeseen } from "../concurrency/coded.ts";
import { FlagError } from "./errors.ts";

/** What a program does, given its command line and its environment. */
export type Work = (argv: readonly string[], env: Readonly<Record<string, string | undefined>>) => Promise<void> | void;

/**
 * Runs a program. The end of a file main.ts:
 *
 *     await main("gordon-operator", async (argv, env) => {
 *       const flags = operatorFlags(argv, { name: "gordon-operator", env });
 *       if (flags.help !== undefined) return console.log(flags.help);
 *       await operator({ name: "gordon-operator", controllers: [gordons], ...flags.options }).run();
 *     });
 */
export async function main(name: string, work: Work): Promise<void> {
  try {
    await work(process.argv.slice(2), process.env);
  } catch (error) {
    if (!isForeseen(error)) throw error;
    console.error(`${name}: ${error.message}`);
    process.exitCode = exitCodeFor(error);
  }
}

/** 2 for a command line that is not understood, as shells and grep have it; 1 for the rest. */
export function exitCodeFor(error: Error): 1 | 2 {
  return error instanceof FlagError ? 2 : 1;
}
