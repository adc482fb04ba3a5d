import { aNode } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { nodeFacts } from "./namespace-facts.ts";

it("node facts contain the allocatable memory and the kubelet version, and do not change with heartbeats", () => {
  const nodeInfo = { kubeletVersion: "v1.36.1" };
  expect(nodeFacts(aNode({ status: { nodeInfo } }))).toEqual({ allocatable: mib(8192), kubeletMinor: 36, underPressure: false });
  expect(nodeFacts(aNode())).toEqual({ allocatable: mib(8192), kubeletMinor: undefined, underPressure: false });
});

it("G1: node facts say whether the kubelet reports MemoryPressure", () => {
  const reporting = (status: "True" | "False") =>
    nodeFacts(aNode({ status: { conditions: [{ type: "MemoryPressure", status }] } }));
  expect(reporting("True").underPressure).toBe(true);
  expect(reporting("False").underPressure).toBe(false);
});
