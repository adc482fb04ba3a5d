import { describe, expect, it } from "vitest";
import type { Admission } from "./admission.ts";
import { home, mergePatch, pod, simulated } from "./testing.ts";

const maps = `${home}/configmaps`;

/** Admission that waits until the test calls `release`. */
function slow(): { readonly admission: Admission; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { admission: { validate: (object) => (object.metadata.name === "slow" ? promise : undefined) }, release: resolve };
}

describe("two concurrent updates", () => {
  async function overtaken(patch: object) {
    const cluster = await simulated();
    const { body: made } = await cluster.ask("POST", maps, { metadata: { name: "slow" }, data: { a: "1" } });
    const { admission, release } = slow();
    cluster.core.admissions.push(admission);
    const withVersion = (version: object) => ({ ...patch, metadata: version });
    return {
      ...cluster,
      made,
      release,
      withVersion,
      patch: (body: object) => cluster.ask("PATCH", `${maps}/slow`, body, mergePatch),
    };
  }

  it("are both stored if neither has a resourceVersion", async () => {
    const { patch, release, ask } = await overtaken({});
    const both = [patch({ data: { b: "2" } }), patch({ data: { c: "3" } })];
    release();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await ask("GET", `${maps}/slow`)).body.data).toEqual({ a: "1", b: "2", c: "3" });
  });

  it("cause a conflict for the slower one if it has a resourceVersion", async () => {
    const { patch, release, made, withVersion } = await overtaken({ data: { b: "2" } });
    const body = withVersion({ resourceVersion: made.metadata.resourceVersion });
    const both = [patch(body), patch(body)];
    release();
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409]);
  });
});

describe("two concurrent creations of the same name", () => {
  it("create one object and return AlreadyExists for the other", async () => {
    const { ask } = await simulated();
    const both = await Promise.all(["1", "2"].map((a) => ask("POST", maps, { metadata: { name: "x" }, data: { a } })));
    expect(both.map(({ status, body }) => [status, body.reason]).sort()).toEqual([
      [201, undefined],
      [409, "AlreadyExists"],
    ]);
  });
});

describe("a write that changes nothing", () => {
  it("keeps the resourceVersion and sends no watch event", async () => {
    const { ask, core, watch, clock } = await simulated();
    const { body } = await ask("POST", maps, { metadata: { name: "a" }, data: { x: "1" } });
    const { seen } = await watch(`${maps}?resourceVersion=${body.metadata.resourceVersion}`);
    const before = core.storage.version;
    const again = await ask("PATCH", `${maps}/a`, { data: { x: "1" } }, mergePatch);
    await clock.advance(0);
    expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    expect([core.storage.version, seen]).toEqual([before, []]);
  });
});

describe("a dry run", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE"] as const)("of %s returns the result and stores nothing", async (method) => {
    const { ask, core } = await simulated();
    if (method !== "POST") await ask("POST", maps, { metadata: { name: "a" } });
    const before = core.storage.version;
    const url = `${method === "POST" ? maps : `${maps}/a`}?dryRun=All`;
    const body = method === "DELETE" ? undefined : { metadata: { name: "a" }, data: { x: "1" } };
    const { status } = await ask(method, url, body, method === "PATCH" ? mergePatch : {});
    expect(status).toBe(method === "POST" ? 201 : 200);
    expect(core.storage.version).toBe(before);
  });
});

describe("generated names", () => {
  it("end in five characters derived from the random seed", async () => {
    const name = async (seed: number) => {
      const { ask } = await simulated({ seed });
      return (await ask("POST", maps, { metadata: { generateName: "a-" } })).body.metadata.name;
    };
    expect(await name(1)).toMatch(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(await name(1)).toBe(await name(1));
    expect(await name(1)).not.toBe(await name(2));
  });
});

describe("subresources", () => {
  it("binding sets the node of a pod once and keeps its generation", async () => {
    const { ask } = await simulated();
    await ask("POST", `${home}/pods`, pod("p"));
    const bind = () => ask("POST", `${home}/pods/p/binding`, { metadata: { name: "p" }, target: { kind: "Node", name: "n" } });
    expect((await bind()).status).toBe(201);
    const bound = (await ask("GET", `${home}/pods/p`)).body;
    expect(bound).toMatchObject({ metadata: { generation: 1 }, spec: { nodeName: "n" } });
    expect(bound.status.conditions).toMatchObject([{ type: "PodScheduled", status: "True" }]);
    expect(await bind()).toMatchObject({ status: 409, body: { reason: "Conflict" } });
  });

  it("log and proxy return 501 unless a component handles them", async () => {
    const { ask, core } = await simulated();
    await ask("POST", `${home}/pods`, pod("p"));
    expect(await ask("GET", `${home}/pods/p/log`)).toMatchObject({ status: 501, body: { reason: "NotImplemented" } });
    core.connects.set("pods/log", ({ object }) => ({ status: 200, headers: {}, body: `hello from ${object.metadata.name}` }));
    expect(await ask("GET", `${home}/pods/p/log`)).toMatchObject({ status: 200, body: "hello from p" });
  });
});

describe("a Job field that the simulator does not implement", () => {
  const spec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } };
  const policy = { rules: [{ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] }] };
  const cases = [
    { more: { completionMode: "Indexed", completions: 2 }, named: "spec.completionMode: Indexed" },
    { more: { podFailurePolicy: policy }, named: "spec.podFailurePolicy" },
    { more: { successPolicy: { rules: [{ succeededCount: 1 }] } }, named: "spec.successPolicy" },
  ];
  it.each(cases)("is rejected with an error that names it: $named", async ({ more, named }) => {
    const { ask } = await simulated();
    const job = { metadata: { name: "j" }, spec: { ...spec, ...more } };
    const { status, body } = await ask("POST", "/apis/batch/v1/namespaces/default/jobs", job);
    expect([status, body.reason, body.message]).toEqual([501, "NotImplemented", `the simulator does not implement ${named}`]);
    const cronJob = { metadata: { name: "c" }, spec: { schedule: "@every 1h", jobTemplate: { spec: job.spec } } };
    const answer = await ask("POST", "/apis/batch/v1/namespaces/default/cronjobs", cronJob);
    expect([answer.status, answer.body.message]).toEqual([501, `the simulator does not implement spec.jobTemplate.${named}`]);
  });
});

describe("an unexpected exception", () => {
  it("returns 500, and the server keeps running", async () => {
    const { ask, core } = await simulated();
    core.admissions.push({
      mutate: (draft) => {
        if (draft.metadata.name === "bad") throw new RangeError("unexpected");
        return false;
      },
    });
    const { status, body } = await ask("POST", maps, { metadata: { name: "bad" } });
    expect([status, body.reason]).toEqual([500, "InternalError"]);
    expect((await ask("POST", maps, { metadata: { name: "good" } })).status).toBe(201);
  });
});
