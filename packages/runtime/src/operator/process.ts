// The process of an operator: signals, exit, memory settings and metrics. Passed in, so that tests can send signals and observe exits.

import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Counter, Gauge } from "prom-client";
import type { Cancel, Clock } from "../concurrency/environment.ts";
import type { OperatorMetrics } from "./metrics.ts";

export interface ProcessHooks {
  /** Calls the listener for SIGTERM and SIGINT, with the name of the signal. */
  onStop(listener: (signal: string) => void): Cancel;
  /** Calls the listener for unhandled promise rejections. */
  onUnhandledRejection(listener: (error: unknown) => void): Cancel;
  /** Exits immediately. */
  exit(code: number): void;
  /** Trades CPU time for less memory, from now on. */
  saveMemory?(): void;
}

export function thisProcess(): ProcessHooks {
  return {
    onStop(listener) {
      process.on("SIGTERM", listener);
      process.on("SIGINT", listener);
      return () => {
        process.off("SIGTERM", listener);
        process.off("SIGINT", listener);
      };
    },
    onUnhandledRejection(listener) {
      process.on("unhandledRejection", listener);
      return () => process.off("unhandledRejection", listener);
    },
    exit: (code) => process.exit(code),
    saveMemory,
  };
}

/**
 * Node's young generation starts at 1 MiB and doubles under load: it has 16 MiB after a program is loaded, and up to 32 MiB later.
 * The old generation may double before it is collected. This function empties and shrinks the young generation once, keeps it
 * small, and lets the old generation grow by half at most. Garbage collection then has more and shorter pauses, which suits a
 * process that mostly waits. Call it at startup, because it blocks.
 */
function saveMemory(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  setFlagsFromString("--no-expose-gc");
  const isLarge = () => youngGenerationBytes() > smallBytes;
  // A full collection is nearly always due after a program is loaded. With --optimize-for-size the first or second minor collection
  // triggers it and returns all free memory to the system. The flag is reset, because later such collections would take too long.
  setFlagsFromString("--optimize-for-size");
  for (let tries = 0; tries < 2 && isLarge(); tries += 1) collect({ type: "minor", execution: "sync" });
  setFlagsFromString("--no-optimize-for-size");
  // A last-resort collection always shrinks it, but takes twice as long.
  if (isLarge()) collect({ type: "major", execution: "sync", flavor: "last-resort" });
}

const smallBytes = 2 * 2 ** 20;

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
}

/** Adds the standard process metrics of Prometheus client libraries: memory, start time and CPU. */
export function addProcessMetrics({ registry }: OperatorMetrics, clock: Clock): void {
  const registers = [registry];
  const startedAt = (clock.now() - process.uptime() * 1_000) / 1_000;
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(read());
      },
    });
  gauge("process_resident_memory_bytes", "Resident memory size in bytes", () => process.memoryUsage.rss());
  gauge("process_start_time_seconds", "Start time of the process since the Unix epoch, in seconds", () => startedAt);
  gauge("nodejs_heap_size_used_bytes", "Used size of the JavaScript heap in bytes", () => process.memoryUsage().heapUsed);
  new Counter({
    ...{ name: "process_cpu_seconds_total", help: "Total user and system CPU time in seconds", registers },
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
}
