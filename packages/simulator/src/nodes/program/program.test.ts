import type { Container } from "@memhog/runtime";
import { aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { crossingAfter, usageAt } from "../memory/model.ts";
import { type ProgramOf, programFor } from "./program.ts";
import type { Complaint } from "./told.ts";

const mib = (count: number) => count * 1024 * 1024;

function program(container: Partial<Container>, annotations: Record<string, string> = {}, programOf?: ProgramOf) {
  const complaints: Complaint[] = [];
  const whole = { name: "main", image: "example.com/main:1", ...container };
  const pod = aPod({ metadata: { annotations }, spec: { containers: [whole] } });
  const made = programFor(pod, whole, { programOf, seed: 1, onComplaint: (complaint) => complaints.push(complaint) });
  return { ...made, complaints };
}

describe("what a container does", () => {
  it("is to run quietly, and to stop when asked to, if nobody says anything", () => {
    const { memory, end, stop, ready } = program({ image: "nginx" });
    expect({ bytes: usageAt(memory, 0), end, stop, ready }).toEqual({
      bytes: mib(1),
      end: undefined,
      stop: { afterMs: 100, exitCode: 0 },
      ready: [{ fromMs: 0, ok: true }],
    });
  });

  const commands: readonly { readonly command: readonly string[]; readonly end: readonly [number, number] | undefined }[] = [
    { command: ["sleep", "100"], end: [100_000, 0] },
    { command: ["/bin/true"], end: [0, 0] },
    { command: ["false"], end: [0, 1] },
    { command: ["sh", "-c", "sleep 2; exit 3"], end: [2_000, 3] },
    { command: ["/bin/sh", "-c", "echo hello && sleep 0.5 && exit"], end: [500, 0] },
    { command: ["sh", "-c", "sleep 1; exec sleep 4"], end: [5_000, 0] },
    { command: ["sh", "-c", "while true; do sleep 0.2; done"], end: undefined },
    { command: ["sh", "-c", "touch /tmp/ok; some-server --port 80"], end: undefined },
    { command: ["sh", "-c", "tail /dev/zero"], end: undefined },
    { command: ["some-server"], end: undefined },
  ];
  it.each(commands)("is what $command does", ({ command, end }) => {
    const found = program({ command }).end;
    expect(found && [found.afterMs, found.exitCode]).toEqual(end);
  });

  it("is not to hear SIGTERM, for a shell without a trap", () => {
    expect(program({ command: ["sleep", "100"] }).stop).toBeUndefined();
    const trapped = ["sh", "-c", "trap 'sleep 1; exit 4' TERM; while true; do sleep 1; done"];
    expect(program({ command: trapped }).stop).toEqual({ afterMs: 1_000, exitCode: 4 });
  });

  it("is to hold what it writes to memory", () => {
    const fill = ["sh", "-c", "sleep 1; dd if=/dev/zero of=/dev/shm/x bs=1M count=20; exec sleep 100"];
    const { memory } = program({ command: fill });
    expect([usageAt(memory, 500), usageAt(memory, 1_000)]).toEqual([mib(0.25), mib(20.25)]);
  });

  it("is to eat everything, for tail /dev/zero", () => {
    const { memory } = program({ command: ["sh", "-c", "sleep 1; tail /dev/zero"] });
    expect(crossingAfter(memory, { limit: mib(64), fromMs: 0, untilMs: 60_000 })).toBeGreaterThan(1_000);
  });

  it.each([
    {
      given: { image: "quay.io/metral/memhog:v0.0.1", args: ["--ramp", "1Mi/s", "--to", "500Mi"] },
      at: 9_000,
      gives: mib(11.5 + 9),
    },
    { given: { command: ["/memhog", "--ramp=2Mi/s", "--to=8Mi"] }, at: 9_000, gives: mib(11.5 + 8) },
  ])("is the workload of memhog: $given", ({ given, at, gives }) => expect(usageAt(program(given).memory, at)).toBe(gives));

  it.each([
    { given: { image: "memhog/memhog:dev", args: ["--ramp", "fast"] }, end: { afterMs: 0, exitCode: 2 } },
    { given: { image: "memhog/memhog:dev", args: ["--rampe", "1Mi/s"] }, end: { afterMs: 0, exitCode: 2 } },
    { given: { command: ["/memhog"], args: ["500Mi"] }, end: { afterMs: 0, exitCode: 2 } },
    { given: { image: "memhog/memhog:dev", args: ["--help"] }, end: { afterMs: 0, exitCode: 0 } },
    { given: { image: "memhog/memhog:dev", args: ["--hold"] }, end: undefined },
    { given: { image: "memhog/memhog:dev", command: ["node", "--jitless", "main.js", "--hold"] }, end: undefined },
    { given: { image: "memhog/memhog:dev", command: ["sh", "-c", "sleep 5"] }, end: undefined },
    { given: { command: ["some-server", "--ramp", "up", "--port", "80"] }, end: undefined },
  ])("is to end at once as memhog does, if its flags say so: $given", ({ given, end }) =>
    expect(program(given).end).toEqual(end),
  );

  it("is what annotations say, rather than what the command does", () => {
    const annotations = {
      "simulator.memhog.dev/memory.main": "ramp 1Mi/s to 500Mi",
      "simulator.memhog.dev/exit.main": "after 5s with 1",
      "simulator.memhog.dev/stop.main": "never",
      "simulator.memhog.dev/ready.main": "after 3s until 20s",
      "simulator.memhog.dev/memory.other": "5Mi",
    };
    const { memory, end, stop, ready } = program({ command: ["sleep", "1"] }, annotations);
    expect({ bytes: usageAt(memory, 4_000), end, stop, changes: ready.map(({ fromMs }) => fromMs) }).toEqual({
      bytes: mib(4),
      end: { afterMs: 5_000, exitCode: 1 },
      stop: undefined,
      changes: [0, 3_000, 20_000],
    });
  });

  it("is what a function of the test says, before all else and question by question", () => {
    const { memory, end } = program(
      { command: ["sleep", "1"] },
      { "simulator.memhog.dev/memory.main": "5Mi", "simulator.memhog.dev/exit.main": "after 9s" },
      () => ({ memory: "7Mi" }),
    );
    expect([usageAt(memory, 0), end]).toEqual([mib(7), { afterMs: 9_000, exitCode: 0 }]);
  });

  it("is not changed by words that mean nothing, which are complained about", () => {
    const { memory, complaints } = program(
      {},
      { "simulator.memhog.dev/memory.main": "lots", "simulator.memhog.dev/exit.main": "soon" },
    );
    expect(usageAt(memory, 0)).toBe(mib(1));
    expect(complaints.map(({ annotation }) => annotation)).toEqual([
      "simulator.memhog.dev/memory.main",
      "simulator.memhog.dev/exit.main",
    ]);
  });
});
