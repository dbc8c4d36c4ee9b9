// Package defaulted builds the arguments of resources that have a default. Each
// description ends with the default, so that no page can give another one.
package defaulted

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
)

// Choice is an argument that is one of a few words.
func Choice[T ~string](word T, description string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(string(word)), MarkdownDescription: ending(description, string(word)),
	}
}

// Duration is an argument that is a length of time.
func Duration(length, description string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(length), MarkdownDescription: ending(description, fmt.Sprintf("%q", length)),
	}
}

// Number is an argument that is a whole number.
func Number[N ~int | ~int64](n N, description string) schema.Int64Attribute {
	return schema.Int64Attribute{
		Optional: true, Computed: true, Default: int64default.StaticInt64(int64(n)), MarkdownDescription: ending(description, n),
	}
}

// Bool is an argument that is true or false.
func Bool(b bool, description string) schema.BoolAttribute {
	return schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(b), MarkdownDescription: ending(description, b),
	}
}

func ending(description string, value any) string {
	return fmt.Sprintf("%s Default: `%v`.", description, value)
}
