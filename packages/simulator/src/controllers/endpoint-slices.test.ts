import { Service } from "@memhog/runtime";
import { anObject, aPod } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { sliceOf } from "./endpoint-slices.ts";

const service = (spec: object = {}) =>
  anObject(Service, {
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }], ...spec },
  } as never);
const ports = [{ name: "http", containerPort: 8080 }];
const pod = (name: string, status: object = {}, metadata: object = {}) =>
  aPod({
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "main", ports }] },
    status: { podIP: `ip-${name}`, ...status },
  } as never);
const conditionsOf = (of: ReturnType<typeof service>, one: ReturnType<typeof pod>) => sliceOf(of, [one]).endpoints[0]?.conditions;

it("an EndpointSlice contains every pod with an address, ordered by name", () => {
  const { endpoints, ports } = sliceOf(service(), [
    pod("b"),
    pod("a"),
    pod("c", { podIP: undefined }),
    pod("d", { phase: "Failed" }),
  ]);
  expect(endpoints.map(({ addresses }) => addresses)).toEqual([["ip-a"], ["ip-b"]]);
  expect(ports).toEqual([{ name: "", port: 8080, protocol: "TCP" }]);
});

it("an EndpointSlice marks ready and terminating endpoints", () => {
  expect(conditionsOf(service(), pod("a"))).toEqual({ ready: true, serving: true, terminating: false });
  expect(conditionsOf(service(), pod("a", { conditions: [] }))).toEqual({ ready: false, serving: false, terminating: false });
  const going = pod("a", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  expect(conditionsOf(service(), going)).toEqual({ ready: false, serving: true, terminating: true });
});

it("an EndpointSlice marks all endpoints as ready with publishNotReadyAddresses", () => {
  expect(conditionsOf(service({ publishNotReadyAddresses: true }), pod("a", { conditions: [] }))?.ready).toBe(true);
});
