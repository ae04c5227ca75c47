/* Options: typing, sources and their priority, errors with their place, cross-checks, and the resolved config. */
#include "hone_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "option/option.h"
#include "runtime/ctx.h"

static hone_status load(hone_options **o, const char *yaml) { return hone_options_load_text(o, yaml, strlen(yaml), "c.yaml"); }

#define FULL "finetuning_type: full\n"

static void refused(const char *yaml, hone_status st, const char *part)
{
    hone_options *o;

    T_STATUS(load(&o, yaml), st);
    assert_null(o);
    T_ERROR_HAS(part);
}

static void defaults_are_llamafactorys(void **state)
{
    hone_options *o;

    (void)state;
    T_OK(load(&o, FULL));
    assert_true(o->learning_rate == 5e-5);
    assert_int_equal(o->per_device_train_batch_size, 8);
    assert_int_equal(o->cutoff_len, 2048);
    assert_int_equal(o->lr_scheduler_type, HONE_SCHEDULE_LINEAR);
    assert_int_equal(o->stage, HONE_STAGE_SFT);
    assert_int_equal(o->max_steps, -1);
    assert_null(o->output_dir);
    assert_null(o->lr_scheduler_kwargs);
    assert_true(hone_float_is_null(o->dropout));
    assert_int_equal(o->save_total_limit, HONE_INT_NULL);
    assert_int_equal(o->dataset.n, 0);
    assert_string_equal(o->model_revision, "main");
    /* settled */
    assert_int_equal(o->packing, HONE_TRI_FALSE);
    assert_int_equal(o->data_seed, 42);
    assert_true(o->eval_steps == 500);
    assert_int_equal(o->recompute, HONE_RECOMPUTE_LAYER);
    assert_int_equal(o->truncation, HONE_TRUNCATION_CUT_RIGHT);
    assert_string_equal(hone_options_source(o, "truncation"), "from template");
    assert_string_equal(hone_options_source(o, "data_seed"), "from seed");
    assert_string_equal(hone_options_source(o, "seed"), "default");
    assert_string_equal(hone_options_source(o, "finetuning_type"), "c.yaml:1");
    assert_null(hone_options_source(o, "sede"));
    hone_options_destroy(&o);
    assert_null(o);
    hone_options_destroy(&o);
}

static void yaml_1_1_typing(void **state)
{
    hone_options *o;

    (void)state;
    T_OK(load(&o, FULL "# comment\nlearning_rate: 1e-4\nbf16: yes\noverwrite_output_dir: Off\ncutoff_len: 1_024\nseed: 0x10\n"
              "data_seed: 0b11\nthreads: 010\nwarmup_ratio: .5\nweight_decay: 1\nadam_epsilon: 1.e-9\nmax_grad_norm: +2.5E+1\n"
              "dataset: a, b ,c\noutput_dir: \"1e-4\"\nresume_from_checkpoint: true\nsave_strategy: no\neval_strategy: \"no\"\n"
              "lr_scheduler_kwargs: {num_cycles: 0.5, list: [1, yes, x]}\nmax_samples: ~\npacking:\n"));
    assert_true(o->learning_rate == 1e-4);
    assert_true(o->bf16);
    assert_false(o->overwrite_output_dir);
    assert_int_equal(o->cutoff_len, 1024);
    assert_int_equal(o->seed, 16);
    assert_int_equal(o->data_seed, 3);
    assert_int_equal(o->threads, 8);
    assert_true(o->warmup_ratio == 0.5);
    assert_true(o->weight_decay == 1.0);
    assert_true(o->adam_epsilon == 1e-9);
    assert_true(o->max_grad_norm == 25.0);
    assert_int_equal(o->dataset.n, 3);
    assert_string_equal(o->dataset.v[1], "b");
    assert_string_equal(o->output_dir, "1e-4");
    assert_string_equal(o->resume_from_checkpoint, "true");
    assert_int_equal(o->save_strategy, HONE_WHEN_NO);
    assert_int_equal(o->eval_strategy, HONE_WHEN_NO);
    assert_true(json_real_value(json_object_get(o->lr_scheduler_kwargs, "num_cycles")) == 0.5);
    assert_true(json_is_true(json_array_get(json_object_get(o->lr_scheduler_kwargs, "list"), 1)));
    assert_int_equal(o->max_samples, HONE_INT_NULL);
    assert_string_equal(hone_options_source(o, "learning_rate"), "c.yaml:3");
    hone_options_destroy(&o);

    T_OK(load(&o, FULL "dataset: [a, 'b,c']\n"));
    assert_int_equal(o->dataset.n, 2);
    assert_string_equal(o->dataset.v[1], "b,c");
    hone_options_destroy(&o);
    refused("", HONE_E_UNSUPPORTED, "finetuning_type");      /* an empty file is fine; the default method is not */
    refused("finetuning_type: lora\n", HONE_E_UNSUPPORTED, "c.yaml:1: finetuning_type: \"lora\": hone trains all weights so far: write finetuning_type: full");
}

