package control

// Help documents the control surface, for people.
func Help() string { return controlHelp }

const controlHelp = `Control endpoints: JSON in and out. What is wrong is answered with HTTP 400 and
{"error":{"field":"…","message":"…"}}. Durations are texts like "90s" or "20m".
Fields in [brackets] are optional.

  GET /_sim/instances
      {"instances":[{"instance_id":"ins-…","pool":"train","state":"RUNNING","region":…,
      "availability_zone":…,"instance_type":…,"charge_type":…,"seq":…,"uid":…,"config":…,
      "tags":{…},"name":…,"created_at":…,"private_ip":…,"restrict_state":…,"protected":…},…]}
      Everything that isn't gone, in the order of launches; with "listed_at" while the
      API doesn't show it yet.
  POST /_sim/instances
      {"availability_zone":"ap-singapore-2","instance_type":"GN7.2XLARGE32","count":1000,
      ["pool","uid","seq","config","tags":{…},"charge_type","state","name","age":"1h",
      "vpc_id","subnet_id","image_id","protected","cam_role_name"]}
      Makes instances at once, without asking stock, quota or price. → {"instance_ids":[…]}
  POST /_sim/state
      {"instance_ids":[…],["state":"STOPPED","restrict_state":"EXPIRED","protected":true,
      "charge_type":"PREPAID"]}
      Changes what instances look like; the state GONE makes them vanish. A charge_type converts
      them, of spot instances too, which the cloud doesn't: stock and quota follow, and a
      prepaid one is paid for a month.
  POST /_sim/reclaim
      {"instance_ids":[…]} or {"pool":"train","count":1,["region"]}
      and ["notice":"120s","view":"vanish|terminating|shutdown","linger":"5s"]
      The cloud takes spot instances back: at once, or after a notice that the metadata
      service announces. Their places don't go back on sale. → {"instance_ids":[…]}
  POST /_sim/stock
      {"availability_zone":"ap-singapore-2","instance_type":"GN7.2XLARGE32",
      ["charge_type":"SPOTPAID","stock":100,"vcpu_quota":1000,"instance_quota":500]}
      stock is how many more can be launched; the quotas are those of the whole zone.
  POST /_sim/price
      {"availability_zone":…,"instance_type":…,"price":"2.40",["charge_type","list_price":"9.50"]}
      CNY an hour, as a decimal string.
  GET /_sim/faults
      {"faults":[{"id":"fault-1","kind":"throttle","action":…,"count":2,"hits":0},…]}
  POST /_sim/faults
      {"kind":"timeout_after",["action":"RunInstances","count":1,"after":0,"delay":"30s",
      "code","message","region","availability_zone","instance_type","instance_id","pool"]}
      → {"id":"fault-1"}. count -1 means always, after lets so many calls pass first. Kinds:
        throttle        RequestLimitExceeded, or the code given
        error           the code given
        sold_out        RunInstances finds no stock
        launch_failed   RunInstances returns ids, and the instances become LAUNCH_FAILED
        launch_hangs    RunInstances returns ids, and the instances stay PENDING
        http_502        HTTP 502 with HTML; http_502_after lets the call take effect first
        bad_json        the call takes effect, and the answer is cut short
        slow            the call takes effect, and the answer comes after delay (1s)
        timeout_before  no effect, and no answer for delay (30s)
        timeout_after   the call takes effect, and no answer comes for delay (30s)
        reset_before    a TCP reset, no effect; reset_after lets the call take effect first
        slow_acceptance the world's clock goes on by delay (2m), then the call takes effect
                        and is answered; nobody waits. RunInstances unless another is named
        slow_answer     the call takes effect, then the world's clock goes on by delay (2m),
                        and the answer comes; nobody waits
      Answers are dated by the world's clock as they are written. An action "*" means any.
  DELETE /_sim/faults[?id=fault-1]
  GET /_sim/clock, POST /_sim/clock
      {"step":"20m"} → {"now":"2026-01-02T03:04:05Z"}. All that falls due in between happens.
      Signatures are judged by the real clock.
  POST /_sim/settings
      {["launch_delay":"1s","listing_delay":"30s","tag_delay":"3s","terminate_delay":"500ms",
      "launch_failed_linger":"1m","enforce_rates":true,"tag_key_not_found":true,
      "tag_values_per_key":1000,"recycle_bin":true,"balance":"100",
      "token_mismatch_code":"InvalidParameter.ParameterConflict"]}
      listing_delay is how late instances that are launched from then on show: until then they
      are absent from all listings, by id too, and from queries by tag, and calls that name
      them answer that they don't exist. Stock, quota and GET /_sim/instances count them.
      tag_values_per_key limits how many values a tag key may have, over all that was ever
      tagged: beyond it, a launch or a tagging is refused with LimitExceeded.TagValue; 0, as
      at the start, means no limit.
  GET /_sim/calls[?action=RunInstances]
      {"calls":[{"seq":1,"time":…,"action":"RunInstances","region":…,"request_id":…,
      "outcome":"ok" or the error's code,"fault":…,"client_token":…,"took_effect":true,
      "instance_ids":[…]},…],"counts":{"RunInstances":1}}
  DELETE /_sim/calls     forgets the calls
  POST /_sim/reset       empties the world: instances, market, faults, calls, clock
  GET /_sim/help         this text

Instance metadata, for the instance of ?instance_id= or X-Sim-Instance-Id (or the only one):
  GET /latest/meta-data/spot/termination-time   2026-01-02 03:04:05 in UTC+8, or 404
  GET /latest/meta-data/…   instance-id, instance-name, uuid, local-ipv4, public-ipv4, mac,
      hostname, app-id, placement/region, placement/zone, payment/charge-type,
      payment/create-time, cam/security-credentials/<role>
  GET /latest/user-data
`
