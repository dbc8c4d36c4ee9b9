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

const simulateHelp = `Serve a simulated Tencent Cloud on this machine: the CVM, tag and STS APIs, the
instance metadata service, and a control API. It verifies signatures and has zones,
stock, prices and quotas. Nothing leaves this machine, and nothing costs money.

The first lines of standard output set the environment of a shell. Each call is logged
to standard error, without secrets, signatures or user data.

`

const simulateExamples = `  # In one terminal
  gpupool simulate

  # In another one, after pasting the lines that it printed
  terraform apply

  # Reclaim an instance
  curl -d '{"pool":"train","count":1}' http://127.0.0.1:9170/_sim/reclaim

  # A free port, state that survives a restart, and delayed tags
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
		Short:   "Serve a local CVM API, to try gpupool without an account",
		Long:    simulateHelp + cvmsim.ControlHelp(),
		Example: simulateExamples,
		Args:    process.NoArguments,
		RunE:    s.Command(o.run),
	}
	f := cmd.Flags()
	f.StringVar(&o.config.Listen, "listen", "127.0.0.1:9170", "`ADDRESS` to listen on; port 0 selects a free port.")
	f.BoolVar(&o.config.AllowNonLoopback, "allow-non-loopback", false, "Also listen on other addresses. Anyone who reaches it controls it.")
	f.StringVar(&o.config.StateDir, "state-dir", "", "`DIR` for the state. If omitted, it is in memory.")
	f.StringVar(&o.config.Region, "region", "ap-singapore", "`REGION` of the printed environment. All regions of the catalog are served.")
	process.DurationVar(cmd, &o.launchDelay, "launch-delay", time.Second, "How long an instance is PENDING.")
	process.DurationVar(cmd, &o.terminateDelay, "terminate-delay", 500*time.Millisecond, "How long an instance is TERMINATING.")
	process.DurationVar(cmd, &o.config.ListingDelay, "listing-delay", 0, "Delay until lists contain a new instance.")
	process.DurationVar(cmd, &o.config.TagDelay, "tag-delay", 0, "Delay until tags are visible.")
	f.BoolVar(&o.config.NoRates, "no-rates", false, "Disable rate limits.")
	f.BoolVar(&o.config.RecycleBin, "recycle-bin", false, "Keep terminated instances in the recycle bin until they are terminated again.")
	f.BoolVar(&o.config.TagKeyNotFound, "tag-key-not-found", false, "Refuse a filter by a tag key that was never used.")
	f.StringVar(&o.callLog, "call-log", "", "`FILE` for a line of JSON for each call. If omitted, standard error.")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "Log no calls.")
	process.Exclusive(cmd, "call-log", "quiet", "one logs calls, the other does not")
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
