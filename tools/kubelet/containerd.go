package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// The images have the same contents: sandboxes run it without arguments.
const (
	sandboxImage = "registry.k8s.io/pause:3.10"
	clockImage   = "registry.example.com/clock:1"
)

//go:embed containerd.toml
var containerdConfig string

// network gives pods no address: they use the network of the node.
const network = `{"cniVersion": "1.0.0", "name": "loopback", "plugins": [{"type": "loopback"}]}`

// startContainerd returns once it has the images.
func (m *machine) startContainerd(ctx context.Context) error {
	config, err := m.write("containerd.toml", strings.NewReplacer("DIR", m.dir, "SANDBOX", sandboxImage).Replace(containerdConfig))
	if err != nil {
		return err
	}
	if _, err := m.write("cni/10-loopback.conflist", network); err != nil {
		return err
	}
	archive, err := m.archive()
	if err != nil {
		return fmt.Errorf("make the image: %w", err)
	}
	// On a busy machine, a clock would start late. The kubelet may be late.
	if err := m.start(-10, "containerd", "--config", config); err != nil {
		return err
	}
	if err := until(ctx, "containerd", func(ctx context.Context) error { return m.ctr(ctx, "version").Run() }); err != nil {
		return fmt.Errorf("%w\n%s", err, tail(m.path("containerd.log")))
	}
	// Without --local, it finds no platform to unpack for.
	load := m.ctr(ctx, "images", "import", "--local", "--snapshotter", "native", "--platform", "linux/"+runtime.GOARCH, archive)
	if out, err := load.CombinedOutput(); err != nil {
		return fmt.Errorf("import the image: %w\n%s", err, out)
	}
	return nil
}

func (m *machine) ctr(ctx context.Context, args ...string) *exec.Cmd {
	return command(ctx, m.program("ctr"), append([]string{"--address", m.path("containerd.sock"), "--namespace", "k8s.io"}, args...)...)
}

// removeContainers kills the containers that still run, so that runc removes their cgroups.
func (m *machine) removeContainers() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	running, _ := m.ctr(ctx, "tasks", "list", "--quiet").Output()
	if all := strings.Fields(string(running)); len(all) > 0 {
		_ = m.ctr(ctx, append([]string{"tasks", "delete", "--force"}, all...)...).Run() // killRest kills what is left
	}
}

// archive writes the image as docker save does: one layer with one static program.
func (m *machine) archive() (path string, err error) {
	program, err := os.ReadFile(m.program("clock"))
	if err != nil {
		return "", err
	}
	layer, err := tarOf(0o755, file{m.clock()[1:], program})
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{m.clock()}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return "", err
	}
	manifest, err := json.Marshal([]map[string]any{{
		"Config": "config.json", "RepoTags": []string{sandboxImage, clockImage}, "Layers": []string{"layer.tar"},
	}})
	if err != nil {
		return "", err
	}
	image, err := tarOf(0o644, file{"config.json", config}, file{"manifest.json", manifest}, file{"layer.tar", layer})
	if err != nil {
		return "", err
	}
	return m.write("image.tar", string(image))
}

// clock is the path of the program in the image, which is of this trial only.
func (m *machine) clock() string { return m.path("clock") }

type file struct {
	name string
	data []byte
}

func tarOf(mode int64, files ...file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: mode, Size: int64(len(f.data))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
