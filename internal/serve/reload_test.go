package serve_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// TestTokensAreReadAgain: a new file of tokens is used without a restart, and the users of the last one
// stay while it is invalid.
func TestTokensAreReadAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond) // after that, files are checked again
	}
	line := func(name string) string { return fmt.Sprintf("%s %x reader ml\n", name, sha256.Sum256([]byte(name))) }
	write(line("alice"))
	var warned []error
	users, err := serve.Tokens(file, func(err error) { warned = append(warned, err) })
	if err != nil {
		t.Fatal(err)
	}
	known := func(name string) bool {
		_, err := users.Authenticate(t.Context(), name)
		if err != nil && !errors.Is(err, access.ErrUnknownToken) {
			t.Fatal(err)
		}
		return err == nil
	}
	if !known("alice") || known("bob") {
		t.Error("the users are not those of the file")
	}
	write(line("bob"))
	if known("alice") || !known("bob") {
		t.Error("the users are not those of the new file")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond)
	if !known("bob") || len(warned) != 1 {
		t.Errorf("without the file, the warnings are %v", warned)
	}
	write(line("alice"))
	if known("bob") || !known("alice") {
		t.Error("the users are not those of the file that is back")
	}
	write(line("bob"))
	if warned = nil; !known("bob") {
		t.Error("the users are not those of the next file")
	}
	write("bob writer\n")
	if !known("bob") || len(warned) != 1 {
		t.Errorf("after an invalid file, the warnings are %v", warned)
	}
	if err := os.Remove(file); err != nil || !known("bob") {
		t.Errorf("without the file: %v", err)
	}
	if _, err := serve.Tokens(file, nil); err == nil {
		t.Error("an absent file was read")
	}
}
