"""How transformers cuts the families among tensor-parallel ranks, for tests/unit/plan.c: per model_type the prefix of the base
model's modules and its plan, with the head's.

    plans.py > tests/data/plans.json
"""
import json
import os
import sys

import transformers
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

FAMILIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/model/family")

plans = {}
for family in sorted(name[:-2] for name in os.listdir(FAMILIES) if name.endswith(".c")):
    config = CONFIG_MAPPING[family]
    model = MODEL_FOR_CAUSAL_LM_MAPPING[config]
    rows = {f"{model.base_model_prefix}.{name}": style for name, style in (config.base_model_tp_plan or {}).items()}
    plans[family] = {**rows, **(getattr(model, "_tp_plan", None) or {})}
json.dump({"transformers": transformers.__version__, "plans": plans}, sys.stdout, indent=1)
print()
