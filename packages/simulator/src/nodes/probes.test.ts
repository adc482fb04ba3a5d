import { Pod } from "@memhog/runtime";
import type { Probe } from "@memhog/runtime/kinds";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hollowCluster, isReady, namespace, statusOf } from "./hollow-cluster.fixture.ts";
import { always, between, parseTimeline, probeResults, resultAt, type Timeline } from "./probes.ts";

const second = 1_000;
const probe = (more: object = {}) => ({ exec: { command: ["check"] }, periodSeconds: 1, ...more });
const told = (what: string) => ({ [`simulator.memhog.dev/${what.split(" ")[0]}.main`]: what.slice(what.indexOf(" ") + 1) });

describe("a container with probes", () => {
  it("is ready while its readiness probe succeeds", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("unready", { container: { readinessProbe: probe() }, annotations: told("ready after 3s until 10s") });
    await cluster.clock.advance(20 * second);
    expect(cluster.statuses("unready").slice(3)).toEqual([
      "Running sandbox,initialized | main running unready",
      "Running sandbox,initialized,ready | main running",
      "Running sandbox,initialized | main running unready",
    ]);
    expect(await cluster.events("unready")).toContain("Unhealthy 1 Readiness probe failed: ");
  });

  it("is ready immediately without a readiness probe, regardless of annotations", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("noprobe", { annotations: told("ready never") });
    await cluster.until("noprobe", isReady);
  });

  it("is not started before its startup probe succeeds", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("starts", {
      container: { startupProbe: probe({ failureThreshold: 60 }) },
      annotations: told("started after 5s"),
    });
    await cluster.until("starts", (pod) => statusOf(pod)?.state?.running !== undefined);
    expect(statusOf(await cluster.pod("starts"))).toMatchObject({ started: false, ready: false });
    expect(statusOf(await cluster.until("starts", isReady))).toMatchObject({ started: true, ready: true });
  });

  it("is restarted if its startup probe fails", async () => {
    await using cluster = await hollowCluster();
    const container = { startupProbe: probe({ failureThreshold: 3 }) };
    await cluster.create("stuck", { container, annotations: told("started never") });
    await cluster.until("stuck", (pod) => statusOf(pod)?.restartCount === 1);
    expect(await cluster.events("stuck")).toContain("Killing 1 Container main failed startup probe, will be restarted");
  });

  it("is restarted if its liveness probe fails: twice immediately, then with back-off", async () => {
    await using cluster = await hollowCluster();
    const container = { livenessProbe: probe({ failureThreshold: 2 }) };
    await cluster.create("dies", { container, annotations: told("live until 3s"), spec: { terminationGracePeriodSeconds: 2 } });
    await cluster.clock.advance(25 * second);
    const statuses = cluster.statuses("dies").slice(3);
    expect(statuses.slice(0, 5)).toEqual([
      "Running sandbox,initialized,ready | main running",
      "Running sandbox,initialized | main Completed 0",
      "Running sandbox,initialized,ready | main running ×1",
      "Running sandbox,initialized | main Completed 0 ×1",
      "Running sandbox,initialized,ready | main running ×2",
    ]);
    expect(statuses[5]).toBe("Running sandbox,initialized | main CrashLoopBackOff ×2");
  });

  it("is not ready before all readiness gates of its pod are true", async () => {
    await using cluster = await hollowCluster();
    await cluster.create("gated", { spec: { readinessGates: [{ conditionType: "example.com/in-rotation" }] } });
    await cluster.clock.advance(3 * second);
    const ready = async () => (await cluster.pod("gated")).status?.conditions?.find(({ type }) => type === "Ready");
    expect(await ready()).toMatchObject({
      status: "False",
      reason: "ReadinessGatesNotReady",
      message: 'corresponding condition of pod readiness gate "example.com/in-rotation" does not exist.',
    });
    const body = { status: { conditions: [{ type: "example.com/in-rotation", status: "True" }] } };
    await cluster.client.patch(Pod, { namespace, name: "gated" }, { type: "strategic", body }, { subresource: "status" });
    await cluster.clock.advance(second);
    expect(await ready()).toMatchObject({ status: "True" });
  });
});

