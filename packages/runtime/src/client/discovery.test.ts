import { describe, expect, it } from "vitest";
import { dynamicKind } from "../objects/kinds/kind.ts";
import { Pod } from "../objects/kinds/pod.ts";
import { Deployment } from "../objects/kinds/workloads.ts";
import { clientAnswering } from "../testing/loopback.ts";
import * as errors from "./errors.ts";
import type { TransportRequest } from "./transport/transport.ts";

describe("discovery", () => {
  const documents: Record<string, object> = {
    "/api/v1": {
      resources: [
        { name: "pods", kind: "Pod", namespaced: true },
        { name: "pods/resize", kind: "Pod", namespaced: true },
        { name: "nodes", kind: "Node", namespaced: false },
      ],
    },
    "/version": { major: "1", minor: "37+", gitVersion: "v1.37.1" },
  };
  const serve = ({ path }: TransportRequest) =>
    documents[path] ? { body: JSON.stringify(documents[path]) } : { status: 404, body: "" };
  const Missing = dynamicKind({ group: "no.such", version: "v1", kind: "Missing", plural: "missings", namespaced: true });

  it("returns kinds, subresources and the version, and requests each once", async () => {
    const { client, journal } = clientAnswering(serve);
    const { discovery } = client;
    expect(
      await Promise.all([
        discovery.serves(Pod),
        discovery.serves(Deployment),
        discovery.hasSubresource(Pod, "resize"),
        discovery.hasSubresource(Pod, "scale"),
      ]),
    ).toEqual([true, false, true, false]);
    expect(await discovery.kindOf({ apiVersion: "v1", kind: "Node" })).toMatchObject({ plural: "nodes", namespaced: false });
    expect(await discovery.kindOf({ apiVersion: "v1", kind: "Nope" })).toBeUndefined();
    expect(await discovery.version()).toEqual({ major: 1, minor: 37, gitVersion: "v1.37.1" });
    expect(journal.calls.map(({ path }) => path)).toEqual(["/api/v1", "/apis/apps/v1", "/version"]);
  });

  it("caches missing kinds briefly, known kinds longer, and nothing after it is told to forget", async () => {
    const { client, clock, journal } = clientAnswering(serve);
    const ask = async () => [await client.discovery.serves(Missing), await client.discovery.serves(Pod)];
    const asked = () => journal.calls.length;
    await ask();
    await ask();
    expect(asked()).toBe(2);
    await clock.advance(10_000);
    await ask();
    expect(asked()).toBe(3);
    await clock.advance(600_000);
    await ask();
    expect(asked()).toBe(5);
    client.discovery.forget();
    await ask();
    expect(asked()).toBe(7);
  });

  it("does not cache a failure", async () => {
    const { client } = clientAnswering((request, call) => (call === 1 ? { status: 403, body: "" } : serve(request)));
    await expect(client.discovery.serves(Pod)).rejects.toBeInstanceOf(errors.ForbiddenError);
    expect(await client.discovery.serves(Pod)).toBe(true);
  });
});
