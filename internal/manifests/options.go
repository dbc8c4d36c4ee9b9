package manifests

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Defaults.
const (
	DefaultNamespace         = "gpupool-system"
	DefaultSchedule          = "* * * * *"
	DefaultTimeout           = 10 * time.Minute
	DefaultCredentialsSecret = "gpupool-tencentcloud"
	DefaultEnforcement       = budget.Evict
	DefaultFreezeSlots       = 16
)

// Options are the options of the manifests.
type Options struct {
	Namespace string // that becomes the store
	// RunNamespace contains the run, its credentials and the accounts. Default:
	// RunNamespaceOf(Namespace). It must not be the store's: a user who can write the store's
	// Secrets could get tokens of the accounts.
	RunNamespace string
	Image        string
	Schedule     string // as cron writes it
	// Timeout limits a run.
	Timeout time.Duration
	// Enforcement is the hardest action that the rights allow. Budgets with a harder one are
	// reported, and not enforced.
	Enforcement budget.Action
	// FreezeSlots is how many budgets can be frozen at once: 1 to 64.
	FreezeSlots int
	// CredentialsSecret names a Secret of the run's namespace whose entries become
	// environment variables, such as TENCENTCLOUD_SECRET_ID. It may be absent.
	CredentialsSecret string
	// Currency is that of the account's prices; empty for that of its API host.
	Currency string
	// Arguments are additional arguments of gpupool reconcile, or of gpupool serve.
	Arguments []string
	// Mode is what runs gpupool; empty for a CronJob.
	Mode Mode
	// BootstrapGroups are the allowed groups of the pools' bootstrap tokens; none if no pool has
	// such tokens.
	BootstrapGroups []string
	// API adds the rights to check users of the API, and the roles of these.
	API bool
	// Server is for the mode Serve.
	Server
	Nodes
	Stock Stock
	// PrometheusRule adds the alerts, for the Prometheus operator.
	PrometheusRule bool
	// Budgets is the file with which gpupool declare declares budgets before each start of a pod;
	// empty for none.
	Budgets string
}

// Mode is what runs gpupool.
type Mode string

// A CronJob starts a process for each run. A Deployment has one process that runs repeatedly, and
// watches for interruption notices between runs. Serve is a Deployment of gpupool serve, which
// also serves the API and metrics.
const (
	CronJob    Mode = "cronjob"
	Deployment Mode = "deployment"
	Serve      Mode = "serve"
)

// reviews reports whether the accounts review tokens and rights of API users.
func (o Options) reviews() bool { return o.API || o.Mode == Serve }

// Nodes are the separate rights on nodes that pools with nodes need.
type Nodes struct {
	Mark   bool // add a pool's mark
	Cordon bool // for drains
	Delete bool // nodes with a pool's mark
	// NoticeWatch runs an agent on each node that marks it when Tencent Cloud reclaims its
	// instance. NoticeWatchOn are labels of the nodes, none for all.
	NoticeWatch   bool
	NoticeWatchOn map[string]string
}

// any reports whether accounts have rights to change nodes.
func (n Nodes) any() bool { return n.Mark || n.Cordon || n.Delete }

func (n Nodes) validate(evicts bool) error {
	switch {
	case n.Cordon && !n.Mark:
		return errors.New("--cordon-nodes needs --mark-nodes: a pool marks a node that it cordons, so that it only undoes its own cordons")
	case n.Cordon && !evicts:
		return errors.New("--cordon-nodes needs --enforcement evict: a drain cordons a node and evicts its pods. Budgets still evict only if " +
			"their action is evict")
	case n.Delete && !n.Mark:
		return errors.New("--delete-nodes needs --mark-nodes: only nodes with a pool's mark are deleted")
	case len(n.NoticeWatchOn) > 0 && !n.NoticeWatch:
		return errors.New("--notice-watch-on selects the nodes of the agent, and needs --notice-watch")
	}
	for key, value := range n.NoticeWatchOn {
		problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...)
		if len(problems) > 0 {
			return fmt.Errorf("%s=%s is not a node label: %s", key, value, strings.Join(problems, "; "))
		}
	}
	return nil
}

// RunNamespaceOf returns the default namespace of runs for a store's namespace.
func RunNamespaceOf(namespace string) string { return namespace + "-run" }

func (o Options) runNamespace() string {
	if o.RunNamespace == "" {
		return RunNamespaceOf(o.Namespace)
	}
	return o.RunNamespace
}

var severity = map[budget.Action]int{budget.AlertOnly: 0, budget.Freeze: 1, budget.Pause: 2, budget.Evict: 3}

func (o Options) allows(a budget.Action) bool { return severity[o.Enforcement] >= severity[a] }

// Validate returns why the options are invalid.
func (o Options) Validate() error {
	if _, err := store.InNamespace(o.Namespace); err != nil {
		return err
	}
	if problems := validation.IsDNS1123Label(o.runNamespace()); len(problems) > 0 {
		return fmt.Errorf("%q cannot be the run's namespace: %s", o.runNamespace(), strings.Join(problems, "; "))
	}
	if o.runNamespace() == o.Namespace {
		return fmt.Errorf("%s cannot be both the store's and the run's namespace: a writer of the store's Secrets could get tokens of the run's "+
			"accounts", o.Namespace)
	}
	for _, name := range []string{o.Namespace, o.runNamespace()} {
		if slices.Contains(budget.SystemNamespaces(), name) || name == "default" {
			return fmt.Errorf("%s cannot be the store's or the run's namespace: the manifests set its pod security level, and let the accounts "+
				"write its Secrets. Use a namespace of its own, such as %s", name, DefaultNamespace)
		}
	}
	if o.Image == "" || strings.ContainsAny(o.Image, " \t\r\n") {
		return fmt.Errorf("%q is not an image reference", o.Image)
	}
	if err := validateSchedule(o.Schedule); err != nil {
		return err
	}
	if o.Timeout < time.Minute {
		return fmt.Errorf("a timeout of %s is too short for a run: use at least a minute", o.Timeout)
	}
	if _, known := severity[o.Enforcement]; !known {
		return fmt.Errorf("invalid enforcement %q: use alert_only, freeze, pause or evict", o.Enforcement)
	}
	if most := len(kubecluster.FreezeSlotNames()); o.FreezeSlots < 1 || o.FreezeSlots > most {
		return fmt.Errorf("invalid number of freeze slots %d: use 1 to %d", o.FreezeSlots, most)
	}
	if o.CredentialsSecret == "" {
		return errors.New("the name of the Secret with Tencent Cloud credentials is empty; the Secret itself need not exist")
	}
	if err := spotpool.Currency(o.Currency).Check(); err != nil {
		return err
	}
	if !slices.Contains([]Mode{"", CronJob, Deployment, Serve}, o.Mode) {
		return fmt.Errorf("invalid mode %q: use cronjob, deployment or serve", o.Mode)
	}
	return errors.Join(o.Server.validate(o.Mode), o.Nodes.validate(o.allows(budget.Evict)), o.validateStock(), o.validateTokens())
}
