package main

import (
	"context"
	"fmt"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// address is where tfplugindocs expects the schemas of the provider gpupool.
const address = "registry.terraform.io/hashicorp/gpupool"

// read asks the server for everything that it describes. It fails where the
// provider has a kind of object that isn't rendered here.
func read(ctx context.Context, server tfprotov6.ProviderServer) (*tfjson.ProviderSchemas, error) {
	described, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	if err := failed(described.Diagnostics); err != nil {
		return nil, err
	}
	if n := len(described.StateStoreSchemas); n > 0 {
		return nil, fmt.Errorf("the provider has %d state stores, and this program renders none", n)
	}
	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, err
	}
	if err := failed(identities.Diagnostics); err != nil {
		return nil, err
	}
	actions := make(map[string]*tfjson.ActionSchema, len(described.ActionSchemas))
	for name, action := range described.ActionSchemas {
		actions[name] = &tfjson.ActionSchema{Block: block(action.Schema.Block)}
	}
	return &tfjson.ProviderSchemas{
		FormatVersion: "1.0",
		Schemas: map[string]*tfjson.ProviderSchema{address: {
			ConfigSchema:             schema(described.Provider),
			ResourceSchemas:          each(described.ResourceSchemas, schema),
			DataSourceSchemas:        each(described.DataSourceSchemas, schema),
			EphemeralResourceSchemas: each(described.EphemeralResourceSchemas, schema),
			Functions:                each(described.Functions, function),
			ListResourceSchemas:      each(described.ListResourceSchemas, schema),
			ActionSchemas:            actions,
			ResourceIdentitySchemas:  each(identities.IdentitySchemas, identity),
		}},
	}, nil
}

func failed(diagnostics []*tfprotov6.Diagnostic) error {
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return fmt.Errorf("%s: %s", d.Summary, d.Detail)
		}
	}
	return nil
}

func each[From, To any](from map[string]From, convert func(From) To) map[string]To {
	to := make(map[string]To, len(from))
	for name, value := range from {
		to[name] = convert(value)
	}
	return to
}
