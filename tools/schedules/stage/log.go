package stage

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// log records the events of each round and the violations.
type log struct {
	mu      sync.Mutex
	started time.Time
	rounds  []string
	broke   []string
}

func newLog() *log { return &log{started: time.Now(), rounds: []string{""}} }

func (l *log) round(title string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rounds = append(l.rounds, "== "+title+"\n")
}

func (l *log) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(fmt.Sprintf(format, args...))
}

func (l *log) add(text string) {
	l.rounds[len(l.rounds)-1] += fmt.Sprintf("%8.3f  %s\n", time.Since(l.started).Seconds(),
		strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n          "))
}

func (l *log) broken(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broke = append(l.broke, text)
	l.add("BROKEN: " + text)
}

func (l *log) breaches() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.broke...)
}

func (l *log) last(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.rounds[max(0, len(l.rounds)-n):], "")
}

func (l *log) breaks(texts []string) {
	for _, text := range texts {
		l.broken("%s", text)
	}
}

func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
