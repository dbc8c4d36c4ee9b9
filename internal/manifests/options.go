package manifests

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Defaults.
const (
	DefaultNamespace         = "gpupool-system"
	DefaultSchedule          = "* * * * *"
	DefaultTimeout           = 10 * time.Minute
	DefaultCredentialsSecret = "gpupool-tencentcloud"
	DefaultEnforcement       = budget.Evict
)

// Options say what the objects are made for.
type Options struct {
	Namespace string // that becomes the store
	// RunNamespace is where the run, its credentials and the accounts are; empty for
	// RunNamespaceOf(Namespace). It can't be the store's: whoever may write the
	// store's Secrets can get tokens of the accounts beside them.
	RunNamespace string
	Image        string
	Schedule     string // as cron writes it
	// Timeout is how long a run may take.
	Timeout time.Duration
	// Enforcement is the hardest action that the rights allow. Budgets that ask for
	// a harder one are told of, and not enforced.
	Enforcement budget.Action
	// CredentialsSecret names a Secret of the run's namespace whose entries become
	// environment variables, such as TENCENTCLOUD_SECRET_ID. It may be absent.
	CredentialsSecret string
	// Arguments are handed to gpupool reconcile after those that it needs.
	Arguments []string
}

// RunNamespaceOf is the namespace of the run where none is named, by the store's.
func RunNamespaceOf(namespace string) string { return namespace + "-run" }

func (o Options) runNamespace() string {
	if o.RunNamespace == "" {
		return RunNamespaceOf(o.Namespace)
	}
	return o.RunNamespace
}

// severity orders the actions from mildest to hardest.
var severity = map[budget.Action]int{budget.AlertOnly: 0, budget.Freeze: 1, budget.Pause: 2, budget.Evict: 3}

// allows says whether the rights are to cover an action.
func (o Options) allows(a budget.Action) bool { return severity[o.Enforcement] >= severity[a] }

// Validate says what cannot be made into objects.
func (o Options) Validate() error {
	if _, err := store.InNamespace(o.Namespace); err != nil {
		return err
	}
	if problems := validation.IsDNS1123Label(o.runNamespace()); len(problems) > 0 {
		return fmt.Errorf("%q cannot be the run's namespace: %s", o.runNamespace(), strings.Join(problems, "; "))
	}
	if o.runNamespace() == o.Namespace {
		return fmt.Errorf("%s cannot be the store and the run's namespace at once: whoever may write the store's Secrets could get tokens of the accounts there, and read the cloud's credentials", o.Namespace)
	}
	if o.Image == "" || strings.ContainsAny(o.Image, " \t\r\n") {
		return fmt.Errorf("%q is no name of an image", o.Image)
	}
	if err := validateSchedule(o.Schedule); err != nil {
		return err
	}
	if o.Timeout < time.Minute {
		return fmt.Errorf("a timeout of %s is too short for a run: give it a minute at least", o.Timeout)
	}
	if _, known := severity[o.Enforcement]; !known {
		return fmt.Errorf("%q is no enforcement: it is alert_only, freeze, pause or evict", o.Enforcement)
	}
	if o.CredentialsSecret == "" {
		return errors.New("the Secret with the cloud's credentials needs a name; it may be of one that does not exist")
	}
	return nil
}
