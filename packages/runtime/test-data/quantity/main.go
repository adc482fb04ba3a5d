// Writes what the real Go code makes of quantities, as JSON, for packages/runtime/src/objects/quantity.golden.test.ts.
// Regenerate it, in this folder, with:
//
//	go run . > generated/golden.json
//
// The inputs are the same each time: a hand-written list of the odd ones, a grid of numbers and suffixes, and numbers
// from a generator with a fixed seed.
package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand"
	"os"
	"strings"

	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

type parsed struct {
	In     string `json:"in"`
	Error  string `json:"error,omitempty"`
	String string `json:"string,omitempty"`
	Format string `json:"format,omitempty"`
	// Decimal numbers, or "overflow" where Go's int64 arithmetic silently overflows.
	Value string `json:"value,omitempty"`
	Milli string `json:"milli,omitempty"`
	// The same after canonicalisation from the value alone (String keeps the text of some inputs).
	Canonical string `json:"canonical,omitempty"`
}

type pair struct {
	A   string `json:"a"`
	B   string `json:"b"`
	Cmp int    `json:"cmp"`
	Add string `json:"add"`
	Sub string `json:"sub"`
}

type product struct {
	In  string `json:"in"`
	By  int64  `json:"by"`
	Out string `json:"out"`
}

type rounding struct {
	In    string `json:"in"`
	Scale int32  `json:"scale"`
	Out   string `json:"out"`
}

// Inputs somebody once got wrong, or could.
var odd = strings.Fields(`0 00 -0 +0 0.0 .0 0. . - + -. +. 1 +1 -1 01 0001 -01 1.0 1.000 1.500 1.50 1.5 .5 5. -.5 +.5 5.k 5.Gi .5Gi 1.5Gi -1.5Gi 1.5e3 1e3 1E3 1e+3 1e-3 1e03 1e0 1e-0
1e1 1e2 1e4 1e5 5e-4 5e-9 5e-10 1.5e-9 1E 1Ei 1e 1e+ 1e- 1E+ 1Ee 1ee3 1e3e 1e3.5 1eK 1Ke 1K 1k 1ki 1Ki 1KI 1kI 1mi 1Mi 1MI 1M 1m 1g 1G 1Gi 1gi 1t 1T 1Ti 1p 1P 1Pi 1i 1u 1n 1U 1N 1ui
m k Ki Mi Gi Ti Pi Ei E e e3 n i +m -Ki 0x10 0x 0b1 0o7 1_000 1,000 1.2.3 1..2 --1 +-1 -+1 1- 1+ 1-1 1m1 1Mi1 1Mi3 1k3 1Ki-1 NaN nan Inf inf Infinity -Inf true null abc 1abc 1GiB 1GB 1MB 1Mib 1mb 1µ ١ １ ½ 1½
500m 100m 250m 1500m 1000m 999m 0.1 0.01 0.001 0.0001 0.1m 0.5m 1.5m 0.9n 0.1n 1.1n 1.0000000001 1.000000001 0.0000000001 -0.1n -0.0000000001 0.5Ki 0.5Mi 0.1Ki 0.1Mi 0.1Gi 0.0001Ki 0.0000001Ki 1.1Ki 1.01Mi 1.001Gi -1.1Ki -0.1Gi -0.5Ki -0.1Ki
128974848 129e6 129M 123Mi 128974848000m 1024 1023 1025 1024Ki 1023Ki 1025Ki 1028Ki 1032Ki 2048Ki 1536Ki 1048576Ki 1024Mi 1536Mi 1000k 1000M 1000Mi 1500k 1500Mi 100k 1100k 12345678 0.000001M 0.001k 1.001k 1.0001k 2Gi 4Gi 16Gi 256Mi 384Mi 768Mi 8Ki 16Ki 1000Ki
9223372036854775807 9223372036854775808 -9223372036854775807 -9223372036854775808 -9223372036854775809 9223372036854775806 18446744073709551615 18446744073709551616 99999999999999999999 100000000000000000000 123456789012345678 1234567890123456789 12345678901234567890 1234567890.123456789 123456789012345678.9 0.1234567891 0.12345678912 9.223372036854775807e18 1e18 1e19 1e20 1e21 1e100
8Ei 7Ei -8Ei 9Ei -9Ei 100Ei 1000Ei 8191Pi 8192Pi 8193Pi 7.9999Ei 9E 10E 100E 1000E 10000E 1e18E 1.5Ei -1.5Ei 0.5Ei 0.1Ei -10.5Gi 10.5Gi 8388607Ti 8796093022207Mi 9007199254740991Ki 9007199254740992Ki 9007199254740993Ki
1e400 1e-400 -1e-400 1e999 12e-999 1e9223372036854775808 1e99999999999999999999 0e5 0e-5 0Ki 0m 0n 0E 0Ei 0.0Gi -0Gi -0m +0.5 +1Gi +500m +1.5Gi -500m -1m -1n -1Ki -1023 -1024 -1024Ki -1500m -100k -1e3 -1e-3
 1 1_ _1 '1' "1" 1% 1/2 $1`)

// Parsed and printed only: their value is too large to be worked with.
var stringOnly = []string{"1e1000000", "1e2147483647", "1e4294967296", "1e4294967299", "15e1000001", "-1e1000000", "1e9223372036854775807"}

