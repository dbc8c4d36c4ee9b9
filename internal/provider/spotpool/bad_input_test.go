package spotpool_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// A validation reports each problem of a declaration once, at its attribute and with a remedy.
func TestBadDeclarations(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t))
	tests := map[string]struct {
		change providertest.Values
		want   []string
	}{
		"minimum above maximum": {providertest.Values{"minimum": 5}, []string{`"minimum"`, "5, above maximum 4", "Raise maximum"}},
		"negative minimum":      {providertest.Values{"minimum": -1}, []string{`"minimum"`, "below 0"}},
		"no offering":           {offerings(), []string{`"offerings"`, "no offering"}},
		"no price":              {offerings(offering(zone2, t4, "cheap")), []string{`AttributeName("spot_max_price")`, `Invalid price "cheap"`, `"3.50"`}},
		"a price in units":      {providertest.Values{"max_hourly_cost": "30 CNY"}, []string{`"max_hourly_cost"`, `Invalid price "30 CNY"`}},
		"no duration":           {providertest.Values{"cooldown": "soon"}, []string{`"cooldown"`, `nvalid duration "soon"`}},
		"an endless cooldown":   {providertest.Values{"cooldown": "8d"}, []string{`"cooldown"`, "8d is out of range", "between 1s and 7d"}},
		"no time at all":        {providertest.Values{"launch_timeout": "0s"}, []string{`"launch_timeout"`, "out of range"}},
		"no timeout":            {providertest.Values{"timeouts": providertest.Values{"create": "later"}}, []string{`"timeouts"`, "later"}},
		"no time to create": {
			providertest.Values{"timeouts": providertest.Values{"create": "0s"}},
			[]string{`AttributeName("create")`, "0s is out of range: it must be between 1s and 30d", "Leave it out"},
		},
		"a negative timeout": {
			providertest.Values{"timeouts": providertest.Values{"update": "-1m"}}, []string{`AttributeName("update")`, `nvalid duration "-1m"`},
		},
		"no time to destroy": {
			providertest.Values{"timeouts": providertest.Values{"delete": "0s"}}, []string{`AttributeName("delete")`, "0s is out of range"},
		},
		"an endless timeout": {
			providertest.Values{"timeouts": providertest.Values{"create": "2562047h"}}, []string{`AttributeName("create")`, "2562047h is out of range"},
		},
		"an empty strategy":    {providertest.Values{"allocation_strategy": ""}, []string{`"allocation_strategy"`, `"" is not known`}},
		"an empty charge type": {providertest.Values{"instance_charge_type": ""}, []string{`"instance_charge_type"`, `"" is not known`}},
		"an empty cooldown":    {providertest.Values{"cooldown": ""}, []string{`"cooldown"`, `nvalid duration ""`}},
		"an empty timeout":     {providertest.Values{"launch_timeout": ""}, []string{`"launch_timeout"`, `nvalid duration ""`}},
		"an empty cost":        {providertest.Values{"max_hourly_cost": ""}, []string{`"max_hourly_cost"`, `Invalid price ""`}},
		"an empty price":       {offerings(offering(zone2, t4, "")), []string{`AttributeName("spot_max_price")`, `Invalid price ""`}},
		"an empty wait": {
			providertest.Values{"on_demand_fallback": providertest.Values{"after": "", "maximum": 1}}, []string{`AttributeName("after")`, `nvalid duration ""`},
		},
		"an empty refresh": {
			providertest.Values{"refresh": providertest.Values{"strategy": ""}}, []string{`AttributeName("strategy")`, `"" is not known`},
		},
		"a drain for no budget": {
			providertest.Values{"on_budget_exceeded": "drain", "nodes": providertest.Values{}},
			[]string{`"budget"`, `on_budget_exceeded is "drain", and the pool has no budget`, "Name the budget"},
		},
		"a drain of no nodes": {
			providertest.Values{"on_budget_exceeded": "drain", "budget": "team-a"}, []string{`"nodes"`, "no nodes to drain", "Add a nodes block"},
		},
		"a place for no token": {
			providertest.Values{"user_data_raw": joinBy, "nodes": providertest.Values{}},
			[]string{`"bootstrap_token"`, "user_data_raw has the placeholder {{GPUPOOL_BOOTSTRAP_TOKEN}}", "Set the groups of the instances' token"},
		},
		"a token for no place": {
			joined(providertest.Values{"user_data_raw": "#!/bin/sh"}),
			[]string{`"user_data_raw"`, "no placeholder for the bootstrap token", "Write {{GPUPOOL_BOOTSTRAP_TOKEN}}"},
		},
		"a token for no nodes": {joined(providertest.Values{"nodes": nil}), []string{`"nodes"`, "has a bootstrap_token, and no nodes", "Add nodes = {}"}},
		"a token of no group": {
			joined(providertest.Values{"bootstrap_token": providertest.Values{"groups": []string{}}}), []string{`AttributeName("groups")`, "has no group"},
		},
		"a token of any group": {
			joined(providertest.Values{"bootstrap_token": providertest.Values{"groups": []string{"system:masters"}}}),
			[]string{"ElementKeyInt(0)", `invalid bootstrap token group "system:masters"`},
		},
		"a token for ever": {joined(providertest.Values{"bootstrap_token": providertest.Values{
			"groups": []string{"system:bootstrappers:a"}, "ttl": "2d",
		}}), []string{`AttributeName("ttl")`, "2d is out of range", "between 5m and 1d"}},
		"a token for no time": {joined(providertest.Values{"bootstrap_token": providertest.Values{
			"groups": []string{"system:bootstrappers:a"}, "ttl": "soon",
		}}), []string{`AttributeName("ttl")`, `nvalid duration "soon"`}},
		"too much with a token": {
			joined(providertest.Values{"user_data_raw": joinBy + strings.Repeat("x", 12288)}), []string{`"user_data_raw"`, "is too long", "RunInstances takes 16384"},
		},
		"an unknown excess":  {providertest.Values{"on_budget_exceeded": "evict"}, []string{`"on_budget_exceeded"`, `"evict" is not known`, "drain"}},
		"no grace at all":    {providertest.Values{"budget_grace_period": "0s"}, []string{`"budget_grace_period"`, "0s is out of range"}},
		"a grace for ever":   {providertest.Values{"budget_grace_period": "8d"}, []string{`"budget_grace_period"`, "8d is out of range"}},
		"a surplus for ever": {providertest.Values{"surplus_after": "8d"}, []string{`"surplus_after"`, "8d is out of range"}},
		"an empty end":       {providertest.Values{"on_destroy": ""}, []string{`"on_destroy"`, `"" is not known`}},
		"an empty image":     {providertest.Values{"image_id": ""}, []string{`"image_id"`, `nvalid ID ""`}},
		"an empty network":   {providertest.Values{"vpc_id": ""}, []string{`"vpc_id"`, `nvalid ID ""`}},
		"an empty key":       {providertest.Values{"key_ids": []string{""}}, []string{`"key_ids"`, `nvalid ID ""`}},
		"an illegal name":    {providertest.Values{"name": "Train_1"}, []string{`"name"`, `"Train_1" is not a valid name of a pool`}},
		"a zone elsewhere": {
			offerings(offering(zone2, t4, nil), offering("ap-guangzhou-3", t4, nil)),
			[]string{"ElementKeyInt(1)", "ap-guangzhou-3", "not one of the pool's region"},
		},
		"an offering twice":   {offerings(offering(zone2, t4, nil), offering(zone2, t4, nil)), []string{"ElementKeyInt(1)", "listed already"}},
		"no instance type":    {offerings(offering(zone2, "T4", nil)), []string{`invalid instance type "T4"`}},
		"an unknown strategy": {providertest.Values{"allocation_strategy": "cheapest"}, []string{`"allocation_strategy"`, "lowest_price"}},
		"a prepaid pool":      {providertest.Values{"instance_charge_type": "PREPAID"}, []string{`"instance_charge_type"`, "POSTPAID_BY_HOUR"}},
		"no room for a refresh": {
			providertest.Values{"maximum": 2, "refresh": providertest.Values{"strategy": "rolling"}}, []string{`"refresh"`, "Set max_unavailable"},
		},
		"too much user data": {providertest.Values{"user_data_raw": strings.Repeat("x", 20_000)}, []string{`"user_data_raw"`, "too long"}},
		"a reserved tag": {
			providertest.Values{"tags": providertest.Values{"gpupool/uid": "x"}}, []string{`"tags"`, `ElementKeyString("gpupool/uid")`, "reserved"},
		},
		"a tag without a value": {providertest.Values{"tags": providertest.Values{"team": nil}}, []string{`"tags"`, `ElementKeyString("team")`, "is null"}},
		"a subnet's name": {
			offerings(providertest.Values{"availability_zone": zone2, "instance_type": t4, "subnet_id": "mine"}), []string{`"subnet_id"`, "subnet-"},
		},
		"a disk without space": {providertest.Values{"system_disk_size": 1}, []string{`"system_disk_size"`, "out of range"}},
		"a charge for no traffic": {
			providertest.Values{"internet_charge_type": "TRAFFIC_POSTPAID_BY_HOUR"}, []string{`"internet_charge_type"`, "Set internet_max_bandwidth_out"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diags := s.Validate(train(test.change))
			contains(t, diags, test.want...)
			if len(diags) != 1 {
				t.Errorf("%d diagnostics, not one:\n%s", len(diags), diags)
			}
		})
	}
	for _, good := range []providertest.Values{
		nil, offerings(offering("ap-singapore-ez-1", t4, nil), offering(zone2, t4, nil)),
		{
			"cooldown": "1d", "launch_timeout": "1w", "timeouts": providertest.Values{"create": "1d", "update": "1h30m", "delete": "30d"},
			"on_demand_fallback": providertest.Values{"after": "1d12h", "maximum": 1},
		},
	} {
		if diags := s.Validate(train(good)); len(diags) > 0 {
			t.Errorf("a good declaration: %s", diags)
		}
	}
}

