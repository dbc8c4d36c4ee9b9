package tencent

import (
	"strings"
	"testing"
)

// Plain HTTP is for this machine; beyond it, it has to be asked for by name, and
// is warned of.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config          Config
		refused, warned bool
	}{
		"this machine":             {config: Config{Endpoint: "http://127.0.0.1:9170"}},
		"this machine by name":     {config: Config{Endpoint: "http://LocalHost:9170"}},
		"a name of this machine":   {config: Config{Endpoint: "http://cvm.localhost"}},
		"another loopback":         {config: Config{Endpoint: "http://127.3.2.1"}},
		"IPv6":                     {config: Config{Endpoint: "http://[::1]:9170"}},
		"the default":              {config: Config{}},
		"HTTPS elsewhere":          {config: Config{Endpoint: "https://cvm.example"}},
		"elsewhere":                {config: Config{Endpoint: "http://cvm.example:9170"}, refused: true},
		"elsewhere in the house":   {config: Config{Endpoint: "http://10.0.0.7:9170"}, refused: true},
		"all addresses":            {config: Config{Endpoint: "http://0.0.0.0:9170"}, refused: true},
		"a name like ours":         {config: Config{Endpoint: "http://localhost.example"}, refused: true},
		"by HTTPS, which it isn't": {config: Config{Endpoint: "http://cvm.example", Protocol: "HTTPS"}, refused: true},
		"on purpose":               {config: Config{Endpoint: "http://cvm.example", Protocol: "http"}, warned: true},
		"the cloud itself":         {config: Config{Protocol: "HTTP"}, warned: true},
		"another domain":           {config: Config{Protocol: "HTTP", Domain: "internal.example"}, warned: true},
	} {
		c.config.SecretID, c.config.SecretKey = "a", "b"
		_, err := New(t.Context(), c.config)
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "plain HTTP to another machine") {
			t.Errorf("%s: %v", name, err)
		}
		if host := c.config.AllowedPlainHost(); (host != "") != c.warned {
			t.Errorf("%s: %q", name, host)
		}
	}
}
