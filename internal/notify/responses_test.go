package notify_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
)

// fixture is a response, by the page that shows or lists it.
type fixture struct {
	status     int
	body, page string
	// code is empty for a success. remedy is a part of it.
	code, remedy string
	wait         time.Duration
	uncertain    bool
}

// unlisted marks a code without a page that shows it: it is by the code list that its operator publishes.
const unlisted = "not found; by the published code list"

const (
	slackErrors   = "https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks"
	slackDecoder  = "https://routeforms.com/tools/slack-webhook-error-decoder"
	weComCodes    = "https://developer.work.weixin.qq.com/document/path/90455"
	feishuGuide   = "https://open.larkoffice.com/document/ukTMukTMukTM/ucTM5YjL3ETO24yNxkjN.md"
	feishuCopy    = "https://blog.csdn.net/qq_43108153/article/details/136166075"
	pagerDutySend = "https://v2.developer.pagerduty.com/docs/send-an-event-events-api-v2"
	pagerDutyAPI  = "https://github.com/PagerDuty/developer-docs/blob/main/docs/events-API-v2/01-Overview.md"
	webhookSpec   = "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md"
	alertsAPI     = "https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml"
	teamsForms    = "https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using"
	teamsLimits   = "https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook"
)

var fixtures = map[notification.Type][]fixture{
	notification.Slack: {
		{status: 200, body: "ok", page: "https://docs.slack.dev/tools/python-slack-sdk/webhook"},
		{status: 400, body: "invalid_payload", page: slackErrors, code: "invalid_payload", remedy: "Update gpupool"},
		{status: 400, body: "user_not_found", page: slackErrors, code: "user_not_found", remedy: "Create the webhook again"},
		{status: 403, body: "action_prohibited", page: slackErrors, code: "action_prohibited", remedy: "administrator"},
		{
			status: 500, body: "action_prohibited", page: "https://github.com/slack-notifier/slack-notifier/issues/84", code: "action_prohibited",
			remedy: "administrator",
		},
		{status: 404, body: "channel_not_found", page: slackErrors, code: "channel_not_found", remedy: "channel does not exist"},
		{status: 410, body: "channel_is_archived", page: slackErrors, code: "channel_is_archived", remedy: "Unarchive"},
		{status: 500, body: "rollup_error", page: slackErrors, code: "rollup_error", remedy: "retries later", wait: time.Minute, uncertain: true},
		{
			status: 404, body: "no_service", page: "https://github.com/slackapi/slack-github-action/issues/249", code: "no_service",
			remedy: "removed or disabled",
		},
		{status: 404, body: "no_team", page: slackDecoder, code: "no_team", remedy: "workspace does not exist"},
		{status: 403, body: "invalid_token", page: slackDecoder, code: "invalid_token", remedy: "url_wo"},
		{status: 400, body: "invalid_blocks", page: slackDecoder, code: "invalid_blocks", remedy: "Update gpupool"},
		{status: 429, body: "rate_limited", page: slackDecoder, code: "rate_limited", remedy: "retries later", wait: 30 * time.Second},
		{status: 403, body: "posting_to_general_channel_denied", page: unlisted, code: "posting_to_general_channel_denied", remedy: "another channel"},
		{status: 403, body: "team_disabled", page: unlisted, code: "team_disabled", remedy: "workspace is disabled"},
		{status: 404, body: "no_active_hooks", page: unlisted, code: "no_active_hooks", remedy: "removed or disabled"},
		{status: 500, body: "ok", page: unlisted, code: "HTTP 500", remedy: "status page", uncertain: true},
		{status: 400, body: "some_new_error", page: unlisted, code: "some_new_error", remedy: "URL"},
	},
	notification.Teams: {
		{status: 202, page: "https://github.com/lightdash/lightdash/pull/20344"},
		{status: 200, page: "https://github.com/blacklanternsecurity/bbot/pull/1739"},
		// An old connector, which is no workflow, buries errors in a success.
		{
			status: 200, body: "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 400",
			page: "https://github.com/MicrosoftDocs/msteams-docs/issues/402", code: "HTTP 200", remedy: "URL", uncertain: true,
		},
		{status: 400, body: `{"error":{"code":"InvalidRequestContent"}}`, page: teamsForms, code: "HTTP 400", remedy: "workflow"},
		{status: 401, page: unlisted, code: "HTTP 401", remedy: "accept anyone"},
		{status: 413, body: "Request Entity too large", page: "https://learn.microsoft.com/ja-jp/Connectors/teams/", code: "HTTP 413", remedy: "digest"},
		{status: 429, page: teamsLimits, code: "HTTP 429", remedy: "retries later", wait: time.Minute},
	},
	notification.WeCom: {
		{status: 200, body: `{"errcode":0,"errmsg":"ok"}`, page: "https://github.com/wes-lin/Cloud189Checkin/issues/175"},
		{
			status: 200, page: "https://developers.weixin.qq.com/community/enterprisewechat/doc/00080a634c87b87799a1afbf468400",
			body: `{"errcode":45009,"errmsg":"api freq out of limit, hint: [1717571485419203277035119], from ip: 219.128.72.126"}`,
			code: "45009", remedy: "retries later", wait: time.Minute,
		},
		{
			status: 200, page: "https://github.com/wes-lin/Cloud189Checkin/issues/175",
			body: `{"errcode":93000,"errmsg":"invalid webhook url, hint: [1755605200056773468916791], from ip: 172.212.167.87"}`,
			code: "93000", remedy: "Create the group robot again",
		},
		{
			status: 200, page: "https://github.com/RayWangQvQ/BiliBiliTool/issues/569",
			body: `{"errcode":40058,"errmsg":"markdown.content exceed max length 4096. Invalid input invalid Request Parameter"}`,
			code: "40058", remedy: "size",
		},
		{status: 200, body: `{"errcode":-1,"errmsg":"system busy"}`, page: weComCodes, code: "-1", remedy: "retries later", wait: time.Minute},
		{status: 200, body: `{"errcode":40008,"errmsg":"invalid message type"}`, page: weComCodes, code: "40008", remedy: "type"},
		{status: 200, body: `{"errcode":40033,"errmsg":"invalid charset"}`, page: weComCodes, code: "40033", remedy: "refused a character"},
		{status: 200, body: `{"errcode":40035,"errmsg":"invalid parameter"}`, page: weComCodes, code: "40035", remedy: "form"},
		{status: 200, body: `{"errcode":45002,"errmsg":"content size out of limit"}`, page: unlisted, code: "45002", remedy: "size"},
		{status: 200, body: `{"errcode":45033,"errmsg":"api concurrent out of limit"}`, page: unlisted, code: "45033", remedy: "retries", wait: time.Minute},
		{status: 200, body: `{"errcode":93008,"errmsg":"not in group"}`, page: unlisted, code: "93008", remedy: "Create the group robot again"},
	},
	notification.DingTalk: {
		{status: 200, body: `{"errcode":0,"errmsg":"ok"}`, page: "https://blog.csdn.net/weixin_38171468/article/details/106051120"},
		{
			status: 200, page: "https://blog.csdn.net/jialiuyang/article/details/118615052",
			body: `{"status":1111,"wait":5,"source":"x5","punish":"deny","errcode":130101,"errmsg":"send too fast, exceed 20 times per minute"}`,
			code: "130101", remedy: "retries later", wait: 10 * time.Minute,
		},
		{
			status: 200, page: "https://github.com/x-cold/dingtalk-robot/issues/7", body: `{"errcode":310000,"errmsg":"sign not match"}`,
			code: "310000", remedy: "secret_wo",
		},
		{
			status: 200, page: "https://github.com/qd-today/qd/issues/510",
			body: `{"errcode":310000,"errmsg":"description:机器人发送签名不匹配;solution:请确认签名和生成签名的时间戳必须都放在调用的网址中"}`,
			code: "310000", remedy: "secret_wo",
		},
		{
			status: 200, page: "https://github.com/jenkinsci/dingtalk-plugin/issues/116", body: `{"errcode":310000,"errmsg":"invalid timestamp"}`,
			code: "310000", remedy: "clock",
		},
		{
			status: 200, page: "https://github.com/zhuifengshen/DingtalkChatbot/issues/44", body: `{"errcode":310000,"errmsg":"keywords not in content"}`,
			code: "310000", remedy: "keyword",
		},
		{
			status: 200, page: "https://github.com/mggger/chatgpt-bot-dingding/issues/2",
			body: `{"errcode":310000,"errmsg":"错误描述:关键词不匹配;解决方案:请联系群管理员查看此机器人的关键词"}`,
			code: "310000", remedy: "keyword",
		},
		{status: 200, body: `{"errcode":310000,"errmsg":"ip 1.2.3.4 not in whitelist"}`, page: unlisted, code: "310000", remedy: "IP address"},
		{status: 200, body: `{"errcode":310000,"errmsg":"other"}`, page: unlisted, code: "310000", remedy: "security settings"},
		{
			status: 200, page: "https://github.com/timonwong/prometheus-webhook-dingtalk/issues/30",
			body: `{"errcode":460101,"errmsg":"message too long, exceed 20000 bytes"}`, code: "460101", remedy: "size",
		},
		{
			status: 200, page: "http://39.107.221.112/ask/595588", body: `{"errcode":90030,"errmsg":"webhook over limit"}`, code: "90030",
			remedy: "retries later", wait: time.Hour,
		},
		{
			status: 200, page: "https://blog.csdn.net/weixin_40514790/article/details/104249446", body: `{"errcode":-1,"errmsg":"system busy"}`,
			code: "-1", remedy: "retries", wait: time.Minute,
		},
		{status: 200, body: `{"errcode":300005,"errmsg":"token is not exist"}`, page: unlisted, code: "300005", remedy: "Create the robot again"},
		{status: 200, body: `{"errcode":400102,"errmsg":"robot disabled"}`, page: unlisted, code: "400102", remedy: "Enable the robot"},
		{status: 200, body: `{"errcode":410100,"errmsg":"too fast"}`, page: unlisted, code: "410100", remedy: "retries", wait: 10 * time.Minute},
		{status: 200, body: `{"errcode":430102,"errmsg":"inappropriate text"}`, page: unlisted, code: "430102", remedy: "names"},
	},
	notification.Feishu: {
		{status: 200, body: `{"code":0,"msg":"success","data":{},"Extra":null,"StatusCode":0,"StatusMessage":"success"}`, page: feishuCopy},
		{status: 200, body: `{"code":9499,"msg":"Bad Request","data":{}}`, page: feishuCopy, code: "9499", remedy: "form or the size"},
		{
			status: 400, page: "https://github.com/ccfos/nightingale/issues/1437", body: `{"code":9499,"msg":"too many request","data":{}}`, code: "9499",
			remedy: "retries later", wait: time.Minute,
		},
		{status: 200, body: `{"code":11232,"msg":"frequency limited"}`, page: feishuGuide, code: "11232", remedy: "retries later", wait: time.Minute},
		{
			status: 200, page: "https://github.com/feiyu563/PrometheusAlert/issues/422",
			body: `{"code":19021,"data":{},"msg":"sign match fail or timestamp is not within one hour from current time"}`, code: "19021", remedy: "secret_wo",
		},
		{status: 200, body: `{"code":19022,"msg":"Ip Not Allowed"}`, page: feishuCopy, code: "19022", remedy: "IP address"},
		{status: 200, body: `{"code":19024,"msg":"Key Words Not Found"}`, page: feishuCopy, code: "19024", remedy: "keyword"},
		{
			status: 200, page: unlisted, body: `{"code":19001,"msg":"param invalid: incoming webhook access token invalid"}`, code: "19001",
			remedy: "Create the robot again",
		},
	},
	notification.PagerDuty: {
		{status: 202, body: `{"status":"success","message":"Event processed","dedup_key":"samplekeyhere"}`, page: pagerDutySend},
		{
			status: 400, page: pagerDutySend, code: "invalid event", remedy: "secret_wo",
			body: `{"status":"invalid event","message":"Event object is invalid","errors":["Length of 'routing_key' is incorrect (should be 32 characters)"]}`,
		},
		{
			status: 400, page: "https://github.com/blockpane/tenderduty/issues/10", code: "invalid event", remedy: "secret_wo",
			body: `{"status":"invalid event","message":"Event object is invalid","errors":["'routing_key' cannot contain non-alphanumeric characters."]}`,
		},
		{
			status: 400, page: unlisted, code: "invalid event", remedy: "secret_wo",
			body: `{"status":"invalid event","message":"Invalid routing key","errors":["Invalid routing key"]}`,
		},
		{
			status: 400, page: unlisted, code: "invalid event", remedy: "Update gpupool",
			body: `{"status":"invalid event","message":"Event object is invalid","errors":["'payload.summary' is missing or blank"]}`,
		},
		{
			status: 400, page: unlisted, code: "invalid event", remedy: "Update gpupool",
			body: `{"status":"invalid event","message":"Event object is invalid"}`,
		},
		{status: 429, page: pagerDutyAPI, code: "HTTP 429", remedy: "retries later", wait: 2 * time.Minute},
		{status: 500, page: pagerDutyAPI, code: "HTTP 500", remedy: "status page", uncertain: true},
	},
	notification.Alertmanager: {
		{status: 200, page: alertsAPI},
		{status: 400, body: `"start time must be before end time"`, page: alertsAPI, code: "HTTP 400", remedy: "API v2"},
		{status: 500, body: `"internal"`, page: alertsAPI, code: "HTTP 500", remedy: "status page", uncertain: true},
		// API v1, which is removed.
		{status: 410, page: "https://prometheus.io/docs/alerting/latest/alerts_api", code: "HTTP 410", remedy: "url_wo"},
	},
	notification.Webhook: {
		{status: 200, body: "anything", page: webhookSpec},
		{status: 204, page: webhookSpec},
		{status: 301, page: webhookSpec, code: "HTTP 301", remedy: "redirect"},
		{status: 410, page: webhookSpec, code: "HTTP 410", remedy: "url_wo"},
		{status: 429, page: webhookSpec, code: "HTTP 429", remedy: "retries later", wait: time.Minute},
		{status: 502, page: webhookSpec, code: "HTTP 502", remedy: "status page", uncertain: true},
		{status: 504, page: webhookSpec, code: "HTTP 504", remedy: "status page", uncertain: true},
	},
}

