import { describe, expect, it } from "vitest";
import { bitString, type Der, integer, octetString, oid, sequence, time } from "./der.ts";

const hex = (der: Der) => Buffer.from(der).toString("hex");
const bytes = (text: string) => Buffer.from(text, "hex");

describe("DER", () => {
  it.each([
    { name: "an integer without its leading zeros", der: integer(bytes("000001")), hex: "020101" },
    {
      name: "an integer whose first bit is set gets a zero in front, or it would be negative",
      der: integer(bytes("ff")),
      hex: "020200ff",
    },
    { name: "zero is one byte", der: integer(bytes("0000")), hex: "020100" },
    { name: "an object identifier with numbers of several bytes", der: oid("1.2.840.10045.4.3.2"), hex: "06082a8648ce3d040302" },
    { name: "bits that do not fill their last byte", der: bitString(bytes("06"), 1), hex: "03020106" },
    { name: "the year 2049 in two digits", der: time(Date.UTC(2049, 11, 31, 23, 59, 59)), hex: "170d3439313233313233353935395a" },
    { name: "the year 2050 in four", der: time(Date.UTC(2050, 0, 1)), hex: "180f32303530303130313030303030305a" },
    { name: "an empty sequence", der: sequence(), hex: "3000" },
  ])("writes $name", ({ der, hex: expected }) => expect(hex(der)).toBe(expected));

  it.each([
    { size: 127, head: "047f" },
    { size: 128, head: "048180" },
    { size: 256, head: "04820100" },
    { size: 65_536, head: "0483010000" },
  ])("writes a length of $size", ({ size, head }) =>
    expect(hex(octetString(new Uint8Array(size))).slice(0, head.length)).toBe(head),
  );
});
