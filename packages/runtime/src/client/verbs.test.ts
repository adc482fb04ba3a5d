import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap, Node } from "../objects/kinds/core.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { Deployment } from "../objects/kinds/workloads.ts";
import { clientAnswering } from "../testing/loopback.ts";
import * as errors from "./errors.ts";
import type { TransportRequest } from "./transport/transport.ts";
import { collectionPath, evict, homePath, objectPath, retryOnConflict } from "./verbs.ts";

const web = { namespace: "default", name: "web" };
const configMap = { metadata: web };

describe("a verb becomes a request", () => {
  const object = { metadata: { ...web, labels: { a: "b" } } };
  const typed = { apiVersion: "v1", kind: "ConfigMap", ...object };
  const path = "/api/v1/namespaces/default/configmaps";
  const one = `${path}/web`;
  // An object to those who want one, a list to those who want one.
  const { client, journal } = clientAnswering(() => ({ body: '{"metadata":{"resourceVersion":"1"},"items":[]}' }));

  it.each([
    { name: "get", run: () => client.get(ConfigMap, web), is: { method: "GET", path: one } },
    {
      name: "get of a subresource",
      run: () => client.get(Deployment, web, { subresource: "scale" }),
      is: { method: "GET", path: "/apis/apps/v1/namespaces/default/deployments/web/scale" },
    },
    {
      name: "list",
      run: () =>
        client.list(ConfigMap, { namespace: "default", labelSelector: "a=b", fieldSelector: "x=y", limit: 5, continue: "c" }),
      is: { path, query: { labelSelector: "a=b", fieldSelector: "x=y", limit: 5, continue: "c" } },
    },
    {
      name: "list everywhere, never with a resourceVersion",
      run: () => client.list(ConfigMap),
      is: { path: "/api/v1/configmaps", query: {} },
    },
    { name: "create", run: () => client.create(ConfigMap, object), is: { method: "POST", path, body: typed } },
    {
      name: "create with a generated name",
      run: () => client.create(ConfigMap, { metadata: { namespace: "default", generateName: "x-" } }),
      is: { method: "POST", path },
    },
    {
      name: "dry run with a field manager",
      run: () => client.create(ConfigMap, object, { dryRun: true, fieldManager: "me", fieldValidation: "Strict" }),
      is: { query: { dryRun: "All", fieldManager: "me", fieldValidation: "Strict" } },
    },
    { name: "update", run: () => client.update(ConfigMap, object), is: { method: "PUT", path: one, body: typed } },
    {
      name: "update of the status",
      run: () => client.update(ConfigMap, object, { subresource: "status" }),
      is: { method: "PUT", path: `${one}/status`, body: typed },
    },
    {
      name: "update of the scale",
      run: () => client.update(Deployment, { metadata: web, spec: { replicas: 3 } }, { subresource: "scale" }),
      is: { method: "PUT", body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: web, spec: { replicas: 3 } } },
    },
    {
      name: "patch",
      run: () => client.patch(ConfigMap, web, { type: "strategic", body: { spec: {} } }, { subresource: "resize" }),
      is: { method: "PATCH", path: `${one}/resize`, body: { spec: {} } },
    },
    {
      name: "apply",
      run: () => client.apply(ConfigMap, object, { fieldManager: "me", force: true }),
      is: { method: "PATCH", path: one, body: typed, query: { fieldManager: "me", force: true } },
    },
    {
      name: "delete",
      run: () =>
        client.delete(ConfigMap, web, {
          uid: "u",
          resourceVersion: "7",
          propagationPolicy: "Foreground",
          gracePeriodSeconds: 0,
          dryRun: true,
        }),
      is: {
        method: "DELETE",
        path: one,
        body: {
          apiVersion: "v1",
          kind: "DeleteOptions",
          preconditions: { uid: "u", resourceVersion: "7" },
          propagationPolicy: "Foreground",
          gracePeriodSeconds: 0,
          dryRun: ["All"],
        },
      },
    },
    {
      name: "delete of whatever has the name",
      run: () => client.delete(ConfigMap, web),
      is: { method: "DELETE", body: { apiVersion: "v1", kind: "DeleteOptions" } },
    },
    {
      name: "eviction",
      run: () => evict(client, web, { uid: "u" }),
      is: {
        method: "POST",
        path: "/api/v1/namespaces/default/pods/web/eviction",
        body: { apiVersion: "policy/v1", kind: "Eviction", metadata: web, deleteOptions: { preconditions: { uid: "u" } } },
      },
    },
    {
      name: "anything else",
      run: () => client.request({ method: "POST", path: "/x", body: { a: 1 }, query: { b: 2 } }),
      is: { method: "POST", path: "/x", body: { a: 1 }, query: { b: 2 } },
    },
  ])("$name", async ({ run, is }) => {
    await run();
    const { query, ...call } = journal.calls.at(-1) ?? { query: {} };
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
    expect({ ...call, query: given }).toMatchObject(is);
    if (!("query" in is)) expect(given).toEqual({});
  });

  it("sends each kind of patch with its own content type", async () => {
    const types: (string | undefined)[] = [];
    const { client } = clientAnswering(({ headers }) => {
      types.push(headers?.["content-type"]);
      return {};
    });
    await client.patch(ConfigMap, web, { type: "json", body: [{ op: "remove", path: "/x" }] });
    await client.patch(ConfigMap, web, { type: "merge", body: {} });
    await client.patch(ConfigMap, web, { type: "strategic", body: {} });
    await client.apply(ConfigMap, configMap, { fieldManager: "me" });
    await client.create(ConfigMap, configMap);
    expect(types).toEqual([
      "application/json-patch+json",
      "application/merge-patch+json",
      "application/strategic-merge-patch+json",
      "application/apply-patch+yaml",
      "application/json",
    ]);
  });

  it("rejects a delete without a name", async () => {
    await expect(client.delete(ConfigMap, { namespace: "default", name: "" })).rejects.toThrow(TypeError);
  });
});

