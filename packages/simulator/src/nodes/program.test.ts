import type { Container } from "@memhog/runtime/kinds";
import { aPod } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { crossingAfter, usageAt } from "./memory-model.ts";
import { type AnnotationError, type ProgramOf, programFor } from "./program.ts";

const mib = (count: number) => count * 1024 * 1024;

function program(container: Partial<Container>, annotations: Record<string, string> = {}, programOf?: ProgramOf) {
  const errors: AnnotationError[] = [];
  const whole = { name: "main", image: "example.com/main:1", ...container };
  const pod = aPod({ metadata: { annotations }, spec: { containers: [whole] } });
  const made = programFor(pod, whole, { programOf, seed: 1, onAnnotationError: (error) => errors.push(error) });
  return { ...made, errors };
}

describe("programOf", () => {
  it("runs until SIGTERM by default", () => {
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
  it.each(commands)("ends as $command does", ({ command, end }) => {
    const found = program({ command }).end;
    expect(found && [found.afterMs, found.exitCode]).toEqual(end);
  });

  it("ignores SIGTERM in a shell without a trap", () => {
    expect(program({ command: ["sleep", "100"] }).stop).toBeUndefined();
    const trapped = ["sh", "-c", "trap 'sleep 1; exit 4' TERM; while true; do sleep 1; done"];
    expect(program({ command: trapped }).stop).toEqual({ afterMs: 1_000, exitCode: 4 });
  });

  it("counts files written to memory", () => {
    const fill = ["sh", "-c", "sleep 1; dd if=/dev/zero of=/dev/shm/x bs=1M count=20; exec sleep 100"];
    const { memory } = program({ command: fill });
    expect([usageAt(memory, 500), usageAt(memory, 1_000)]).toEqual([mib(0.25), mib(20.25)]);
  });

  it("uses memory without bound for tail /dev/zero", () => {
    const { memory } = program({ command: ["sh", "-c", "sleep 1; tail /dev/zero"] });
    expect(crossingAfter(memory, { limit: mib(64), fromMs: 0, untilMs: 60_000 })).toBeGreaterThan(1_000);
  });

  it.each([
    {
      given: { image: "quay.io/metral/memhog:v0.0.1", args: ["--ramp", "1Mi/s", "--to", "500Mi"] },
      at: 9_000,
      gives: mib(11.5 + 9),
    },
    { given: { command: ["/hog", "--ramp=2Mi/s", "--to=8Mi"] }, at: 9_000, gives: mib(11.5 + 8) },
  ])("recognizes the hog: $given", ({ given, at, gives }) => expect(usageAt(program(given).memory, at)).toBe(gives));

  it.each([
    { given: { image: "memhog/hog:dev", args: ["--ramp", "fast"] }, end: { afterMs: 0, exitCode: 2 } },
    { given: { image: "memhog/hog:dev", args: ["--rampe", "1Mi/s"] }, end: { afterMs: 0, exitCode: 2 } },
    { given: { command: ["/hog"], args: ["500Mi"] }, end: { afterMs: 0, exitCode: 2 } },
    { given: { image: "memhog/hog:dev", args: ["--help"] }, end: { afterMs: 0, exitCode: 0 } },
    { given: { image: "memhog/hog:dev", args: ["--hold"] }, end: undefined },
    { given: { image: "memhog/hog:dev", command: ["node", "--jitless", "main.js", "--hold"] }, end: undefined },
    { given: { image: "memhog/hog:dev", command: ["sh", "-c", "sleep 5"] }, end: undefined },
    { given: { command: ["some-server", "--ramp", "up", "--port", "80"] }, end: undefined },
  ])("exits immediately exactly when the hog does: $given", ({ given, end }) => expect(program(given).end).toEqual(end));

  it("follows annotations rather than the command", () => {
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

  it("follows the function of the test first, property by property", () => {
    const { memory, end } = program(
      { command: ["sleep", "1"] },
      { "simulator.memhog.dev/memory.main": "5Mi", "simulator.memhog.dev/exit.main": "after 9s" },
      () => ({ memory: "7Mi" }),
    );
    expect([usageAt(memory, 0), end]).toEqual([mib(7), { afterMs: 9_000, exitCode: 0 }]);
  });

  it("reports and ignores invalid annotations", () => {
    const { memory, errors } = program(
      {},
      { "simulator.memhog.dev/memory.main": "lots", "simulator.memhog.dev/exit.main": "soon" },
    );
    expect(usageAt(memory, 0)).toBe(mib(1));
    expect(errors.map(({ annotation }) => annotation)).toEqual([
      "simulator.memhog.dev/memory.main",
      "simulator.memhog.dev/exit.main",
    ]);
  });
});
