// Package processtest starts processes of gpupool within a test: the command line, and
// the world in which the provider carries an apply out.
package processtest

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// Place is what the processes of a test share.
type Place struct {
	Dir        string // of the store
	Kubeconfig string
	CVM        string // the address of a local CVM; empty where there is none
}

// Environment is that of a command line which uses all of it.
func (p Place) Environment() map[string]string {
	return map[string]string{
		"GPUPOOL_STORE": "directory:" + p.Dir, "KUBECONFIG": p.Kubeconfig, "GPUPOOL_ENDPOINT": p.CVM, "TZ": "UTC",
		"TENCENTCLOUD_REGION": "ap-singapore", "TENCENTCLOUD_SECRET_ID": cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY": cvmsim.DemoSecretKey,
	}
}

// Process is that of a new process, which waits for locks and machines impatiently.
func (p Place) Process(t testing.TB, actor string) reconcile.World {
	t.Helper()
	place, err := directory.Open(p.Dir, directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: p.Kubeconfig}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	cluster := kubecluster.New(client)
	process := reconcile.World{
		Store: place, Actor: actor, LockTimeout: 5 * time.Second,
		Cluster: func(context.Context) (reconcile.Cluster, error) { return cluster, nil },
	}
	if p.CVM == "" {
		return process
	}
	process.PollInterval = 20 * time.Millisecond
	process.Cloud, err = tencent.New(t.Context(), tencent.Config{
		Region: "ap-singapore", Endpoint: p.CVM, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	return process
}

// Command is a command line without a terminal and without interrupts.
func Command(env map[string]string, stdout, stderr io.Writer, args ...string) cli.Process {
	return cli.Process{
		Args: args, Getenv: func(name string) string { return env[name] }, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Terminal: func(io.Writer) (int, int, bool) { return 0, 0, false },
		Signals:  func(chan<- os.Signal) func() { return func() {} },
		Exit:     func(int) {}, Now: time.Now, Build: cli.Build{Version: "1.2.3"},
	}
}
