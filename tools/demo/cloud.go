package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// post controls the local CVM.
func (s *stage) post(ctx context.Context, l line) error {
	fmt.Fprintf(s.out, "\n   POST %s %s\n", l.args[0], l.args[1])
	return s.cvm.call(ctx, http.MethodPost, l.args[0], l.args[1], nil)
}

// call asks the local CVM itself, and decodes what it answers.
func (c *cvm) call(ctx context.Context, method, path, body string, response any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.endpoint+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return err
	}
	if got.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, path, got.Status, text)
	}
	if response == nil {
		return nil
	}
	return json.Unmarshal(text, response)
}

// instances are those that the local CVM has, the oldest first.
func (c *cvm) instances(ctx context.Context) ([]item, error) {
	var response struct {
		Instances []item `json:"instances"`
	}
	err := c.call(ctx, http.MethodGet, "/_sim/instances", "", &response)
	return response.Instances, err
}

// instances waits until there are so many, and lists them.
func (s *stage) instances(ctx context.Context, l line) error {
	err := s.await(ctx, l, "instance", "Instances", "INSTANCE", func(ctx context.Context) ([]item, bool, error) {
		all, err := s.cvm.instances(ctx)
		return all, true, err
	})
	if err != nil {
		return err
	}
	var clock struct {
		Now time.Time `json:"now"`
	}
	err = s.cvm.call(ctx, http.MethodGet, "/_sim/clock", "", &clock)
	l.Setenv("CLOUD_TIME", clock.Now.Format(time.RFC3339))
	return err
}
