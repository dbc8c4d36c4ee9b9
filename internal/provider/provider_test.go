package provider

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// Each schema is well-formed, secrets are sensitive, and arguments that replace say so.
func TestSchemas(t *testing.T) {
	t.Parallel()
	p := New("test")()
	var resp provider.SchemaResponse
	p.Schema(t.Context(), provider.SchemaRequest{}, &resp)
	if diags := resp.Schema.ValidateImplementation(t.Context()); diags.HasError() {
		t.Error(diags)
	}
	checkSecrets(t, "", resp.Schema.Attributes)
	for _, factory := range p.Resources(t.Context()) {
		var s resource.SchemaResponse
		factory().Schema(t.Context(), resource.SchemaRequest{}, &s)
		if diags := s.Schema.ValidateImplementation(t.Context()); diags.HasError() {
			t.Error(diags)
		}
		checkDescriptions(t, "", s.Schema.Attributes)
		for _, name := range []string{"name", "namespace", "region"} { // the arguments that replace
			if a, has := s.Schema.Attributes[name]; has && !strings.HasSuffix(a.GetMarkdownDescription(), " Changing this forces replacement.") {
				t.Errorf("the description of %s does not say that a change replaces: %q", name, a.GetMarkdownDescription())
			}
		}
	}
	for _, factory := range p.DataSources(t.Context()) {
		var s datasource.SchemaResponse
		factory().Schema(t.Context(), datasource.SchemaRequest{}, &s)
		if diags := s.Schema.ValidateImplementation(t.Context()); diags.HasError() {
			t.Error(diags)
		}
		for name, a := range s.Schema.Attributes {
			if !strings.HasSuffix(a.GetMarkdownDescription(), ".") {
				t.Errorf("the description of %s is no sentence: %q", name, a.GetMarkdownDescription())
			}
			if list, ok := a.(dsschema.ListNestedAttribute); ok {
				for name, a := range list.NestedObject.Attributes {
					if !strings.HasSuffix(a.GetMarkdownDescription(), ".") {
						t.Errorf("the description of %s is no sentence: %q", name, a.GetMarkdownDescription())
					}
				}
			}
		}
	}
}

// checkDescriptions requires a sentence for each attribute, with its default.
func checkDescriptions(t *testing.T, above string, attributes map[string]rschema.Attribute) {
	t.Helper()
	withoutDefault := []string{"region", "refresh", "nodes.drain", "enforcement"}
	for name, a := range attributes {
		name, text := above+name, cmp.Or(a.GetMarkdownDescription(), a.GetDescription())
		if !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] && text[0] != '`' {
			t.Errorf("the description of %s is not a sentence: %q", name, text)
		}
		if a.IsOptional() && a.IsComputed() && !slices.Contains(withoutDefault, name) && !strings.Contains(text, "Default: `") {
			t.Errorf("the description of %s lacks its default: %q", name, text)
		}
		switch nested := a.(type) {
		case rschema.SingleNestedAttribute:
			checkDescriptions(t, name+".", nested.Attributes)
		case rschema.ListNestedAttribute:
			checkDescriptions(t, name+".", nested.NestedObject.Attributes)
		}
	}
}

func checkSecrets(t *testing.T, above string, attributes map[string]schema.Attribute) {
	t.Helper()
	for name, a := range attributes {
		if !strings.HasSuffix(a.GetMarkdownDescription(), ".") {
			t.Errorf("the description of %s%s is no sentence: %q", above, name, a.GetMarkdownDescription())
		}
		secret := strings.HasSuffix(name, "_key") || strings.HasSuffix(name, "token") || name == "token_code" || name == "password"
		if secret != a.IsSensitive() {
			t.Errorf("%s%s is sensitive: %v", above, name, a.IsSensitive())
		}
		if nested, ok := a.(schema.SingleNestedAttribute); ok {
			checkSecrets(t, above+name+".", nested.Attributes)
		}
	}
}

// The libraries' logs are turned off only if none were requested.
func TestSilence(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"": true, "HOME": true, "TF_LOG_CORE": true,
		"TF_LOG": false, "TF_LOG_PROVIDER": false, "TF_LOG_PROVIDER_GPUPOOL": false, "TF_LOG_SDK": false, "TF_LOG_SDK_PROTO": false,
	} {
		environment := map[string]string{name: "TRACE"}
		before := maps.Clone(environment)
		silence(func(key string) string { return environment[key] }, func(key, value string) error {
			environment[key] = value
			return nil
		})
		if silenced := environment["TF_LOG_SDK"] == "OFF" && environment["TF_LOG_PROVIDER_GPUPOOL"] == "OFF"; silenced != want {
			t.Errorf("with %q set, the logs are off: %v", name, silenced)
		}
		if !want && !maps.Equal(before, environment) {
			t.Errorf("with %q set, the environment became %v", name, environment)
		}
	}
}

// The environment is read in one place, so that a test has no other.
func TestEnvironmentIsReadInOnePlace(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			path == "provider.go" || path == "serve.go" || strings.HasPrefix(path, "providertest") {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "os.Getenv") || strings.Contains(string(data), "os.LookupEnv") {
			t.Errorf("%s reads the environment", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
