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

// post tells the local CVM what the cloud does next.
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

// instance is one of the cloud's, as the local CVM itself shows it.
type instance struct {
	ID    string `json:"instance_id"`
	State string `json:"state"`
}

// instances are those that the local CVM has, the oldest first.
func (c *cvm) instances(ctx context.Context) ([]instance, error) {
	var response struct {
		Instances []instance `json:"instances"`
	}
	err := c.call(ctx, http.MethodGet, "/_sim/instances", "", &response)
	return response.Instances, err
}

// instances waits until the cloud has so many, and lists them.
func (s *stage) instances(ctx context.Context, l line) error {
	want, err := l.number()
	if err != nil {
		return err
	}
	var all []instance
	err = s.waitFor(ctx, counted(want, "instance"), func(ctx context.Context) (bool, string, error) {
		var err error
		all, err = s.cvm.instances(ctx)
		return len(all) == want, counted(len(all), "instance"), err
	})
	fmt.Fprintf(s.out, "\n   Instances in the cloud: %d\n", len(all))
	for _, i := range all {
		fmt.Fprintf(s.out, "     %s %s\n", i.ID, i.State)
	}
	if err != nil {
		return err
	}
	var clock struct {
		Now time.Time `json:"now"`
	}
	if err := s.cvm.call(ctx, http.MethodGet, "/_sim/clock", "", &clock); err != nil {
		return err
	}
	l.Setenv("CLOUD_TIME", clock.Now.Format(time.RFC3339))
	if len(all) > 0 {
		l.Setenv("INSTANCE", all[0].ID)
	}
	return nil
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
