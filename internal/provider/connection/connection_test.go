package connection_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

func settings(t *testing.T, endpoint string) connection.Settings {
	t.Helper()
	place, err := store.InDirectory(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return connection.Settings{Store: place, Cloud: tencent.Config{
		Region: "ap-singapore", SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey, Endpoint: endpoint,
	}}
}

// A configuration with neither pools nor budgets needs neither an account, nor a
// cluster, nor a store; and none of them needs the others.
func TestNothingIsOpenedBeforeItIsAskedFor(t *testing.T) {
	t.Parallel()
	s := settings(t, "http://127.0.0.1:1")
	s.Cloud.SecretID, s.Cloud.SecretKey = "", ""
	c := connection.New(s)
	if region, err := c.Region(t.Context()); err != nil || region != "ap-singapore" {
		t.Errorf("the region is %q (%v)", region, err)
	}
	if _, err := os.Stat(s.Store.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store was made: %v", err)
	}
	reader, err := c.ReadBudgets(t.Context())
	if err != nil {
		t.Fatalf("a store that isn't there can't be read: %v", err)
	}
	if _, err := reader.Find(t.Context(), "team-a"); err == nil {
		t.Error("there is a budget without a store")
	}
	if _, err := os.Stat(s.Store.Path); !errors.Is(err, os.ErrNotExist) || len(c.LostStore()) != 1 {
		t.Errorf("a reader made the store: %v, %v", err, c.LostStore())
	}
	pools, err := c.SpotPools(t.Context())
	if err != nil {
		t.Fatalf("the store cannot be opened without the others: %v", err)
	}
	if _, err := os.Stat(s.Store.Path); err != nil || len(c.LostStore()) > 0 {
		t.Errorf("who writes did not make the store: %v, %v", err, c.LostStore())
	}
	if _, err := pools.Cloud.Account(t.Context()); err == nil {
		t.Error("there is an account without credentials")
	}
	if _, err := pools.Cluster(t.Context()); err == nil || !strings.Contains(err.Error(), "no Kubernetes cluster is configured") ||
		strings.Contains(err.Error(), "KUBECONFIG") {
		t.Errorf("without a configuration of a cluster: %v", err)
	}
	if _, err := c.ClusterUID(t.Context()); connection.Error(reason.Reading("budget/a"), err).Summary() != "Provider is unusable" {
		t.Errorf("without a configuration of a cluster: %v", err)
	}
}

func TestAccountAndStoreAreOpenedOnce(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	c := connection.New(settings(t, sim.URL))
	first, err := c.SpotPools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.SpotPools(t.Context())
	if err != nil || first != second {
		t.Errorf("two flows: %v", err)
	}
	for range 3 {
		if id, err := c.AccountID(t.Context()); err != nil || id != cvmsim.DemoAccountID {
			t.Errorf("the account is %q (%v)", id, err)
		}
	}
	if n := len(sim.Server.Calls()); n != 1 {
		t.Errorf("%d calls, not one", n)
	}
}

// A thousand pools with wrong credentials call STS once.
func TestRefusalIsKept(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	s := settings(t, sim.URL)
	s.Cloud.SecretKey = "wrong"
	c := connection.New(s)
	for range 3 {
		if _, err := c.AccountID(t.Context()); err == nil {
			t.Error("wrong credentials have an account")
		}
	}
	if n := len(sim.Server.Calls()); n != 1 {
		t.Errorf("%d calls, not one", n)
	}
}

// One caller's cancellation is not everyone's.
func TestCancellationIsNotKept(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	c := connection.New(settings(t, sim.URL))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.AccountID(canceled); err == nil {
		t.Error("a canceled call has an answer")
	}
	if _, err := c.AccountID(t.Context()); err != nil {
		t.Errorf("after another's cancellation: %v", err)
	}
}

func TestUnknownArgumentsOpenNothing(t *testing.T) {
	t.Parallel()
	inCluster, err := store.InNamespace("gpupool-system")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		unknown              connection.UnknownArguments
		inCluster            bool
		pools, budgets, look bool // which of them can be looked at
	}{
		"nothing":                          {nil, false, true, true, true},
		"the account":                      {connection.UnknownArguments{"endpoint", "region"}, false, false, true, true},
		"the cluster":                      {connection.UnknownArguments{"kubernetes"}, false, true, false, true},
		"the cluster with the store in it": {connection.UnknownArguments{"kubernetes"}, true, false, false, false},
		"the store":                        {connection.UnknownArguments{"store"}, false, false, false, false},
	} {
		s := settings(t, "http://127.0.0.1:1")
		if test.inCluster {
			s.Store = inCluster
		}
		s.Unknown = test.unknown
		c := connection.New(s)
		if c.Ready() != test.pools || c.ClusterReady() != test.budgets || c.StoreReady() != test.look {
			t.Errorf("%s unknown: pools %v, budgets %v, store %v", name, c.Ready(), c.ClusterReady(), c.StoreReady())
		}
		var unknown *connection.UnknownArgumentsError
		if _, err := c.AccountID(t.Context()); errors.As(err, &unknown) != (len(test.unknown.Cloud()) > 0) {
			t.Errorf("%s unknown: the account says %v", name, err)
		}
		if _, err := c.ClusterUID(t.Context()); errors.As(err, &unknown) != (len(test.unknown.Cluster()) > 0) {
			t.Errorf("%s unknown: the cluster says %v", name, err)
		}
		_, writing := c.Budgets(t.Context())
		_, reading := c.ReadBudgets(t.Context())
		if errors.As(writing, &unknown) == test.look || errors.As(reading, &unknown) == test.look {
			t.Errorf("%s unknown: the store says %v, and to a reader %v", name, writing, reading)
		}
	}
	_, err = connection.New(connection.Settings{Unknown: connection.UnknownArguments{"store"}}).SpotPools(t.Context())
	if d := connection.Error(reason.Reading("spot_pool/r/a"), err); d.Summary() != "Provider not configured yet" || !strings.Contains(d.Detail(), "store") {
		t.Errorf("%s: %s", d.Summary(), d.Detail())
	}
	var unconfigured *connection.Connection
	if unconfigured.Ready() || unconfigured.ClusterReady() || unconfigured.StoreReady() {
		t.Error("no connection at all is ready")
	}
}

