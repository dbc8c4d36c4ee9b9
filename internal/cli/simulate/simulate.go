// Package simulate is the command gpupool simulate.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

const simulateHelp = `Serve a local CVM: the CVM, tag and STS APIs of Tencent Cloud, the instance
metadata service, and a control surface. It speaks the wire protocol, verifies
signatures, and keeps a small world of zones, stock, prices and quotas. Nothing
leaves this machine, and nothing costs money.

The first lines of standard output are what a shell needs to use it. Each call is
logged to standard error, without secrets, signatures or user data.

`

const simulateExamples = `  # In one terminal
  gpupool simulate

  # In another
  export GPUPOOL_ENDPOINT=http://127.0.0.1:9170 ...   (the lines that it printed)
  terraform apply

  # The cloud takes an instance back
  curl -d '{"pool":"train","count":1}' http://127.0.0.1:9170/_sim/reclaim

  # A free port, a state that survives a restart, tags that show late
  gpupool simulate --listen 127.0.0.1:0 --state-dir .cvm --tag-delay 3s`

type options struct {
	session        *process.Session
	config         cvmsim.ServeConfig
	launchDelay    time.Duration
	terminateDelay time.Duration
	callLog        string
	quiet          bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "simulate",
		Short:   "Serve a local CVM, to try and to test without an account",
		Long:    simulateHelp + cvmsim.ControlHelp(),
		Example: simulateExamples,
		Args:    cobra.NoArgs,
		RunE:    s.Command(o.run),
	}
	f := cmd.Flags()
	f.StringVar(&o.config.Listen, "listen", "127.0.0.1:9170", "`ADDRESS` to serve at; port 0 takes a free one")
	f.BoolVar(&o.config.AllowNonLoopback, "allow-non-loopback", false, "serve other machines, too: whoever reaches the address controls the local CVM")
	f.StringVar(&o.config.StateDir, "state-dir", "", "`DIR` that keeps the state over restarts (default: in memory)")
	f.StringVar(&o.config.Region, "region", "ap-singapore", "`REGION` to print for the shell; all regions of the catalogue are served")
	process.DurationVar(cmd, &o.launchDelay, "launch-delay", time.Second, "how long an instance stays PENDING")
	process.DurationVar(cmd, &o.terminateDelay, "terminate-delay", 500*time.Millisecond, "how long an instance stays TERMINATING")
	process.DurationVar(cmd, &o.config.ListingDelay, "listing-delay", 0, "how late a new instance shows in listings")
	process.DurationVar(cmd, &o.config.TagDelay, "tag-delay", 0, "how late tags show")
	f.BoolVar(&o.config.NoRates, "no-rates", false, "answer any number of calls a second")
	f.BoolVar(&o.config.RecycleBin, "recycle-bin", false, "keep terminated instances in the recycle bin until they are terminated again")
	f.BoolVar(&o.config.TagKeyNotFound, "tag-key-not-found", false, "refuse a filter by a tag key that was never used")
	f.StringVar(&o.callLog, "call-log", "", "`FILE` that gets a line of JSON for each call (default: standard error)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "log no calls")
	process.Exclusive(cmd, "call-log", "quiet", "one asks for calls to be logged, the other for none")
	_ = cmd.MarkFlagDirname("state-dir")
	return cmd
}

// run serves until it is stopped, which is its regular end.
func (o *options) run(ctx context.Context, _ []string) (err error) {
	c := o.config
	c.Stdout, c.Stderr = o.session.Stdout, o.session.Stderr
	c.LaunchDelay, c.TerminateDelay = delay(o.launchDelay), delay(o.terminateDelay)
	switch {
	case o.quiet:
		c.CallLog = io.Discard
	case o.callLog != "":
		f, openErr := os.OpenFile(o.callLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if openErr != nil {
			return fmt.Errorf("cannot write the call log: %w", openErr)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		c.CallLog = f
	}
	return cvmsim.ListenAndServe(ctx, c)
}

// delay is a delay as the local CVM takes it, where 0 means its default, and -1 none.
func delay(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}
