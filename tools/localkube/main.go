// Command localkube serves a real Kubernetes on this machine's loopback, for tests and
// demonstrations. It runs etcd, kube-apiserver, kube-controller-manager and kube-scheduler in
// one process, and nodes with GPUs whose kubelet is a stand-in. It needs no root, container
// runtime or network.
//
// This package has keys, directories, flags of the components, and their order. The package
// kubelet has what a pod does on a node.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // CronJobs name time zones

	"github.com/spf13/cobra"
)

func main() {
	// Field managers are named after the program. Whatever here does not name
	// itself is a controller.
	os.Args[0] = "kube-controller-manager"

	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "localkube:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "localkube",
		Short:         "A real Kubernetes on loopback, with stand-in GPU nodes",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(serveCommand())
	return root
}

func serveCommand() *cobra.Command {
	options := defaults()
	var untilStdinCloses bool
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve until interrupted",
		Long: "Serve Kubernetes on 127.0.0.1 until interrupted. Once its nodes are ready, one line is\nprinted: ready kubeconfig=PATH. Its data " +
			"is removed at the end, unless --dir names a\ndirectory. A later run with the same directory reuses its objects and its port.",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			if untilStdinCloses {
				ctx = whileOpen(ctx, os.Stdin)
			}
			err := serve(ctx, options, os.Stdout)
			if ctx.Err() != nil {
				return nil // it was told to end
			}
			return err
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.dir, "dir", options.dir, "keep everything in this directory (default: a temporary one, removed at the end)")
	flags.StringVar(&options.kubeconfig, "kubeconfig", options.kubeconfig, "write the administrator's kubeconfig to this file too")
	flags.IntVar(&options.port, "port", options.port, "port of the API server (default: the one --dir had before, else a free one)")
	flags.IntVar(&options.nodes, "nodes", options.nodes, "how many GPU nodes to register")
	flags.IntVar(&options.gpusPerNode, "gpus-per-node", options.gpusPerNode, "GPUs of each node")
	flags.StringSliceVar(&options.controllers, "controllers", options.controllers,
		"controllers to run, by the names of kube-controller-manager; none for no controller manager")
	flags.IntVar(&options.terminatedPodThreshold, "terminated-pod-gc-threshold", options.terminatedPodThreshold,
		"finished pods that may stay before the oldest are removed")
	flags.DurationVar(&options.podGC.every, "pod-gc-every", options.podGC.every, "how often the pods of nodes that are gone are looked for")
	flags.DurationVar(&options.podGC.quarantine, "pod-gc-quarantine", options.podGC.quarantine, "how long a node must be gone before its pods are removed")
	flags.BoolVar(&options.noScheduler, "no-scheduler", options.noScheduler, "run no scheduler: pods wait until they are bound by hand")
	flags.BoolVar(&options.noKubelet, "no-kubelet", options.noKubelet, "run no stand-in kubelet, and register no nodes")
	flags.BoolVar(&options.verbose, "verbose", options.verbose, "log to stderr, not to the file log in the directory")
	flags.BoolVar(&untilStdinCloses, "until-stdin-closes", false, "end when standard input ends, as it does when the program that started this one dies")
	return command
}

func whileOpen(ctx context.Context, input io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, input)
		cancel()
	}()
	return ctx
}
