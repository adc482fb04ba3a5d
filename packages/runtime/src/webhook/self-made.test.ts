import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { Secret } from "../objects/kinds/core/config.ts";
import { ObjectsInMemory } from "../operator/testing/objects-in-memory.ts";
import type { ServingCertificate } from "./certificate-source.ts";
import { belongTogether, makeAuthority } from "./certificates.ts";
import { selfMadeCertificates } from "./self-made.ts";

const minute = 60_000;
const secret = { namespace: "apps", name: "gordon-webhook-certificates" };

/** Replicas that share one Secret, each following its own source; what each of them shows now. */
function replicas(count: number, objects = new ObjectsInMemory()) {
  const environment = manualEnvironment();
  const ending = new AbortController();
  const problems: unknown[] = [];
  const shown: (ServingCertificate | undefined)[] = Array.from({ length: count });
  const running = shown.map(async (_, i) => {
    const source = selfMadeCertificates({
      ...{ name: "gordon", names: ["gordon.apps.svc"], servingLifetimeMs: 90 * minute, environment },
      shared: { client: objects.client, secret },
      onProblem: (error) => problems.push(error),
    });
    for await (const certificate of source(ending.signal)) shown[i] = certificate;
  });
  const end = async () => {
    ending.abort();
    await Promise.all(running);
  };
  return { environment, objects, shown, problems, end };
}

const writes = ({ calls }: ObjectsInMemory) => calls.filter(({ verb }) => verb !== "find").map(({ verb }) => verb);

describe("certificates of our own making, shared by replicas", () => {
  it("are the same for all who start at once: one creates them, the others take them", async () => {
    const { environment, objects, shown, end } = replicas(3);
    await environment.clock.advance(0);
    expect(new Set(shown.map((each) => each?.certificate)).size).toBe(1);
    expect(shown[0]).toBeDefined();
    expect(objects.all(Secret)).toHaveLength(1);
    await end();
  });

  it("are renewed once for all, and all show the new one within a minute or so", async () => {
    const { environment, objects, shown, end } = replicas(3);
    await environment.clock.advance(0);
    const [before] = shown;
    await environment.clock.advance(60 * minute);
    await environment.clock.advance(70_000);
    expect(shown[0]?.certificate).not.toBe(before?.certificate);
    expect(new Set(shown.map((each) => each?.certificate)).size).toBe(1);
    // Losers of a race were refused: what is stored has changed exactly twice.
    expect(objects.read(Secret, secret)?.metadata.resourceVersion).toBe("2");
    await end();
  });

  it("E1: cost no writes while they are young", async () => {
    const { environment, objects, end } = replicas(2);
    await environment.clock.advance(0);
    const before = writes(objects).length;
    await environment.clock.advance(50 * minute);
    expect(writes(objects)).toHaveLength(before);
    await end();
  });

  it("stay in use while the API server cannot be reached, and a replica that starts then waits for it", async () => {
    const { environment, objects, shown, problems, end } = replicas(1);
    objects.before = () => {
      throw new Error("connection refused");
    };
    await environment.clock.advance(10_000);
    expect(shown[0]).toBeUndefined();
    expect(problems.length).toBeGreaterThan(2);
    objects.before = () => {};
    await environment.clock.advance(60_000);
    const here = shown[0];
    expect(here).toBeDefined();
    objects.before = () => {
      throw new Error("connection refused");
    };
    await environment.clock.advance(600_000);
    expect(shown[0]).toBe(here);
    await end();
  });

  it("come back as they were when somebody deletes the Secret: callers trust nothing else", async () => {
    const { environment, objects, shown, end } = replicas(2);
    await environment.clock.advance(0);
    const before = [...shown];
    const kept = objects.read(Secret, secret)?.data;
    objects.delete(Secret, secret);
    await environment.clock.advance(70_000);
    expect(shown).toEqual(before);
    expect(objects.read(Secret, secret)?.data).toEqual(kept);
    await end();
  });

  it("replace what cannot be read, without touching other keys of the Secret", async () => {
    const { environment, objects, shown, end } = replicas(1);
    await environment.clock.advance(0);
    const good = objects.read(Secret, secret);
    await objects.client.update(Secret, {
      ...good,
      metadata: { ...secret },
      data: { "tls.crt": "bm9uc2Vuc2U=", note: "a2VwdA==" },
    });
    await environment.clock.advance(70_000);
    expect(objects.read(Secret, secret)?.data).toMatchObject({ note: "a2VwdA==", "ca.key": expect.any(String) });
    expect(Buffer.from(objects.read(Secret, secret)?.data?.["tls.crt"] ?? "", "base64").toString()).toBe(shown[0]?.certificate);
    await end();
  });

  it.each(["tls.key", "ca.key"])("replace a %s that is another's, also those who have just started", async (name) => {
    const { environment, objects, end } = replicas(1);
    await environment.clock.advance(0);
    await end();
    const kept = objects.read(Secret, secret)?.data ?? {};
    const another = makeAuthority({ name: "another", lifetimeMs: 90 * minute }, environment);
    const data = { ...kept, [name]: Buffer.from(another.key).toString("base64") };
    await objects.client.update(Secret, { metadata: { ...secret }, data });
    const later = replicas(1, objects);
    await later.environment.clock.advance(0);
    expect(later.shown[0]).toSatisfy(belongTogether);
    expect(objects.read(Secret, secret)?.data?.[name]).not.toBe(data[name]);
    await later.end();
  });
});
