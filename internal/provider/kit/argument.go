package kit

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
)

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
