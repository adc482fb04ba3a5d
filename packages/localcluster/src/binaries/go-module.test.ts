import { expect, it } from "vitest";
import { moduleFile } from "./go-module.ts";

it("asks for Kubernetes and puts published libraries in the place of its folders", () => {
  const upstream = {
    Module: { Path: "k8s.io/kubernetes" },
    Go: "1.23.0",
    GoDebug: [
      { Key: "default", Value: "go1.23" },
      { Key: "winsymlink", Value: "0" },
    ],
    Replace: [
      { Old: { Path: "k8s.io/api" }, New: { Path: "./staging/src/k8s.io/api" } },
      { Old: { Path: "k8s.io/kubectl" }, New: { Path: "./staging/src/k8s.io/kubectl" } },
      { Old: { Path: "example.com/forked" }, New: { Path: "example.com/fork" } },
    ],
  };
  expect(moduleFile(upstream, "1.32.2")).toBe(`module localcluster/build
go 1.23.0
godebug default=go1.23
godebug winsymlink=0
require k8s.io/kubernetes v1.32.2
replace k8s.io/api => k8s.io/api v0.32.2
replace k8s.io/kubectl => k8s.io/kubectl v0.32.2
`);
});

it("leaves etcd's replacements alone: its modules are published under the version that they ask for", () => {
  const upstream = {
    Module: { Path: "go.etcd.io/etcd/server/v3" },
    Go: "1.26.0",
    GoDebug: null,
    Replace: [{ Old: { Path: "go.etcd.io/etcd/api/v3" }, New: { Path: "../api" } }],
  };
  expect(moduleFile(upstream, "3.7.3")).toBe(`module localcluster/build
go 1.26.0
require go.etcd.io/etcd/server/v3 v3.7.3
`);
});
