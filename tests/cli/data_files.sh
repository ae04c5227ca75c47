# The same rows give the same samples, whatever kind of file holds them and however it is named; what cannot be read is
# refused with its place.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail=0
cd "$work" || exit 1
mkdir model data
cp "$TEST_DATA"/data/template/tokenizer/* model
cp "$TEST_DATA/data/template/chatml.jinja" model/chat_template.jinja
echo '{"vocab_size": 433}' >model/config.json

show() {    # samples of a data set, without its path
    "$HONE" inspect data model_name_or_path=model stage=sft finetuning_type=full dataset="$@" --json |
        sed 's/"source": *"[^"]*"/"source":""/'
}
same() {    # name, data set, options...
    local name=$1
    shift
    show "$@" >got 2>err || { echo "$name: failed: $(cat err)"; fail=1; return; }
    cmp -s want got || { echo "$name: other samples:"; diff want got | head -5; fail=1; }
}
refused() { # exit code, text, data set, options...
    local want=$1 text=$2 out
    shift 2
    out=$("$HONE" inspect data model_name_or_path=model stage=sft finetuning_type=full dataset="$@" --json 2>&1 >/dev/null)
    local got=$?
    [ $got -eq "$want" ] || { echo "$1: exit code $got, wanted $want: $out"; fail=1; }
    case $out in *"$text"*) ;; *) echo "$1: no '$text' in: $out"; fail=1 ;; esac
}

{
    printf '{"instruction": "Add.", "input": "2, \\"2\\"", "output": "four"}\n'
    printf '{"instruction": "Say\\nhi", "input": "", "output": "h\xc3\xa9"}\n'
    printf '{"instruction": "No input", "output": "5"}\n'
} >a.jsonl
show a.jsonl >want || exit 1
[ "$(wc -l <want)" -eq 3 ] && grep -q '"row": *2' want || { echo "not three samples: $(cat want)"; fail=1; }

printf '\xef\xbb\xbf' | cat - a.jsonl | sed 's/$/\r/' >crlf.jsonl;              same "byte order mark and CRLF" crlf.jsonl
{ echo '['; sed '$!s/$/,/' a.jsonl; printf ']'; } >a.json;                      same "an array" a.json
cp a.jsonl b.json;                                                              same "objects one after another" b.json
printf 'instruction,input,output\r\nAdd.,"2, ""2""",four\r\n"Say\nhi",,h\xc3\xa9\n\nNo input,"",5' >a.csv
same "csv" a.csv
printf 'instruction\tinput\toutput\nAdd.\t"2, ""2"""\tfour\n"Say\nhi"\t\th\xc3\xa9\nNo input\t\t5\n' >a.tsv
same "tsv" a.tsv
for f in a.jsonl a.json a.csv; do
    if command -v gzip >/dev/null; then gzip -c $f >p.${f#a.}.gz; same "packed $f" p.${f#a.}.gz; fi
done
mkdir folder
head -n 1 a.jsonl >folder/1.jsonl
sed -n 2,3p a.jsonl >folder/2.jsonl
# the rows of two files: numbered in each
sed 's/"row": *[0-9]*/"row":0/' want >want.files
for d in folder 'folder/*.jsonl' '**/[12].jsonl' 'folder/[12].jsonl'; do
    show "$d" | sed 's/"row": *[0-9]*/"row":0/' >got
    cmp -s want.files got || { echo "$d: other samples: $(cat got)"; fail=1; }
done
echo '{"mine": {"file_name": "../folder"}}' >data/dataset_info.json
show mine | sed 's/"row": *[0-9]*/"row":0/' >got
cmp -s want.files got || { echo "dataset_info.json: other samples: $(cat got)"; fail=1; }
sed 's/"instruction"/"question"/; s/"input"/"more"/; s/"output"/"reply"/' a.jsonl >other.jsonl
cat >data/dataset_info.json <<'JSON'
{"mine": {"file_name": "../other.jsonl", "columns": {"prompt": "question", "query": "more", "response": "reply"}}}
JSON
same "columns" mine
echo '[{"dataset_path": "../other.jsonl", "dataset_name": "mine", "columns": {"question": "instruction", "more": "input", "reply": "output"}}]' \
    >data/dataset_info.json
same "ms-swift's columns" mine
# a data set of ms-swift's command line: each of three rows once, and one more
[ "$(show 'a.jsonl#4' | wc -l)" -eq 4 ] || { echo "a.jsonl#4: not four rows"; fail=1; }
[ "$(show 'a.jsonl#2' | wc -l)" -eq 2 ] || { echo "a.jsonl#2: not two rows"; fail=1; }

printf '{"instruction": "a", "output": "b"}\n\n{"instruction": "\xff", "output": "b"}\n' >bad.jsonl
refused 3 "bad.jsonl: line 3: invalid UTF-8: byte 0xff" bad.jsonl
printf 'instruction,output\na,b\na,b,c\n' >bad.csv
refused 3 "bad.csv: line 3: more than 2 fields" bad.csv
if command -v gzip >/dev/null; then
    gzip -c a.jsonl | head -c 60 >cut.jsonl.gz
    refused 3 "cut.jsonl.gz: the archive is broken near its byte 60: it is cut short" cut.jsonl.gz
fi
cp a.jsonl a.parquet
refused 4 "hone does not read .parquet files" a.parquet
refused 2 "no file matches the pattern none/*.jsonl" 'none/*.jsonl'
refused 5 "cannot open none.jsonl" none.jsonl
exit $fail