// A validation warns of values that are valid and probably not intended.
func TestDoubtfulDeclarations(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t))
	diags := s.Validate(train(providertest.Values{"on_demand_base": 3}))
	contains(t, diags, "WARNING", `"on_demand_base"`, "only minimum 2 are launched")
	diags = s.Validate(train(drained))
	contains(t, diags, "WARNING", `"on_budget_exceeded"`, "Once budget/team-a has been exceeded for 30m, all instances of the pool are terminated, "+
		"each after a drain of at most 10m", "gpupool/protected")
	if len(diags) != 1 {
		t.Errorf("%d diagnostics, not one:\n%s", len(diags), diags)
	}
}

// drained drains a pool while its budget is exceeded.
var drained = providertest.Values{"on_budget_exceeded": "drain", "budget": "team-a", "nodes": providertest.Values{}}

// Unknown values are left to a later validation, and are never problems.
func TestUnknownValuesAreNotJudged(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t))
	for name := range train(nil) {
		if diags := s.Validate(train(providertest.Values{name: providertest.Unknown})); len(diags) > 0 {
			t.Errorf("with %s unknown: %s", name, diags)
		}
	}
	for name := range drained {
		d := train(drained)
		d[name] = providertest.Unknown
		if diags := s.Validate(d); len(diags) > 0 {
			t.Errorf("of a pool that its budget drains, with %s unknown: %s", name, diags)
		}
	}
	for name := range joined(nil) {
		d := train(joined(nil))
		d[name] = providertest.Unknown
		if diags := s.Validate(d); len(diags) > 0 {
			t.Errorf("of a pool that joins by a token, with %s unknown: %s", name, diags)
		}
	}
	everything := train(nil)
	for name := range everything {
		everything[name] = providertest.Unknown
	}
	if diags := s.Validate(everything); len(diags) > 0 {
		t.Errorf("with everything unknown: %s", diags)
	}
	// Known values are validated anyway.
	diags := s.Validate(train(providertest.Values{"maximum": providertest.Unknown, "minimum": -1}))
	contains(t, diags, `"minimum"`, "below 0")
}

