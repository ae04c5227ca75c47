# sparse_llama DIR LAYERS HIDDEN HEADS KV_HEADS INTERMEDIATE VOCAB DTYPE: a llama of any size whose weights are zeros that take no
# room on the disk. DTYPE is F32 or BF16.
sparse_llama() {
    local dir=$1 layers=$2 hidden=$3 heads=$4 kv=$5 inter=$6 vocab=$7 dtype=$8 header n bytes
    mkdir -p "$dir"
    printf '{"model_type":"llama","num_hidden_layers":%d,"hidden_size":%d,"num_attention_heads":%d,"num_key_value_heads":%d,' \
        "$layers" "$hidden" "$heads" "$kv" >"$dir/config.json"
    printf '"intermediate_size":%d,"vocab_size":%d,"tie_word_embeddings":false,"rms_norm_eps":1e-05,"rope_theta":500000.0,' \
        "$inter" "$vocab" >>"$dir/config.json"
    printf '"max_position_embeddings":8192}\n' >>"$dir/config.json"
    header=$(awk -v layers="$layers" -v h="$hidden" -v kv="$((hidden / heads * kv))" -v f="$inter" -v v="$vocab" -v dtype="$dtype" '
        function put(name, rows, cols,    bytes) {
            bytes = rows * (cols ? cols : 1) * (dtype == "F32" ? 4 : 2)
            printf "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%d%s],\"data_offsets\":[%.0f,%.0f]}", sep, name, dtype, rows,
                   cols ? "," cols : "", at, at + bytes
            at += bytes
            sep = ","
        }
        BEGIN {
            printf "{"
            put("model.embed_tokens.weight", v, h)
            for (i = 0; i < layers; i++) {
                p = "model.layers." i "."
                put(p "input_layernorm.weight", h); put(p "post_attention_layernorm.weight", h)
                put(p "self_attn.q_proj.weight", h, h); put(p "self_attn.k_proj.weight", kv, h)
                put(p "self_attn.v_proj.weight", kv, h); put(p "self_attn.o_proj.weight", h, h)
                put(p "mlp.gate_proj.weight", f, h); put(p "mlp.up_proj.weight", f, h); put(p "mlp.down_proj.weight", h, f)
            }
            put("model.norm.weight", h)
            put("lm_head.weight", v, h)
            printf "}%.0f", at
        }')
    bytes=${header##*\}} header=${header%\}*}\}
    while [ $((${#header} % 8)) -ne 0 ]; do header="$header "; done
    n=${#header}
    printf "$(printf '\\%03o' $((n & 255)) $((n >> 8 & 255)) $((n >> 16 & 255)) 0 0 0 0 0)" >"$dir/model.safetensors"
    printf '%s' "$header" >>"$dir/model.safetensors"
    truncate -s "$((8 + n + bytes))" "$dir/model.safetensors"
}
