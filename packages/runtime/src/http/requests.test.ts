import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostnameOf, isAllowedHost, isLoopbackHost, parseTarget } from "./requests.ts";

describe("parseTarget", () => {
  it.each([
    { target: "/", path: "/" },
    { target: "/a/../b?c=%zz#d", path: "/b" },
    { target: "/a//b", path: "/a//b" },
    { target: "/:80@x", path: "/:80@x" },
    { target: "http://proxied.example.com/metrics?x", path: "/metrics" },
    { target: "//", path: undefined },
    { target: "//x/metrics", path: undefined },
    { target: "///", path: undefined },
    { target: "http://", path: undefined },
    { target: "http://[", path: undefined },
    { target: "*", path: undefined },
    { target: "x", path: undefined },
    { target: "example.com:443", path: undefined },
    { target: "file:///etc/passwd", path: undefined },
    { target: "", path: undefined },
    { target: undefined, path: undefined },
  ])("resolves $target to the path $path", ({ target, path }) => expect(parseTarget(target)?.pathname).toBe(path));

  it("never throws and never reads a path as a host", () => {
    const target = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.webUrl(),
      fc.webPath(),
      fc.string({ unit: fc.constantFrom(..."/:@?#[]%\\.") }),
    );
    fc.assert(fc.property(target, (text) => parseTarget(text)?.pathname.startsWith("/") ?? true));
  });
});

describe("the Host header", () => {
  it.each([
    { header: "Example.COM:80", name: "example.com" },
    { header: "localhost.", name: "localhost" },
    { header: "[::1]:8080", name: "::1" },
    { header: "user@localhost", name: undefined },
    { header: "localhost/x", name: undefined },
    { header: "localhost, evil.example.org", name: undefined },
    { header: "", name: undefined },
    { header: undefined, name: undefined },
  ])("has the host name $name in $header", ({ header, name }) => expect(hostnameOf(header)).toBe(name));

  it.each([
    { header: "localhost", loopback: true, allowed: true },
    { header: "memhog.localhost:80", loopback: true, allowed: true },
    { header: "127.1.2.3", loopback: true, allowed: true },
    { header: "[::1]", loopback: true, allowed: true },
    { header: "10.0.0.1:8082", loopback: false, allowed: true },
    { header: "[fd00::1]", loopback: false, allowed: true },
    { header: "Memhog.example.com", loopback: false, allowed: true },
    { header: "example.com", loopback: false, allowed: false },
    { header: "notlocalhost", loopback: false, allowed: false },
    { header: "127.0.0.1.example.com", loopback: false, allowed: false },
    { header: undefined, loopback: false, allowed: false },
  ])("$header: loopback $loopback, allowed $allowed", ({ header, loopback, allowed }) => {
    expect(isLoopbackHost(header)).toBe(loopback);
    expect(isAllowedHost(header, ["memhog.EXAMPLE.com"])).toBe(allowed);
  });
});
