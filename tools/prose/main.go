// Prose checks everything that a person reads against the house style: pages, comments,
// string literals, help texts, schema descriptions and golden outputs. The rules are in
// styles/; Vale applies them.
//
//	go run ./tools/prose -vale "$(go tool -modfile=tools/vale/go.mod -n vale)"
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	vale := flag.String("vale", "vale", "path of Vale")
	only := flag.String("only", "", "check only paths with one of these prefixes, separated by spaces")
	flag.Parse()
	if err := run(context.Background(), *vale, strings.Fields(*only)); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, vale string, only []string) error {
	texts, err := collect(ctx)
	if err != nil {
		return err
	}
	if len(only) > 0 {
		texts = slices.DeleteFunc(texts, func(t text) bool {
			return !slices.ContainsFunc(only, func(prefix string) bool { return strings.HasPrefix(t.path, prefix) })
		})
	}
	if len(texts) == 0 {
		return errors.New("no texts to check")
	}
	findings, err := check(ctx, vale, texts)
	if err != nil {
		return err
	}
	for _, f := range findings {
		fmt.Printf("%s:%d: %s (%s)\n", f.path, f.line, f.message, f.rule)
	}
	if len(findings) > 0 {
		return fmt.Errorf("%d findings in %d texts: see tools/prose/styles", len(findings), len(texts))
	}
	return nil
}

type finding struct {
	path          string
	line          int
	rule, message string
}

// check has Vale read the texts, each as a file below the directory of its form.
func check(ctx context.Context, vale string, texts []text) ([]finding, error) {
	dir, err := os.MkdirTemp("", "prose")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	byFile := map[string]text{}
	for n, t := range texts {
		// A number keeps apart what two forms take from one file.
		name := filepath.Join(dir, string(t.form), fmt.Sprintf("%d", n), filepath.FromSlash(t.path)+t.form.extension())
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, []byte(t.body), 0o600); err != nil {
			return nil, err
		}
		byFile[name] = t
	}
	cmd := exec.CommandContext(ctx, vale, "--config", "tools/prose/vale.ini", "--no-exit", "--output", "JSON", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running Vale: %w", err)
	}
	var alerts map[string][]struct {
		Check, Message string
		Line           int
	}
	if err := json.Unmarshal(out, &alerts); err != nil {
		return nil, fmt.Errorf("reading Vale's output: %w", err)
	}
	var list []finding
	for file, of := range alerts {
		t, known := byFile[file]
		if !known {
			return nil, errors.New("Vale reports an unknown file: " + file)
		}
		for _, a := range of {
			list = append(list, finding{t.path, t.line(a.Line), strings.TrimPrefix(a.Check, "gpupool."), a.Message})
		}
	}
	slices.SortFunc(list, func(a, b finding) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return a.line - b.line
	})
	return list, nil
}
