// Package computed builds attributes that Terraform reads and nobody writes.
package computed

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Text is a string.
func Text(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// Whole is a whole number.
func Whole(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

// Decimal is any number.
func Decimal(description string) schema.NumberAttribute {
	return schema.NumberAttribute{Computed: true, MarkdownDescription: description}
}

// Bool is true or false.
func Bool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}

// Texts is a list of strings.
func Texts(description string) schema.ListAttribute {
	return schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}

// TextMap is a map of strings.
func TextMap(description string) schema.MapAttribute {
	return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}
