import { operator } from "@memhog/runtime";
import { manualClock } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { anApp, anIntent, aRecord } from "../model/observed-app.fixture.ts";
import { aPlan } from "../model/plan.fixture.ts";
import { emptyRecord, type Plan } from "../model/plan.ts";
import { appRef } from "../observe/app-of.ts";
import { memhogMetrics } from "./metrics.ts";

function counting() {
  const clock = manualClock();
  const age = { ms: undefined as number | undefined };
  const unseen = new Map<string, number>();
  const metrics = memhogMetrics({ clock, newestSampleAgeMs: () => age.ms, unseenPods: () => unseen });
  const { registry } = operator({ name: "test", controllers: [], metrics: metrics.own }).metrics;
  const lines = async () =>
    (await registry.metrics()).split("\n").filter((line) => /^memhog_/.test(line) && !/_bucket/.test(line));
  return { clock, age, unseen, metrics, lines };
}
const { app } = anApp();
const intent = anIntent();
const settled = (outcome: "Applied" | "Refused"): Plan => aPlan({ settled: [{ intent, outcome }] });

describe("metrics", () => {
  it("count decisions by reason, raises by method and outcome, OOM kills and commands", async () => {
    const { metrics, lines } = counting();
    metrics.planned(app, emptyRecord, aPlan({ record: aRecord({ oomKills: 2 }) }));
    metrics.planned(app, emptyRecord, settled("Refused"));
    metrics.executed([
      { command: { do: "resize", intent, resourceVersion: "1", step: "limits" }, outcome: "refused", message: "" },
    ]);
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'memhog_decisions_total{decision="hold",reason="BelowThreshold",namespace="demo",app="Deployment/memhog"} 2',
        'memhog_resizes_total{method="InPlace",outcome="Refused",namespace="demo",app="Deployment/memhog"} 1',
        'memhog_oom_kills_total{namespace="demo",app="Deployment/memhog"} 2',
        'memhog_commands_total{command="resize",outcome="refused"} 1',
      ]),
    );
  });

  it("S3: have series of their own for 500 apps, share one beyond that, and forget apps that are gone", async () => {
    const { metrics, lines } = counting();
    const named = (at: number) => ({ ...app, name: `app-${at}` });
    for (let at = 0; at < 600; at += 1) metrics.planned(named(at), emptyRecord, aPlan({ record: aRecord({ oomKills: 1 }) }));
    const kills = async () => (await lines()).filter((line) => line.startsWith("memhog_oom_kills_total{"));
    expect(await kills()).toHaveLength(501);
    expect(await kills()).toContain('memhog_oom_kills_total{namespace="",app=""} 100');
    metrics.forget(appRef(named(7)));
    expect((await lines()).filter((line) => line.includes('"Deployment/app-7"'))).toEqual([]);
    metrics.planned(named(599), emptyRecord, aPlan({ record: aRecord({ oomKills: 1 }) }));
    expect(await kills()).toContain('memhog_oom_kills_total{namespace="demo",app="Deployment/app-599"} 1');
  });

  it("M6: count pods without samples by namespace, in at most 101 series", async () => {
    const { unseen, lines } = counting();
    for (let shop = 100; shop < 300; shop += 1) unseen.set(`shop-${shop}`, 2);
    const series = (await lines()).filter((line) => line.startsWith("memhog_pods_without_samples"));
    expect(series).toHaveLength(101);
    expect(series[0]).toBe('memhog_pods_without_samples{namespace="shop-100"} 2');
    expect(series.at(-1)).toBe('memhog_pods_without_samples{namespace=""} 200');
    unseen.clear();
    expect((await lines()).filter((line) => line.startsWith("memhog_pods_without_samples"))).toEqual([]);
  });

  it("contain query outcomes and the age of the newest sample, which is NaN without a sample", async () => {
    const { metrics, lines, age } = counting();
    expect(await lines()).toContain("memhog_sample_age_seconds Nan");
    metrics.polled({ outcome: "answered", durationMs: 20, samples: 3 });
    age.ms = 12_500;
    expect(await lines()).toEqual(
      expect.arrayContaining([
        'memhog_prometheus_queries_total{outcome="answered"} 1',
        "memhog_samples 3",
        "memhog_sample_age_seconds 12.5",
      ]),
    );
  });

  it("measure the time from the sample to the confirmed limit once per raise", async () => {
    const { metrics, lines, clock } = counting();
    const begun = aPlan({ record: aRecord({ intents: [intent] }) }); // its sample is 2 s old
    metrics.planned(app, emptyRecord, begun);
    await clock.advance(5_000);
    clock.stepWallClock(3_600_000);
    const confirmed = aPlan({ record: aRecord({ intents: [anIntent({ limitsApplied: true })] }) });
    metrics.planned(app, begun.record, confirmed);
    metrics.planned(app, confirmed.record, settled("Applied"));
    expect(await lines()).toEqual(
      expect.arrayContaining(["memhog_sample_to_applied_seconds_sum 7", "memhog_sample_to_applied_seconds_count 1"]),
    );
  });

  it("do not measure raises that started before a restart or did not succeed", async () => {
    const { metrics, lines } = counting();
    metrics.planned(app, aRecord({ intents: [intent] }), settled("Applied"));
    metrics.planned(app, emptyRecord, aPlan({ record: aRecord({ intents: [intent] }) }));
    metrics.planned(app, aRecord({ intents: [intent] }), settled("Refused"));
    expect(await lines()).toContain("memhog_sample_to_applied_seconds_count 0");
  });

  it("have no label with the name of a pod or an app", async () => {
    const { metrics, lines } = counting();
    metrics.planned(app, emptyRecord, { ...settled("Applied"), record: aRecord({ intents: [intent] }) });
    expect((await lines()).join()).not.toMatch(/memhog-1|pod-1/);
  });
});
