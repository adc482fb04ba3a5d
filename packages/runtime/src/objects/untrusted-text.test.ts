import { describe, expect, it } from "vitest";
import { oneLine, printable, withoutCredentials } from "./untrusted-text.ts";

describe("oneLine", () => {
  it.each([
    { name: "line breaks and runs of spaces become one space", text: "a\r\n\tb   c ", is: "a b c" },
    { name: "an escape sequence loses its escape", text: "\u001b[2Jgone\u009b1m", is: "[2Jgone 1m" },
    { name: "a bidirectional override is removed", text: "user\u202Etxt.exe", is: "user txt.exe" },
    { name: "a long text is cut", text: "x".repeat(21), is: `${"x".repeat(19)}…` },
    { name: "a character is not cut in two", text: `${"x".repeat(18)}😀😀`, is: `${"x".repeat(18)}\uFFFD…` },
  ])("$name", ({ text, is }) => expect(oneLine(text, 20)).toBe(is));
});

it("printable keeps lines and tabs, and shows other control characters", () =>
  expect(printable("a\tb\n\u001b]0;title\u0007\u009b2J\u202E")).toBe("a\tb\n\\u001b]0;title\\u0007\\u009b2J\\u202e"));

describe("withoutCredentials", () => {
  it.each([
    "Bearer canary-1234",
    "eyJhbGciOiJub25l.canary1234.x",
    "-----BEGIN EC PRIVATE KEY-----\ncanary\n-----END EC PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\\ncanary, cut off",
    "https://me:canary@proxy:3128/x",
    "DB_PASSWORD=canary",
    "password: canary",
    "env ACCESS_TOKEN=canary, CLIENT_SECRET = canary",
    "api-key=canary",
  ])("S4: hides %j", (text) => {
    expect(withoutCredentials(`found ${text}`)).toContain("[hidden]");
    expect(withoutCredentials(`found ${text}`)).not.toContain("canary");
  });

  it.each([
    "exceeded quota: team, requested: requests.memory=256Mi",
    'secrets "web-token" not found',
    "Secret apps/web: not found",
  ])("keeps %j", (text) => expect(withoutCredentials(text)).toBe(text));

  it("leaves a line of JSON valid", () => {
    const line = JSON.stringify({
      a: "password=x",
      b: '-----BEGIN PRIVATE KEY-----\n"quoted" and cut',
      c: "http://a:b@c",
      d: "token=\\",
    });
    expect(() => JSON.parse(withoutCredentials(line))).not.toThrow();
  });
});

describe("takes linear time", () => {
  // Quadratic time would be minutes, not a little slower: no clock is needed to tell them apart.
  it.each([
    "eyJaaaaaaaa-",
    "eyJaaaaaaaa.a",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\\",
    "-----BEGIN PRIVATE KEY----------END A",
    "Bearer ",
    "password ",
    "://a:",
    "http://a",
    "api_key=:",
    "\u001b",
    " ",
  ])("on 200 kB of %j", (piece) => {
    const text = piece.repeat(200_000 / piece.length);
    expect(() => [withoutCredentials(text), oneLine(text, 400), printable(text)]).not.toThrow();
  });
});
