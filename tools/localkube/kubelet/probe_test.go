package kubelet_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/kubernetes/pkg/probe"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
)

// TestTheKubeletProbesAServer probes gpupool serve by the code of the kubelet's probes, with and without TLS.
func TestTheKubeletProbesAServer(t *testing.T) {
	t.Parallel()
	crt, key := certificate(t)
	gpupool := os.Getenv("GPUPOOL_BIN")
	if gpupool == "" {
		gpupool = "../../../bin/gpupool"
	}
	store := "directory:" + t.TempDir() + "/store"
	create := exec.CommandContext(t.Context(), gpupool, "reconcile", "--store", store, "--from-state", "-")
	create.Stdin = strings.NewReader(`{"format_version":"1.0","terraform_version":"1.11.4"}`)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for scheme, flags := range map[string][]string{
		"https": {"--tls-cert", crt, "--tls-key", key},
		"http":  nil,
	} {
		server := exec.CommandContext(t.Context(), gpupool, append([]string{"serve", "--store", store, "--read-only", "--listen", "127.0.0.1:0"}, flags...)...)
		stdout, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		server.Stderr = t.Output()
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Wait() }) // the test's context has ended it
		line, err := bufio.NewReader(stdout).ReadString('\n')
		_, at, found := strings.Cut(strings.TrimSpace(line), " at ")
		if err != nil || !found || !strings.HasPrefix(at, scheme+"://") {
			t.Fatalf("the server printed %q: %v", line, err)
		}
		for _, path := range []string{"/livez", "/readyz"} {
			target, err := url.Parse(at + path)
			if err != nil {
				t.Fatal(err)
			}
			request, err := httpprobe.NewProbeRequest(target, http.Header{})
			if err != nil {
				t.Fatal(err)
			}
			result, body, err := httpprobe.New(false).Probe(request, 6*time.Second)
			if err != nil || result != probe.Success {
				t.Errorf("%s: %s %q: %v", target, result, body, err)
			}
		}
	}
}

// certificate writes a certificate of no known authority. Probes accept any.
func certificate(t *testing.T) (crt, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	public, err := x509.CreateCertificate(rand.Reader, of, of, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	crt, key = filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	for name, block := range map[string]*pem.Block{crt: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return crt, key
}
