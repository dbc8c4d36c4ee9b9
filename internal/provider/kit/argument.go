package kit

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Usage is who gives an attribute of a resource its value: the configuration, gpupool, or
// the configuration where it does and else gpupool.
type Usage int

// The usages.
const (
	Required Usage = iota
	Optional
	Computed
	OptionalComputed
)

func (u Usage) optional() bool { return u == Optional || u == OptionalComputed }
func (u Usage) computed() bool { return u == Computed || u == OptionalComputed }

// Text is a string.
func Text(u Usage, description string) schema.StringAttribute {
	return schema.StringAttribute{Required: u == Required, Optional: u.optional(), Computed: u.computed(), MarkdownDescription: description}
}

// Whole is a whole number.
func Whole(u Usage, description string) schema.Int64Attribute {
	return schema.Int64Attribute{Required: u == Required, Optional: u.optional(), Computed: u.computed(), MarkdownDescription: description}
}

// Texts is a list of strings.
func Texts(u Usage, description string) schema.ListAttribute {
	return schema.ListAttribute{
		Required: u == Required, Optional: u.optional(), Computed: u.computed(), ElementType: types.StringType, MarkdownDescription: description,
	}
}

// TextMap is a map of strings.
func TextMap(u Usage, description string) schema.MapAttribute {
	return schema.MapAttribute{
		Required: u == Required, Optional: u.optional(), Computed: u.computed(), ElementType: types.StringType, MarkdownDescription: description,
	}
}

// Object is an object with these attributes.
func Object(u Usage, description string, attributes map[string]schema.Attribute) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Required: u == Required, Optional: u.optional(), Computed: u.computed(), MarkdownDescription: description, Attributes: attributes,
	}
}

// Objects is a list of objects with these attributes.
func Objects(u Usage, description string, attributes map[string]schema.Attribute) schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Required: u == Required, Optional: u.optional(), Computed: u.computed(), MarkdownDescription: description,
		NestedObject: schema.NestedAttributeObject{Attributes: attributes},
	}
}

// DefaultChoice is an argument that is one of a few words and has a default, with which its
// description ends.
func DefaultChoice[T ~string](word T, description string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(string(word)), MarkdownDescription: ending(description, string(word)),
	}
}

// DefaultDuration is an argument that is a length of time and has a default, with which its
// description ends.
func DefaultDuration(length, description string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(length), MarkdownDescription: ending(description, fmt.Sprintf("%q", length)),
	}
}

// DefaultNumber is an argument that is a whole number and has a default, with which its
// description ends.
func DefaultNumber[N ~int | ~int64](n N, description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Optional: true, Computed: true, Default: int64default.StaticInt64(int64(n)), MarkdownDescription: ending(description, n),
	}
}

// DefaultBool is an argument that is true or false and has a default, with which its
// description ends.
func DefaultBool(b bool, description string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(b), MarkdownDescription: ending(description, b),
	}
}

func ending(description string, value any) string {
	return fmt.Sprintf("%s Default: `%v`.", description, value)
}
