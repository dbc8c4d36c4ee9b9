package access

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// TestClientsAreAddresses: ports do not tell clients apart, nor do the addresses of one IPv6 network.
func TestClientsAreAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1:4711": "192.0.2.1", "[::ffff:192.0.2.1]:4711": "192.0.2.1", "[2001:db8:0:1:2::3]:80": "2001:db8:0:1::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "localhost:80": "localhost", "@": "@", "": "",
	} {
		if client := clientOf(WithClient(t.Context(), address)); client != want {
			t.Errorf("the client at %s is %s, want %s", address, client, want)
		}
	}
}

// TestNewClientsLeaveTheLimitsOfOthers until there are too many.
func TestNewClientsLeaveTheLimitsOfOthers(t *testing.T) {
	t.Parallel()
	var l limits
	exhaust := func(client string) (allowed int) {
		for l.allow(noon, client) {
			allowed++
		}
		return allowed
	}
	if n := exhaust("a"); n != burstOfClient {
		t.Errorf("%d reviews of one client, want %d", n, burstOfClient)
	}
	if !l.allow(noon, "b") || l.allow(noon, "a") {
		t.Error("a new client does not have its own limit")
	}
	for n := len(l.clients); n < clientsAtMost; n++ {
		l.allow(noon, string(rune(0x4e00+n)))
	}
	if len(l.clients) != clientsAtMost {
		t.Errorf("%d clients are kept, want %d", len(l.clients), clientsAtMost)
	}
	if l.allow(noon, "c"); len(l.clients) != 1 {
		t.Errorf("%d clients are kept, want only the newest", len(l.clients))
	}
}

// TestAnswersAreForgottenIfTooMany keeps the newest.
func TestAnswersAreForgottenIfTooMany(t *testing.T) {
	t.Parallel()
	var a answers[int, int]
	for n := range rememberedAtMost {
		a.keep(n, n, noon.Add(time.Second))
	}
	if value, known := a.find(noon, 0); !known || value != 0 || len(a.kept) != rememberedAtMost {
		t.Errorf("of %d answers, %d are kept", rememberedAtMost, len(a.kept))
	}
	a.keep(-1, -1, noon.Add(time.Second))
	if value, known := a.find(noon, -1); !known || value != -1 || len(a.kept) != 1 {
		t.Errorf("%d are kept, want only the newest", len(a.kept))
	}
	if _, known := a.find(noon.Add(time.Second), -1); known {
		t.Error("an answer is used for longer than it is good")
	}
}
