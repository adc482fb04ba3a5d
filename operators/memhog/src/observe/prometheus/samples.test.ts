import { manualClock } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { answeredAtMs } from "./answers.fixture.ts";
import { type Life, type RawPoint, SampleStore, shortId } from "./samples.ts";

const web = { namespace: "shop", pod: "web", container: "main" };
const longAgo = { id: undefined, startedAtMs: answeredAtMs - 3_600_000 };
const at = (...points: readonly (readonly [ageSeconds: number, value: string])[]): readonly RawPoint[] =>
  points.map(([age, value]) => [answeredAtMs / 1000 - age, value]);

function store(...series: readonly (readonly RawPoint[])[]) {
  const clock = manualClock({ now: answeredAtMs });
  const samples = new SampleStore(clock, answeredAtMs);
  for (const each of series) samples.add("WorkingSet", web, each);
  const seen = (life: Life = longAgo) => {
    const found = samples.of("WorkingSet", web, life);
    return { bad: found.bad, samples: found.samples.map(({ bytes, ageMs }) => [ageMs / 1000, bytes]) };
  };
  return { clock, samples, seen };
}

describe("samples", () => {
  it("are given with their age, oldest first", () => {
    expect(store(at([25, "100"], [12.5, "200"])).seen()).toEqual({
      bad: 0,
      samples: [
        [25, 100],
        [12.5, 200],
      ],
    });
  });

  it("M2: missing data is not zero", () => {
    expect(store().seen()).toEqual({ bad: 0, samples: [] });
    expect(store(at([5, "1"])).samples.of("WorkingSet", { ...web, container: "side" }, longAgo)).toEqual({ bad: 0, samples: [] });
  });

  it.each(["NaN", "+Inf", "-Inf", "-1", "1e300", "", "many"])("M2: %s is counted and ignored", (bad) => {
    expect(store(at([20, "100"], [10, bad], [5, "300"])).seen()).toEqual({
      bad: 1,
      samples: [
        [20, 100],
        [5, 300],
      ],
    });
  });

  it("M2: a sample from the future is counted and ignored; a clock that is a little ahead is forgiven", () => {
    expect(store(at([5, "100"], [-11, "900"])).seen()).toEqual({ bad: 1, samples: [[5, 100]] });
    expect(store(at([5, "100"], [-9, "200"])).seen()).toEqual({
      bad: 0,
      samples: [
        [5, 100],
        [0, 200],
      ],
    });
  });

  it("M3: of several series of one container the largest counts, per timestamp, and never the sum", () => {
    const { seen, samples } = store(at([20, "100"], [10, "50"]), at([20, "70"], [15, "60"], [10, "80"]), at([30, "1"]));
    expect(seen().samples).toEqual([
      [30, 1],
      [20, 100],
      [15, 60],
      [10, 80],
    ]);
    expect(samples.size).toBe(4);
  });

  it("M3: what is older than the container is of the one before its restart", () => {
    const { seen } = store(at([60, "900"], [30.5, "900"], [29.5, "900"], [28, "100"]));
    // The API says when a container was started to the second: 30 s ago may be 29.01 s ago.
    expect(seen({ id: undefined, startedAtMs: answeredAtMs - 30_000 })).toEqual({ bad: 3, samples: [[28, 100]] });
  });

  it("M3: a series that names its container is believed, whatever the times: the first sample is older than the start", () => {
    const { samples, seen } = store();
    samples.add("WorkingSet", web, at([30.5, "10"], [20, "100"]), "mine");
    samples.add("WorkingSet", web, at([30.2, "900"], [20, "900"], [5, "900"]), "of-the-one-before");
    samples.add("WorkingSet", web, at([20, "110"]), "mine");
    expect(seen({ id: "mine", startedAtMs: answeredAtMs - 30_000 })).toEqual({
      bad: 3,
      samples: [
        [30.5, 10],
        [20, 110],
      ],
    });
  });

  it.each([
    { text: `containerd://${"5f0c".repeat(16)}`, id: "5f0c5f0c5f0c" },
    { text: `/kubepods/burstable/pod12ab34cd-0000-4000-8000-000000000000/${"5f0c".repeat(16)}`, id: "5f0c5f0c5f0c" },
    { text: `/kubepods.slice/kubepods-pod1_2.slice/cri-containerd-${"5f0c".repeat(16)}.scope`, id: "5f0c5f0c5f0c" },
    { text: "k8s_main_web_shop_1", id: undefined },
    { text: undefined, id: undefined },
  ])("know a container by $text", ({ text, id }) => expect(shortId(text)).toBe(id));

  it("M3: a container that does not run has no samples", () => {
    expect(store(at([10, "100"])).samples.of("WorkingSet", web, undefined)).toEqual({ bad: 1, samples: [] });
  });

  it("M5: they age by the monotonic clock, whatever the wall clock does", async () => {
    const { clock, seen } = store(at([10, "100"]));
    clock.stepWallClock(3_600_000);
    await clock.advance(7_000);
    expect(seen().samples).toEqual([[17, 100]]);
    clock.stepWallClock(-7_200_000);
    expect(seen().samples).toEqual([[17, 100]]);
  });

  it.each([
    { name: "fast", offMs: 3_600_000, is: { bad: 0, samples: [[3610, 100]] } },
    { name: "slow", offMs: -3_600_000, is: { bad: 1, samples: [] } },
  ])("M5: without a Date, a wall clock that is $name makes no sample fresh", ({ offMs, is }) => {
    const samples = new SampleStore(manualClock({ now: answeredAtMs + offMs }), undefined);
    samples.add("WorkingSet", web, at([10, "100"]));
    const { bad, samples: found } = samples.of("WorkingSet", web, longAgo);
    expect({ bad, samples: found.map(({ bytes, ageMs }) => [ageMs / 1000, bytes]) }).toEqual(is);
  });

  it("of the usage stand in where there is no working set, and not the other way round", () => {
    const { samples } = store();
    samples.add("Usage", web, at([10, "100"]));
    samples.add("WorkingSet", { ...web, pod: "other" }, at([10, "50"]));
    expect(samples.of("WorkingSet", web, longAgo).samples).toHaveLength(1);
    expect(samples.of("Usage", { ...web, pod: "other" }, longAgo).samples).toHaveLength(0);
  });

  it("T1: of a pod of the same name in another namespace are not mixed in", () => {
    const { samples, seen } = store(at([10, "100"]));
    samples.add("WorkingSet", { ...web, namespace: "bank" }, at([10, "900"], [5, "900"]));
    expect(seen().samples).toEqual([[10, 100]]);
  });
});

