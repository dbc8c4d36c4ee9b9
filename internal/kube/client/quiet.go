package client

import (
	"log/slog"

	"k8s.io/klog/v2"
)

// client-go writes what it meets to standard error by itself, among logs that may
// be JSON. All that matters of it comes back as an error.
func init() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) }
