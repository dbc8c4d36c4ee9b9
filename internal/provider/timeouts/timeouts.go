// Package timeouts is the argument timeouts of every resource: how long its
// creation, update and destruction may take.
package timeouts

import (
	"context"
	"fmt"
	"time"

	framework "github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// Value is the argument's value.
type Value = framework.Value

// The range of a timeout. In less than a second nothing can be done, not even a
// destruction; and a deadline must be near enough to be counted.
const (
	shortest = time.Second
	longest  = 30 * 24 * time.Hour
)

// Attribute is the argument, with its default and the descriptions of its three
// timeouts.
func Attribute(ctx context.Context, absent time.Duration, create, update, destroy string) schema.Attribute {
	attribute, ok := framework.Attributes(ctx, framework.Opts{
		Create: true, Update: true, Delete: true, CreateDescription: create, UpdateDescription: update, DeleteDescription: destroy,
	}).(schema.SingleNestedAttribute)
	if ok {
		attribute.MarkdownDescription = fmt.Sprintf("How long each operation may take, as durations such as `\"90s\"` or `%q`.", duration.String(absent))
	}
	return attribute
}

// None is an argument that was left out.
func None() Value {
	return Value{Object: types.ObjectNull(map[string]attr.Type{"create": types.StringType, "update": types.StringType, "delete": types.StringType})}
}

// Problems are the timeouts that are out of range. The schema refuses what is not a
// duration.
func Problems(v Value, absent time.Duration) []problem.Problem {
	var problems problem.List
	for _, operation := range []string{"create", "update", "delete"} {
		text := values.FieldsOf(v.Object).Text(operation)
		if text.IsNull() || text.IsUnknown() {
			continue
		}
		if d, err := time.ParseDuration(text.ValueString()); err == nil {
			problems.Lasts("timeouts."+operation, text.ValueString(), d, shortest, longest,
				fmt.Sprintf("Leave it out for %s, or write one such as \"20m\".", duration.Words(absent)))
		}
	}
	return problems
}
