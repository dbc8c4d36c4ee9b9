package tencent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

type toolProfile struct {
	credentials
	roleARN     string
	roleSession string
	region      string
}

// readProfile reads <dir>/<name>.credential and <dir>/<name>.configure, as
// tccli writes them. A file that isn't there holds nothing.
func readProfile(dir, name string) (toolProfile, string, error) {
	path := filepath.Join(dir, name+".credential")
	var keys struct {
		SecretID    string `json:"secretId"`
		SecretKey   string `json:"secretKey"`
		Token       string `json:"token"`
		RoleARN     string `json:"role-arn"`
		RoleSession string `json:"role-session-name"`
	}
	if err := readJSON(path, &keys); err != nil {
		return toolProfile{}, path, err
	}
	var configure struct {
		Parameters struct {
			Region string `json:"region"`
		} `json:"_sys_param"`
	}
	if err := readJSON(filepath.Join(dir, name+".configure"), &configure); err != nil {
		return toolProfile{}, path, err
	}
	return toolProfile{
		credentials: credentials{
			secretID: strings.TrimSpace(keys.SecretID), secretKey: strings.TrimSpace(keys.SecretKey), token: strings.TrimSpace(keys.Token),
		},
		roleARN: strings.TrimSpace(keys.RoleARN), roleSession: strings.TrimSpace(keys.RoleSession),
		region: strings.TrimSpace(configure.Parameters.Region),
	}, path, nil
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	// The decoder's own error may quote the file, and the file holds a secret.
	if json.Unmarshal(data, v) != nil {
		return fmt.Errorf("credentials: %s is not a JSON object of strings, as tccli writes it; run \"tccli configure\" again", path)
	}
	return nil
}

// readCredentialsFile reads the section [default] of the SDK's INI file
// (common/profile_provider.go). A file that isn't there holds nothing.
func readCredentialsFile(path string) (credentials, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return credentials{}, nil
	}
	if err != nil {
		return credentials{}, fmt.Errorf("credentials: %w", err)
	}
	found := parseCredentialsFile(data)
	if found.secretID == "" || found.secretKey == "" {
		return credentials{}, fmt.Errorf("credentials: %s has no section [default] with secret_id and secret_key", path)
	}
	return found, nil
}

func parseCredentialsFile(data []byte) credentials {
	var c credentials
	section := ""
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
			continue
		case line[0] == '[' && line[len(line)-1] == ']':
			section = strings.TrimSpace(line[1 : len(line)-1])
			continue
		case section != "default":
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "secret_id":
			c.secretID = value
		case "secret_key":
			c.secretKey = value
		case "token":
			c.token = value
		}
	}
	return c
}
