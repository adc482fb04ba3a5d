import { expect, it } from "vitest";
import { linesOf, packageName } from "./go-structs.ts";

const meta = `package v1

type TypeMeta struct {
	Kind string \`json:"kind,omitempty" protobuf:"bytes,1,opt,name=kind"\`
}

type ObjectMeta struct {
	Name string \`json:"name,omitempty" protobuf:"bytes,1,opt,name=name"\`
}
`;

const toys = `package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Colour string

// ToyList is not asked for.
type ToyList struct {
	Items []Toy \`json:"items" protobuf:"bytes,2,rep,name=items"\`
}

type Amounts map[Colour]resource.Quantity

type Box struct {
	Lid bool \`json:"lid" protobuf:"varint,1,opt,name=lid"\`
}

type Toy struct {
	metav1.TypeMeta \`json:",inline"\`
	// +optional
	metav1.ObjectMeta \`json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"\`
	Box               \`json:",inline" protobuf:"bytes,2,opt,name=box"\`
	// Comments between fields are no fields.
	Paint  Colour       \`json:"paint,omitempty" protobuf:"bytes,3,opt,name=paint,casttype=Colour"\`
	Wheels *int32       \`json:"wheels,omitempty" protobuf:"varint,4,opt,name=wheels"\`
	Parts  []Box        \`json:"parts" protobuf:"bytes,5,rep,name=parts"\`
	Weight Amounts      \`json:"weight,omitempty" protobuf:"bytes,6,rep,name=weight,castkey=Colour"\`
	Made   metav1.Time  \`json:"made,omitempty,omitzero" protobuf:"bytes,7,opt,name=made"\`
	Secret string       \`json:"-"\`
}
`;

it("the parser reads structs with their types, flags, and protobuf numbers, and the types they use", () => {
  const packages = [
    { name: "meta.v1", files: [meta] },
    { name: "toys.v1", files: [toys] },
  ];
  expect([...linesOf(packages, ["toys.v1.Toy"])]).toEqual([
    ["meta.v1.ObjectMeta", "name:string=1"],
    ["toys.v1.Box", "lid!:bool=1"],
    [
      "toys.v1.Toy",
      "kind:string apiVersion:string metadata:meta.v1.ObjectMeta=1 ~toys.v1.Box=2 paint:string=3 wheels:*int32=4 parts!:[]toys.v1.Box=5 weight:{}quantity=6 made-:time=7",
    ],
  ]);
});

it.each([
  ["k8s.io/api/core/v1", "core.v1"],
  ["k8s.io/apimachinery/pkg/apis/meta/v1", "meta.v1"],
  ["k8s.io/apimachinery/pkg/api/resource", "resource"],
])("the package %s is named %s", (path, name) => expect(packageName(path)).toBe(name));
