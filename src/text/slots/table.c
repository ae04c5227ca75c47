/*
 * The named templates: what LLaMA-Factory 0.9.5 registers under these names, in a notation of our own. One line or a few
 * each; families that share most of their slots share a macro. A slot left out has the default that slots_int.h names.
 */
#include "text/slots/slots_int.h"

#define IN   SLOT_IN
#define BOS  SLOT_BOS
#define EOS  SLOT_EOS
#define CUT  SLOT_CUT
#define TOK(content) SLOT_TOK content SLOT_END

#define THINK       .thought = { "<think>", "</think>" }
#define THINKS      .thoughts = SLOT_THOUGHTS

/* <|im_start|>role … <|im_end|>, with the role names of asking, answering and the system. */
#define IM(role, end)   "<|im_start|>" role "\n" IN "<|im_end|>" end
#define IM_ASK(role)    IM(role, "\n<|im_start|>assistant\n")
#define CHATML_BARE     .user = IM_ASK("user"), .assistant = IN "<|im_end|>\n", .system = IM("system", "\n")
#define CHATML          CHATML_BARE, .stop = { "<|im_end|>" }
#define CHATML_TOOL     CHATML_BARE, .observation = IM_ASK("tool")
#define QWEN_TOOLS(f)   CHATML, .replace_eos = true, .tools = f, \
                        .observation = "<|im_start|>user\n<tool_response>\n" IN "\n</tool_response><|im_end|>\n" \
                                       "<|im_start|>assistant\n"
#define QWEN            QWEN_TOOLS("qwen")
#define QWEN3_5         QWEN_TOOLS("qwen3_5"), .media = true
#define LFM2            CHATML, .replace_eos = true, .tools = "lfm2", \
                        .call = { "<|tool_call_start|>", "<|tool_call_end|>" }, \
                        .observation = IM_ASK_LFM2
#define IM_ASK_LFM2     "<|im_start|>tool\n<|tool_response_start|>" IN "<|tool_response_end|><|im_end|>\n<|im_start|>assistant\n"
#define KIMI            .user = "<|im_user|>user<|im_middle|>" IN "<|im_end|><|im_assistant|>assistant<|im_middle|>", \
                        .assistant = IN "<|im_end|>", .system = "<|im_system|>system<|im_middle|>" IN "<|im_end|>", \
                        .stop = { "<|im_end|>" }

#define GEMMA           .prefix = BOS, .fused_system = true, .system = IN "\n\n", .assistant = IN "<end_of_turn>\n", \
                        .user = "<start_of_turn>user\n" IN "<end_of_turn>\n<start_of_turn>model\n", \
                        .observation = "<start_of_turn>tool\n" IN "<end_of_turn>\n<start_of_turn>model\n"
#define GEMMA3          GEMMA, .stop = { "<end_of_turn>" }, .replace_eos = true
#define GEMMA4          .prefix = BOS, .user = "<|turn>user\n" IN "<turn|>\n<|turn>model\n", .assistant = IN "<turn|>\n", \
                        .system = "<|turn>system\n<|think|>" IN "<turn|>\n", \
                        .observation = "<|turn>tool\n" IN "<turn|>\n<|turn>model\n", \
                        .function = "<|tool>" IN "<tool|>", .tools = "gemma4", .stop = { "<turn|>" }, .replace_eos = true, \
                        .default_system = "You are a helpful assistant.", THINKS, \
                        .thought = { "<|channel>thought\n", "<channel|>" }, .media = true

#define GLM4(f)         .prefix = "[gMASK]<sop>", .user = "<|user|>\n" IN "<|assistant|>", .assistant = "\n" IN, \
                        .system = "<|system|>\n" IN, .observation = "<|observation|>\n" IN "<|assistant|>", \
                        .function = IN, .tools = f, .efficient_eos = true
#define GLM4_STOP       .stop = { "<|user|>", "<|observation|>" }
#define GLM4V_STOP      .stop = { "<|user|>", "<|observation|>", "</answer>" }, .media = true
#define GLM4_7          GLM4("glm4_moe"), GLM4_STOP, THINK, .thoughts = SLOT_THOUGHTS_CLOSED

