#!/usr/bin/env node
// hog: a program that uses memory on purpose, so that there is something to autoscale.
//
//     node src/main.ts --ramp 1Mi/s --to 500Mi
//
//   options.ts    the flags          hog.ts        the memory and the loop
//   image.ts      the hog as a container image and as a pod, for tests and benchmarks (not part of the program)
//
// It depends on nothing but Node, because the memory that dependencies use would be part of every measurement.
import { setTimeout as delay } from "node:timers/promises";
import { type Environment, run, scheduleOf } from "./hog.ts";
import { HogError, help, parseHogFlags } from "./options.ts";

const system: Environment = {
  monotonic: () => performance.now(),
  random: Math.random,
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}), // it rejects only when aborted
  print: (line) => console.log(line),
};

/** Aborts on SIGTERM and SIGINT, which have no default action for the first process of a container. */
function terminationSignal(): AbortSignal {
  const termination = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => termination.abort(signal));
  process.stdout.once("error", () => process.exit()); // the reader has exited: hog | head
  return termination.signal;
}

try {
  const plan = parseHogFlags(process.argv.slice(2));
  if (plan === "help") console.log(help);
  else await run(scheduleOf(plan, system), system, terminationSignal());
} catch (error) {
  if (!(error instanceof HogError)) throw error;
  console.error(`hog: ${error.message}`);
  process.exitCode = error.code === "HOG_NO_MEMORY" ? 1 : 2;
}
