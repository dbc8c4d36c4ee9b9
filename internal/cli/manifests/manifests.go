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
reconcile.

Nothing is called, and nothing is changed. What is printed is the same for the same
flags, so that it can be kept in version control, and it can be applied again at any time,
by kubectl apply with or without --server-side: freezes that are in force stay so.

The run takes the cloud's credentials, and whatever else it is to find in its
environment, from a Secret of the run's namespace. Without it, it does budgets alone.`

const manifestsExamples = `  # Set a cluster up, or bring it up to this version
  gpupool manifests | kubectl apply -f -

  # The same with an image of your own, which a build of the sources needs
  gpupool manifests --image registry.example.com/gpupool:1.0 | kubectl apply -f -

  # With the cloud's credentials, for spot pools
  kubectl -n gpupool-system-run create secret generic gpupool-tencentcloud \
    --from-literal=TENCENTCLOUD_SECRET_ID=AKID... --from-literal=TENCENTCLOUD_SECRET_KEY=...

  # Count and tell, and be unable to do more
  gpupool manifests --enforcement alert_only | kubectl apply -f -

  # See what would change
  gpupool manifests | kubectl diff -f -`

// publishedImage is the image of releases, without its version.
const publishedImage = "ghcr.io/gpupool/gpupool"

var released = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

type options struct {
	session     *process.Session
	manifests   manifests.Options
	enforcement string
	given       func(flag string) bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
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
	f.StringVar(&o.manifests.RunNamespace, "run-namespace", "", "`NAME` of the namespace of the run, its credentials and the accounts (default: the store's, with -run after it)")
	f.StringVar(&o.manifests.Schedule, "schedule", manifests.DefaultSchedule, "when to run, as `CRON` writes it")
	process.DurationVar(cmd, &o.manifests.Timeout, "timeout", manifests.DefaultTimeout, "how long a run may take")
	f.StringVar(&o.enforcement, "enforcement", string(manifests.DefaultEnforcement), "the hardest `ACTION` that the rights allow: alert_only, freeze, pause or evict")
	f.StringVar(&o.manifests.CredentialsSecret, "credentials-secret", manifests.DefaultCredentialsSecret, "`NAME` of the Secret whose entries become the run's environment; it may be absent")
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
	o.manifests.Enforcement, o.manifests.Arguments = budget.Action(o.enforcement), args
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
		return "", fmt.Errorf("version %s is no release, and no image is published with it: build one (tools/image/Dockerfile), and name it with --image, such as --image registry.example.com/gpupool:1.0", version)
	}
	return publishedImage + ":" + version, nil
}
