package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"
)

// progress is the state of a build, read from what go list and go build print.
type progress struct {
	name     string
	expected string // how long a long build takes

	mu       sync.Mutex
	modules  int             // downloaded
	packages map[string]bool // by import path: whether the build cache lacked it
	lacking  int             // packages that the build cache lacked
	compiled int             // of the lacking ones
	rest     []byte          // an unfinished line
	others   strings.Builder // lines that are not about progress
}

// Write reads the standard error of a go command.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, text...)
	for {
		line, rest, found := bytes.Cut(p.rest, []byte("\n"))
		if !found {
			return len(text), nil
		}
		p.read(string(line))
		p.rest = rest
	}
}

func (p *progress) read(line string) {
	lacked, known := p.packages[line]
	switch {
	case known && lacked:
		p.compiled++
	case known:
	case strings.HasPrefix(line, "go: downloading "):
		p.modules++
	default:
		p.others.WriteString(line + "\n")
	}
}

// other returns what the go commands printed in addition to their progress.
func (p *progress) other() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.others.String() + string(p.rest)
}

// setPackages reads packages in the format of packageFormat.
func (p *progress) setPackages(listed string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.packages = map[string]bool{}
	for line := range strings.Lines(listed) {
		path, lacks, _ := strings.Cut(strings.TrimSpace(line), " ")
		if p.packages[path] = lacks == "true"; p.packages[path] {
			p.lacking++
		}
	}
}

// long reports whether the build cache lacked most of the packages.
func (p *progress) long() bool { return 2*p.lacking > len(p.packages) }

// line returns the state of the build in at most 79 columns.
func (p *progress) line(elapsed time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("Building %s: %s, %s", p.name, p.state(), rounded(elapsed))
	if p.expected != "" && p.long() {
		line += " (" + p.expected + ")"
	}
	return line
}

func (p *progress) state() string {
	switch {
	case p.packages == nil && p.modules > 0:
		return thousands(p.modules) + " modules downloaded"
	case p.packages == nil:
		return "looking for compiled packages"
	case p.compiled < p.lacking:
		return thousands(p.compiled) + " of " + thousands(p.lacking) + " packages"
	default:
		return "linking"
	}
}

func (p *progress) summary(took time.Duration) string {
	compiled := thousands(p.lacking) + " packages"
	if p.lacking == 1 {
		compiled = "1 package"
	}
	return fmt.Sprintf("Built %s: %s in %s", p.name, compiled, rounded(took))
}

func rounded(d time.Duration) string { return d.Round(time.Second).String() }

// thousands writes a count as people do: 1,204.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