#define LLAMA3_HEAD(role) "<|start_header_id|>" role "<|end_header_id|>\n\n"
#define LLAMA3          .prefix = BOS, .assistant = IN "<|eot_id|>", .system = LLAMA3_HEAD("system") IN "<|eot_id|>", \
                        .user = LLAMA3_HEAD("user") IN "<|eot_id|>" LLAMA3_HEAD("assistant"), \
                        .observation = LLAMA3_HEAD("ipython") IN "<|eot_id|>" LLAMA3_HEAD("assistant"), \
                        .tools = "llama3", .stop = { "<|eot_id|>", "<|eom_id|>" }, .replace_eos = true
#define LLAMA4_HEAD(role) "<|header_start|>" role "<|header_end|>\n\n"
#define LLAMA2          .user = BOS "[INST] " IN " [/INST]", .system = "<<SYS>>\n" IN "\n<</SYS>>\n\n", .fused_system = true

/* With and without the space after [INST] and its like. */
#define MISTRAL(space, system_) \
                        .prefix = BOS, .user = "[INST]" space IN "[/INST]", .system = system_, \
                        .function = "[TOOL_CALLS]" space IN EOS, .tools = "mistral", \
                        .observation = "[TOOL_RESULTS]" space "{\"content\": " IN "}[/TOOL_RESULTS]"
#define MISTRAL_V3      MISTRAL(" ", IN "\n\n"), .assistant = " " IN EOS, .fused_system = true
#define MINISTRAL       MISTRAL("", IN "\n\n"), .fused_system = true

#define GRANITE(role)   "<|start_of_role|>" role "<|end_of_role|>"
#define GRANITE_CHAT    .user = GRANITE("user") IN "<|end_of_text|>\n" GRANITE("assistant"), \
                        .assistant = IN "<|end_of_text|>\n", .system = GRANITE("system") IN "<|end_of_text|>\n"
#define PHI             .user = "<|user|>\n" IN "<|end|>\n<|assistant|>\n", .assistant = IN "<|end|>\n", \
                        .system = "<|system|>\n" IN "<|end|>\n", .stop = { "<|end|>" }
#define DEEPSEEK3       .prefix = BOS, .user = "<｜User｜>" IN "<｜Assistant｜>"
#define SEED            .user = BOS "user\n" IN EOS BOS "assistant\n", .system = BOS "system\n" IN EOS
#define CURIOUS         "A chat between a curious user and an artificial intelligence assistant. " \
                        "The assistant gives helpful, detailed, and polite answers to the user's questions."
#define VICUNA          .user = "USER: " IN " ASSISTANT:", .default_system = CURIOUS
#define CODER(who, by)  "You are an AI programming assistant, utilizing the " who " model, developed by " by \
                        ", and you only answer questions related to computer science. For politically sensitive questions, " \
                        "security and privacy issues, and other non-computer science questions, you will refuse to answer.\n"
#define HELPFUL         .default_system = "You are a helpful assistant."

