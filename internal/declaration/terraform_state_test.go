package declaration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// secret is in the test data's user data and in other providers' values.
const secret = "sesame"

func testdata(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func fromState(t *testing.T, data []byte) *declaration.TerraformState {
	t.Helper()
	state, err := declaration.FromState(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// The pools of the test data, the same in both forms.
func statePools() []declaration.StatePool {
	train := spotpool.Declaration{
		Name: "train", Region: "ap-singapore", UID: "4b7c1a52f0e94d3c8a6b0d1e2f3a4b5c", AccountID: "100012345678", Generation: 3,
		Minimum: 2, Maximum: 4,
		Offerings: []spotpool.Offering{
			{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4", SpotMaxPrice: 3_500_000},
			{AvailabilityZone: "ap-singapore-3", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-e5f6a7b8"},
		},
		AllocationStrategy: spotpool.Priority, InstanceChargeType: spotpool.Spot,
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4"}, ImageID: "img-a1b2c3d4", KeyIDs: []string{"skey-a1b2c3d4"},
			SystemDiskType: "CLOUD_BSSD", SystemDiskSize: 100, DataDisks: []spotpool.DataDisk{{Type: "CLOUD_BSSD", Size: 200}},
			InternetMaxBandwidthOut: 1, InternetChargeType: "BANDWIDTH_POSTPAID_BY_HOUR",
			UserData: "#!/bin/sh\necho " + secret + "\n", CamRoleName: "gpu-node", Tags: map[string]string{"team": "a"},
		},
		MaxHourlyCost: 30_000_000, LaunchTimeout: spotpool.Duration(15 * time.Minute), Cooldown: spotpool.Duration(20 * time.Minute),
		MaxLaunchesPerRun: 50, OnDemandFallback: &spotpool.OnDemandFallback{After: spotpool.Duration(30 * time.Minute), Maximum: 1},
		Refresh: spotpool.Refresh{Strategy: spotpool.RefreshNone, MaxSurge: 1}, OnDestroy: spotpool.DestroyDelete,
	}
	bare := train
	bare.Configuration = spotpool.Configuration{VPCID: train.VPCID, ImageID: train.ImageID}
	bare.MaxHourlyCost, bare.OnDemandFallback = 0, nil
	bare.Name, bare.UID = "render-0", "c0a1b2c3d4e5f60718293a4b5c6d7e8f"
	tainted := bare
	tainted.Name, tainted.UID = "render-1", "c1a1b2c3d4e5f60718293a4b5c6d7e8f"
	jobs := train
	jobs.Name, jobs.Region, jobs.UID, jobs.InstanceChargeType = "jobs", "eu-frankfurt", "f0a1b2c3d4e5f60718293a4b5c6d7e8f", spotpool.OnDemand
	jobs.Offerings = []spotpool.Offering{train.Offerings[0], train.Offerings[1]}
	jobs.Offerings[0].AvailabilityZone, jobs.Offerings[1].AvailabilityZone = "eu-frankfurt-2", "eu-frankfurt-3"
	return []declaration.StatePool{
		{Address: "gpupool_spot_pool.train", Declaration: train},
		{Address: `module.gpu["ap.$${x}"].gpupool_spot_pool.render[0]`, Declaration: bare},
		{Address: `module.gpu["ap.$${x}"].gpupool_spot_pool.render[1]`, Declaration: tainted, Tainted: true},
		{Address: `module.gpu["ap.$${x}"].module.deep[0].gpupool_spot_pool.each["a \"b\" %%{c}"]`, Declaration: jobs},
	}
}

func TestFromState(t *testing.T) {
	t.Parallel()
	serial := int64(42)
	warnings := []string{
		"gpupool_spot_pool.train is left out: its object 7d1f0a2c is deposed, and the next terraform apply destroys it",
		"gpupool_spot_pool.late is left out: its creation failed before it had a uid, and the next terraform apply replaces it",
		"gpupool_spot_pool.foreign is left out: it belongs to the provider registry.terraform.io/example/gpupool, not to gpupool/gpupool",
		"gpupool_flock.f is left out: this gpupool does not know the type gpupool_flock; a newer one may",
	}
	for file, want := range map[string]*declaration.TerraformState{
		"show.json": {Form: declaration.FormShow},
		"pull.json": {Form: declaration.FormPull, Serial: &serial, Lineage: "5bb1f785-393b-f6f2-b993-4f0f0fc1abcd"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			want.TerraformVersion, want.Pools = "1.11.4", statePools()
			got := fromState(t, testdata(t, file))
			if diff := cmp.Diff(warnings, got.Warnings.Texts()); diff != "" {
				t.Error(diff)
			}
			got.Warnings = nil
			if diff := cmp.Diff(want, got, emptyAsNil); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			withBOM := append([]byte("\xef\xbb\xbf"), testdata(t, file)...)
			marked := fromState(t, withBOM)
			marked.Warnings = nil
			if diff := cmp.Diff(got, marked); diff != "" {
				t.Errorf("with a byte order mark: (-without +with)\n%s", diff)
			}
		})
	}
}

func TestFromStateWithoutPools(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"show without state": `{"format_version":"1.0"}`,
		"show, null":         `{"format_version":"1.0","terraform_version":"1.11.4","values":null}`,
		"show, empty":        `{"format_version":"1.0","terraform_version":"1.11.4","values":{"root_module":{}}}`,
		"newer minor":        `{"format_version":"1.9","novelty":[1],"values":{"root_module":{"novelty":{}}}}`,
		"pull":               `{"version":4,"serial":13,"lineage":"l","outputs":{},"resources":[],"check_results":null}`,
		"pull, null":         `{"version":4,"serial":13,"lineage":"l","resources":null,"novelty":1}`,
		"others' resources":  `{"version":4,"serial":13,"lineage":"l","resources":[{"mode":"managed","type":"null_resource","name":"n","provider":"p","instances":[{"attributes":null}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := fromState(t, []byte(data))
			if len(state.Pools) > 0 || len(state.Warnings) > 0 {
				t.Errorf("got pools %v and warnings %q", state.Pools, state.Warnings)
			}
		})
	}
}

// shown puts resources into what "terraform show -json" prints.
func shown(resources ...string) string {
	return `{"format_version":"1.0","values":{"root_module":{"resources":[` + strings.Join(resources, ",") + `]}}}`
}

func shownPool(address, schemaVersion, attributes string) string {
	return `{"address":"` + address + `","mode":"managed","type":"gpupool_spot_pool","provider_name":"example.com/gpupool/gpupool","schema_version":` +
		schemaVersion + `,"values":` + attributes + `}`
}

func attributes(name, uid string) string {
	return `{"region":"r","name":"` + name + `","uid":"` + uid + `","account_id":"1","user_data_raw":"` + secret + `"}`
}

func TestFromStateRefuses(t *testing.T) {
	t.Parallel()
	train := shownPool("gpupool_spot_pool.train", "0", attributes("train", "u"))
	whole := string(testdata(t, "show.json"))
	pulled := string(testdata(t, "pull.json"))
	for name, c := range map[string]struct{ data, want string }{
		"nothing":         {" \n", "it is empty: either terraform failed"},
		"no JSON":         {"No state.\n", "not valid JSON at byte"},
		"human output":    {"# gpupool_spot_pool.train:\n", "not valid JSON at byte"},
		"another JSON":    {`{"hello":"` + secret + `"}`, "no state: give what terraform show -json or terraform state pull print"},
		"a list":          {`["` + secret + `"]`, "of the wrong type"},
		"another command": {`{"format_version":"1.0","valid":true}`, "another command"},
		"truncated":       {whole[:len(whole)-300], "it ends too early"},
		"truncated pull":  {pulled[:len(pulled)/2], "it ends too early"},
		"trailing":        {whole + `{"x":"` + secret + `"}`, "something follows where it should end"},
		"UTF-16":          {"\xff\xfe{\x00", "UTF-16"},
		"a plan":          {`{"format_version":"1.2","planned_values":{"root_module":{}},"values":null}`, "it is a plan"},
		"encrypted":       {`{"serial":1,"lineage":"l","meta":{},"encrypted_data":"` + secret + `","encryption_version":"v0"}`, "tofu state pull"},
		"newer format":    {`{"format_version":"2.0","values":{}}`, "reads 1.x"},
		"older format":    {`{"format_version":"0.2","values":{}}`, "reads 1.x"},
		"newer version":   {`{"version":5}`, "upgrade gpupool"},
		"older version":   {`{"version":3}`, "Terraform 1.0 or newer"},
		"no lineage":      {`{"version":4,"serial":1}`, "lineage"},
		"wrong type":      {`{"version":4,"serial":"` + secret + `"}`, `"serial" is of the wrong type`},
		"deep nesting":    {strings.Repeat("[", 20_000), "nested too deeply"},
		"deep modules":    {`{"format_version":"1.0","values":{"root_module":` + strings.Repeat(`{"child_modules":[`, 9_000), "nested too deeply"},
		"the same pool twice": {
			shown(train, shownPool("gpupool_spot_pool.b", "0", attributes("train", "v"))),
			"gpupool_spot_pool.train and gpupool_spot_pool.b both declare the pool r/train",
		},
		"the same uid twice": {
			shown(train, shownPool("gpupool_spot_pool.b", "0", attributes("b", "u"))), "gpupool_spot_pool.train and gpupool_spot_pool.b both declare the uid u",
		},
		"no uid":        {shown(shownPool("gpupool_spot_pool.b", "0", attributes("b", ""))), "gpupool_spot_pool.b: it has no uid"},
		"no attributes": {shown(shownPool("gpupool_spot_pool.b", "0", "null")), "gpupool_spot_pool.b has no attributes"},
		"attribute's type": {
			shown(shownPool("gpupool_spot_pool.b", "0", `{"minimum":"`+secret+`"}`)), `gpupool_spot_pool.b: its field "minimum" is of the wrong type`,
		},
		"attribute's form": {
			shown(shownPool("gpupool_spot_pool.b", "0", `{"cooldown":"`+secret+`"}`)), `gpupool_spot_pool.b: its field "cooldown" is not of the right form`,
		},
		"schema version's type": {shown(shownPool("gpupool_spot_pool.b", "-1", "{}")), "of the wrong type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state, err := declaration.FromState(strings.NewReader(c.data))
			if err == nil {
				t.Fatalf("no error, but %+v", state)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got the error %q, want one with %q and without the secret", err, c.want)
			}
		})
	}
}

// An unreadable pool does not block the others.
func TestFromStateTakesTheOthers(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]string{
		"cooldown": `"` + secret + `"`, "max_hourly_cost": `"` + secret + `"`, "minimum": `"` + secret + `"`, "offerings": `[{"spot_max_price":"` + secret + `"}]`,
	} {
		t.Run(attribute, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(attributes("bad", "v"), `{`, `{"`+attribute+`":`+value+`,`, 1)
			state := fromState(t, []byte(shown(shownPool("gpupool_spot_pool.train", "0", attributes("train", "u")),
				shownPool("gpupool_spot_pool.bad", "0", bad))))
			if len(state.Pools) != 2 || state.Pools[0].Unread != nil || state.Pools[0].Declaration.Name != "train" {
				t.Fatalf("got %+v", state.Pools)
			}
			got := state.Pools[1]
			if got.Declaration.Key() != "r/bad" || got.Unread == nil || strings.Contains(got.Unread.Error(), secret) ||
				!strings.Contains(got.Unread.Error(), "gpupool_spot_pool.bad: its field \""+attribute) {
				t.Errorf("got %+v, unread: %v", got.Declaration, got.Unread)
			}
		})
	}
}

func TestFromStateRefusesNewerSchema(t *testing.T) {
	t.Parallel()
	_, err := declaration.FromState(strings.NewReader(shown(shownPool("gpupool_spot_pool.b", "1", `{"novelty":true}`))))
	var newer *declaration.NewerError
	if !errors.As(err, &newer) || newer.Version != 1 || !strings.Contains(err.Error(), "gpupool_spot_pool.b") {
		t.Errorf("got %v, want a NewerError of version 1 that names the resource", err)
	}
}

func TestFromStateReportsReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("the pipe broke")
	if _, err := declaration.FromState(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func FuzzFromState(f *testing.F) {
	// Small ones: a fuzzer does little with the test data's length.
	pool := attributes("train", "u")
	f.Add([]byte(`{"format_version":"1.0"}`))
	f.Add([]byte(shown(shownPool("a", "0", pool), shownPool("b", "0", attributes("b", "v")))))
	f.Add([]byte(`{"format_version":"1.0","values":{"root_module":{"child_modules":[{"resources":[` + shownPool("a", "0", pool) + `]}]}}}`))
	f.Add([]byte(`{"version":4,"serial":1,"lineage":"l","resources":[{"module":"module.m","mode":"managed","type":"gpupool_spot_pool","name":"a",` +
		`"provider":"provider[\"h/gpupool/gpupool\"]","instances":[{"index_key":"x","status":"tainted","schema_version":0,"attributes":` + pool + `}]}]}`))
	f.Add([]byte(shownBudgets(budgetAttributes)))
	f.Fuzz(func(t *testing.T, data []byte) {
		state, err := declaration.FromState(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, b := range state.Budgets {
			if _, err := declaration.Encode(declaration.Budget{Phase: declaration.Active, Declaration: b.Declaration}); err != nil {
				t.Errorf("%s was accepted and can't be recorded: %v", b.Address, err)
			}
		}
		for _, p := range state.Pools {
			d := p.Declaration
			if d.UID == "" || d.Name == "" || d.Region == "" || d.AccountID == "" {
				t.Errorf("%s was accepted without an identity", p.Address)
			}
			record := declaration.SpotPool{Phase: declaration.Active, Declaration: d}
			if _, err := declaration.Encode(record); err != nil {
				t.Errorf("%s was accepted and can't be recorded: %v", p.Address, err)
			}
		}
		if _, err := json.Marshal(state); err != nil {
			t.Error(err)
		}
	})
}