describe("reading", () => {
  it("find returns undefined where get throws NotFoundError", async () => {
    const { client } = clientAnswering(() => ({ status: 404, body: "" }));
    await expect(client.get(Pod, web)).rejects.toBeInstanceOf(errors.NotFoundError);
    expect(await client.find(Pod, web)).toBeUndefined();
  });

  it("adds apiVersion and kind to the items of a list", async () => {
    const body = JSON.stringify({ metadata: { resourceVersion: "5" }, items: [{ metadata: { name: "a" }, odd: 1 }] });
    const { client } = clientAnswering(() => ({ body }));
    const { items, metadata } = await client.list(Deployment);
    expect(items).toEqual([{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, odd: 1 }]);
    expect(metadata.resourceVersion).toBe("5");
  });

  it("reads null items as an empty list", async () => {
    const { client } = clientAnswering(() => ({ body: '{"metadata":{"resourceVersion":"5"},"items":null}' }));
    expect((await client.list(Pod)).items).toEqual([]);
  });

  it.each(['{"metadata":{"name":"x"}}', '{"kind":"Status","metadata":{},"code":403}', '{"items":[]}', "null"])(
    "a response that is not a list is not read as an empty list: %s",
    async (body) => {
      const { client } = clientAnswering(() => ({ body }));
      await expect(client.list(Pod)).rejects.toThrow(errors.AnswerError);
    },
  );

  const names = ["a", "b", "c", "d", "e"];
  const pages = ({ query }: TransportRequest) => {
    const from = Number(query?.continue ?? 0);
    const items = names.slice(from, from + 2).map((name) => ({ metadata: { namespace: "x", name } }));
    const next = from + 2 < names.length ? String(from + 2) : "";
    return { body: JSON.stringify({ metadata: { resourceVersion: "1", continue: next }, items }) };
  };

  it("listAll reads all pages", async () => {
    const { client, journal } = clientAnswering(pages);
    const seen = await Array.fromAsync(client.listAll(Pod, { limit: 2 }), ({ metadata }) => metadata.name);
    expect(seen).toEqual(names);
    expect(journal.calls.map(({ query }) => query.continue)).toEqual([undefined, "2", "4"]);
  });

  it("listAll starts over when its pages expire, and yields nothing twice", async () => {
    const { client, journal } = clientAnswering((request, call) => (call === 2 ? { status: 410, body: "" } : pages(request)));
    const seen = await Array.fromAsync(client.listAll(Pod, { limit: 2 }), ({ metadata }) => metadata.name);
    expect(seen).toEqual(names);
    expect(journal.calls.length).toBe(5);
  });

  it("listAll throws if the list expires repeatedly without progress", async () => {
    const { client } = clientAnswering(() => ({ status: 410, body: "" }));
    await expect(Array.fromAsync(client.listAll(Pod))).rejects.toBeInstanceOf(errors.ExpiredError);
  });

  it("delete reports whether the object still exists", async () => {
    const { client } = clientAnswering((_, call) => ({
      body: call === 1 ? '{"kind":"Pod","metadata":{"deletionTimestamp":"now"}}' : '{"kind":"Status","status":"Success"}',
    }));
    expect(await client.delete(Pod, web)).toMatchObject({ kind: "Pod" });
    expect(await client.delete(Pod, web)).toBeUndefined();
  });
});

