package kit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	framework "github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Timeouts is the value of the argument timeouts of every resource.
type Timeouts = framework.Value

// The range of a timeout. No operation completes in less than a second.
const (
	shortest = time.Second
	longest  = 30 * 24 * time.Hour
)

// TimeoutsAttribute returns the argument, with its default and the descriptions of its timeouts.
func TimeoutsAttribute(ctx context.Context, absent time.Duration, create, update, destroy string) schema.Attribute {
	attribute, ok := framework.Attributes(ctx, framework.Opts{
		Create: true, Update: true, Delete: true, CreateDescription: create, UpdateDescription: update, DeleteDescription: destroy,
	}).(schema.SingleNestedAttribute)
	if ok {
		for operation, each := range attribute.Attributes {
			if text, ok := each.(schema.StringAttribute); ok {
				text.Validators = nil // timeoutProblems validates it
				attribute.Attributes[operation] = text
			}
		}
		attribute.MarkdownDescription = fmt.Sprintf("Timeouts of the operations, as durations such as `\"90s\"`, `\"1d\"` or `%q`.",
			duration.String(absent))
	}
	return attribute
}

// NoTimeouts is an omitted argument.
func NoTimeouts() Timeouts {
	return Timeouts{Object: types.ObjectNull(map[string]attr.Type{"create": types.StringType, "update": types.StringType, "delete": types.StringType})}
}

// TimeoutOf returns the timeout of an operation: "create", "update" or "delete".
func TimeoutOf(v Timeouts, operation string, absent time.Duration) (time.Duration, diag.Diagnostics) {
	text := values.FieldsOf(v.Object).Text(operation)
	if text.ValueString() == "" {
		return absent, nil
	}
	d, err := duration.Parse(text.ValueString())
	if err != nil { // of a state that was not validated
		why := reason.InvalidTimeout(reason.Failure(err), reason.Duration(absent))
		return absent, diag.Diagnostics{problem.Error(path.Root("timeouts").AtName(operation), why)}
	}
	return d, nil
}

// timeoutProblems returns the problems of invalid timeouts.
func timeoutProblems(v Timeouts, absent time.Duration) []problem.Problem {
	var problems problem.List
	outOfRange := func(written reason.Value, least, most reason.Duration) reason.Reason {
		return reason.TimeoutRange(written, least, most, reason.Duration(absent))
	}
	for _, operation := range []string{"create", "update", "delete"} {
		text := values.FieldsOf(v.Object).Text(operation)
		if text.IsNull() || text.IsUnknown() {
			continue
		}
		d, err := duration.Parse(text.ValueString())
		if errors.Is(err, duration.ErrTooLong) {
			d, err = math.MaxInt64, nil
		}
		if err != nil {
			problems.Add("timeouts."+operation, reason.InvalidTimeout(reason.Failure(err), reason.Duration(absent)))
			continue
		}
		problems.Lasts("timeouts."+operation, text.ValueString(), d, shortest, longest, outOfRange)
	}
	return problems
}
