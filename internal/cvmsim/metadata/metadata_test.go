package metadata_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

type object = map[string]any

// metadata reads a key as the instance would.
func metadata(t *testing.T, sim *cvmsimtest.Sim, path, instance string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, sim.URL+"/latest/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if instance != "" {
		r.Header.Set("X-Sim-Instance-Id", instance)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestTerminationNotice(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Slow)
	ids := cvmsimtest.NewClient(t, sim).Run(object{"InstanceCount": 2})
	const key = "meta-data/spot/termination-time"
	if status, _ := metadata(t, sim, key, ids[0]); status != http.StatusNotFound {
		t.Errorf("before the notice: %d", status)
	}
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: ids[:1], Notice: cvmsim.Duration(2 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	want := sim.Server.Now().Add(2 * time.Minute)
	status, text := metadata(t, sim, key, ids[0])
	at, err := time.ParseInLocation(time.DateTime, text, time.FixedZone("UTC+8", 8*3600))
	if status != http.StatusOK || err != nil || at.Sub(want).Abs() > 2*time.Second {
		t.Errorf("notice: %d %q, want %v", status, text, want)
	}
	if status, _ := metadata(t, sim, key, ids[1]); status != http.StatusNotFound {
		t.Errorf("the other instance: %d", status)
	}
	if status, _ := metadata(t, sim, key, "ins-nothere0"); status != http.StatusNotFound {
		t.Errorf("no instance: %d", status)
	}
	cvmsimtest.Step(t, sim, 119*time.Second)
	if n := len(sim.Server.Instances()); n != 2 {
		t.Errorf("%d instances before the time", n)
	}
	cvmsimtest.Step(t, sim, 2*time.Second)
	if n := len(sim.Server.Instances()); n != 1 {
		t.Errorf("%d instances after the time", n)
	}
}

func TestMetadataKeys(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	id := cvmsimtest.NewClient(t, sim).Run(object{"CamRoleName": "gpu-node", "UserData": "IyEvYmluL3NoCg=="})[0]
	in := sim.Server.Instances()[0]
	for path, want := range map[string]string{
		"meta-data/instance-id":                   id,
		"meta-data/local-ipv4":                    in.PrivateIP,
		"meta-data/placement/region":              "ap-singapore",
		"meta-data/placement/zone":                "ap-singapore-2",
		"meta-data/payment/charge-type":           "SPOTPAID",
		"meta-data/payment/create-time":           in.CreatedAt.In(time.FixedZone("", 8*3600)).Format(time.DateTime),
		"meta-data/cam/security-credentials/":     "gpu-node",
		"user-data":                               "#!/bin/sh\n",
		"meta-data/instance-id?instance_id=" + id: id,
	} {
		if status, got := metadata(t, sim, path, ""); status != http.StatusOK || got != want {
			t.Errorf("%s: %d %q, want %q", path, status, got, want)
		}
	}
	for _, path := range []string{
		"meta-data/public-ipv4", "meta-data/nonsense", "meta-data/cam/security-credentials/admin", "meta-data/instance-id?instance_id=ins-nothere0",
	} {
		if status, got := metadata(t, sim, path, ""); status != http.StatusNotFound {
			t.Errorf("%s: %d %q", path, status, got)
		}
	}
}

func TestRoleCredentialsWork(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	status, text := metadata(t, sim, "meta-data/cam/security-credentials/any-role", "")
	var keys struct {
		TmpSecretID               string `json:"TmpSecretId"`
		TmpSecretKey, Token, Code string
		ExpiredTime               int64
		Expiration                time.Time
	}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&keys); err != nil || status != http.StatusOK || keys.Code != "Success" {
		t.Fatalf("%d %v %s", status, err, keys.Code)
	}
	if keys.Expiration.Unix() != keys.ExpiredTime {
		t.Errorf("Expiration is %v, ExpiredTime %d", keys.Expiration, keys.ExpiredTime)
	}
	a := cvmsimtest.NewClient(t, sim)
	a.ID, a.Key, a.Token = keys.TmpSecretID, keys.TmpSecretKey, keys.Token
	if got := a.OK("sts", "GetCallerIdentity", nil)["PrincipalId"]; got != "any-role" {
		t.Errorf("the credentials are those of %v", got)
	}
}
