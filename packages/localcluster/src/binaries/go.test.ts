import { expect, it } from "vitest";
import { willDo } from "./go.ts";

const cases = [
  { version: "go1.26.8", toolchain: "local", wanted: "1.26", gives: true },
  { version: "go1.26", toolchain: "local", wanted: "1.26", gives: true },
  { version: "go1.26rc1", toolchain: "local", wanted: "1.26", gives: true },
  { version: "go2.0.1", toolchain: "local", wanted: "1.26", gives: true },
  { version: "devel go1.27-8e1f2ab", toolchain: "local", wanted: "1.26", gives: true },
  { version: "go1.25.9", toolchain: "local", wanted: "1.26", gives: false },
  { version: "go1.25.9", toolchain: "auto", wanted: "1.26", gives: true },
  { version: "go1.9.7", toolchain: "local", wanted: "1.26", gives: false },
  { version: "go1.20.4", toolchain: "auto", wanted: "1.26", gives: false },
  { version: "", toolchain: "auto", wanted: "1.26", gives: false },
];
it.each(cases)(
  "$version with GOTOOLCHAIN=$toolchain builds what wants Go $wanted: $gives",
  ({ version, toolchain, wanted, gives }) => expect(willDo(version, toolchain, wanted)).toBe(gives),
);
