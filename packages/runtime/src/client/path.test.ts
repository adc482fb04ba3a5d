import { describe, expect, it } from "vitest";
import { Deployment } from "../objects/kinds/apps.ts";
import { Node } from "../objects/kinds/core/node.ts";
import { Pod } from "../objects/kinds/core/pod.ts";
import { collectionPath, homePath, objectPath } from "./path.ts";

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
  ])("refuse $what", ({ make }) => expect(make).toThrow(TypeError));
});
