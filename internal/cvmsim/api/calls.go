package api

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// maxCalls limits the recorded calls; older ones are dropped.
const maxCalls = 200_000

// outcomeOK is the Outcome of a call without an error.
const outcomeOK = "ok"

// Record is the record of one API call.
type Record struct {
	Seq       int64     `json:"seq"`
	Time      time.Time `json:"time"` // of the world's clock
	Service   string    `json:"service,omitempty"`
	Action    string    `json:"action"`
	Region    string    `json:"region,omitempty"`
	RequestID string    `json:"request_id"`
	// Outcome is "ok", or the error's code. The client may have observed something else: see Fault.
	Outcome     string `json:"outcome"`
	Fault       string `json:"fault,omitempty"`
	ClientToken string `json:"client_token,omitempty"`
	// TookEffect says that the call changed the world.
	TookEffect  bool     `json:"took_effect"`
	InstanceIDs []string `json:"instance_ids,omitempty"`
}

// Log records calls and writes them to a file.
type Log struct {
	mu    sync.Mutex
	calls []Record
	seq   int64
	out   io.Writer
}

func (l *Log) add(c Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	c.Seq = l.seq
	if len(l.calls) >= maxCalls {
		l.calls = append(l.calls[:0:0], l.calls[maxCalls/2:]...)
	}
	l.calls = append(l.calls, c)
	if l.out != nil {
		line, _ := json.Marshal(c)             // plain fields encode
		_, _ = l.out.Write(append(line, '\n')) // a write error must not fail the call
	}
}

// All returns the calls since the start or the last Reset, oldest first.
func (l *Log) All() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Record(nil), l.calls...)
}

// Reset forgets the calls.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = nil
}