static void bad_files_name_the_place(void **state)
{
    (void)state;
    refused(FULL "learning_rat: 1\n", HONE_E_USAGE, "c.yaml:2:1: unknown option 'learning_rat'; did you mean 'learning_rate'?");
    refused(FULL "max_length_of_things: 1\n", HONE_E_USAGE, "hone help options");
    refused(FULL "output-dir: x\n", HONE_E_USAGE, "did you mean 'output_dir'");
    refused(FULL "model: x\n", HONE_E_USAGE, "'model_name_or_path'");
    refused(FULL "seed: 1\nbf16: true\nseed: 2\n", HONE_E_USAGE, "c.yaml:4:1: key 'seed' is here for the second time; it is also in line 2");
    refused(FULL "seed: abc\n", HONE_E_USAGE, "c.yaml:2:1: seed wants a whole number, found the text 'abc'");
    refused(FULL "seed: \"7\"\n", HONE_E_USAGE, "leave out the quotes");
    refused(FULL "seed: 1.5\n", HONE_E_USAGE, "seed wants a whole number, found the number 1.5");
    refused(FULL "seed: -1\n", HONE_E_USAGE, "seed must lie between");
    refused(FULL "cutoff_len: 0\n", HONE_E_USAGE, "cutoff_len must be at least 1, found the number 0");
    refused(FULL "learning_rate: .nan\n", HONE_E_USAGE, "learning_rate wants a number");
    refused(FULL "learning_rate: 1e999\n", HONE_E_USAGE, "learning_rate wants a number");
    refused(FULL "learning_rate: null\n", HONE_E_USAGE, "learning_rate cannot be null");
    refused(FULL "seed: 99999999999999999999\n", HONE_E_USAGE, "seed wants a whole number");
    refused(FULL "bf16: 1\n", HONE_E_USAGE, "bf16 wants true or false, found the number 1");
    refused(FULL "output_dir: yes\n", HONE_E_USAGE, "output_dir wants a text, found true; put it in quotes");
    refused(FULL "output_dir: [a]\n", HONE_E_USAGE, "found a list");
    refused(FULL "stage: stf\n", HONE_E_USAGE, "did you mean 'sft'");
    refused(FULL "save_strategy: yes\n", HONE_E_USAGE, "save_strategy");
    refused(FULL "dataset: {a: b}\n", HONE_E_USAGE, "dataset wants a list of texts, found a mapping");
    refused(FULL "dataset: [a, [b]]\n", HONE_E_USAGE, "dataset wants a list of texts, found a list");
    refused("- a\n- b\n", HONE_E_USAGE, "c.yaml:1:1: a configuration is a mapping");
    refused("text\n", HONE_E_USAGE, "a configuration is a mapping");
    refused(FULL "seed: [1\n", HONE_E_USAGE, "c.yaml:3:1: broken YAML");
    refused(FULL "\tseed: 1\n", HONE_E_USAGE, "c.yaml:2:1: broken YAML");
    refused(FULL "---\nseed: 1\n", HONE_E_USAGE, "one YAML document");
    refused(FULL "seed: !!python/object 1\n", HONE_E_USAGE, "tag");
    refused(FULL "? [a]\n: 1\n", HONE_E_USAGE, "a key must be a plain text");
    refused(FULL "<<: {seed: 1}\n", HONE_E_USAGE, "merge keys");
    refused(FULL "output_dir: \"a\\0b\"\n", HONE_E_USAGE, "NUL");
    refused(FULL "seed: \xff\n", HONE_E_USAGE, "UTF-8");
}

