package kubetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Shell runs a command as a person types it who uses the cluster, and returns its output.
// Its kubectl is the one next to localkube.
func (c *Cluster) Shell(t testing.TB, command string) string {
	t.Helper()
	localkube, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(localkube)
	if err := exists(filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", command)
	shell.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "KUBECACHEDIR="+t.TempDir(), "KUBERC=off",
		"PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, output)
	}
	return string(output)
}
