package spotpool

import (
	"context"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

func poolSchema(t *testing.T) schema.Schema {
	t.Helper()
	var resp resource.SchemaResponse
	NewResource().Schema(context.Background(), resource.SchemaRequest{}, &resp)
	return resp.Schema
}

// An argument for a password would put it into the state, the same for all
// machines.
func TestThereIsNoArgumentForAPassword(t *testing.T) {
	t.Parallel()
	attributes := poolSchema(t).Attributes
	for name := range attributes {
		if regexp.MustCompile(`(?i)passw|secret`).MatchString(name) {
			t.Errorf("the resource has an argument %s", name)
		}
	}
	if raw, ok := attributes["user_data_raw"]; !ok || !raw.IsSensitive() {
		t.Error("user_data_raw is not sensitive")
	}
}
