package providertest

import (
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
)

// Server is the provider as Terraform talks to it, without Terraform. Tests can see
// here what Terraform's own test framework does not show, above all warnings.
type Server struct {
	tb       testing.TB
	typeName string // of the resource that the test is about
	server   tfprotov6.ProviderServer
	bare     tfprotov6.ProviderServer // the same without the shortcut for unchanged pools
	schemas  map[string]*tfprotov6.Schema
}

// Planned is the result of a plan.
type Planned struct {
	Object
	Diagnostics Diagnostics
	Replaces    []string
	prior       *Object
	config      tftypes.Value
}

// Serve configures a provider for this world; arguments replace the world's own.
func (w *World) Serve(environment map[string]string, arguments Values) (*Server, Diagnostics) {
	w.tb.Helper()
	s := &Server{tb: w.tb, typeName: poolType, server: newServer(environment), bare: newBareServer(environment), schemas: map[string]*tfprotov6.Schema{}}
	all, err := s.server.GetProviderSchema(w.tb.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		w.tb.Fatal(err)
	}
	maps.Copy(s.schemas, all.ResourceSchemas)
	config := s.value(all.Provider.ValueType(), Values{
		"region": "ap-singapore", "secret_id": cvmsim.DemoSecretID, "secret_key": cvmsim.DemoSecretKey,
		"endpoint": w.Sim.URL, "store": Values{"directory": w.StoreDir}, "kubernetes": w.kubernetesValues(),
	}.With(arguments))
	request := &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.11.4", Config: s.dynamic(all.Provider.ValueType(), config),
	}
	if _, err := s.bare.ConfigureProvider(w.tb.Context(), request); err != nil {
		w.tb.Fatal(err)
	}
	resp, err := s.server.ConfigureProvider(w.tb.Context(), request)
	if err != nil {
		w.tb.Fatal(err)
	}
	return s, resp.Diagnostics
}

const poolType = "gpupool_spot_pool"

// For is the same server, for tests of another type of resource than a pool.
func (s *Server) For(typeName string) *Server {
	other := *s
	other.typeName = typeName
	return &other
}

// Shown is the same server, with diagnostics as the plugin passes them to Terraform.
func (s *Server) Shown() *Server {
	other := *s
	other.server = problem.Shown(s.server)
	return &other
}

// Validate validates a resource's configuration.
func (s *Server) Validate(config Values) Diagnostics {
	s.tb.Helper()
	of := s.schemas[s.typeName].ValueType()
	resp, err := s.server.ValidateResourceConfig(s.tb.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: s.typeName, Config: s.dynamic(of, s.value(of, config)),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true}, // as of Terraform 1.11
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	return resp.Diagnostics
}

// Plan plans a resource: a creation where prior is nil, and a destruction where the
// configuration is.
func (s *Server) Plan(prior *Object, config Values) Planned {
	s.tb.Helper()
	return s.plan(s.server, prior, config)
}

// PlanBare is Plan without the shortcut for unchanged pools.
func (s *Server) PlanBare(prior *Object, config Values) Planned {
	s.tb.Helper()
	return s.plan(s.bare, prior, config)
}

