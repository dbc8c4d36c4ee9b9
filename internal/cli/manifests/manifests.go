// Package manifests is the command gpupool manifests.
package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const manifestsHelp = `Print the Kubernetes objects that run gpupool in a cluster, for kubectl apply:

  - a namespace for the store, and one for the runs
  - service accounts for runs and for terraform apply, with their least
    privileges, and admission policies that restrict them further
  - ValidatingAdmissionPolicyBindings, unless --enforcement is alert_only: each
    can block new GPU pods of one exceeded budget, and matches nothing until
    then
  - a CronJob that runs "gpupool reconcile", or with --mode deployment a
    Deployment. With --mode serve, a Deployment of "gpupool serve" with a Service
    and network policies

No API is called. The output is the same for the same flags: keep it in version
control, and apply it again at any time, also with --server-side. To add a flag later,
repeat the earlier ones. Enforcement that is in effect remains.

Runs read Tencent Cloud credentials and other variables from a Secret in the run
namespace. Without it, they reconcile only budgets and stock pools.

Further privileges, each with an admission policy of its own:
  --mark-nodes         label and annotate nodes of pools
  --cordon-nodes       cordon nodes for drains
  --delete-nodes       delete nodes of terminated instances
  --stock-pools        manage Deployments of stock pools, and so run any pod, in
                       all namespaces except those of the system, the store and
                       the runs, or in --stock-namespaces
  --bootstrap-groups   create and delete bootstrap tokens of these groups, to
                       join instances to the cluster; no Secret can be read
  --api                review tokens and rights of users of "gpupool serve", and
                       ClusterRoles for readers and requesters of its API;
                       --mode serve includes it

With --mode serve, the pod starts once the Secret gpupool-serve-tls in the run namespace
has a certificate for gpupool-serve.NAMESPACE.svc.

--notice-watch adds a DaemonSet that marks a node when Tencent Cloud reclaims its
instance (gpupool notice-watch).`

const manifestsExamples = `  # Set up a cluster, or upgrade it to this version
  gpupool manifests | kubectl apply -f -

  # With your own image, which a build from source needs
  gpupool manifests --image registry.example.com/gpupool:1.0 |
    kubectl apply -f -

  # With Tencent Cloud credentials, for spot pools
  kubectl -n gpupool-system-run create secret generic gpupool-tencentcloud \
    --from-literal=TENCENTCLOUD_SECRET_ID=AKID... \
    --from-literal=TENCENTCLOUD_SECRET_KEY=...

  # Only count usage and alert
  gpupool manifests --enforcement alert_only | kubectl apply -f -

  # For pools with nodes: drain, replace early, and delete nodes
  gpupool manifests --mark-nodes --cordon-nodes --delete-nodes --notice-watch \
    --notice-watch-on pool=train --mode deployment | kubectl apply -f -

  # Serve the API and metrics, with a certificate of your own
  gpupool manifests --mode serve --service-monitor | kubectl apply -f -
  kubectl -n gpupool-system-run create secret tls gpupool-serve-tls \
    --cert tls.crt --key tls.key

  # For stock pools, in two namespaces only
  gpupool manifests --stock-pools --stock-namespaces team-a,team-b \
    | kubectl apply -f -

  # For pools with instances that join by kubeadm
  gpupool manifests --mark-nodes --cordon-nodes --delete-nodes \
    --bootstrap-groups system:bootstrappers:kubeadm:default-node-token \
    | kubectl apply -f -

  # Show what would change
  gpupool manifests | kubectl diff -f -`

// publishedImage is the image of releases, without its version.
const publishedImage = "ghcr.io/gpupool/gpupool"

var released = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