describe("series that say which container they are of", () => {
  const now = { id: "now", startedAtMs: answeredAtMs - 13_000 };
  const bytesOf = (samples: SampleStore) => samples.of("WorkingSet", web, now).samples.map(({ bytes }) => bytes);

  it("count from the first moment, even before the second in which the API says it was started", () => {
    const { samples } = store();
    samples.add("WorkingSet", web, at([14, "2"], [2, "120"]), "now");
    expect(bytesOf(samples)).toEqual([2, 120]);
  });

  it("T2: win over series that do not, which anybody who is scraped can make up", () => {
    const { samples } = store();
    samples.add("WorkingSet", web, at([9, "900"], [4, "900"]));
    expect(bytesOf(samples)).toEqual([900, 900]);
    samples.add("WorkingSet", web, at([14, "900"]), "before");
    expect(bytesOf(samples)).toEqual([900, 900]);
    samples.add("WorkingSet", web, at([9, "100"], [2, "120"]), "now");
    expect(bytesOf(samples)).toEqual([100, 120]);
  });

  it("M2: do not win if all their samples are invalid", () => {
    const { samples } = store();
    samples.add("WorkingSet", web, at([9, "100"]));
    samples.add("WorkingSet", web, at([9, "NaN"]), "now");
    expect(bytesOf(samples)).toEqual([100]);
  });

  it("M3: samples of the container before the restart are ignored, however recent", () => {
    const { samples } = store();
    samples.add("WorkingSet", web, at([20, "300"], [1, "380"]), "before");
    expect(bytesOf(samples)).toEqual([]);
    samples.add("WorkingSet", web, at([3, "5"]), "now");
    expect(bytesOf(samples)).toEqual([5]);
  });
});
