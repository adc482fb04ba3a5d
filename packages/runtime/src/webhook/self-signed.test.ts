import { describe, expect, it, vi } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { Secret } from "../objects/kinds/core.ts";
import { ObjectsInMemory } from "../operator/testing/objects-in-memory.ts";
import type { ServingCertificate } from "./certificates.ts";
import { belongTogether, makeAuthority } from "./certificates.ts";
import { selfSignedCertificates } from "./self-signed.ts";

const minute = 60_000;
const secret = { namespace: "apps", name: "gordon-webhook-certificates" };

/** Replicas that share one Secret, each with its own source, and the certificate that each presents now. */
function replicas(count: number, objects = new ObjectsInMemory()) {
  const environment = manualEnvironment();
  const ending = new AbortController();
  const problems: unknown[] = [];
  const shown: (ServingCertificate | undefined)[] = Array.from({ length: count });
  const running = shown.map(async (_, i) => {
    const source = selfSignedCertificates({
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
  /** Advances time until this holds: keys and signatures are created on other threads, which a manual clock does not control. */
  const until = async (holds: () => void, ms = 0) => {
    await environment.clock.advance(ms);
    await vi.waitFor(async () => {
      await environment.clock.advance(0);
      holds();
    });
  };
  const started = () => until(() => expect(shown).not.toContain(undefined));
  return { environment, objects, shown, problems, until, started, end };
}

const writes = ({ calls }: ObjectsInMemory) => calls.filter(({ verb }) => verb !== "find").map(({ verb }) => verb);

describe("self-signed certificates shared by replicas", () => {
  it("are the same for all replicas that start at once: one creates them, the others use them", async () => {
    const { objects, shown, started, end } = replicas(3);
    await started();
    expect(new Set(shown.map((each) => each?.certificate)).size).toBe(1);
    expect(shown[0]).toBeDefined();
    expect(objects.all(Secret)).toHaveLength(1);
    await end();
  });

  it("are renewed once, and every replica presents the new one at its next poll", async () => {
    const { objects, shown, until, started, end } = replicas(3);
    await started();
    const [before] = shown;
    await until(
      () => {
        expect(shown[0]?.certificate).not.toBe(before?.certificate);
        expect(new Set(shown.map((each) => each?.certificate)).size).toBe(1);
      },
      60 * minute + 70_000,
    );
    // Writes that lost a race were rejected: the stored state has changed exactly twice.
    expect(objects.read(Secret, secret)?.metadata.resourceVersion).toBe("2");
    await end();
  });

  it("E1: cause no writes until renewal is due", async () => {
    const { environment, objects, started, end } = replicas(2);
    await started();
    const before = writes(objects).length;
    await environment.clock.advance(50 * minute);
    expect(writes(objects)).toHaveLength(before);
    await end();
  });

  it("stay in use while the API server is unreachable; a replica that starts meanwhile waits for it", async () => {
    const { environment, objects, shown, problems, until, end } = replicas(1);
    objects.before = () => {
      throw new Error("connection refused");
    };
    await until(() => expect(problems).toHaveLength(1));
    await environment.clock.advance(10_000);
    expect(shown[0]).toBeUndefined();
    expect(problems.length).toBeGreaterThan(2);
    objects.before = () => {};
    await until(() => expect(shown[0]).toBeDefined(), 60_000);
    const here = shown[0];
    objects.before = () => {
      throw new Error("connection refused");
    };
    await environment.clock.advance(600_000);
    expect(shown[0]).toBe(here);
    await end();
  });

  it("are restored unchanged when the Secret is deleted, since callers trust nothing else", async () => {
    const { environment, objects, shown, started, end } = replicas(2);
    await started();
    const before = [...shown];
    const kept = objects.read(Secret, secret)?.data;
    objects.delete(Secret, secret);
    await environment.clock.advance(70_000);
    expect(shown).toEqual(before);
    expect(objects.read(Secret, secret)?.data).toEqual(kept);
    await end();
  });

  it("replace invalid data without changing other keys of the Secret", async () => {
    const { environment, objects, shown, started, end } = replicas(1);
    await started();
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

  it.each(["tls.key", "ca.key"])("replace a %s that does not match, even at startup", async (name) => {
    const { environment, objects, started, end } = replicas(1);
    await started();
    await end();
    const kept = objects.read(Secret, secret)?.data ?? {};
    const another = await makeAuthority({ name: "another", lifetimeMs: 90 * minute }, environment);
    const data = { ...kept, [name]: Buffer.from(another.key).toString("base64") };
    await objects.client.update(Secret, { metadata: { ...secret }, data });
    const later = replicas(1, objects);
    await later.started();
    expect(later.shown[0]).toSatisfy(belongTogether);
    expect(objects.read(Secret, secret)?.data?.[name]).not.toBe(data[name]);
    await later.end();
  });
});