type options struct {
	session     *process.Session
	manifests   manifests.Options
	enforcement string
	mode        string
	budgets     string
	given       func(flag string) bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s, mode: string(manifests.CronJob)}
	cmd := &cobra.Command{
		Use:     "manifests [-- ARGUMENT...]",
		Short:   "Print the Kubernetes objects that run gpupool in a cluster",
		Long:    manifestsHelp + "\n\nArguments after -- are passed to gpupool reconcile, or to gpupool serve.",
		Example: manifestsExamples,
		Args:    onlyAfterDash,
		RunE:    s.Command(o.run),
	}
	f := cmd.Flags()
	o.given = f.Changed
	f.StringVar(&o.manifests.Image, "image", "", "Image `NAME`. If omitted, the image of this release.")
	f.StringVar(&o.manifests.Namespace, "namespace", manifests.DefaultNamespace, "Namespace `NAME` of the store.")
	f.StringVar(&o.manifests.RunNamespace, "run-namespace", "", "Namespace `NAME` of runs, credentials and service accounts. If omitted, that of the store "+
		"with the suffix -run.")
	f.StringVar(&o.manifests.Schedule, "schedule", manifests.DefaultSchedule, "Schedule of the CronJob, as a `CRON` expression.")
	process.DurationVar(cmd, &o.manifests.Timeout, "timeout", manifests.DefaultTimeout, "Longest duration of a run.")
	f.StringVar(&o.enforcement, "enforcement", string(manifests.DefaultEnforcement),
		"Strongest `ACTION` that the privileges allow: alert_only, freeze, pause or evict.")
	f.IntVar(&o.manifests.FreezeSlots, "freeze-slots", manifests.DefaultFreezeSlots,
		"`NUMBER` of budgets whose new GPU pods can be blocked at once, 1 to 64: one policy binding each.")
	f.StringVar(&o.manifests.CredentialsSecret, "credentials-secret", manifests.DefaultCredentialsSecret,
		"`NAME` of the Secret with environment variables of runs. It can be absent.")
	process.ChoiceVar(cmd, &o.manifests.Currency, "currency", "", "Currency of the account's prices, for runs. If omitted, "+
		"that of the Secret, or of the API host.",
		spotpool.CurrencyNames()...)
	process.ChoiceVar(cmd, &o.mode, "mode", "", "Object that runs gpupool: a CronJob, or a Deployment. A Deployment runs every 40s and "+
		"reacts to interruption notices at once; with serve, it also serves the API and metrics.",
		string(manifests.CronJob), string(manifests.Deployment), string(manifests.Serve))
	f.StringVar(&o.manifests.TLSSecret, "tls-secret", "", "`NAME` of the Secret with the server's certificate. If omitted, "+manifests.DefaultTLSSecret+".")
	f.BoolVar(&o.manifests.BehindProxy, "behind-proxy", false, "Serve without TLS, since a proxy in front has it.")
	f.BoolVar(&o.manifests.ServiceMonitor, "service-monitor", false, "Add a ServiceMonitor for the server, which the Prometheus operator reads.")
	f.BoolVar(&o.manifests.PrometheusRule, "prometheus-rule", false, "Add the alerts as a PrometheusRule, which the Prometheus operator reads.")
	f.BoolVar(&o.manifests.Mark, "mark-nodes", false, "Allow labels and annotations on nodes of pools.")
	f.BoolVar(&o.manifests.Cordon, "cordon-nodes", false, "Allow cordon and uncordon of nodes, for drains. Needs --mark-nodes.")
	f.BoolVar(&o.manifests.Delete, "delete-nodes", false, "Allow deletion of nodes with the mark of a pool. Needs --mark-nodes.")
	f.BoolVar(&o.manifests.NoticeWatch, "notice-watch", false, "Add a DaemonSet that marks nodes when Tencent Cloud reclaims their instances.")
	f.StringToStringVar(&o.manifests.NoticeWatchOn, "notice-watch-on", nil,
		"`LABEL=VALUE` of the nodes that run the DaemonSet; can be repeated. If omitted, all nodes.")
	f.Lookup("notice-watch-on").DefValue = "" // else help says []
	f.BoolVar(&o.manifests.Stock.Pools, "stock-pools", false, "Allow Deployments and disruption budgets with the label gpupool/stock-pool.")
	f.StringSliceVar(&o.manifests.Stock.Namespaces, "stock-namespaces", nil,
		"Existing `NAMESPACES` of stock pools. If omitted, all except those of the system, the store and runs.")
	f.Lookup("stock-namespaces").DefValue = "" // else help says []
	f.StringVar(&o.budgets, "budgets", "", "`FILE` of budgets, which each pod declares before it starts (gpupool declare); - is standard input.")
	f.BoolVar(&o.manifests.API, "api", false, "Add the rights that gpupool serve --token-review needs, and roles for its users.")
	f.StringSliceVar(&o.manifests.BootstrapGroups, "bootstrap-groups", nil,
		"Allow bootstrap tokens of this `GROUP`; can be repeated.")
	f.Lookup("bootstrap-groups").DefValue = ""
	_ = cmd.RegisterFlagCompletionFunc("enforcement", cobra.FixedCompletions(
		[]string{string(budget.AlertOnly), string(budget.Freeze), string(budget.Pause), string(budget.Evict)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// onlyAfterDash refuses arguments before --.
func onlyAfterDash(cmd *cobra.Command, args []string) error {
	if before := cmd.ArgsLenAtDash(); len(args) > 0 && before != 0 {
		return fmt.Errorf("unexpected argument %q: put arguments of gpupool reconcile or gpupool serve after --", args[0])
	}
	return nil
}

func (o *options) run(_ context.Context, args []string) error {
	o.manifests.Enforcement, o.manifests.Arguments, o.manifests.Mode = budget.Action(o.enforcement), args, manifests.Mode(o.mode)
	if o.manifests.Mode != manifests.CronJob && o.given("schedule") {
		return process.Usagef("--schedule is for a CronJob: set the interval of a Deployment with -- --every=40s")
	}
	if !o.given("image") {
		image, err := imageOf(o.session.Build.Version)
		if err != nil {
			return process.WrongUsage(err)
		}
		o.manifests.Image = image
	}
	if o.given("budgets") {
		if err := o.readBudgets(); err != nil {
			return err
		}
	}
	objects, err := manifests.Objects(o.manifests)
	if err != nil {
		return process.WrongUsage(err)
	}
	text, err := manifests.YAML(objects)
	if err != nil {
		return err
	}
	if o.manifests.Enforcement != budget.AlertOnly {
		o.session.Note(fmt.Sprintf("the policy bindings gpupool-freeze-01 to -%02d match nothing until a run blocks new GPU pods of an exceeded "+
			"budget with one of them", o.manifests.FreezeSlots))
	}
	return o.session.Put(string(text))
}

// readBudgets reads --budgets. gpupool declare validates it.
func (o *options) readBudgets() error {
	stream, name, err := o.session.Input(o.budgets)
	if err != nil {
		return fmt.Errorf("cannot read the budgets: %w", err)
	}
	defer stream.Close()
	data, err := io.ReadAll(stream)
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = errors.New("it is empty: use budgets: {} for none")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	o.manifests.Budgets = string(data)
	return nil
}

// imageOf names the image that was published with a version.
func imageOf(version string) (string, error) {
	if !released.MatchString(version) {
		return "", fmt.Errorf("version %s is not a release and has no published image. Build and push your own (make image), and set "+
			"--image registry.example.com/gpupool:1.0", version)
	}
	return publishedImage + ":" + version, nil
}