static void aliases_work_and_bombs_do_not(void **state)
{
    hone_options *o;
    hone_str      bomb = HONE_STR_INIT;

    (void)state;
    T_OK(load(&o, FULL "lr_scheduler_kwargs: {a: &x [1, 2], b: *x}\noutput_dir: &d out\ndataset: *d\n"));
    assert_int_equal(json_array_size(json_object_get(o->lr_scheduler_kwargs, "b")), 2);
    assert_string_equal(o->dataset.v[0], "out");
    hone_options_destroy(&o);
    refused(FULL "dataset: *nothing\n", HONE_E_USAGE, "'*nothing' refers to nothing before it");
    refused(FULL "lr_scheduler_kwargs: &x {a: *x}\n", HONE_E_USAGE, "refers to nothing");

    hone_str_puts(&bomb, "lr_scheduler_kwargs:\n  a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for (int i = 1; i < 12; i++)
        hone_str_printf(&bomb, "  a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1,
                        i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    refused(hone_str_c(&bomb), HONE_E_USAGE, "aliases written out");
    hone_str_clear(&bomb);
    hone_str_puts(&bomb, "lr_scheduler_kwargs: ");
    for (int i = 0; i < 1000; i++)
        hone_str_putc(&bomb, '[');
    refused(hone_str_c(&bomb), HONE_E_USAGE, "nested deeper");
    hone_str_deinit(&bomb);
}

static void what_changes_the_result_is_refused_by_name(void **state)
{
    hone_options *o;

    (void)state;
    refused(FULL "compute_accuracy: true\ndeepspeed: ds.json\n", HONE_E_UNSUPPORTED, "c.yaml:2: compute_accuracy: true");
    T_ERROR_HAS("c.yaml:3: deepspeed");
    refused(FULL "optim: adafactor\n", HONE_E_UNSUPPORTED, "optim: \"adafactor\"");
    refused(FULL "stage: dpo\n", HONE_E_UNSUPPORTED, "stage: \"dpo\"");
    refused(FULL "report_to: wandb\n", HONE_E_UNSUPPORTED, "report_to");
    refused(FULL "fp16: true\n", HONE_E_UNSUPPORTED, "use bf16: true");
    /* Not refused at their defaults; without effect, they are listed. */
    T_OK(load(&o, FULL "template: null\nfp16: false\nreport_to: none\nlora_rank: 8\nddp_timeout: 180000000\npreprocessing_num_workers: 16\n"));
    assert_int_equal(hone_options_notes(o)->n, 1);
    assert_string_equal(hone_options_notes(o)->v[0], "no effect here: preprocessing_num_workers, ddp_timeout");
    hone_options_destroy(&o);
}

/* Looking at data takes configs of recipes that hone cannot train yet, but nothing that changes the samples. */
static void data_commands_take_other_recipes(void **state)
{
    hone_options *o;
    char *recipe[] = { "stage=dpo", "finetuning_type=lora", "template=qwen3", "deepspeed=z3.json", "quantization_bit=4",
                       "use_dora=true", "optim=adafactor", "max_steps=0", "pref_beta=0.2" };
    char *samples[] = { "stage=ppo", "predict_with_generate=true", "new_special_tokens_config=x.yaml" };

    (void)state;
    T_OK(hone_options_load_data(&o, HONE_COUNTOF(recipe), recipe));
    assert_int_equal(o->stage, HONE_STAGE_DPO);
    assert_int_equal(o->truncation, HONE_TRUNCATION_FIT);
    hone_options_destroy(&o);
    T_STATUS(hone_options_load(&o, NULL, HONE_COUNTOF(recipe), recipe), HONE_E_UNSUPPORTED);
    T_STATUS(hone_options_load_data(&o, HONE_COUNTOF(samples), samples), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("stage: \"ppo\"");
    T_ERROR_HAS("predict_with_generate");
    T_ERROR_HAS("new_special_tokens_config");
}

static void probabilities_of_mixing(void **state)
{
    hone_options *o;

    (void)state;
    refused(FULL "dataset: [a, b]\ninterleave_probs: [0.5, 0.5]\n", HONE_E_USAGE, "mix_strategy: concat does not");
#define TWO FULL "dataset: [a, b]\nmix_strategy: interleave_over\n"
    refused(TWO "interleave_probs: [0.5, 0.2, 0.3]\n", HONE_E_USAGE, "3 numbers for 2 data sets (dataset)");
    T_OK(load(&o, TWO "eval_dataset: c\ninterleave_probs: [0.5, 0.5]\n"));      /* one data set is not mixed */
    hone_options_destroy(&o);
    refused(TWO "eval_dataset: [c, d, e]\ninterleave_probs: [0.5, 0.5]\n", HONE_E_USAGE, "2 numbers for 3 data sets (eval_dataset)");
    T_OK(load(&o, TWO "eval_dataset: [c, d, e]\neval_on_each_dataset: true\ninterleave_probs: [0.5, 0.5]\n"));
    hone_options_destroy(&o);
    refused(TWO "interleave_probs: [0.5, 0.4]\n", HONE_E_USAGE, "c.yaml:4: interleave_probs sum to 0.9, not to 1");
    refused(TWO "interleave_probs: [-0.5, 1.5]\n", HONE_E_USAGE, "\"-0.5\" is no number from 0 to 1");
    refused(TWO "interleave_probs: [x, 1]\n", HONE_E_USAGE, "\"x\" is no number");
    refused(TWO "interleave_probs: [nan, 1]\n", HONE_E_USAGE, "is no number");
    refused(TWO "interleave_probs: [0, 1]\n", HONE_E_USAGE, "is never through");
    refused(FULL "dataset: a\neval_on_each_dataset: true\n", HONE_E_USAGE, "eval_dataset, which is missing");
    T_OK(load(&o, TWO "interleave_probs: 0.7, 0.3\n"));
    hone_options_destroy(&o);
    T_OK(load(&o, FULL "dataset: [a, b]\nmix_strategy: interleave_under\ninterleave_probs: [0, 1]\n"));
    hone_options_destroy(&o);
}

/* What samples are made with, and nothing else. */
static void identity_of_data(void **state)
{
    static const struct { const char *yaml; bool differs; } options[] = {
        { "learning_rate: 1\n", false }, { "seed: 7\n", false }, { "tokenized_path: x\n", false }, { "pack_length: 4096\n", false },
        { "dataset_dir: x\n", false }, { "global_batch_size: 8\n", false }, { "packing_strategy: greedy\n", false },
        { "cutoff_len: 100\n", true }, { "val_size: 3\n", true }, { "bad_rows: drop\n", true }, { "eval_dataset: b\n", true },
        { "mask_history: true\n", true }, { "stage: pt\n", true }, { "split_special_tokens: true\n", true },
        { "enable_thinking: true\n", true },       /* set: chat templates are given it */
    };
    hone_options *o;
    hone_str      plain = HONE_STR_INIT;

    (void)state;
    T_OK(load(&o, FULL "dataset: a\n"));
    hone_options_data_identity(o, &plain);
    hone_options_destroy(&o);
    for (size_t i = 0; i < HONE_COUNTOF(options); i++) {
        hone_str other = HONE_STR_INIT, yaml = HONE_STR_INIT;

        hone_str_printf(&yaml, FULL "dataset: a\n%s", options[i].yaml);
        T_OK(load(&o, yaml.data));
        hone_options_data_identity(o, &other);
        if ((strcmp(plain.data, other.data) != 0) != options[i].differs)
            fail_msg("%s", options[i].yaml);
        hone_options_destroy(&o);
        hone_str_deinit(&other);
        hone_str_deinit(&yaml);
    }
    hone_str_deinit(&plain);
}

static void contradictions(void **state)
{
    (void)state;
    refused(FULL "tool_date: 5 Jan 2031\n", HONE_E_USAGE, "c.yaml:2: tool_date acts with template");
    refused(FULL "tool_format: qwen\n", HONE_E_USAGE, "c.yaml:2: tool_format acts with template");
    refused(FULL "stage: pt\ntrain_on_prompt: true\n", HONE_E_USAGE, "c.yaml:3: train_on_prompt works with stage: sft only");
    refused(FULL "stage: pt\nmask_history: true\n", HONE_E_USAGE, "mask_history");
    refused(FULL "stage: pt\nneat_packing: true\n", HONE_E_USAGE, "neat_packing");
    refused(FULL "mask_history: true\ntrain_on_prompt: true\n", HONE_E_USAGE, "contradict");
    refused(FULL "neat_packing: true\npacking: false\n", HONE_E_USAGE, "contradicts");
    refused(FULL "dataset: a\nval_size: 0.1\neval_dataset: b\n", HONE_E_USAGE, "keep one");
    refused(FULL "val_size: 0.1\n", HONE_E_USAGE, "dataset, which is missing");
    refused(FULL "dataset: a\nval_size: 1.5\n", HONE_E_USAGE, "number of rows");
    refused(FULL "dataset: a\neval_strategy: steps\n", HONE_E_USAGE, "held-out");
    refused(FULL "do_eval: true\n", HONE_E_USAGE, "held-out");
    refused(FULL "dataset: a\nstage: pt\ntruncation: drop\n", HONE_E_USAGE, "c.yaml:4: stage: pt with packing joins");
    refused(FULL "adam_beta2: 1\n", HONE_E_USAGE, "below 1");
    refused(FULL "max_steps: 0\n", HONE_E_USAGE, "max_steps");
    refused(FULL "global_batch_size: 4\nglobal_batch_tokens: 9\n", HONE_E_USAGE, "keep one");
    refused(FULL "global_batch_size: 8\ngradient_accumulation_steps: 2\n", HONE_E_USAGE, "keep one");
    refused(FULL "global_batch_size: 9\nper_device_train_batch_size: 2\n", HONE_E_USAGE, "multiple");
    refused(FULL "streaming: true\n", HONE_E_USAGE, "set max_steps");
    refused(FULL "streaming: true\nmax_steps: 9\nmax_samples: 5\n", HONE_E_USAGE, "max_samples does not go with");
    refused(FULL "streaming: true\nmax_steps: 9\ndataset: a\nval_size: 0.1\n", HONE_E_USAGE, "as a number of rows");
    refused(FULL "pack_length: 10\n", HONE_E_USAGE, "cannot hold");
    refused(FULL "truncation: fit\n", HONE_E_USAGE, "set template");
    refused(FULL "truncation: fit\nstage: pt\n", HONE_E_USAGE, "stage: pt has none");
    refused(FULL "lr_scheduler_kwargs: text\n", HONE_E_USAGE, "mapping");
}

static void later_sources_win(void **state)
{
    char          path[128];
    hone_options *o;
    const char   *yaml = "finetuning_type: full\nlearning_rate: 1e-4\nseed: 1\noutput_dir: file\ntemplate: llama3\n";
    char         *argv[] = { path, "--learning-rate", "3e-4", "template=null", "--max_steps=7", "--bf16", "--output_dir", "5",
                             "--lr_scheduler_kwargs", "{num_cycles: 2}", "--max_grad_norm", "-0" };

    (void)state;
    snprintf(path, sizeof path, "%s/c.yaml", t_temp_dir());
    T_OK(hone_file_write_all(path, yaml, strlen(yaml)));
    setenv("HONE_SEED", "9", 1);
    setenv("HONE_LEARNING_RATE", "2e-4", 1);
    setenv("HONE_LERNING_RATE", "2e-4", 1);
    setenv("HONE_ISA", "portable", 1);
    T_OK(hone_options_load(&o, NULL, (int)HONE_COUNTOF(argv), argv));
    assert_true(o->learning_rate == 3e-4);
    assert_int_equal(o->seed, 9);
    assert_null(o->template);
    assert_int_equal(o->max_steps, 7);
    assert_true(o->bf16);
    assert_string_equal(o->output_dir, "5");
    assert_int_equal(json_integer_value(json_object_get(o->lr_scheduler_kwargs, "num_cycles")), 2);
    assert_string_equal(hone_options_source(o, "seed"), "environment HONE_SEED");
    assert_string_equal(hone_options_source(o, "learning_rate"), "command line");
    assert_int_equal(hone_options_notes(o)->n, 1);
    assert_non_null(strstr(hone_options_notes(o)->v[0], "HONE_LERNING_RATE"));
    hone_options_destroy(&o);
    unsetenv("HONE_LERNING_RATE");
    unsetenv("HONE_LEARNING_RATE");
    setenv("HONE_SEED", "many", 1);
    T_STATUS(hone_options_load(&o, path, 0, NULL), HONE_E_USAGE);
    T_ERROR_HAS("environment variable HONE_SEED: seed wants a whole number");
    unsetenv("HONE_SEED");
}

static void bad_command_lines(void **state)
{
    static const struct { char *argv[3]; int argc; const char *part; } cases[] = {
        { { "--finetuning_type=full", "--lerning_rate", "1" }, 3, "did you mean 'learning_rate'" },
        { { "--finetuning_type=full", "--seed" }, 2, "--seed needs a value" },
        { { "--finetuning_type=full", "--seed", "--bf16" }, 3, "--seed needs a value" },
        { { "--finetuning_type=full", "word" }, 2, "what is 'word'" },
        { { "--finetuning_type=full", "-x" }, 2, "what is '-x'" },
        { { "--finetuning_type=full", "bf16=maybe" }, 2, "command line: bf16 wants true or false, found the text 'maybe'" },
        { { "--finetuning_type=full", "run_name=\xff" }, 2, "UTF-8" },
        { { "--finetuning_type=full", "lr_scheduler_kwargs={" }, 2, "broken YAML" },
    };
    hone_options *o;

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        T_STATUS(hone_options_load(&o, NULL, cases[i].argc, (char **)cases[i].argv), HONE_E_USAGE);
        T_ERROR_HAS(cases[i].part);
    }
    T_STATUS(hone_options_load(&o, "/nonexistent/c.yaml", 0, NULL), HONE_E_IO);
}

static void a_training_run_needs_more(void **state)
{
    static const struct { const char *yaml, *part; } cases[] = {
        { FULL "dataset: a\noutput_dir: b\n", "model_name_or_path is missing" },
        { FULL "model_name_or_path: m\noutput_dir: b\n", "dataset is missing" },
        { FULL "model_name_or_path: m\ndataset: a\n", "output_dir is missing" },
        { FULL "model_name_or_path: m\ndataset: a\noutput_dir: ''\n", "output_dir is missing" },
        { FULL "model_name_or_path: m\ndataset: a\noutput_dir: b\ndo_train: false\n", "c.yaml:5: do_train" },
    };
    hone_options *o;

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        T_OK(load(&o, cases[i].yaml));
        T_STATUS(hone_options_check_train(o), HONE_E_USAGE);
        T_ERROR_HAS(cases[i].part);
        hone_options_destroy(&o);
    }
    T_OK(load(&o, FULL "model_name_or_path: m\ndataset: a\noutput_dir: b\n"));
    T_OK(hone_options_check_train(o));
    hone_options_destroy(&o);
}

static void the_resolved_config_loads_again(void **state)
{
    hone_options *o, *again;
    hone_str      a = HONE_STR_INIT, b = HONE_STR_INIT, s = HONE_STR_INIT;

    (void)state;
    T_OK(load(&o, FULL "output_dir: \"q\\\"\\\\ \\n\\x07\\u2028\\N # x: é\"\ndataset: [\"a b\", 'c,d']\nlearning_rate: 0.1\n"
              "global_batch_size: 16\nlr_scheduler_kwargs: {a: [1, 2.5, null, true], \"b: c\": {}}\nneat_packing: true\n"));
    hone_options_dump(o, &a, false);
    hone_options_dump(o, &s, true);
    T_OK(load(&again, hone_str_c(&a)));
    hone_options_dump(again, &b, false);
    assert_string_equal(hone_str_c(&a), hone_str_c(&b));
    assert_string_equal(o->output_dir, again->output_dir);
    hone_options_destroy(&again);
    T_OK(load(&again, hone_str_c(&s)));      /* with its comments too */
    hone_str_clear(&b);
    hone_options_dump(again, &b, false);
    assert_string_equal(hone_str_c(&a), hone_str_c(&b));
    assert_non_null(strstr(hone_str_c(&s), "# c.yaml:4\n"));
    assert_non_null(strstr(hone_str_c(&s), "# from neat_packing\n"));
    hone_options_destroy(&again);
    hone_options_destroy(&o);
    hone_str_deinit(&a);
    hone_str_deinit(&b);
    hone_str_deinit(&s);
}

static void identity(hone_str *out, const char *yaml)
{
    hone_options *o;

    hone_str_clear(out);
    T_OK(load(&o, yaml));
    hone_options_identity(o, out);
    hone_options_destroy(&o);
}

static void identity_is_what_the_weights_depend_on(void **state)
{
    hone_str a = HONE_STR_INIT, b = HONE_STR_INIT;

    (void)state;
    identity(&a, FULL "output_dir: a\nthreads: 1\n");
    identity(&b, FULL "output_dir: b\nthreads: 2\nsave_steps: 5\nrecompute: none\nlogging_steps: 3\nlora_rank: 9\nplot_loss: true\n");
    assert_string_equal(hone_str_c(&a), hone_str_c(&b));
    identity(&b, FULL "seed: 43\n");
    assert_string_not_equal(hone_str_c(&a), hone_str_c(&b));
    identity(&b, FULL "bf16: true\n");
    assert_string_not_equal(hone_str_c(&a), hone_str_c(&b));
    hone_str_deinit(&a);
    hone_str_deinit(&b);
}

static void help_and_docs(void **state)
{
    hone_str s = HONE_STR_INIT;

    (void)state;
    T_OK(hone_option_help(&s, "learning-rate"));
    assert_non_null(strstr(hone_str_c(&s), "HONE_LEARNING_RATE"));
    T_STATUS(hone_option_help(&s, "learning"), HONE_E_USAGE);
    hone_str_clear(&s);
    T_OK(hone_option_help(&s, NULL));
    assert_non_null(strstr(hone_str_c(&s), "cutoff_len"));
    hone_str_deinit(&s);
    assert_string_equal(hone_option_choice("lr_scheduler_type", HONE_SCHEDULE_COSINE), "cosine");
    assert_string_equal(hone_option_choice("op_policy", HONE_OP_POLICY_AUTO), "auto");
    assert_string_equal(hone_option_choice("op_policy", HONE_OP_POLICY_NATIVE), "native");
    assert_string_equal(hone_option_choice("op_policy", HONE_OP_POLICY_CUSTOM), "custom");
    assert_string_equal(hone_option_choice("truncation", HONE_TRUNCATION_CUT_RIGHT), "cut-right");
}

/* Out of memory at every allocation: an error each time, and no leak (the sanitizer looks). */
static void out_of_memory_is_an_error(void **state)
{
    const char   *yaml = FULL "dataset: [a, b]\nlr_scheduler_kwargs: {a: 1}\nddp_timeout: 5\noutput_dir: x\n";
    hone_options *o;

    (void)state;
    for (int n = 0; ; n++) {
        hone_status st;

        hone_mem_fail_at(n);
        st = load(&o, yaml);
        if (!hone_mem_fail_reached()) {
            hone_mem_fail_at(-1);
            T_OK(st);
            hone_options_destroy(&o);
            return;
        }
        hone_mem_fail_at(-1);
        if (st == HONE_OK) fail_msg("allocation %d was missed", n);
        assert_int_equal(st, HONE_E_NOMEM);
        assert_null(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_llamafactorys), cmocka_unit_test(yaml_1_1_typing),
        cmocka_unit_test(bad_files_name_the_place), cmocka_unit_test(aliases_work_and_bombs_do_not),
        cmocka_unit_test(what_changes_the_result_is_refused_by_name), cmocka_unit_test(data_commands_take_other_recipes),
        cmocka_unit_test(probabilities_of_mixing), cmocka_unit_test(identity_of_data), cmocka_unit_test(contradictions),
        cmocka_unit_test(later_sources_win), cmocka_unit_test(bad_command_lines), cmocka_unit_test(a_training_run_needs_more),
        cmocka_unit_test(the_resolved_config_loads_again), cmocka_unit_test(identity_is_what_the_weights_depend_on),
        cmocka_unit_test(help_and_docs), cmocka_unit_test(out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
