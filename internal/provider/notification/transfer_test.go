package notification

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute/attributetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

func modelOf(d core.Declaration) model { return model{Base: kit.NewBase()}.declared(d) }

func notificationSchema(t *testing.T) schema.Schema {
	t.Helper()
	var resp resource.SchemaResponse
	NewResource().Schema(context.Background(), resource.SchemaRequest{}, &resp)
	return resp.Schema
}

// An attribute without its line in transfer would be accepted in a configuration, and do nothing.
func TestEveryAttributeIsCarried(t *testing.T) {
	t.Parallel()
	attributetest.Carried(t, attributetest.Resource[model, core.Declaration]{
		Schema: notificationSchema(t), Into: model.declaration, OutOf: modelOf, Extra: []string{"timeouts", "url_wo", "secret_wo"},
	})
}

// Only the write-only values are lost on the way into a state.
func TestDeclarationSurvivesTheModel(t *testing.T) {
	t.Parallel()
	d := core.Declaration{
		Name: "ops", UID: "u", Generation: 3, Type: core.Feishu, URL: "https://example.com", URLVersion: 2, Secret: "s", SecretVersion: 4,
		Events: []history.Kind{history.Exceeded, history.Loss}, Objects: []string{"budget/*"}, Thresholds: []int{80, 100}, Digest: "15m",
		QuietHours: &core.QuietHours{Start: "22:00", End: "07:00"}, TimeZone: "Asia/Shanghai", PageURL: "https://gpupool.example.com",
	}
	m := modelOf(d)
	if !m.URL.IsNull() || !m.Secret.IsNull() {
		t.Error("the state has write-only values")
	}
	m = m.writeOnly(model{URL: types.StringValue(d.URL), Secret: types.StringValue(d.Secret)})
	if diff := cmp.Diff(d, m.declaration()); diff != "" {
		t.Errorf("the declaration changed on its way through the model:\n%s", diff)
	}
	least := core.Declaration{Name: "ops", UID: "u", Generation: 1, Type: core.Slack}
	if diff := cmp.Diff(least, modelOf(least).declaration()); diff != "" {
		t.Errorf("the least one changed on its way through the model:\n%s", diff)
	}
}
