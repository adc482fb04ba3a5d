// Compacted history: watches and lists at a version that the server no longer has.
import type { ObjectList } from "@memhog/runtime/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ForgetfulCluster, forgetfulCluster } from "./forgetful-cluster.ts";
import { ConfigMap } from "./kinds.ts";
import { type Loose, refusal } from "./world.ts";

const namespace = "default";
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const label = { labelSelector: "forgotten=no" };
let cluster: ForgetfulCluster;
/** The first page of a list and a resourceVersion, both compacted. */
let page: ObjectList<Loose>;
let version: string;

beforeAll(async () => {
  cluster = await forgetfulCluster();
  for (const name of ["a", "b", "c"]) await make(name);
  page = await cluster.client.list(ConfigMap, { namespace, limit: 1, ...label });
  version = page.metadata.resourceVersion;
  await make("d");
  const last = await make("e");
  await cluster.forgetBefore(last.metadata.resourceVersion);
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

const make = (name: string) => cluster.client.create(ConfigMap, { metadata: { namespace, name, labels: { forgotten: "no" } } });
const namesIn = ({ items }: ObjectList<Loose>) => items.map(({ metadata }) => metadata.name);

describe("a compacted resourceVersion", () => {
  it("ends a watch with an error event in a response with status 200", async () => {
    const text = await cluster.client.request({ path, query: { watch: true, resourceVersion: version, timeoutSeconds: 5 } });
    const [line, ...more] = text.trimEnd().split("\n");
    expect(more).toEqual([]);
    expect(JSON.parse(line ?? "")).toEqual({
      type: "ERROR",
      object: {
        ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 410, reason: "Expired" },
        message: expect.stringMatching(new RegExp(`^too old resource version: ${version} \\(\\d+\\)$`)),
      },
    });
  });

  it("is reported as ExpiredError by the client's watch", async () => {
    const watching = Array.fromAsync(cluster.client.watch(ConfigMap, { namespace, resourceVersion: version }));
    expect(await refusal(watching)).toMatchObject({ code: "API_EXPIRED", status: 410, reason: "Expired" });
  });

  it("is rejected by a list with match Exact", async () => {
    const query = { resourceVersion: version, resourceVersionMatch: "Exact" };
    const refused = await refusal(cluster.client.request({ path, query }));
    expect(refused).toMatchObject({ code: "API_EXPIRED", status: 410, reason: "Expired" });
    expect(refused.said).toBe("The resourceVersion for the provided list is too old.");
  });

  it("is accepted by a list as a minimum", async () => {
    const query = { resourceVersion: version, resourceVersionMatch: "NotOlderThan", ...label };
    expect(namesIn(JSON.parse(await cluster.client.request({ path, query })))).toEqual(["a", "b", "c", "d", "e"]);
  });
});

describe("a continue token of a compacted list", () => {
  const next = (token: string) => cluster.client.list(ConfigMap, { namespace, limit: 2, continue: token, ...label });

  it("is rejected", async () => {
    expect(namesIn(page)).toEqual(["a"]);
    const refused = await refusal(next(page.metadata.continue ?? ""));
    expect(refused).toMatchObject({ code: "API_EXPIRED", status: 410, reason: "Expired" });
    expect(refused.said).toMatch(/^The provided continue parameter is too old .* use the continue token in this response/);
  });

  it("can be replaced by a token that continues at the same key in the current state", async () => {
    const token = JSON.parse(Buffer.from(page.metadata.continue ?? "", "base64url").toString());
    // The token that the error response offers: the same key, without a version.
    const offered = Buffer.from(JSON.stringify({ ...token, rv: -1 })).toString("base64url");
    const second = await next(offered);
    expect(namesIn(second)).toEqual(["b", "c"]);
    const third = await next(second.metadata.continue ?? "");
    expect(namesIn(third)).toEqual(["d", "e"]);
    expect(third.metadata.resourceVersion).toBe(second.metadata.resourceVersion);
  });
});