describe("probes", () => {
  const readiness = (probe: Probe, answers: Timeline) => probeResults({ probe, answers, initially: false });

  describe("the results of a probe", () => {
    const cases = [
      { name: "a healthy container is ready at the first probe", probe: {}, answers: always, gives: [[0, true]] },
      {
        name: "the first probe waits for initialDelaySeconds",
        probe: { initialDelaySeconds: 5 },
        answers: always,
        gives: [[5_000, true]],
      },
      {
        name: "a change between two probes is found at the next",
        probe: { periodSeconds: 10 },
        answers: between(12_000),
        gives: [[20_000, true]],
      },
      {
        name: "successThreshold requires several successes",
        probe: { periodSeconds: 2, successThreshold: 3 },
        answers: always,
        gives: [[4_000, true]],
      },
      {
        name: "a single failure below failureThreshold does not change the result",
        probe: { periodSeconds: 1 },
        answers: between(0, 5_500),
        gives: [
          [0, true],
          [8_000, false],
        ],
      },
      {
        name: "a short failure does not change the result",
        probe: { periodSeconds: 10, failureThreshold: 3 },
        answers: [
          { fromMs: 0, ok: true },
          { fromMs: 15_000, ok: false },
          { fromMs: 25_000, ok: true },
        ],
        gives: [[0, true]],
      },
      { name: "a probe that never succeeds has no result", probe: {}, answers: between(0, 0), gives: [] },
    ];
    it.each(cases)("$name", ({ probe, answers, gives }) => {
      expect(readiness(probe, answers).map(({ atMs, ok }) => [atMs, ok])).toEqual(gives);
    });

    it("are the same as those of periodic probing", () => {
      const changes = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 5 });
      const thresholds = fc.record({
        periodSeconds: fc.integer({ min: 1, max: 7 }),
        successThreshold: fc.integer({ min: 1, max: 3 }),
        failureThreshold: fc.integer({ min: 1, max: 4 }),
        initialDelaySeconds: fc.integer({ min: 0, max: 9 }),
      });
      fc.assert(
        fc.property(changes, fc.boolean(), thresholds, (seconds, first, probe) => {
          const answers = [0, ...seconds.toSorted((a, b) => a - b)].map((second, at) => ({
            fromMs: second * 1_000,
            ok: (at % 2 === 0) === first,
          }));
          const results = readiness(probe, answers);
          let [holds, run, last] = [false, 0, first];
          for (let ms = probe.initialDelaySeconds * 1_000; ms < 90_000; ms += probe.periodSeconds * 1_000) {
            const ok = answers.findLast(({ fromMs }) => fromMs <= ms)?.ok ?? first;
            run = ok === last ? run + 1 : 1;
            last = ok;
            if (run >= (ok ? probe.successThreshold : probe.failureThreshold)) holds = ok;
            expect(resultAt(results, ms, false)).toBe(holds);
          }
        }),
      );
    });
  });

  describe("parseTimeline", () => {
    it.each([
      { words: "always", gives: [[0, true]] },
      { words: "never", gives: [[0, false]] },
      {
        words: "after 10s",
        gives: [
          [0, false],
          [10_000, true],
        ],
      },
      {
        words: "until 1m",
        gives: [
          [0, true],
          [60_000, false],
        ],
      },
      {
        words: "after 3s until 20s",
        gives: [
          [0, false],
          [3_000, true],
          [20_000, false],
        ],
      },
    ])("$words", ({ words, gives }) => expect(parseTimeline(words)?.map(({ fromMs, ok }) => [fromMs, ok])).toEqual(gives));

    it("returns undefined for an invalid text", () => expect(parseTimeline("sometimes")).toBeUndefined());
  });
});