const joinBy = "#!/bin/sh\nkubeadm join --token {{GPUPOOL_BOOTSTRAP_TOKEN}} 10.0.0.2:6443\n"

// joined are the values of a pool whose instances join by a token, but for some.
func joined(but providertest.Values) providertest.Values {
	v := providertest.Values{
		"user_data_raw": joinBy, "nodes": providertest.Values{},
		"bootstrap_token": providertest.Values{"groups": []string{"system:bootstrappers:kubeadm:default-node-token"}},
	}
	for name, value := range but {
		v[name] = value
	}
	return v
}

// Problems that only Tencent Cloud or the store shows are errors at plan, and nothing is
// changed.
func TestBadSurroundings(t *testing.T) {
	t.Parallel()
	in := func(region, zone string) providertest.Values {
		return offerings(offering(zone, t4, nil)).With(providertest.Values{"region": region})
	}
	directory := func(path string) providertest.Values {
		return providertest.Values{"store": providertest.Values{"directory": path}}
	}
	tests := map[string]struct {
		provider, pool providertest.Values
		want           []string
	}{
		"wrong key":      {providertest.Values{"secret_key": "wrong"}, nil, []string{"refused the credentials", "RequestId"}},
		"wrong id":       {providertest.Values{"secret_id": "AKIDnobody"}, nil, []string{"refused the credentials"}},
		"half a secret":  {providertest.Values{"secret_id": nil}, nil, []string{"secret_id and secret_key belong together"}},
		"no credentials": {providertest.Values{"secret_id": nil, "secret_key": nil}, nil, []string{"credentials"}},
		"wrong account": {
			providertest.Values{"allowed_account_ids": []string{"200000000002"}}, nil, []string{"100000000001", "allowed_account_ids", "200000000002"},
		},
		"forbidden account": {providertest.Values{"forbidden_account_ids": []string{"100000000001"}}, nil, []string{"forbidden_account_ids"}},
		"unknown region":    {nil, in("ap-mars", "ap-mars-1"), []string{"Region ap-mars cannot be used"}},
		"unknown zone":      {nil, in("ap-singapore", "ap-singapore-99"), []string{"Unknown availability zone", "ap-singapore-99"}},
		"no spot there":     {nil, in("sa-saopaulo", "sa-saopaulo-1"), []string{"sa-saopaulo", "sells no spot"}},
		"provider's region": {providertest.Values{"region": "ap-guangzhou"}, nil, []string{"not one of the pool's region"}},
		"no endpoint":       {providertest.Values{"endpoint": "127.0.0.1"}, nil, []string{"is not a URL"}},
		"store in no cluster": {
			providertest.Values{"store": providertest.Values{"kubernetes_namespace": "gpupool-system"}}, nil, []string{"no Kubernetes cluster is configured"},
		},
		"both stores": {
			providertest.Values{"store": providertest.Values{"kubernetes_namespace": "x", "directory": "y"}}, nil, []string{"either directory or"},
		},
		"no store":           {providertest.Values{"store": providertest.Values{}}, nil, []string{"either directory or"}},
		"home of the store":  {directory("~/pools"), nil, []string{"nothing expands"}},
		"a file for a store": {directory("/dev/null"), nil, []string{"/dev/null"}},
		"protocol":           {providertest.Values{"protocol": "FTP"}, nil, []string{"rotocol must be HTTP or HTTPS"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := providertest.New(t)
			s, diagnostics := w.Serve(nil, test.provider)
			if len(diagnostics) == 0 {
				diagnostics = append(s.Validate(train(test.pool)), s.Plan(nil, train(test.pool)).Diagnostics...)
			}
			contains(t, diagnostics, append(test.want, "ERROR")...)
			if n := w.Calls("RunInstances"); n > 0 {
				t.Errorf("%d launches", n)
			}
		})
	}
}

