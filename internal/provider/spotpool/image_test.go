package spotpool_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

const publicImage = "img-487zeit5"

// Tencent Cloud keeps the login only of custom, shared and imported images, so a pool without
// keys cannot have a public one. A plan says so, and reads each image once.
func TestPublicImageNeedsKeys(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	for range 3 {
		contains(t, s.Plan(nil, train(providertest.Values{"image_id": publicImage})).Diagnostics,
			`ERROR at AttributeName("image_id")`, "A public image needs key_ids", publicImage, "Set key_ids, or use a custom image")
	}
	if n := w.Calls("DescribeImages"); n != 1 {
		t.Errorf("the image was looked up %d times", n)
	}
	for name, change := range map[string]providertest.Values{
		"with keys":               {"image_id": publicImage, "key_ids": []string{"skey-a1b2c3d4"}},
		"with keys not known yet": {"image_id": publicImage, "key_ids": providertest.Unknown},
		"a shared one":            {"image_id": "img-shared00"},
		"an imported one":         {"image_id": "img-import00"},
	} {
		if diags := complaints(s.Plan(nil, train(change))); len(diags) > 0 {
			t.Errorf("%s: %s", name, diags)
		}
	}
	o := create(t, s, train(nil))
	contains(t, s.Plan(o, train(providertest.Values{"image_id": publicImage})).Diagnostics, "ERROR", "A public image needs key_ids")
	s.Destroy(o)
}

// An account that may not describe images can plan anyway.
func TestAnImageThatCannotBeLookedUpIsNoProblem(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	if _, err := w.Sim.Server.AddFault(cvmsim.Fault{Kind: cvmsim.FaultError, Code: "UnauthorizedOperation", Action: "DescribeImages", Count: -1}); err != nil {
		t.Fatal(err)
	}
	if diags := complaints(serve(t, w).Plan(nil, train(providertest.Values{"image_id": publicImage}))); len(diags) > 0 {
		t.Error(diags)
	}
}

// An image that the account does not see may appear later.
func TestMissingImageIsReported(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	address, err := url.Parse(w.Sim.URL)
	if err != nil {
		t.Fatal(err)
	}
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address); r.Out.Host = r.In.Host }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-TC-Action") == "DescribeImages" {
			_, _ = fmt.Fprint(w, `{"Response":{"TotalCount":0,"ImageSet":[],"RequestId":"r"}}`)
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s, diags := w.Serve(nil, providertest.Values{"endpoint": front.URL})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	diags = complaints(s.Plan(nil, train(nil)))
	contains(t, diags, `WARNING at AttributeName("image_id")`, "Image not found", "img-a1b2c3d4", "ap-singapore")
	if len(diags) != 1 {
		t.Errorf("%d diagnostics, not one:\n%s", len(diags), diags)
	}
}