const slot_row slot_rows[] = {
    { "alpaca", .user = "### Instruction:\n" IN "\n\n### Response:\n", .assistant = IN EOS "\n\n",
      .default_system = "Below is an instruction that describes a task. Write a response that appropriately completes "
                        "the request.\n\n" },
    { "bailing", .user = "<role>HUMAN</role>" IN "<role>ASSISTANT</role>", .system = "<role>SYSTEM</role>" IN,
      .observation = "<role>OBSERVATION</role>" IN "<role>ASSISTANT</role>", .stop = { "<|endoftext|>" },
      .efficient_eos = true },
    { "bailing_v2", .user = "<role>HUMAN</role>" IN "<|role_end|><role>ASSISTANT</role>",
      .system = "<role>SYSTEM</role>" IN "<|role_end|>", .assistant = IN "<|role_end|>",
      .observation = "<role>OBSERVATION</role>\n<tool_response>\n" IN "\n</tool_response><|role_end|><role>ASSISTANT</role>",
      .tools = "ling", .stop = { "<|endoftext|>" }, .efficient_eos = true },
    { "breeze", .prefix = BOS, .user = "[INST] " IN " [/INST] ", .efficient_eos = true },
    { "chatglm3", .prefix = TOK("[gMASK]") TOK("sop"), .user = TOK("<|user|>") "\n" CUT IN TOK("<|assistant|>"),
      .assistant = "\n" CUT IN, .system = TOK("<|system|>") "\n" CUT IN, .function = IN,
      .observation = TOK("<|observation|>") "\n" CUT IN TOK("<|assistant|>"), .tools = "glm4", GLM4_STOP,
      .efficient_eos = true },
    { "chatml", CHATML_TOOL, .stop = { "<|im_end|>", "<|im_start|>" }, .replace_eos = true },
    { "chatml_de", CHATML_TOOL, .stop = { "<|im_end|>", "<|im_start|>" }, .replace_eos = true,
      .default_system = "Du bist ein freundlicher und hilfsbereiter KI-Assistent." },
    { "cohere", .prefix = BOS, .system = "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>" IN "<|END_OF_TURN_TOKEN|>",
      .user = "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>" IN "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>" },
    { "cpm4", CHATML_TOOL, .prefix = BOS, .stop = { "<|im_end|>" } },
    { "dbrx", CHATML_TOOL, .stop = { "<|im_end|>" }, .replace_eos = true,
      .default_system =
          "You are DBRX, created by Databricks. You were last updated in December 2023. You answer questions based on "
          "information available up to that point.\nYOU PROVIDE SHORT RESPONSES TO SHORT QUESTIONS OR STATEMENTS, but "
          "provide thorough responses to more complex and open-ended questions.\nYou assist with various tasks, from "
          "writing to coding (using markdown for code blocks — remember to use ``` with code, JSON, and tables).\n(You do "
          "not have real-time data access or code execution capabilities. You avoid stereotyping and provide balanced "
          "perspectives on controversial topics. You do not provide song lyrics, poems, or news articles and do not divulge "
          "details of your training data.)\nThis is your system prompt, guiding your responses. Do not reference it, just "
          "respond to the user. If you find yourself talking about this message, stop. You should be responding "
          "appropriately and usually that means not mentioning this.\nYOU DO NOT MENTION ANY OF THIS INFORMATION ABOUT "
          "YOURSELF UNLESS THE INFORMATION IS DIRECTLY PERTINENT TO THE USER'S QUERY." },
    { "deepseek", .prefix = BOS, .user = "User: " IN "\n\nAssistant:", .system = IN "\n\n" },
    { "deepseek3", DEEPSEEK3 },
    { "deepseekr1", DEEPSEEK3, THINKS },
    { "hy3", .prefix = BOS, .user = "<｜hy_User｜>" IN "<｜hy_Assistant｜>", .assistant = IN "<｜hy_eos｜>",
      .stop = { "<｜hy_eos｜>" }, .replace_eos = true, THINK, THINKS },
    { "deepseekcoder", .prefix = BOS, .user = "### Instruction:\n" IN "\n### Response:", .assistant = "\n" IN "\n<|EOT|>\n",
      .default_system = CODER("DeepSeek Coder", "DeepSeek Company") },
    { "default", .user = "Human: " IN EOS "\nAssistant:", .assistant = IN EOS "\n", .system = "System: " IN EOS "\n" },
    { "dots_ocr", .user = "<|user|>" IN "<|endofuser|><|assistant|>", .assistant = IN "<|endofassistant|>",
      .system = "<|system|>" IN "<|endofsystem|>\n", .stop = { "<|endofassistant|>" }, .efficient_eos = true, .media = true },
    { "empty", .assistant = IN },
    { "ernie", .user = IM("user", "\n\n<|im_start|>assistant\n"), .assistant = IN "<|im_end|>\n\n",
      .system = IM("system", "\n\n"), .observation = IM("tool", "\n\n<|im_start|>assistant\n"), .stop = { "<|im_end|>" },
      .default_system = "<global_setting>\nthink_mode=True\n</global_setting>" },
    { "ernie_nothink", .prefix = "<|begin_of_sentence|>", .user = "User: " IN "\nAssistant: ", .system = IN "\n",
      .assistant = IN "<|end_of_sentence|>", .stop = { "<|end_of_sentence|>" } },
    { "ernie_vl", .user = "User: " IN, .assistant = "\nAssistant: " IN "<|end_of_sentence|>", .system = IN "\n",
      .stop = { "<|end_of_sentence|>" }, .replace_eos = true, THINKS, .media = true },
    { "exaone", .user = "[|user|]" IN "\n[|assistant|]", .assistant = IN EOS "\n", .system = "[|system|]" IN "[|endofturn|]\n" },
    { "falcon", .user = "User: " IN "\nFalcon:", .assistant = IN "\n", .efficient_eos = true },
    { "falcon_h1", CHATML_TOOL, .prefix = BOS, .stop = { "<|im_end|>", "<|end_of_text|>" } },
    { "fewshot", .assistant = IN "\n\n", .efficient_eos = true },
    { "gemma", GEMMA3 },
    { "gemma2", GEMMA, .stop = { "<eos>", "<end_of_turn>" }, .efficient_eos = true },
    { "gemma3", GEMMA3, .media = true },
    { "gemma3n", GEMMA3, .media = true },
    { "gemma4", GEMMA4 },
    { "gemma4n", GEMMA4 },
    { "glm4", GLM4("glm4"), GLM4_STOP },
    { "glm4_moe", GLM4("glm4_moe"), GLM4_STOP, THINKS },
    { "glm4v", GLM4("glm4"), GLM4V_STOP, THINKS },
    { "glm4_5v", GLM4("glm4_moe"), GLM4V_STOP, THINKS },
    { "glm_ocr", GLM4("glm4"), GLM4_STOP, .media = true },
    { "glm4_7", GLM4_7 },
    { "glmz1", GLM4("glm4"), GLM4_STOP, THINKS },
    { "gpt_oss", .user = "<|start|>user<|message|>" IN "<|end|><|start|>assistant",
      .system = "<|start|>system<|message|>" IN "<|end|>", .efficient_eos = true, THINKS,
      .thought = { "<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>" },
      .default_system = "You are ChatGPT, a large language model trained by OpenAI." },
    { "granite3", GRANITE_CHAT },
    { "granite3_vision", .user = "<|user|>\n" IN "\n<|assistant|>\n", .system = "<|system|>\n" IN "\n",
      .default_system = CURIOUS, .media = true },
    { "granite4", GRANITE_CHAT, .observation = GRANITE("tool") IN "<|end_of_text|>\n<|start_of_role|>assistant\n",
      .stop = { "<|end_of_text|>" },
      .default_system = "You are Granite, developed by IBM. You are a helpful AI assistant." },
    { "index", .user = "reserved_0" IN "reserved_1", .system = "<unk>" IN, .efficient_eos = true },
    { "hunyuan", .prefix = "<|startoftext|>", .user = IN "<|extra_0|>", .assistant = IN "<|eos|>", .system = IN "<|extra_4|>",
      .stop = { "<|eos|>" } },
    { "hunyuan_small", .prefix = "<｜hy_begin▁of▁sentence｜>", .user = "<｜hy_User｜>" IN "<｜hy_place▁holder▁no▁8｜>",
      .assistant = IN "<｜hy_place▁holder▁no▁2｜>", .system = IN "<｜hy_place▁holder▁no▁3｜>",
      .stop = { "<｜hy_place▁holder▁no▁2｜>" } },
    { "intern2", CHATML, .prefix = BOS,
      .default_system = "You are an AI assistant whose name is InternLM (书生·浦语).\n- InternLM (书生·浦语) is a "
                        "conversational language model that is developed by Shanghai AI Laboratory (上海人工智能实验室). It "
                        "is designed to be helpful, honest, and harmless.\n- InternLM (书生·浦语) can understand and "
                        "communicate fluently in the language chosen by the user such as English and 中文." },
    { "intern_vl", CHATML, .prefix = BOS, .media = true,
      .default_system = "你是书生·万象，英文名是InternVL，是由上海人工智能实验室、清华大学及多家合作单位联合开发的多模态大语言模型。" },
    { "intern_s1", CHATML, .prefix = BOS, .media = true },
    { "keye_vl", QWEN, THINKS, .media = true },
    { "kimi_vl", KIMI, THINKS, .thought = { "◁think▷", "◁/think▷" }, .default_system = "You are a helpful assistant",
      .media = true },
    { "lfm2", LFM2, .default_system = "You are a helpful AI assistant." },
    { "lfm2_vl", LFM2, .default_system = "You are a helpful multimodal assistant by Liquid AI.", .media = true },
    { "llama2", LLAMA2 },
    { "llama2_zh", LLAMA2, .default_system = "You are a helpful assistant. 你是一个乐于助人的助手。" },
    { "llama3", LLAMA3 },
    { "llama4", .prefix = BOS, .assistant = IN "<|eot|>", .system = LLAMA4_HEAD("system") IN "<|eot|>",
      .user = LLAMA4_HEAD("user") IN "<|eot|>" LLAMA4_HEAD("assistant"),
      .observation = LLAMA4_HEAD("ipython") IN "<|eot|>" LLAMA4_HEAD("assistant"), .tools = "llama3",
      .stop = { "<|eot|>", "<|eom|>" }, .replace_eos = true, .media = true },
    { "mllama", LLAMA3, .media = true },
    { "moonlight", KIMI, .replace_eos = true, .default_system = "You are a helpful assistant provided by Moonshot-AI." },
    { "llava", VICUNA, .media = true },
    { "llava_next", VICUNA, .media = true },
    { "llava_next_llama3", LLAMA3, .media = true },
    { "llava_next_mistral", MISTRAL_V3, .media = true },
    { "llava_next_qwen", QWEN, HELPFUL, .media = true },
    { "llava_next_yi", CHATML, .media = true },
    { "llava_next_video", VICUNA, .media = true },
    { "llava_next_video_mistral", MISTRAL_V3, .media = true },
    { "llava_next_video_yi", CHATML, .media = true },
    { "mimo", QWEN, HELPFUL, THINKS },
    { "mimo_v2", QWEN, .default_system = "You are MiMo, a helpful AI assistant engineered by Xiaomi.", THINK, THINKS },
    { "mimo_vl", QWEN, .default_system = "You are MiMo, an AI assistant developed by Xiaomi.", THINKS, .media = true },
    { "minicpm_v", CHATML, HELPFUL, .media = true },
    { "minicpm_v_4_6", CHATML, HELPFUL, .media = true },
    { "minicpm_o", CHATML, .media = true,
      .default_system = "You are a helpful assistant. You can accept audio and text input and output voice and text." },
    { "minimax1", .assistant = IN "<end_of_sentence>\n",
      .user = "<beginning_of_sentence>user name=user\n" IN "<end_of_sentence>\n<beginning_of_sentence>ai name=assistant\n",
      .system = "<beginning_of_sentence>system ai_setting=assistant\n" IN "<end_of_sentence>\n",
      .observation = "<beginning_of_sentence>tool name=tools\n" IN "<end_of_sentence>\n"
                     "<beginning_of_sentence>ai name=assistant\n",
      .tools = "minimax1", HELPFUL, .stop = { "<end_of_sentence>" } },
    { "minimax2", .user = "]~b]user\n" IN "[e~[\n]~b]ai\n", .assistant = IN "[e~[\n", .system = "]~!b[]~b]system\n" IN "[e~[\n",
      .observation = "]~b]tool\n<response>" IN "</response>[e~[\n]~b]ai\n", .tools = "minimax2", .stop = { "[e~[" }, THINKS,
      .default_system = "You are a helpful assistant. Your name is MiniMax-M2.1 and is built by MiniMax." },
    { "ministral", MINISTRAL },
    { "mistral", MISTRAL_V3 },
    { "mistral_small", MISTRAL("", "[SYSTEM_PROMPT]" IN "[/SYSTEM_PROMPT]"), .media = true },
    { "ministral3", MINISTRAL, .media = true },
    { "olmo", .prefix = EOS, .user = "<|user|>\n" IN "<|assistant|>\n" },
    { "openchat", .prefix = BOS, .user = "GPT4 Correct User: " IN EOS "GPT4 Correct Assistant:" },
    { "openchat-3.6", .prefix = BOS, .stop = { "<|eot_id|>" },
      .user = LLAMA3_HEAD("GPT4 Correct User") IN "<|eot_id|>" LLAMA3_HEAD("GPT4 Correct Assistant") },
    { "opencoder", CHATML_TOOL, .stop = { "<|im_end|>" }, .default_system = "You are OpenCoder, created by OpenCoder Team." },
    { "phi", PHI, .replace_eos = true },
    { "phi_small", PHI, .replace_eos = true },
    { "phi4", .user = "<|im_start|>user<|im_sep|>" IN "<|im_end|><|im_start|>assistant<|im_sep|>",
      .assistant = IN "<|im_end|>", .system = "<|im_start|>system<|im_sep|>" IN "<|im_end|>", .stop = { "<|im_end|>" },
      .replace_eos = true },
    { "phi4_mini", .user = "<|user|>" IN "<|end|><|assistant|>", .assistant = IN "<|end|>", .system = "<|system|>" IN "<|end|>",
      .tools_raw = "<|tool|>" IN "<|/tool|>", .stop = { "<|end|>" }, .replace_eos = true },
    { "pixtral", MINISTRAL, .media = true },
    { "qwen", QWEN, .default_system = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant." },
    { "qwen3", QWEN, THINKS },
    { "qwen3_nothink", QWEN },
    { "qwen2_audio", CHATML, HELPFUL, .replace_eos = true, .media = true },
    { "qwen2_omni", QWEN, HELPFUL, .media = true },
    { "qwen3_omni", QWEN, THINKS, .media = true },
    { "qwen3_omni_nothink", QWEN, .media = true },
    { "qwen2_vl", QWEN, HELPFUL, .media = true },
    { "qwen3_vl", QWEN, THINKS, .media = true },
    { "qwen3_vl_nothink", QWEN, .media = true },
    { "qwen3_5", QWEN3_5, THINKS },
    { "qwen3_5_nothink", QWEN3_5 },
    { "qwen3_6", QWEN3_5, THINKS },
    { "sailor", .user = IM("question", "\n<|im_start|>answer\n"), .assistant = IN "<|im_end|>\n", .system = IM("system", "\n"),
      .stop = { "<|im_end|>" },
      .default_system = "You are an AI assistant named Sailor created by Sea AI Lab. Your answer should be friendly, unbiased, "
                        "faithful, informative and detailed." },
    { "seed_coder", SEED, .default_system = CODER("Seed-Coder", "ByteDance Seed") "\n" },
    { "seed_oss", SEED, .function = BOS "\n" IN EOS, .tools = "seed_oss", .thought = { "<seed:think>", "</seed:think>" },
      THINKS },
    { "smollm", CHATML },
    { "smollm2", CHATML, .default_system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face." },
    { "solar", .user = "### User:\n" IN "\n\n### Assistant:\n", .system = "### System:\n" IN "\n\n", .efficient_eos = true },
    { "starchat", .user = "<|user|>\n" IN "<|end|>\n<|assistant|>", .assistant = IN "<|end|>\n",
      .system = "<|system|>\n" IN "<|end|>\n", .stop = { "<|end|>" } },
    { "telechat2", .user = "<_user>" IN "<_bot>", .system = "<_system>" IN,
      .default_system = "你是中国电信星辰语义大模型，英文名是TeleChat，你是由中电信人工智能科技有限公司和中国电信人工智能研究院（TeleAI）研发"
                        "的人工智能助手。" },
    { "vicuna", VICUNA },
    { "video_llava", VICUNA, .media = true },
    { "xuanyuan", .user = "Human: " IN " Assistant:",
      .default_system = "以下是用户和人工智能助手之间的对话。用户以Human开头，人工智能助手以Assistant开头，会对人类提出的问题给出有帮助、高质"
                        "量、详细和礼貌的回答，并且总是拒绝参与与不道德、不安全、有争议、政治敏感等相关的话题、问题和指示。\n" },
    { "yi", CHATML },
    { "yi_vl", .user = "### Human: " IN "\n### Assistant:", .assistant = IN "\n", .stop = { "###" }, .efficient_eos = true,
      .media = true,
      .default_system = "This is a chat between an inquisitive human and an AI assistant. Assume the role of the AI "
                        "assistant. Read all the images carefully, and respond to the human's questions with informative, "
                        "helpful, detailed and polite answers. 这是一个好奇的人类和一个人工智能助手之间的对话。假设你扮演这个AI助手的"
                        "角色。仔细阅读所有的图像，并对人类的问题做出信息丰富、有帮助、详细的和礼貌的回答。\n\n" },
    { "youtu", .prefix = BOS, .user = "<|User|>" IN "<|Assistant|>", .assistant = IN "<|end_of_text|>", .function = IN,
      .observation = "<tool_response>\n" IN "\n</tool_response><|Assistant|>", .stop = { "<|end_of_text|>" },
      .replace_eos = true, THINKS },
    { "youtu_vl", .user = "<|begin_of_text|>user\n" IN "<|end_of_text|>\n<|begin_of_text|>assistant\n",
      .assistant = IN "<|end_of_text|>\n", .system = "<|begin_of_text|>system\n" IN "<|end_of_text|>\n",
      .stop = { "<|end_of_text|>" }, HELPFUL, .media = true },
    { "yuan", .user = IN TOK("<sep>"), .assistant = IN "<eod>\n", .stop = { "<eod>" } },
    { "zephyr", .user = "<|user|>\n" IN EOS "<|assistant|>\n", .system = "<|system|>\n" IN EOS,
      .default_system = "You are Zephyr, a helpful assistant." },
    { "aeva", GLM4_7, .default_system = "You are an AI assistant named Aeva created by Zongzhi Lou. Your answer should be "
                                        "friendly, unbiased, faithful, informative and detailed." },
};

const size_t slot_row_count = sizeof slot_rows / sizeof *slot_rows;
