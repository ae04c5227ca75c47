#include "cli/usage.h"

#include <string.h>

#include "base/status.h"

static const struct { const char *verb, *text; } usages[] = {
    { "train",
      "usage: hone train CONFIG.yaml [--key value | key=value ...]\n"
      "\n"
      "Trains the model as the config says. output_dir gets the trained Hugging Face directory, metrics.jsonl,\n"
      "config.resolved.yaml, training_loss.png and checkpoint-<step>/ directories. If it holds checkpoints of the\n"
      "same config, the run goes on from the newest; overwrite_output_dir: true starts anew.\n"
      "\n"
      "  model_name_or_path: path/to/model\n"
      "  stage: sft\n"
      "  finetuning_type: full\n"
      "  dataset: chats.jsonl\n"
      "  output_dir: out\n"
      "\n"
      "hone help options lists all keys, hone help options NAME explains one.\n" },
    { "eval",
      "usage: hone eval CONFIG.yaml [--key value | key=value ...]\n"
      "\n"
      "Loss of the config's model on its eval_dataset, else on the rows of dataset that val_size holds out, else on all of\n"
      "dataset. The last line is JSON:\n"
      "{\"loss\", \"tokens\", \"perplexity\"}, with eval_on_each_dataset also \"eval_NAME_loss\" of each data set.\n" },
    { "prepare",
      "usage: hone prepare CONFIG.yaml [--out DIR] [--key value | key=value ...]\n"
      "\n"
      "Makes the samples of the config's dataset and eval_dataset once and writes them to --out (or the config's tokenized_path):\n"
      "a run with that tokenized_path starts at once. The folder appears when it is complete. If it is there and was made with\n"
      "the same options from the same files, nothing is done; overwrite_cache: true replaces one that was not.\n" },
    { "chat",
      "usage: hone chat MODEL [--prompt S] [--system S] [--max-new-tokens N] [--temperature T] [--seed N] [--ids]\n"
      "                       [--dtype f32|bf16] [--threads N]\n"
      "\n"
      "Answers the prompt, or without --prompt holds a conversation: each line is a message, Ctrl-D ends. A model without a\n"
      "chat template goes on with the text. Temperature 0 (the default) is greedy; --max-new-tokens is 256, --seed 42, and the\n"
      "dtype the checkpoint's, unless given. --ids prints token ids in place of text, and takes a prompt like [1, 2] as ids.\n" },
    { "export",
      "usage: hone export SRC OUT [--dtype as-input|f32|bf16]\n"
      "\n"
      "Writes SRC, a Hugging Face directory or a checkpoint of a run, as a Hugging Face directory OUT. as-input (the default)\n"
      "keeps each tensor's dtype; what was not trained keeps its bytes.\n" },
    { "forward",
      "usage: hone forward DIR --input IN.safetensors --output OUT.safetensors [--grads] [--dtype f32|bf16|f64] [--threads N]\n"
      "\n"
      "IN holds tokens.<k> (int32 [T], k from 0, each a sample of its own) and optionally labels.<k> (int32 [T], -100 = none).\n"
      "OUT gets logits.<k> [T, V], loss, and with --grads grad.<name> of each parameter. Dropout is off.\n" },
    { "inspect",
      "usage: hone inspect model DIR [--cutoff_len N] [--per_device_train_batch_size N] [--threads N] [--json]\n"
      "       hone inspect data CONFIG.yaml [--key value ...]\n"
      "       hone inspect tokens DIR [FILE|-] [--no-special] [--whole] [--json]\n"
      "       hone inspect render DIR [FILE.jsonl|-] [--template NAME|FILE.jinja] [--generation-prompt] [--marked]\n" },
    { "inspect model",
      "usage: hone inspect model DIR [--cutoff_len N] [--per_device_train_batch_size N] [--threads N] [--json]\n"
      "\n"
      "The module tree with every parameter's name, shape, dtype and ties; what each block computes; how the model may be divided\n"
      "(the plan); and the memory that training takes, in f32 and bf16, with and without recompute, for samples of --cutoff_len\n"
      "tokens (2048), --per_device_train_batch_size (1) at once, on --threads (0: all). No weight is read: models of any size do.\n" },
    { "inspect data",
      "usage: hone inspect data CONFIG.yaml [--key value | key=value ...] [--samples N] [--color | --no-color]\n"
      "                         [--json | --html FILE]\n"
      "\n"
      "Samples as they will be trained: text, ids and labels in colour, a histogram of lengths, and what is dropped and why.\n"
      "--html writes the same as a page. --json prints every row, train then validation, before packing and shuffling:\n"
      "{\"source\", \"row\", \"ids\", \"labels\"} (labels -100 = no loss), or {\"source\", \"row\", \"dropped\"} with the reason.\n" },
    { "inspect tokens",
      "usage: hone inspect tokens DIR [FILE|-] [--no-special] [--whole] [--json]\n"
      "\n"
      "One JSON array of token ids per line of the file, or of standard input. --no-special leaves out what the tokenizer adds by itself; --whole takes the\n"
      "input as one text; --json reads each line as a JSON string.\n" },
    { "inspect render",
      "usage: hone inspect render DIR [FILE.jsonl|-] [--template NAME|FILE.jinja] [--generation-prompt] [--marked]\n"
      "\n"
      "Renders rows with messages (and optionally tools and chat_template_kwargs), or that are lists of messages, by the model's\n"
      "chat template. Per row, JSON {\"text\", \"ids\", \"mask\"}, or {\"error\"} where the template refuses it; the exit code is not\n"
      "0 if any row does. \"-\" or no file reads standard input. --template takes another of the model's templates, or a file's\n"
      "(hone inspect data CONFIG.yaml --template NAME shows LLaMA-Factory's);\n"
      "--marked prints the text instead, with what is learned in «».\n" },
    { "doctor",
      "usage: hone doctor\n"
      "\n"
      "Processor, memory, libraries and limits of this machine, what hone chose, and what would make it faster.\n" },
};

const char *hone_usage(const char *verb)
{
    for (size_t i = 0; i < HONE_COUNTOF(usages); i++)
        if (strcmp(usages[i].verb, verb) == 0)
            return usages[i].text;
    return NULL;
}
