package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"
)

// logTo sends what the components log to a file in the directory, or to
// stderr.
func logTo(dir *directory, verbose bool) (flush func(), err error) {
	if verbose {
		return klog.Flush, nil
	}
	file, err := os.OpenFile(logOutput(dir, verbose), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	// Each line once, and none to stderr.
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL", "-one_output=true"}); err != nil {
		return nil, err
	}
	klog.SetOutput(file)
	return klog.Flush, nil
}

// logOutput is the log output in the configuration of etcd.
func logOutput(dir *directory, verbose bool) string {
	if verbose {
		return "stderr"
	}
	return dir.path("log")
}
