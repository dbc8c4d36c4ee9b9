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

const noticeWatchHelp = `Watch whether the cloud takes this instance back, and have its node say so. A spot
instance learns of it two minutes before, from its metadata service alone. Then its
Node gets the condition GpupoolReclaim and the taint gpupool/reclaim (NoSchedule), both
with the time, and gpupool reconcile launches a replacement and drains the node.

It runs on each node, as the DaemonSet that gpupool manifests --notice-watch prints,
until it is stopped. What the metadata service does not answer, or answers with
something that is no time or can't be one, is told, and neither marks the node nor
clears it. While the API server can't be reached, it tries again until the time has
passed. Where the instance still runs five minutes after the time, and the metadata
service says that it is not taken back, condition and taint are taken away again.

`

const noticeWatchExamples = `  # As a DaemonSet on each node, with the rights that it needs
  gpupool manifests --notice-watch | kubectl apply -f -

  # On an instance, by hand
  gpupool notice-watch --node 10.0.0.7 -v

  # Against the local CVM, for one of its instances
  gpupool notice-watch --node node-1 --metadata-endpoint 'http://127.0.0.1:9170?instance_id=ins-a1b2c3d4'`

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
		Short:   "Mark this node when the cloud will take its instance back",
		Long:    noticeWatchHelp + process.ExitCodesHelp,
		Example: noticeWatchExamples,
		Args:    cobra.NoArgs,
		RunE:    s.Command(o.run),
	}
	f := cmd.Flags()
	f.StringVar(&o.node, "node", "", "`NAME` of the node that this instance is ("+nodeVariable+")")
	f.StringVar(&o.endpoint, "metadata-endpoint", notice.DefaultEndpoint, "`URL` of the instance's metadata service")
	process.DurationVar(cmd, &o.interval, "interval", 5*time.Second, "how long from one question to the next")
	o.cluster.Register(cmd, s)
	s.LogFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("node", cobra.NoFileCompletions)
	return cmd
}

// agent is what the flags ask for.
func (o *options) agent() (*notice.Agent, error) {
	if o.node == "" {
		o.node = o.session.Getenv(nodeVariable)
	}
	switch {
	case o.node == "":
		return nil, process.Usagef("say which node this is, by --node or %s: in a pod, the downward API knows it (spec.nodeName)", nodeVariable)
	case o.interval < time.Second || o.interval > longestInterval:
		return nil, process.Usagef("--interval must be from 1s to %s: a notice comes two minutes ahead", longestInterval)
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
	agent.Log.Info("watching for a notice", "node", o.node)
	return agent.Run(ctx)
}