func TestDiagnosticsOfErrors(t *testing.T) {
	t.Parallel()
	refused := &spotpool.CloudError{Class: errorclass.Authorization, Action: "RunInstances", Code: "AuthFailure", Message: "no", RequestID: "r-1"}
	sold := &spotpool.CloudError{Class: errorclass.Capacity, Action: "RunInstances", Code: "ResourcesSoldOut", Message: "none left", RequestID: "r-2"}
	later := settings(t, "http://127.0.0.1:1")
	if err := os.MkdirAll(later.Store.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(later.Store.Path, "store.json"), []byte(`{"version": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, newer := connection.New(later).SpotPools(t.Context())
	keyless := settings(t, "http://127.0.0.1:1")
	keyless.Cloud.SecretKey = ""
	_, half := connection.New(keyless).AccountID(t.Context())
	for want, err := range map[string]error{
		"Spot pool exists already: ": &record.ExistsError{
			Title: "spot pool", Noun: "pool", Key: "ap-singapore/train", What: "1 instance",
		},
		"Wrong account: ":                  &spotpools.AccountError{Object: "spot_pool/train", Pool: "1", Credentials: "2"},
		"Spot pool is locked: ":            &store.LockedError{Name: "spot_pool/r/train", Holder: "someone"},
		"Store is unusable: ":              newer,
		"Provider is unusable: secret_id ": half,
		"Creating spot_pool/r/a: Tencent Cloud refused the credentials: RunI": refused,
		"Creating spot_pool/r/a: Tencent Cloud returned an error: RunIn":      sold,
		"Wrong account: GetCallerIdentity": &spotpool.CloudError{
			Class: errorclass.Authorization, Action: "GetCallerIdentity", Code: tencent.AccountNotAllowed, Message: "the credentials are of account 2",
		},
		"Creating spot_pool/r/a: Tencent Cloud did not authorize the call: Run": &spotpool.CloudError{
			Class: errorclass.Authorization, Action: "RunInstances", Code: "UnauthorizedOperation.CamNoAuth", Message: "no",
		},
		"Creating spot_pool/r/a failed: The disk is full.":            errors.New("the disk is full"),
		"Creating spot_pool/r/a was interrupted: Run terraform again": context.Canceled,
		"Creating spot_pool/r/a was interrupted: Listing instances.":  fmt.Errorf("listing instances: %w", context.Canceled),
		"Creating spot_pool/r/a timed out: Run terraform again":       context.DeadlineExceeded,
		"Creating spot_pool/r/a timed out: 2 instances still run.":    fmt.Errorf("2 instances still run: %w", context.DeadlineExceeded),
		"Budget exists already: ": &record.ExistsError{
			Title: "budget", Noun: "budget", Key: "team-a", What: "the store has a record of it",
		},
		"Stock pool exists already: The stock pool ml/g1 still e": &record.ExistsError{
			Title: "stock pool", Noun: "stock pool", Key: "ml/g1", What: "one", Deleting: true,
		},
		"Wrong cluster: ":        &record.ClusterError{Object: "budget/team-a", Own: "1", AtHand: "2"},
		"Budget not found: ":     &record.AbsentError{Title: "budget", Key: "team-a", Store: "directory:x"},
		"Stock pool is locked: ": &store.LockedError{Name: "stock_pool/ml/g1", Holder: "someone"},
		"Budget is locked: ":     &store.LockedError{Name: "budget/team-a", Holder: "someone"},
		"Creating spot_pool/r/a: the cluster refused the credentials: Can": &kubeclient.Error{
			Verb: "list", Object: "pods", Class: kubeclient.ClassAuthorization, Err: errors.New("no"),
		},
		"Creating spot_pool/r/a: the cluster cannot be reached: Cannot lis": &kubeclient.Error{
			Verb: "list", Object: "pods", Class: kubeclient.ClassUnreachable, Err: errors.New("no"),
		},
		"Creating spot_pool/r/a: the cluster answered with an error: Cann": &kubeclient.Error{
			Verb: "list", Object: "pods", Class: kubeclient.ClassOther, Err: errors.New("no"),
		},
	} {
		d := connection.Error(reason.Creating("spot_pool/r/a"), err)
		if got := d.Summary() + ": " + d.Detail(); !strings.HasPrefix(got, want) {
			t.Errorf("%q does not begin with %q", got, want)
		}
	}
	if d := connection.Error(reason.Creating("spot_pool/r/a"), refused); !strings.Contains(d.Detail(), "r-1") {
		t.Errorf("the RequestId is lost: %s", d.Detail())
	}
}

// Logs of the core reach Terraform's log with their fields, and without secrets.
func TestLogsReachTerraformWithoutSecrets(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ctx := tflogtest.RootLogger(context.Background(), &out)
	s := settings(t, "http://127.0.0.1:1")
	s.Cloud.SecretKey = "the-secret"
	pools, err := connection.New(s).SpotPools(ctx)
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	log := pools.Reporter.Log
	log.With("pool", "train").WithGroup("launch").Warn("asking with the-secret", "count", 2,
		slog.Group("offering", "zone", "ap-singapore-2"), "key", "the-secret", "error", errors.New("bad the-secret"))
	log.Debug("quiet")
	entries, err := tflogtest.MultilineJSONDecode(&out)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries (%v)", len(entries), err)
	}
	for key, want := range map[string]any{
		"@level": "warn", "@module": "provider.core", "pool": "train", "launch.count": 2.0, "launch.offering.zone": "ap-singapore-2",
	} {
		if entries[0][key] != want {
			t.Errorf("%s is %v, not %v", key, entries[0][key], want)
		}
	}
	if entries[1]["@level"] != "debug" {
		t.Errorf("the level is %v", entries[1]["@level"])
	}
	for _, entry := range entries {
		for key, v := range entry {
			if s, ok := v.(string); ok && strings.Contains(s, "the-secret") {
				t.Errorf("the secret is in %s: %s", key, s)
			}
		}
	}
}
