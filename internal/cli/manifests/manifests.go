// Package manifests is the command gpupool manifests.
package manifests

import (
	"context"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

const manifestsHelp = `Print what a cluster needs to run gpupool by itself, for kubectl apply: a
namespace that is the store, another one for the run, service accounts for it and
for terraform apply, the rights that each needs and no others, the policies that
hold the accounts to them, what freezes are made of, and a CronJob that runs gpupool
reconcile, or a Deployment that runs it again and again (--mode deployment).

Nothing is called, and nothing is changed. What is printed is the same for the same
flags, so that it can be kept in version control, and it can be applied again at any time,
by kubectl apply with or without --server-side: freezes that are in force stay so.

The run takes the cloud's credentials, and whatever else it is to find in its
environment, from a Secret of the run's namespace. Without it, it does budgets alone.

Pools whose instances are nodes need rights on nodes, each of which is a flag with a
policy of its own: to mark nodes as a pool's (--mark-nodes), to cordon them for drains
(--cordon-nodes), and to delete those that bear the mark once their instances are gone
(--delete-nodes). --notice-watch adds an agent on each node that marks it when the
cloud takes its instance back (gpupool notice-watch).

Stock pools need the right to keep Deployments (--stock-pools), and so to run any pods,
in all namespaces but the system's, the store's and the run's, or in some alone
(--stock-namespaces).

Pools whose launches make bootstrap tokens need the right to make and delete those:
--bootstrap-groups names the groups that the tokens may have. It is held to such
Secrets by a policy of its own, and reads none.`

const manifestsExamples = `  # Set a cluster up, or bring it up to this version
  gpupool manifests | kubectl apply -f -

  # The same with an image of your own, which a build of the sources needs
  gpupool manifests --image registry.example.com/gpupool:1.0 | kubectl apply -f -

  # With the cloud's credentials, for spot pools
  kubectl -n gpupool-system-run create secret generic gpupool-tencentcloud \
    --from-literal=TENCENTCLOUD_SECRET_ID=AKID... --from-literal=TENCENTCLOUD_SECRET_KEY=...

  # Count and tell, and be unable to do more
  gpupool manifests --enforcement alert_only | kubectl apply -f -

  # For pools with nodes: drained, replaced before they are taken, forgotten when gone
  gpupool manifests --mark-nodes --cordon-nodes --delete-nodes \
    --notice-watch --notice-watch-on pool=train --mode deployment | kubectl apply -f -

  # For stock pools, in the namespaces of two teams alone
  gpupool manifests --stock-pools --stock-namespaces team-a,team-b | kubectl apply -f -

  # For pools whose machines join by kubeadm
  gpupool manifests --bootstrap-groups system:bootstrappers:kubeadm:default-node-token \
    --mark-nodes --cordon-nodes --delete-nodes | kubectl apply -f -

  # See what would change
  gpupool manifests | kubectl diff -f -`

// publishedImage is the image of releases, without its version.
const publishedImage = "ghcr.io/gpupool/gpupool"

var released = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

type options struct {
	session     *process.Session
	manifests   manifests.Options
	enforcement string
	mode        string
	given       func(flag string) bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s, mode: string(manifests.CronJob)}
	cmd := &cobra.Command{
		Use:     "manifests [-- ARGUMENT...]",
		Short:   "Print what a cluster needs to run reconcile by itself",
		Long:    manifestsHelp + "\n\nArguments after -- are handed to gpupool reconcile.",
		Example: manifestsExamples,
		Args:    onlyAfterDash,
		RunE:    s.Command(o.run),
	}
	f := cmd.Flags()
	o.given = f.Changed
	f.StringVar(&o.manifests.Image, "image", "", "`NAME` of the image to run (default: the one published with this version, where it is a release)")
	f.StringVar(&o.manifests.Namespace, "namespace", manifests.DefaultNamespace, "`NAME` of the namespace that is the store")
	f.StringVar(&o.manifests.RunNamespace, "run-namespace", "", "`NAME` of the namespace of the run, its credentials and the accounts (default: the "+
		"store's, with -run after it)")
	f.StringVar(&o.manifests.Schedule, "schedule", manifests.DefaultSchedule, "when to run, as `CRON` writes it")
	process.DurationVar(cmd, &o.manifests.Timeout, "timeout", manifests.DefaultTimeout, "how long a run may take")
	f.StringVar(&o.enforcement, "enforcement", string(manifests.DefaultEnforcement),
		"the hardest `ACTION` that the rights allow: alert_only, freeze, pause or evict")
	f.StringVar(&o.manifests.CredentialsSecret, "credentials-secret", manifests.DefaultCredentialsSecret,
		"`NAME` of the Secret whose entries become the run's environment; it may be absent")
	process.ChoiceVar(cmd, &o.mode, "mode", "", "what runs gpupool reconcile: a CronJob, or a Deployment that does so every 40s and hears of "+
		"notices in between", string(manifests.CronJob), string(manifests.Deployment))
	f.BoolVar(&o.manifests.Mark, "mark-nodes", false, "allow to mark nodes as a pool's, and as cordoned by it")
	f.BoolVar(&o.manifests.Cordon, "cordon-nodes", false, "allow to cordon nodes, and to undo that: for drains, with --mark-nodes")
	f.BoolVar(&o.manifests.Delete, "delete-nodes", false, "allow to delete nodes that bear a pool's mark, with --mark-nodes")
	f.BoolVar(&o.manifests.NoticeWatch, "notice-watch", false, "add an agent on each node that marks it when the cloud takes its instance back")
	f.StringToStringVar(&o.manifests.NoticeWatchOn, "notice-watch-on", nil,
		"`LABEL=VALUE` of the nodes that get an agent; repeat it for several (default: all nodes)")
	f.Lookup("notice-watch-on").DefValue = "" // else help says []
	f.BoolVar(&o.manifests.Stock.Pools, "stock-pools", false, "allow to keep stock pools: Deployments and disruption budgets that bear the label "+
		"gpupool/stock-pool")
	f.StringSliceVar(&o.manifests.Stock.Namespaces, "stock-namespaces", nil,
		"`NAMES` of the namespaces in which stock pools may be, which have to exist (default: all but the system's, the store's and the run's)")
	f.Lookup("stock-namespaces").DefValue = "" // else help says []
	f.StringSliceVar(&o.manifests.BootstrapGroups, "bootstrap-groups", nil,
		"allow to make and end bootstrap tokens of this `GROUP`, by which machines join; repeat it, or write several with commas")
	f.Lookup("bootstrap-groups").DefValue = ""
	_ = cmd.RegisterFlagCompletionFunc("enforcement", cobra.FixedCompletions(
		[]string{string(budget.AlertOnly), string(budget.Freeze), string(budget.Pause), string(budget.Evict)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// onlyAfterDash refuses arguments before --, which manifests does not have.
func onlyAfterDash(cmd *cobra.Command, args []string) error {
	if before := cmd.ArgsLenAtDash(); len(args) > 0 && before != 0 {
		return fmt.Errorf("%q is no argument of gpupool manifests: what is for gpupool reconcile comes after --", args[0])
	}
	return nil
}

func (o *options) run(_ context.Context, args []string) error {
	o.manifests.Enforcement, o.manifests.Arguments, o.manifests.Mode = budget.Action(o.enforcement), args, manifests.Mode(o.mode)
	if o.manifests.Mode == manifests.Deployment && o.given("schedule") {
		return process.Usagef("a Deployment has no --schedule: how often it runs is said by --every of gpupool reconcile, as in -- --every=40s")
	}
	if !o.given("image") {
		image, err := imageOf(o.session.Build.Version)
		if err != nil {
			return process.WrongUsage(err)
		}
		o.manifests.Image = image
	}
	objects, err := manifests.Objects(o.manifests)
	if err != nil {
		return process.WrongUsage(err)
	}
	text, err := manifests.YAML(objects)
	if err != nil {
		return err
	}
	return o.session.Put(string(text))
}

// imageOf names the image that was published with a version.
func imageOf(version string) (string, error) {
	if !released.MatchString(version) {
		return "", fmt.Errorf("version %s is no release, and no image is published with it: push one of yours (make image), and name it with --image, such "+
			"as --image registry.example.com/gpupool:1.0", version)
	}
	return publishedImage + ":" + version, nil
}