describe("paths", () => {
  it.each([
    { path: collectionPath(Pod), is: "/api/v1/pods" },
    { path: collectionPath(Pod, "default"), is: "/api/v1/namespaces/default/pods" },
    { path: collectionPath(Node), is: "/api/v1/nodes" },
    { path: homePath(Deployment, "x"), is: "/apis/apps/v1/namespaces/x/deployments" },
    { path: objectPath(Pod, { namespace: "a", name: "b" }, "resize"), is: "/api/v1/namespaces/a/pods/b/resize" },
    { path: objectPath(Node, { name: "n" }), is: "/api/v1/nodes/n" },
    { path: objectPath(Node, { namespace: "of-the-owner", name: "n" }), is: "/api/v1/nodes/n" },
    { path: objectPath(Pod, { namespace: "a", name: "b/../c?x=1" }), is: "/api/v1/namespaces/a/pods/b%2F..%2Fc%3Fx%3D1" },
  ])("$is", ({ path, is }) => expect(path).toBe(is));

  it.each([
    { what: "an empty name, which would mean all of them", make: () => objectPath(Pod, { namespace: "a", name: "" }) },
    { what: "a name that walks up", make: () => objectPath(Pod, { namespace: "a", name: ".." }) },
    { what: "an empty namespace", make: () => collectionPath(Pod, "") },
    { what: "a namespaced object without one", make: () => objectPath(Pod, { name: "b" }) },
    { what: "a list of cluster-scoped objects in a namespace", make: () => collectionPath(Node, "a") },
  ])("reject $what", ({ make }) => expect(make).toThrow(TypeError));
});

describe("a label selector", () => {
  it.each([
    { name: "as kubectl writes it", labelSelector: "app=web,tier in (a,b)", sent: "app=web,tier in (a,b)" },
    {
      name: "as in a spec",
      labelSelector: {
        matchLabels: { app: "web" },
        matchExpressions: [
          { key: "tier", operator: "In", values: ["a", "b"] },
          { key: "old", operator: "DoesNotExist" },
        ],
      },
      sent: "app=web,tier in (a,b),!old",
    },
    { name: "that is empty", labelSelector: {}, sent: undefined },
  ] as const)("$name is sent with lists, scans and watches", async ({ labelSelector, sent }) => {
    const seen: unknown[] = [];
    const { client } = clientAnswering(({ query, stream }) => {
      seen.push(query?.labelSelector);
      const body = '{"metadata":{"resourceVersion":"1"},"items":[]}';
      return { status: 200, headers: {}, body: stream ? (async function* () {})() : body };
    });
    await client.list(Pod, { labelSelector });
    await Array.fromAsync(client.listAll(Pod, { labelSelector }));
    await client.scan?.(Pod, () => {}, { labelSelector });
    await Array.fromAsync(client.watch(Pod, { labelSelector }));
    expect(seen).toEqual([sent, sent, sent, sent]);
  });
});

describe("delete", () => {
  const missing = { status: 404, headers: {}, body: '{"kind":"Status","reason":"NotFound","code":404}' };

  it("of a missing object throws, unless ignoreNotFound is set", async () => {
    const { client } = clientAnswering(() => missing);
    await expect(client.delete(Pod, web)).rejects.toBeInstanceOf(errors.NotFoundError);
    expect(await client.delete(Pod, web, { ignoreNotFound: true })).toBeUndefined();
  });

  it("with ignoreNotFound still throws everything else", async () => {
    const { client } = clientAnswering(() => ({ ...missing, status: 403, body: "" }));
    await expect(client.delete(Pod, web, { ignoreNotFound: true })).rejects.toBeInstanceOf(errors.ForbiddenError);
  });
});

describe("retryOnConflict", () => {
  const environment = manualEnvironment();
  const conflict = () => new errors.ConflictError({ attempt: "update", status: 409, reason: "Conflict", message: "" });
  const failing = (failures: number, error: () => Error) => {
    let calls = 0;
    return async () => {
      calls += 1;
      if (calls <= failures) throw error();
      return calls;
    };
  };
  const run = async (write: () => Promise<number>, attempts?: number) => {
    const result = retryOnConflict(write, { environment, attempts }).catch((error: unknown) => error);
    await environment.clock.advance(60_000);
    return result;
  };

  it("retries until the write succeeds", async () => {
    expect(await run(failing(0, conflict))).toBe(1);
    expect(await run(failing(4, conflict))).toBe(5);
  });

  it("throws the last conflict after its attempts", async () => {
    expect(await run(failing(5, conflict))).toBeInstanceOf(errors.ConflictError);
    expect(await run(failing(2, conflict), 2)).toBeInstanceOf(errors.ConflictError);
  });

  it("throws any other error at once", async () => {
    const error = new TypeError("no");
    expect(await run(failing(1, () => error))).toBe(error);
  });

  it("waits before each attempt, and stops with the signal", async () => {
    const controller = new AbortController();
    const write = failing(9, conflict);
    const result = retryOnConflict(write, { environment, signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(result).rejects.toThrow("enough");
  });
});
