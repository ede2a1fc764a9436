package report

// secretKinds are the secrets that training logs leak. The columns of a row are
//
//	name      what stands in the text instead: "[redacted GitHub token]"
//	pattern   what is a secret: its group "secret", or all of it without such a group
//	gates     lower-case literals, one of which every secret of the row has in or before it: they spare texts without it the pattern
//	that      what else the found text must look like, where words and numbers stand in the same places
//
// Rows are tried in this order, each on what the ones before left: first secrets with a shape of their own, then those in links and
// headers, then those that only a name in front tells. What a row has replaced is no secret to later rows (isPlaceholder).
//
// Shapes are those that issuers document: GitHub ("About authentication to GitHub", token formats), GitLab ("Token overview"), Slack
// ("Token types"), AWS ("IAM identifiers", unique ID prefixes), RFC 7519 for JSON web tokens, RFC 7468 for PEM, RFC 9110 and RFC 6750 for
// credentials in headers; of other issuers, the form in which they hand tokens out. Where a secret has no mark of its own (Weights &
// Biases, Kaggle: plain hexadecimal, like a commit) the words around it must say what it is. A new row needs a text in the tests that
// has such a secret, and one that looks alike and has none.
var secretKinds = []secretKind{
	kind("private key", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?P<secret>(?:[^-]|-[^-])+)`, "private key-----"),
	kind("Hugging Face token", `\b(?:hf|api_org)_[A-Za-z0-9]{30,}`, "hf_", "api_org_"),
	kind("Weights & Biases key", `\bwandb_v1_[A-Za-z0-9_]{30,}`, "wandb_v1_"),
	kind("Weights & Biases key", `(?i)(?:wandb|weights ?& ?biases)[^\n]{0,80}?(?:login|key|password)[^\n]{0,80}?\b(?P<secret>(?:local-)?[0-9a-f]{40})\b`, "wandb", "biases"),
	kind("GitHub token", `\b(?:gh[oprsu]_[A-Za-z0-9_]{36,}|github_pat_[A-Za-z0-9_]{40,})`, "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"),
	kind("GitLab token", `\bgl(?:pat|rt|dt|ptt|cbt|ft|soat|oas)-[A-Za-z0-9_.-]{20,}`, "glpat-", "glrt-", "gldt-", "glptt-", "glcbt-", "glft-", "glsoat-", "gloas-"),
	kind("Slack token", `\bxox[abdeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}`, "xox", "xapp-"),
	kind("Slack webhook", `hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,})`, "hooks.slack.com"),
	kind("Discord webhook", `discord(?:app)?\.com/api/webhooks/(?P<secret>\d+/[A-Za-z0-9_-]{20,})`, "/api/webhooks/"),
	kind("Telegram token", `\b\d{8,10}:AA[A-Za-z0-9_-]{32,}`, ":aa").that(isMixed),
	kind("AWS key", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, "akia", "asia", "abia", "acca"),
	kind("AWS key", `(?i)aws_?(?:secret_?access_?key|session_?token)["']?\s*[:=]\s*["']?(?P<secret>[A-Za-z0-9/+=]{40,})`, "aws"),
	kind("Google key", `\bAIza[0-9A-Za-z_-]{35}|\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}`, "aiza", "ya29.", "gocspx-"),
	kind("Azure key", `(?i)(?:AccountKey|SharedAccessKey|SharedSecretKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})`, "accountkey=", "sharedaccesskey=", "sharedsecretkey="),
	kind("Azure key", `\b[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}`, "7q~", "8q~"),
	kind("NVIDIA key", `\bnvapi-[A-Za-z0-9_-]{20,}`, "nvapi-"),
	kind("OpenAI key", `\bsk-[A-Za-z0-9_-]{20,}`, "sk-").that(isMixed),
	kind("Groq key", `\bgsk_[A-Za-z0-9]{40,}`, "gsk_"),
	kind("Replicate token", `\br8_[A-Za-z0-9]{37}\b`, "r8_"),
	kind("Databricks token", `\bdapi[0-9a-f]{32}(?:-\d)?\b`, "dapi"),
	kind("DigitalOcean token", `\bdo[opr]_v1_[0-9a-f]{64}\b`, "_v1_"),
	kind("Docker token", `\bdckr_[a-z]+_[A-Za-z0-9_-]{20,}`, "dckr_"),
	kind("npm token", `\bnpm_[A-Za-z0-9]{36}\b`, "npm_"),
	kind("PyPI token", `\bpypi-[A-Za-z0-9_-]{50,}`, "pypi-"),
	kind("JSON web token", `\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*|\beyJhcGlfYWRkcmVzcyI6[A-Za-z0-9+/_-]{20,}={0,2}`, "eyj"),
	kind("Kaggle key", `(?i)kaggle[^\n]{0,120}?\bkey["']?\s*[:=]\s*["']?(?P<secret>[0-9a-f]{32})\b`, "kaggle"),
	kind("Kaggle key", `"username"\s*:\s*"[^"\n]*"\s*,\s*"key"\s*:\s*"(?P<secret>[0-9a-f]{32})"`, `"username"`),
	kind("signature", `(?i)[?&](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|sig|Key-Pair-Id|Policy)=(?P<secret>[A-Za-z0-9%+/=_~.-]{16,})`,
		"signature=", "credential=", "security-token=", "sig=", "key-pair-id=", "policy="),
	kind("password", `[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@"'<>]*:(?P<secret>[^\s/@"'<>]+)@`, "://"),
	kind("token", `[A-Za-z][A-Za-z0-9+.-]*://(?P<secret>[^\s/:@"'<>]{16,})@`, "://").that(isMixed),
	kind("credentials", `(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|negotiate)\s+)?(?P<secret>[^\s"',}]{6,})`, "authorization"),
	kind("credentials", `(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)`, "bearer").that(isMixed),
	kind("credentials", `(?i)\bx-(?:api-key|auth-token|access-token|csrf-token)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',}]{6,})`, "x-"),
	kind("cookie", `(?i)\b(?:set-)?cookie["']?:\s*["']?(?P<secret>[A-Za-z0-9_.-]+=[^\n"']+)`, "cookie"),
	kind("password", `\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?["']?[^\s:"']+:(?P<secret>[^\s"']+)`, "curl"),
	kind("password", `\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<secret>\S+)`, "machine"),
	// The name says it: FOO_TOKEN=..., 'api_key': '...', --password .... A name in lower case may be that of a token of text
	// (pad_token, eos_token), so there the value must look like a secret as well.
	kind("password", `(?i)(?:password|passwd|passphrase)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;}\])&]{3,})`, "passw", "passphrase"),
	kind("password", `(?i)--[a-z0-9_-]*(?:password|passwd|passphrase)\s+["']?(?P<secret>[^\s"'-][^\s"']{2,})`, "passw", "passphrase"),
	kind("secret", `\b(?:[A-Z0-9]+_)*(?:TOKEN|SECRET|SECRET_KEY|API_?KEY|ACCESS_KEY|PRIVATE_KEY|AUTH_KEY|ACCOUNT_KEY|STORAGE_KEY|OPENAI_KEY|CREDENTIALS?)["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;}\])&]{6,})`,
		"token", "secret", "apikey", "_key", "credential").that(isNoNumber),
	kind("secret", `(?i)(?:token|secret|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key)["']?(?:\s*[:=]\s*|\s+is\s+)["']?(?P<secret>[A-Za-z0-9+][A-Za-z0-9+/._~=-]{15,})`,
		"token", "secret", "key").that(isMixed),
	kind("secret", `(?i)--[a-z0-9_-]*(?:token|secret|api[_-]?key|access[_-]?key)\s+["']?(?P<secret>[A-Za-z0-9+][A-Za-z0-9+/._~=-]{15,})`,
		"token", "secret", "key").that(isMixed),
	// A line out of the middle of a PEM block: nothing but base64, in both cases, of the width that PEM has.
	kind("private key", `(?m)^[ \t]*(?P<secret>[A-Za-z0-9+/]{64,76})[ \t]*$`, "").that(isBase64),
}