func TestDocumentedResponses(t *testing.T) {
	t.Parallel()
	for _, kind := range types(t) {
		if len(fixtures[kind]) == 0 {
			t.Errorf("%s has no fixture", kind)
		}
		for _, x := range fixtures[kind] {
			server, d, sender, _ := receiver(t, kind)
			server.Fail(notifytest.Fault{Status: x.status, Body: x.body})
			err := sender.Send(t.Context(), d, message(exceeded()))
			if x.code == "" {
				if err != nil {
					t.Errorf("%s, HTTP %d %q: %v", kind, x.status, x.body, err)
				}
				continue
			}
			f := failure(t, err)
			if f.Code != x.code || f.RetryAfter != x.wait || f.Uncertain != x.uncertain || !strings.Contains(f.Remedy(), x.remedy) || f.Reason.IsZero() {
				t.Errorf("%s, HTTP %d %q: the failure is %+v", kind, x.status, x.body, *f)
			}
			if x.page == "" || !strings.HasPrefix(x.page, "http") && x.page != unlisted {
				t.Errorf("%s, HTTP %d %q has no page", kind, x.status, x.body)
			}
		}
	}
}

// The servers refuse what their operators refuse.
func TestServersRefuseOtherForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind           notification.Type
		body, response string
	}{
		{notification.Slack, `{`, "invalid_payload"},
		{notification.Slack, `{"text":""}`, "no_text"},
		{notification.Slack, `{"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"` + strings.Repeat("x", 3001) + `"}}]}`, "invalid_blocks"},
		{notification.Slack, `{"blocks":[{"type":"table"}]}`, "invalid_blocks"},
		{notification.Teams, `{"@type":"MessageCard","text":"x"}`, "InvalidRequestContent"},
		{
			notification.Teams, `{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.teams.card.o365connector"}]}`,
			"InvalidRequestContent",
		},
		{notification.Teams, `{"type":"message","text":"` + strings.Repeat("x", 28<<10) + `"}`, "too large"},
		{notification.WeCom, `{"msgtype":"text","text":{"content":"` + strings.Repeat("甲", 683) + `"}}`, "40058"},
		{notification.WeCom, `{"msgtype":"markdown","markdown":{"content":"` + strings.Repeat("甲", 1366) + `"}}`, "40058"},
		{notification.WeCom, `{"msgtype":"post","text":{"content":"x"}}`, "40008"},
		{notification.WeCom, `{"msgtype":"text","text":{"content":"\u003c"}}`, "40033"},
		{notification.DingTalk, `{"msgtype":"voice","text":{"content":"x"}}`, "400105"},
		{notification.DingTalk, `{"msgtype":"text","text":{"content":"` + strings.Repeat("x", 20_000) + `"}}`, "460101"},
		{notification.Feishu, `{"msg_type":"voice"}`, "9499"},
		{notification.Feishu, `{"msg_type":"text","content":{"text":"` + strings.Repeat("x", 20<<10) + `"}}`, "9499"},
		{notification.PagerDuty, `{"routing_key":"short"}`, "routing_key"},
		{notification.PagerDuty, `{"routing_key":"` + notifytest.RoutingKey + `","event_action":"close"}`, "event_action"},
		{notification.Alertmanager, `{}`, "parsing"},
		{notification.Alertmanager, `[{"labels":{"a b":"c"}}]`, "label"},
		{notification.Alertmanager, `[{"labels":{"a":"b"},"startsAt":"2026-01-02T00:00:00Z","endsAt":"2026-01-01T00:00:00Z"}]`, "before end time"},
		{notification.Webhook, `{"specversion":"1.0","id":"1"}`, "invalid event"},
	} {
		server := notifytest.New(t, c.kind)
		address := server.URL
		if c.kind == notification.Alertmanager {
			address += "/api/v2/alerts"
		}
		response, err := http.Post(address, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if err := response.Write(&got); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if !strings.Contains(got.String(), c.response) || len(server.Arrivals()) > 0 {
			t.Errorf("%s responds to %.80s: %s, want %s", c.kind, c.body, got.String(), c.response)
		}
	}
}

// DingTalk refuses each message in the ten minutes after too many.
func TestDingTalkStaysBlocked(t *testing.T) {
	t.Parallel()
	server, d, sender, now := receiver(t, notification.DingTalk)
	for range 21 {
		_ = sender.Send(t.Context(), d, message(exceeded()))
	}
	for range 9 {
		now.at = now.at.Add(time.Minute)
		if f := failure(t, sender.Send(t.Context(), d, message(exceeded()))); f.Code != "130101" {
			t.Fatalf("%s later, the failure is %+v", now.at.Sub(start), *f)
		}
	}
	now.at = now.at.Add(time.Minute)
	if err := sender.Send(t.Context(), d, message(exceeded())); err != nil {
		t.Errorf("after ten minutes: %v", err)
	}
	if got := len(server.Arrivals()); got != 21 {
		t.Errorf("%d messages arrived, want 21", got)
	}
}