// An endpoint where nothing listens is an error of the plan already, which names
// it and the argument to look at.
func TestEndpointThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s, _ := w.Serve(nil, providertest.Values{"endpoint": "http://127.0.0.1:1"})
	p := s.Plan(nil, train(nil))
	contains(t, p.Diagnostics, "ERROR", "127.0.0.1:1", "GPUPOOL_ENDPOINT")
}

// An unreadable store stops everything that depends on it, and stays as it is.
func TestBadStore(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file, content string
		want          string
	}{
		"a newer store":    {"store.json", `{"kind":"gpupool store","version":99}`, `newer gpupool.*upgrade`},
		"no store at all":  {"store.json", `{`, `(?i)damaged store`},
		"a damaged record": {"spot_pools/ap-singapore/train.json", `{"version":1,`, `(?i)damaged|can't be read|cannot be read`},
		"a newer record":   {"spot_pools/ap-singapore/train.json", `{"version":99,"kind":"spot_pool","checksum":"","body":{}}`, `(?i)version`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := providertest.New(t)
			var good []byte
			file := filepath.Join(w.StoreDir, test.file)
			write := func(data []byte) {
				if err := os.WriteFile(file, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run(t,
				resource.TestStep{Config: w.Config(pool())},
				resource.TestStep{
					PreConfig: func() {
						var err error
						if good, err = os.ReadFile(file); err != nil {
							t.Fatal(err)
						}
						write([]byte(test.content))
					},
					Config: w.Config(pool(attributes{"maximum": "5"})), ExpectError: regexp.MustCompile(`(?s)` + test.want),
				},
				resource.TestStep{
					PreConfig: func() {
						if now, err := os.ReadFile(file); err != nil || string(now) != test.content {
							t.Errorf("the damaged file was changed to %q (%v)", now, err)
						}
						write(good)
					},
					Config: w.Config(pool()), Check: held(w, 2),
				},
			)
		})
	}
}

// A pool of another account is never touched with these credentials.
func TestPoolOfAnotherAccount(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	o := create(t, s, train(nil))
	other := providertest.New(t, func(o *cvmsim.Options) { o.AccountID = "200000000002" })
	stranger, _ := other.Serve(nil, providertest.Values{"store": providertest.Values{"directory": w.StoreDir}})
	_, diags := stranger.Read(o)
	contains(t, diags, "ERROR", "Wrong account", "100000000001", "200000000002")
	contains(t, stranger.Plan(o, train(providertest.Values{"maximum": 5})).Diagnostics, "ERROR", "Wrong account")
	_, diags = stranger.Apply(stranger.Plan(o, nil))
	contains(t, diags, "ERROR", "Wrong account")
	if n := other.Calls("TerminateInstances") + other.Calls("RunInstances"); n > 0 {
		t.Errorf("%d calls changed the other account", n)
	}
	s.Destroy(o)
}