// With spaces, which strings.Fields would lose.
var spaced = []string{"", " ", " 1", "1 ", "1 Gi", "1\n", "1\t", "\u00001", "1\u0000", "1Gi\n"}

var operands = strings.Fields(`0 0Gi 0e0 1 -1 1m -1m 1n 0.1n 500m 1500m 1.5 1k 1Ki 1000 1024 1.5Gi -1.5Gi 1536Mi 256Mi 0.1Gi 1.1Ki 1e3 15e2 1e-3 1E 1Ei 7Ei 8Ei -8Ei 9223372036854775807 -9223372036854775807
100000000000000000000 1e21 1234567890.123456789 0.5Ki 123456789012345678n 3Ki 100E -100E`)

func main() {
	out := struct {
		Module  string     `json:"module"`
		Parse   []parsed   `json:"parse"`
		Pairs   []pair     `json:"pairs"`
		Mul     []product  `json:"mul"`
		RoundUp []rounding `json:"roundUp"`
	}{Module: "k8s.io/apimachinery v0.37.1"}
	seen := map[string]bool{}
	for _, in := range append(append(append(odd, spaced...), grid()...), random(300)...) {
		if !seen[in] {
			seen[in] = true
			out.Parse = append(out.Parse, parse(in, true))
		}
	}
	for _, in := range stringOnly {
		out.Parse = append(out.Parse, parse(in, false))
	}
	for _, a := range operands {
		for _, b := range operands {
			out.Pairs = append(out.Pairs, combine(a, b))
		}
		for _, by := range []int64{0, 1, -1, 2, 3, 10, 1000, 1024, -7, 1 << 40, 1<<63 - 1} {
			q := resource.MustParse(a)
			q.Mul(by)
			out.Mul = append(out.Mul, product{a, by, q.String()})
		}
		for _, scale := range []int32{-9, -6, -3, -1, 0, 1, 3, 6} {
			q := resource.MustParse(a)
			q.RoundUp(resource.Scale(scale))
			out.RoundUp = append(out.RoundUp, rounding{a, scale, q.String()})
		}
	}
	write(out.Module, out.Parse, out.Pairs, out.Mul, out.RoundUp)
}

// One row per line, so that a change can be read as a diff.
func write(module string, parse []parsed, pairs []pair, mul []product, roundUp []rounding) {
	fmt.Printf("{\n\"module\": %q", module)
	rows("parse", parse)
	rows("pairs", pairs)
	rows("mul", mul)
	rows("roundUp", roundUp)
	fmt.Println("\n}")
}

func rows[T any](name string, all []T) {
	fmt.Printf(",\n%q: [", name)
	for i, row := range all {
		if i > 0 {
			fmt.Print(",")
		}
		fmt.Println()
		line, err := json.Marshal(row)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Print(string(line))
	}
	fmt.Print("\n]")
}

func parse(in string, withValue bool) parsed {
	q, err := resource.ParseQuantity(in)
	if err != nil {
		return parsed{In: in, Error: err.Error()}
	}
	row := parsed{In: in, String: q.String(), Format: string(q.Format)}
	number, suffix := q.CanonicalizeBytes(nil)
	row.Canonical = string(number) + string(suffix)
	if withValue {
		row.Value = near(q, q.Value(), 0)
		row.Milli = near(q, q.MilliValue(), 3)
	}
	return row
}

// What Go says, unless that has nothing to do with the quantity any more.
func near(q resource.Quantity, said int64, digits int64) string {
	copied := q.DeepCopy()
	dec := copied.AsDec()
	exact := new(inf.Dec).Mul(dec, inf.NewDec(1, inf.Scale(-digits)))
	distance := new(inf.Dec).Sub(exact, inf.NewDecBig(big.NewInt(said), 0))
	if distance.Abs(distance).Cmp(inf.NewDec(2, 0)) > 0 {
		return "overflow"
	}
	return fmt.Sprint(said)
}

func combine(a, b string) pair {
	left, right := resource.MustParse(a), resource.MustParse(b)
	row := pair{A: a, B: b, Cmp: left.Cmp(right)}
	sum := resource.MustParse(a)
	sum.Add(resource.MustParse(b))
	row.Add = sum.String()
	difference := resource.MustParse(a)
	difference.Sub(resource.MustParse(b))
	row.Sub = difference.String()
	return row
}

func grid() (all []string) {
	for _, number := range strings.Fields("1 7 10 12.5 999 1000 1024 4096 0.001 -3 65535.75") {
		for _, suffix := range append(strings.Fields("n u m k M G T P E Ki Mi Gi Ti Pi Ei e-9 e-2 e0 e2 e6 E3 e+7"), "") {
			all = append(all, number+suffix)
		}
	}
	return all
}

func random(count int) (all []string) {
	source := rand.New(rand.NewSource(20260101))
	pick := func(from []string) string { return from[source.Intn(len(from))] }
	digits := func(most int) string {
		var text strings.Builder
		for range source.Intn(most + 1) {
			text.WriteByte(byte('0' + source.Intn(10)))
		}
		return text.String()
	}
	suffixes := append(strings.Fields("n u m k M G T P E Ki Mi Gi Ti Pi Ei e-5 e3 e12 E-1"), "", "", "")
	for range count {
		text := pick([]string{"", "", "", "-", "+"}) + digits(20)
		if source.Intn(2) == 0 {
			text += "." + digits(12)
		}
		all = append(all, text+pick(suffixes))
	}
	return all
}
