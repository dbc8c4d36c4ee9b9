package spotpool

import (
	"context"
	"regexp"
	"strings"
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

// The registry's page is made of the descriptions: each attribute has one that
// is a sentence, and each default is mentioned.
func TestEveryAttributeIsDescribed(t *testing.T) {
	t.Parallel()
	describe(t, "", poolSchema(t).Attributes)
}

func describe(t *testing.T, above string, attributes map[string]schema.Attribute) {
	t.Helper()
	for name, a := range attributes {
		text := a.GetMarkdownDescription()
		if text == "" {
			text = a.GetDescription()
		}
		if !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] && text[0] != '`' {
			t.Errorf("the description of %s%s is no sentence: %q", above, name, text)
		}
		if a.IsOptional() && a.IsComputed() && above+name != "region" && above+name != "refresh" && above+name != "nodes.drain" &&
			!strings.Contains(text, "Default: `") {
			t.Errorf("the description of %s%s does not say its default: %q", above, name, text)
		}
		switch nested := a.(type) {
		case schema.SingleNestedAttribute:
			describe(t, above+name+".", nested.Attributes)
		case schema.ListNestedAttribute:
			describe(t, above+name+".", nested.NestedObject.Attributes)
		}
	}
}

// An argument for a password would put it into the state, the same for all
// machines.
func TestThereIsNoArgumentForAPassword(t *testing.T) {
	t.Parallel()
	for name, a := range poolSchema(t).Attributes {
		if regexp.MustCompile(`(?i)passw|secret`).MatchString(name) {
			t.Errorf("the resource has an argument %s", name)
		}
		if name == "user_data_raw" && !a.IsSensitive() {
			t.Error("user_data_raw is not sensitive")
		}
	}
}
