// Only a real API server speaks protobuf: whatever it says in it must mean what it says in JSON.
import { startCluster } from "@memhog/localcluster";
import { describe, expect, it } from "vitest";
import { leanMetadata } from "../../cache/projection.ts";
import * as runtime from "../../index.ts";
import type { Kind, KubernetesObject, Stored } from "../../objects/object.ts";
import { clientOf } from "../../testing/cluster-client.ts";
import { loadConfig } from "../config/load.ts";
import { ForbiddenError } from "../errors.ts";
import { protobufOf } from "./protobuf-reader.ts";
import { samples } from "./samples.fixture.ts";

const kinds = Object.values(runtime as Record<string, unknown>).filter(
  (value): value is Kind => typeof value === "object" && value !== null && "plural" in value && "group" in value,
);

const lean = (object: Stored<KubernetesObject>) => ({ ...object, metadata: leanMetadata(object) });

describe("objects in protobuf (which only a real API server speaks)", () => {
  it("are what they are in JSON, of every kind we know", async () => {
    await using cluster = await startCluster();
    await using client = await clientOf(cluster);
    const scan = client.scan ?? expect.fail("expected a client that scans");
    const namespace = await cluster.namespace();
    const known = samples(namespace).filter(([kind]) => protobufOf(kind) !== undefined);
    for (const [kind, object] of known) await client.create(kind, object as never);
    const seen: string[] = [];
    for (const kind of kinds.filter((each) => protobufOf(each) !== undefined)) {
      const json: object[] = [];
      const protobuf: object[] = [];
      await scan(kind, (object) => json.push(lean(object)));
      await scan(kind, (object) => protobuf.push(lean(object)), { knownFieldsOnly: true });
      if (json.length > 0) seen.push(kind.kind);
      expect(protobuf).toEqual(json);
    }
    expect(seen).toEqual(expect.arrayContaining(known.map(([{ kind }]) => kind)));
  });

  it("are refused in words, too", async () => {
    await using cluster = await startCluster();
    const { user } = await loadConfig({ kubeconfig: cluster.kubeconfig, env: {} });
    await using nobody = await clientOf(cluster, { config: { user: { ...user, impersonate: { user: "jürgen" } } } });
    const error: unknown = await nobody.scan?.(runtime.Pod, () => {}, { knownFieldsOnly: true }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ForbiddenError);
    expect(error).toMatchObject({
      reason: "Forbidden",
      details: { kind: "pods" },
      message: expect.stringContaining('User "jürgen" cannot list resource "pods"'),
    });
  });
});
