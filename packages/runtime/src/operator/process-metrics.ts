// What Prometheus' own libraries say about a process, as far as it answers questions about an operator: is it up, since
// when, and what does it cost?

import type { Clock } from "../concurrency/environment.ts";
import type { OperatorMetrics } from "./metrics.ts";
import { Counter, Gauge } from "./prometheus.ts";

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
  gauge("process_resident_memory_bytes", "Memory the process has in RAM", () => process.memoryUsage.rss());
  gauge("process_start_time_seconds", "When the process began, in seconds since 1970", () => startedAt);
  gauge("nodejs_heap_size_used_bytes", "JavaScript objects, living or not yet collected", () => process.memoryUsage().heapUsed);
  new Counter({
    ...{ name: "process_cpu_seconds_total", help: "CPU time used, in user and system mode", registers },
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
}
