package kit

import (
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ComputedText is a string that a data source reads.
func ComputedText(description string) schema.StringAttribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}

// ComputedWhole is a whole number that a data source reads.
func ComputedWhole(description string) schema.Int64Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: description}
}

// ComputedDecimal is any number that a data source reads.
func ComputedDecimal(description string) schema.NumberAttribute {
	return schema.NumberAttribute{Computed: true, MarkdownDescription: description}
}

// ComputedBool is true or false that a data source reads.
func ComputedBool(description string) schema.BoolAttribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: description}
}

// ComputedTexts is a list of strings that a data source reads.
func ComputedTexts(description string) schema.ListAttribute {
	return schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}

// ComputedTextMap is a map of strings that a data source reads.
func ComputedTextMap(description string) schema.MapAttribute {
	return schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: description}
}
