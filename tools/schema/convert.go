package main

import (
	"encoding/json"
	"fmt"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

func schema(s *tfprotov6.Schema) *tfjson.Schema {
	return &tfjson.Schema{Version: uint64(s.Version), Block: block(s.Block)}
}

func block(b *tfprotov6.SchemaBlock) *tfjson.SchemaBlock {
	blocks := make(map[string]*tfjson.SchemaBlockType, len(b.BlockTypes))
	for _, nested := range b.BlockTypes {
		blocks[nested.TypeName] = &tfjson.SchemaBlockType{
			NestingMode: nesting(nested.Nesting),
			Block:       block(nested.Block),
			MinItems:    uint64(nested.MinItems),
			MaxItems:    uint64(nested.MaxItems),
		}
	}
	return &tfjson.SchemaBlock{
		Attributes:      attributes(b.Attributes),
		NestedBlocks:    blocks,
		Description:     b.Description,
		DescriptionKind: format(b.DescriptionKind),
		Deprecated:      b.Deprecated,
	}
}

func attributes(list []*tfprotov6.SchemaAttribute) map[string]*tfjson.SchemaAttribute {
	named := make(map[string]*tfjson.SchemaAttribute, len(list))
	for _, a := range list {
		named[a.Name] = attribute(a)
	}
	return named
}

func attribute(a *tfprotov6.SchemaAttribute) *tfjson.SchemaAttribute {
	converted := &tfjson.SchemaAttribute{
		Description:     a.Description,
		DescriptionKind: format(a.DescriptionKind),
		Deprecated:      a.Deprecated,
		Required:        a.Required,
		Optional:        a.Optional,
		Computed:        a.Computed,
		Sensitive:       a.Sensitive,
		WriteOnly:       a.WriteOnly,
	}
	if a.NestedType != nil {
		converted.AttributeNestedType = &tfjson.SchemaNestedAttributeType{
			Attributes:  attributes(a.NestedType.Attributes),
			NestingMode: nesting(a.NestedType.Nesting),
		}
	} else {
		converted.AttributeType = valueType(a.Type)
	}
	return converted
}

func identity(s *tfprotov6.ResourceIdentitySchema) *tfjson.IdentitySchema {
	named := make(map[string]*tfjson.IdentityAttribute, len(s.IdentityAttributes))
	for _, a := range s.IdentityAttributes {
		named[a.Name] = &tfjson.IdentityAttribute{
			IdentityType:      valueType(a.Type),
			Description:       a.Description,
			RequiredForImport: a.RequiredForImport,
			OptionalForImport: a.OptionalForImport,
		}
	}
	return &tfjson.IdentitySchema{Version: uint64(s.Version), Attributes: named}
}

func function(f *tfprotov6.Function) *tfjson.FunctionSignature {
	converted := &tfjson.FunctionSignature{
		Description:        f.Description,
		Summary:            f.Summary,
		DeprecationMessage: f.DeprecationMessage,
		ReturnType:         valueType(f.Return.Type),
	}
	for _, p := range f.Parameters {
		converted.Parameters = append(converted.Parameters, parameter(p))
	}
	if f.VariadicParameter != nil {
		converted.VariadicParameter = parameter(f.VariadicParameter)
	}
	return converted
}

func parameter(p *tfprotov6.FunctionParameter) *tfjson.FunctionParameter {
	return &tfjson.FunctionParameter{Name: p.Name, Description: p.Description, IsNullable: p.AllowNullValue, Type: valueType(p.Type)}
}

// nesting is list for LIST: the two enumerations differ in nothing but case.
func nesting(mode fmt.Stringer) tfjson.SchemaNestingMode {
	return tfjson.SchemaNestingMode(strings.ToLower(mode.String()))
}

func format(kind tfprotov6.StringKind) tfjson.SchemaDescriptionKind {
	if kind == tfprotov6.StringKindMarkdown {
		return tfjson.SchemaDescriptionKindMarkdown
	}
	return tfjson.SchemaDescriptionKindPlain
}

// valueType goes by way of JSON, in which both libraries write types alike. What
// the provider declares is never a type that can't be written.
func valueType(t tftypes.Type) cty.Type {
	//nolint:staticcheck // Deprecated so that providers don't send types by it; no other writes one as JSON.
	encoded, err := t.MarshalJSON()
	if err != nil {
		panic(err)
	}
	var converted cty.Type
	if err := json.Unmarshal(encoded, &converted); err != nil {
		panic(err)
	}
	return converted
}
