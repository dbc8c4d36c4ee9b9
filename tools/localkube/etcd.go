package main

import (
	"context"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap/zapcore"
)

// etcdSocket is the address of etcd. Only this user can reach it there, and it needs no port.
func etcdSocket(dir *directory) string { return "unix://" + dir.path("etcd.sock") }

// startEtcd returns once etcd serves. It ends with the process: each write is
// in the kernel's hands by then.
func startEtcd(ctx context.Context, dir *directory, logTo string) error {
	config := embed.NewConfig()
	config.Dir = dir.path("etcd")
	config.UnsafeNoFsync = true // nothing here needs to outlive a power cut
	config.QuotaBackendBytes = 8 << 30
	config.LogLevel = zapcore.ErrorLevel.String()
	config.LogOutputs = []string{logTo}
	config.EnableGRPCGateway = false
	config.InitialElectionTickAdvance = true
	config.TickMs, config.ElectionMs = 10, 100 // without peers, it elects itself
	config.ListenClientUrls = []url.URL{{Scheme: "unix", Path: dir.path("etcd.sock")}}
	config.ListenPeerUrls = []url.URL{{Scheme: "unix", Path: dir.path("etcd-peer.sock")}}

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return nil
	case err := <-etcd.Err():
		return err
	case <-ctx.Done():
		return fmt.Errorf("it was not ready in time: %w", ctx.Err())
	}
}
