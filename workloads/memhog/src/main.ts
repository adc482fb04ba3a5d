#!/usr/bin/env node
// memhog: the program that wastes memory on purpose, so that there is something to watch over.
//
//     node src/main.ts --ramp 1Mi/s --to 500Mi
//
//   options.ts    flags → a plan            quantity.ts   50Mi, 1Mi/s
//   schedule.ts   a plan → bytes at a time  memory.ts     bytes that are really resident
//   hog.ts        the loop                  image.ts      the program as an image (not part of it)
//
// It depends on nothing but Node: what it uses beside what it holds is Node's own share, and that is part of every
// figure that a benchmark takes from it.
import { setTimeout as delay } from "node:timers/promises";
import { HogError } from "./errors.ts";
import { help } from "./help.ts";
import { type Environment, run } from "./hog.ts";
import { planOf } from "./options.ts";
import { scheduleOf } from "./schedule.ts";

const system: Environment = {
  monotonic: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}), // it can only be aborted
  print: (line) => console.log(line),
};

/** Aborts when the process is asked to end. As first process of a container nobody else would do it. */
function ending(): AbortSignal {
  const ends = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => ends.abort(signal));
  process.stdout.once("error", () => process.exit()); // whoever was reading has gone: memhog | head
  return ends.signal;
}

try {
  const plan = planOf(process.argv.slice(2));
  if (plan === "help") console.log(help);
  else await run(scheduleOf(plan, system), system, ending());
} catch (error) {
  if (!(error instanceof HogError)) throw error;
  console.error(`memhog: ${error.message}`);
  process.exitCode = error.code === "HOG_NO_MEMORY" ? 1 : 2;
}
