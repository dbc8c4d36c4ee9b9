package document_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

const cluster = "5f0c1d2e-9a8b-4c7d-8e6f-001122334455"

func samples(t *testing.T) map[string][]byte {
	t.Helper()
	documents := map[string][]byte{}
	names, err := filepath.Glob("../testdata/version-6/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, name := range names {
		if documents[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return documents
}

// TestNoByteChangesUnseen changes or removes each byte of each document.
func TestNoByteChangesUnseen(t *testing.T) {
	t.Parallel()
	for name, data := range samples(t) {
		if _, err := document.Unseal(name, cluster, data); err != nil {
			t.Fatal(err)
		}
		for n := range data {
			for _, bit := range []byte{1, 32, 128} {
				data[n] ^= bit
				if _, err := document.Unseal(name, cluster, data); err == nil {
					t.Fatalf("%s is taken with its byte %d changed by %d", name, n, bit)
				}
				data[n] ^= bit
			}
			if _, err := document.Unseal(name, cluster, data[:n]); err == nil {
				t.Fatalf("%s is taken with %d bytes of %d", name, n, len(data))
			}
			if _, err := document.Unseal(name, cluster, data[n:]); err == nil && n > 0 {
				t.Fatalf("%s is taken without its first %d bytes", name, n)
			}
		}
	}
}

func TestJSONIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	type body struct {
		Number int    `json:"number"`
		Seal   string `json:"seal"`
	}
	d, err := document.EncodeJSON(document.HeaderName, cluster, 3, func(seal string) any { return body{5, seal} })
	if err != nil || d.Records != 3 {
		t.Fatalf("%+v: %v", d, err)
	}
	opened, err := document.Unseal(d.Name, cluster, d.Data)
	if err != nil || opened.Sum != d.Sum {
		t.Fatalf("the checksum is %q, and was %q: %v", opened.Sum, d.Sum, err)
	}
	var read body
	if err := opened.DecodeJSON(&read); err != nil || read.Number != 5 {
		t.Errorf("%+v: %v", read, err)
	}
	var less struct {
		Seal string `json:"seal"`
	}
	var newer *document.NewerError
	if err := opened.DecodeJSON(&less); !errors.As(err, &newer) || newer.Field != "number" {
		t.Errorf("a field that is not known: %v", err)
	}
	var damaged *document.DamagedError
	for text, want := range map[string]string{"[]": "not of the right form", `{"number":1}{}`: "unexpected data"} {
		err := document.Document{Name: document.HeaderName, Data: []byte(text)}.DecodeJSON(&read)
		if !errors.As(err, &damaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	var other *document.ClusterError
	if _, err := document.Unseal(d.Name, "another-cluster", d.Data); !errors.As(err, &other) || other.Is != cluster {
		t.Errorf("of another cluster: %v", err)
	}
	if _, err := document.EncodeJSON(document.HeaderName, "no\nUID", 0, func(seal string) any { return body{5, seal} }); err == nil {
		t.Error("a UID that can't be one is sealed")
	}
}
