// Package localcvm reads what gpupool simulate prints for a shell, for the
// programs that start one.
package localcvm

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// Environment reads the export lines from the standard output of gpupool
// simulate, as NAME=value, and the endpoint among them. It returns once the
// local CVM serves, and drops what is printed later.
func Environment(stdout io.Reader) (env []string, endpoint string, err error) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		assignment, found := strings.CutPrefix(lines.Text(), "export ")
		if !found {
			break
		}
		name, value, _ := strings.Cut(assignment, "=")
		value = strings.Trim(value, `'"`)
		env = append(env, name+"="+value)
		if name == "GPUPOOL_ENDPOINT" {
			endpoint = value
		}
		if name == "TENCENTCLOUD_REGION" { // the last of them
			break
		}
	}
	if endpoint == "" {
		return nil, "", errors.Join(errors.New("the local CVM named no endpoint"), lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return env, endpoint, nil
}
