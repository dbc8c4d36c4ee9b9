package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestServe serves the page of a pool until the demo is stopped, and leaves nothing.
func TestServe(t *testing.T) {
	t.Parallel()
	address := make(chan string, 1)
	served := regexp.MustCompile(`serving .* at (http://127\.0\.0\.1:\d+)`)
	s := rehearsal(t, &transcript{wrote: func(all string) {
		if at := served.FindStringSubmatch(all); at != nil {
			select {
			case address <- at[1]:
			default:
			}
		}
	}})
	s.serves = true
	story := filepath.Join(t.TempDir(), "serve.txt")
	text := "cp $EXAMPLES/demo/main.tf .\nquietly terraform init -input=false\nquietly terraform apply -auto-approve -input=false\n" +
		"$ gpupool report --html $REPORT\nserve\n"
	if err := os.WriteFile(story, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.play(ctx, story, "../../examples") }()
	var url string
	select {
	case url = <-address:
	case err := <-ended:
		t.Fatalf("the story ended with %v", err)
	}
	response, err := http.Get(url) //nolint:gosec // the demo's own server
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(page), "ap-singapore/train") {
		t.Errorf("the page lacks the pool: %v\n%s", err, page)
	}
	if report, err := os.ReadFile(s.report); err != nil || !strings.Contains(string(report), "spot_pool/ap-singapore/train") {
		t.Errorf("the report lacks the pool: %v", err)
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("a stopped story succeeds")
	}
	if _, err := http.Get(url); err == nil { //nolint:gosec,bodyclose // it must fail
		t.Error("the server is still there")
	}
}
