// Package noticewatch is the command gpupool notice-watch.
package noticewatch

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/notice"
)

const noticeWatchHelp = `Watch the metadata service of this instance for an interruption notice, and mark its
node. Tencent Cloud announces a reclaim of a spot instance two minutes ahead, only on
its metadata service.

On a notice, the node gets the condition GpupoolReclaim and the taint gpupool/reclaim
(NoSchedule), with the time of the reclaim. "gpupool reconcile" then launches a
replacement and drains the node. Three seconds later, the pods that the drain left are
deleted, also protected ones: they would die with the instance. Each gets its own grace
period, or the time until 15 seconds before the reclaim if that is shorter.

Run it on each node, with the DaemonSet of "gpupool manifests --notice-watch". It runs
until interrupted. If the metadata service fails or returns an invalid time, a warning
is printed, and the marks stay unchanged. If the API server is unreachable, it retries
until the time of the reclaim. The marks are removed if the instance still runs five
minutes after that time, without a notice.

`

const noticeWatchExamples = `  # As a DaemonSet on each node, with its privileges
  gpupool manifests --notice-watch | kubectl apply -f -

  # On an instance, by hand
  gpupool notice-watch --node 10.0.0.7 -v

  # Against "gpupool simulate", for one of its instances
  gpupool notice-watch --node node-1 \
    --metadata-endpoint 'http://127.0.0.1:9170?instance_id=ins-a1b2c3d4'`

// nodeVariable names the node, as the DaemonSet has it from the downward API.
const nodeVariable = "NODE_NAME"

// longestInterval leaves most of the two minutes to what follows.
const longestInterval = 30 * time.Second

type options struct {
	session  *process.Session
	cluster  connect.ClusterFlags
	node     string
	endpoint string
	interval time.Duration
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "notice-watch",
		Short:   "Mark this node when Tencent Cloud reclaims its instance",
		Long:    noticeWatchHelp + process.ExitCodesHelp,
		Example: noticeWatchExamples,
		Args:    process.NoArguments,
		RunE:    s.Command(o.run),
	}
	f := cmd.Flags()
	f.StringVar(&o.node, "node", "", "`NAME` of the node of this instance ("+nodeVariable+").")
	f.StringVar(&o.endpoint, "metadata-endpoint", notice.DefaultEndpoint, "`URL` of the metadata service.")
	process.DurationVar(cmd, &o.interval, "interval", 5*time.Second, "Time between two requests.")
	o.cluster.Register(cmd, s)
	s.LogFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("node", cobra.NoFileCompletions)
	return cmd
}

// agent returns the agent with the settings of the flags.
func (o *options) agent() (*notice.Agent, error) {
	if o.node == "" {
		o.node = o.session.Getenv(nodeVariable)
	}
	switch {
	case o.node == "":
		return nil, process.Usagef("--node is missing: set it, or %s from spec.nodeName by the downward API", nodeVariable)
	case o.interval < time.Second || o.interval > longestInterval:
		return nil, process.Usagef("--interval must be from 1s to %s: an interruption notice comes two minutes ahead", longestInterval)
	}
	metadata, err := notice.NewMetadata(o.endpoint, notice.DefaultTimeout)
	if err != nil {
		return nil, process.WrongUsage(err)
	}
	cluster, err := o.cluster.Reach()
	if err != nil {
		return nil, err
	}
	return &notice.Agent{
		Node: o.node, Metadata: metadata, Cluster: cluster, Interval: o.interval,
		Now: o.session.Now, Log: o.session.Logger(), Warn: func(text string) { o.session.Warn(text) },
	}, nil
}

// run watches until it is stopped.
func (o *options) run(ctx context.Context, _ []string) error {
	agent, err := o.agent()
	if err != nil {
		return err
	}
	agent.Log.Info("watching for an interruption notice", "node", o.node)
	return agent.Run(ctx)
}
