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
	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// Timeouts is the value of the argument timeouts of every resource: how long its creation,
// update and destruction may take.
type Timeouts = framework.Value

// The range of a timeout. In less than a second nothing can be done, not even a
// destruction; and a deadline must be near enough to be counted.
const (
	shortest = time.Second
	longest  = 30 * 24 * time.Hour
)

// TimeoutsAttribute is the argument, with its default and the descriptions of its three
// timeouts.
func TimeoutsAttribute(ctx context.Context, absent time.Duration, create, update, destroy string) schema.Attribute {
	attribute, ok := framework.Attributes(ctx, framework.Opts{
		Create: true, Update: true, Delete: true, CreateDescription: create, UpdateDescription: update, DeleteDescription: destroy,
	}).(schema.SingleNestedAttribute)
	if ok {
		for operation, each := range attribute.Attributes {
			if text, ok := each.(schema.StringAttribute); ok {
				text.Validators = nil // timeoutProblems judges it, as durations are judged everywhere
				attribute.Attributes[operation] = text
			}
		}
		attribute.MarkdownDescription = fmt.Sprintf("How long each operation may take, as durations such as `\"90s\"`, `\"1d\"` or `%q`.",
			duration.String(absent))
	}
	return attribute
}

// NoTimeouts is an argument that was left out.
func NoTimeouts() Timeouts {
	return Timeouts{Object: types.ObjectNull(map[string]attr.Type{"create": types.StringType, "update": types.StringType, "delete": types.StringType})}
}

// timeoutOf is how long an operation may take: "create", "update" or "delete".
func timeoutOf(v Timeouts, operation string, absent time.Duration) (time.Duration, diag.Diagnostics) {
	text := values.FieldsOf(v.Object).Text(operation)
	if text.ValueString() == "" {
		return absent, nil
	}
	d, err := duration.Parse(text.ValueString())
	if err != nil { // of a state that was not validated
		return absent, diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("timeouts").AtName(operation), "Invalid timeout", err.Error())}
	}
	return d, nil
}

// timeoutProblems are the timeouts that are none, or out of range.
func timeoutProblems(v Timeouts, absent time.Duration) []problem.Problem {
	var problems problem.List
	for _, operation := range []string{"create", "update", "delete"} {
		text := values.FieldsOf(v.Object).Text(operation)
		if text.IsNull() || text.IsUnknown() {
			continue
		}
		advice := fmt.Sprintf("Leave it out for %s, or write one such as \"20m\".", duration.Words(absent))
		d, err := duration.Parse(text.ValueString())
		if errors.Is(err, duration.ErrTooLong) {
			d, err = math.MaxInt64, nil
		}
		if err != nil {
			problems.Add("timeouts."+operation, advice, "%v", err)
			continue
		}
		problems.Lasts("timeouts."+operation, text.ValueString(), d, shortest, longest, advice)
	}
	return problems
}