func (s *Server) plan(server tfprotov6.ProviderServer, prior *Object, config Values) Planned {
	s.tb.Helper()
	of := s.schemas[s.typeName].ValueType()
	p := Planned{prior: prior, config: s.value(of, config)}
	before := Object{State: tftypes.NewValue(of, nil)}
	if prior != nil {
		before = *prior
	}
	resp, err := server.PlanResourceChange(s.tb.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: s.typeName, PriorState: s.dynamic(of, before.State), PriorPrivate: before.Private, PriorIdentity: before.identity,
		Config: s.dynamic(of, p.config), ProposedNewState: s.dynamic(of, s.proposed(before.State, p.config)),
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	p.Diagnostics, p.Private, p.identity = resp.Diagnostics, resp.PlannedPrivate, resp.PlannedIdentity
	for _, path := range resp.RequiresReplace {
		p.Replaces = append(p.Replaces, path.String())
	}
	p.State = s.read(of, resp.PlannedState)
	return p
}

// Apply carries a plan out.
func (s *Server) Apply(p Planned) (*Object, Diagnostics) {
	s.tb.Helper()
	of := s.schemas[s.typeName].ValueType()
	before := tftypes.NewValue(of, nil)
	if p.prior != nil {
		before = p.prior.State
	}
	resp, err := s.server.ApplyResourceChange(s.tb.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: s.typeName, PriorState: s.dynamic(of, before), PlannedState: s.dynamic(of, p.State),
		Config: s.dynamic(of, p.config), PlannedPrivate: p.Private, PlannedIdentity: p.identity,
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	return &Object{State: s.read(of, resp.NewState), Private: resp.Private, identity: resp.NewIdentity}, resp.Diagnostics
}

// Read refreshes a resource.
func (s *Server) Read(o *Object) (*Object, Diagnostics) {
	s.tb.Helper()
	return s.refresh(s.server, o)
}

// ReadBare is Read without the shortcut for unchanged pools.
func (s *Server) ReadBare(o *Object) (*Object, Diagnostics) {
	s.tb.Helper()
	return s.refresh(s.bare, o)
}

func (s *Server) refresh(server tfprotov6.ProviderServer, o *Object) (*Object, Diagnostics) {
	s.tb.Helper()
	of := s.schemas[s.typeName].ValueType()
	resp, err := server.ReadResource(s.tb.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: s.typeName, CurrentState: s.dynamic(of, o.State), Private: o.Private, CurrentIdentity: o.identity,
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	return &Object{State: s.read(of, resp.NewState), Private: resp.Private, identity: resp.NewIdentity}, resp.Diagnostics
}

// Import finds a resource by its import id or, where that is empty, by its identity,
// and refreshes it, as Terraform does.
func (s *Server) Import(id string, identity Values) (*Object, Diagnostics) {
	s.tb.Helper()
	of := s.schemas[s.typeName].ValueType()
	req := &tfprotov6.ImportResourceStateRequest{TypeName: s.typeName, ID: id}
	if id == "" {
		all, err := s.server.GetResourceIdentitySchemas(s.tb.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
		if err != nil {
			s.tb.Fatal(err)
		}
		identityType := all.IdentitySchemas[s.typeName].ValueType()
		req.Identity = &tfprotov6.ResourceIdentityData{IdentityData: s.dynamic(identityType, s.value(identityType, identity))}
	}
	resp, err := s.server.ImportResourceState(s.tb.Context(), req)
	if err != nil {
		s.tb.Fatal(err)
	}
	if len(resp.ImportedResources) != 1 {
		return nil, resp.Diagnostics
	}
	found := resp.ImportedResources[0]
	return s.Read(&Object{State: s.read(of, found.State), Private: found.Private, identity: found.Identity})
}

// Destroy removes a resource, protected or not.
func (s *Server) Destroy(o *Object) {
	s.tb.Helper()
	if _, diags := s.Apply(s.Plan(o, nil)); len(diags) > 0 {
		s.tb.Errorf("destroying it: %s", diags)
	}
}

// proposed merges configuration and prior state as Terraform does for top-level
// arguments: a computed argument that was left out keeps its prior value.
func (s *Server) proposed(prior, config tftypes.Value) tftypes.Value {
	if prior.IsNull() || config.IsNull() {
		return config
	}
	var before, after map[string]tftypes.Value
	if err := prior.As(&before); err != nil {
		s.tb.Fatal(err)
	}
	if err := config.As(&after); err != nil {
		s.tb.Fatal(err)
	}
	for _, a := range s.schemas[s.typeName].Block.Attributes {
		if a.Computed && after[a.Name].IsNull() {
			after[a.Name] = before[a.Name]
		}
	}
	return tftypes.NewValue(config.Type(), after)
}

func (w *World) kubernetesValues() Values {
	if w.Cluster == nil {
		return nil
	}
	return Values{"config_path": w.Cluster.Kubeconfig()}
}
