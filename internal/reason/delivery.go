package reason

// Responses of a receiver. Each is the message of a reason below.
var (
	ReceiverRefused    = warning("receiver_refused", "the receiver refused the message")
	SlackRefused       = warning("slack_refused", "Slack refused the message")
	UnexpectedResponse = one[Word]("unexpected_response", Warning, "unexpected response: {status}", "")
	ResponseEnded      = warning("response_ended", "the response ended early")
	ResponseTooLong    = warning("response_too_long", "the response is longer than 64 KB")
)

// OfReceiver is why a message was not delivered, with the code of the receiver.
var OfReceiver = two[Foreign, Reason]("of_receiver", Warning, "{code}: {why}", "{why}")

// refused makes one whose text is what the receiver responded.
func refused(code Code, remedy string) func(Reason) Reason {
	return one[Reason](code, Warning, "{message}", remedy)
}

// updates makes one for a message of a form that the receiver does not accept.
func updates(code Code, receiver, refusedPart string) func(Reason) Reason {
	return refused(code, "Update gpupool: "+receiver+" refused the "+refusedPart+".")
}

const (
	form       = "form of the message"
	size       = "size of the message"
	formOrSize = "form or the size of the message"
)

// Refusals of any receiver.
var (
	ReceiverBusy    = refused("receiver_busy", "gpupool retries later. If it happens often, set digest, or use fewer notifications with this URL.")
	UnknownCode     = refused("unknown_code", "Search for the code in the receiver's documentation, and check the URL.")
	NotOfProtocol   = refused("not_of_protocol", "Check that the URL is one of this type of notification, and that no proxy responds instead.")
	Redirected      = refused("redirected", "Set url_wo to the URL after the redirect, and increase url_wo_version.")
	NotPermitted    = refused("not_permitted", "Check the secret and the permissions at the receiver.")
	URLGone         = refused("url_gone", "Create the URL again at the receiver, set url_wo, and increase url_wo_version.")
	MessageTooLarge = refused("message_too_large", "Set a shorter digest, or select fewer events.")
	ReceiverFails   = refused("receiver_fails", "Check the receiver's status page.")
	URLOfOtherType  = refused("url_of_other_type", "Check that the URL is one of this type of notification.")
)

// Refusals of Slack.
var (
	SlackForm      = updates("slack_form", "Slack", form)
	SlackSize      = updates("slack_size", "Slack", size)
	SlackNoUser    = refused("slack_no_user", "Create the webhook again in Slack: its user does not exist.")
	SlackNoChannel = refused("slack_no_channel", "Create the webhook again in Slack: its channel does not exist.")
	SlackArchived  = refused("slack_archived", "Unarchive the channel in Slack, or create a webhook for another channel.")
	SlackForbidden = refused("slack_forbidden", "Ask an administrator of the Slack workspace to permit webhooks in this channel.")
	SlackGeneral   = refused("slack_general", "Use another channel, or ask an administrator of the Slack workspace for the permission.")
	SlackNoWebhook = refused("slack_no_webhook", "Create the webhook again in Slack: it was removed or disabled.")
	SlackNoTeam    = refused("slack_no_team", "Create the webhook again in Slack: its workspace does not exist.")
	SlackTeamOff   = refused("slack_team_off", "Create the webhook again in Slack: its workspace is disabled.")
	SlackToken     = refused("slack_token", "Set url_wo to the webhook URL that Slack shows, and increase url_wo_version.")
)

const (
	addAddress = "Add the IP address of this network to the robot's security settings."
	addKeyword = "Add the keyword gpupool to the robot's security settings. Each message contains it."
)

// Refusals of Feishu, WeCom and DingTalk.
var (
	FeishuForm    = updates("feishu_form", "Feishu", form)
	FeishuSize    = updates("feishu_size", "Feishu", formOrSize)
	FeishuNoRobot = refused("feishu_no_robot", "Create the robot again in Feishu, set url_wo to its URL, and increase url_wo_version.")
	FeishuSecret  = refused("feishu_secret",
		"Set secret_wo to the secret of the robot, and increase secret_wo_version. If it is right, correct the clock of this machine.")
	FeishuAddress = refused("feishu_address", addAddress)
	FeishuKeyword = refused("feishu_keyword", addKeyword)

	WeComType      = updates("wecom_type", "WeCom", "type of the message")
	WeComCharacter = refused("wecom_character", "Update gpupool: WeCom refused a character of the message.")
	WeComForm      = updates("wecom_form", "WeCom", form)
	WeComSize      = updates("wecom_size", "WeCom", size)
	WeComLength    = updates("wecom_length", "WeCom", formOrSize)
	WeComNoRobot   = refused("wecom_no_robot", "Create the group robot again in WeCom, set url_wo to its URL, and increase url_wo_version.")

	DingTalkNoRobot   = refused("dingtalk_no_robot", "Create the robot again in DingTalk, set url_wo to its URL, and increase url_wo_version.")
	DingTalkDisbanded = refused("dingtalk_disbanded", "Create a robot in another group: DingTalk disbanded this one.")
	DingTalkDisabled  = refused("dingtalk_disabled", "Enable the robot in DingTalk.")
	DingTalkType      = updates("dingtalk_type", "DingTalk", "type of the message")
	DingTalkSize      = updates("dingtalk_size", "DingTalk", size)
	DingTalkContent   = refused("dingtalk_content",
		"DingTalk refused a text or a link. Read the message with gpupool history, and check the names in it.")
	DingTalkSecurity = refused("dingtalk_security",
		"Compare the secret, the keywords and the IP addresses in the robot's security settings with secret_wo and with this network.")
	DingTalkKeyword = refused("dingtalk_keyword", addKeyword)
	DingTalkSecret  = refused("dingtalk_secret",
		"Set secret_wo to the secret of the robot, which begins with SEC, and increase secret_wo_version.")
	DingTalkClock   = refused("dingtalk_clock", "Correct the clock of this machine: it differs by more than an hour.")
	DingTalkAddress = refused("dingtalk_address", addAddress)
)

// Refusals of Teams, PagerDuty and Alertmanager.
var (
	TeamsWorkflow = refused("teams_workflow",
		`Check that the workflow exists, is turned on, and has the trigger "When a Teams webhook request is received".`)
	TeamsTrigger = refused("teams_trigger", "Set the workflow's trigger to accept anyone, copy its URL to url_wo, and increase url_wo_version.")

	PagerDutyForm = updates("pagerduty_form", "PagerDuty", "form or the size of the event")
	PagerDutyKey  = refused("pagerduty_key",
		"Set secret_wo to the integration key of Events API v2, which has 32 characters, and increase secret_wo_version.")

	AlertmanagerVersion = refused("alertmanager_version", "Check that the URL is that of an Alertmanager with API v2, and update gpupool.")
)
