#!/bin/sh
# Prints the tables of README.md: figures.sh QUARRY_EVAL DATA
#
# A row is the figures of one command; `against` is the difference in nDCG@10 to the table's first row, with its 95 %
# interval.
set -eu
eval=$1 data=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The value of a key in the JSON on standard input, to three digits.
value() { sed -n 's/.*"'"$1"'": *\(-*[0-9.e-]*\),*$/\1/p' "$scratch/json" | awk '{ printf "%.3f", $1 }'; }

given() {
  echo "--doc-vectors $data/$1/docs.minilm.384.f16 --query-vectors $data/$1/queries.minilm.384.f16 --query-ids $data/$1/queries.minilm.ids.json"
}

# cell set arguments...: nDCG@10
cell() {
  set_name=$1
  shift
  # shellcheck disable=SC2086
  "$eval" --set "$data/$set_name" --json "$@" >"$scratch/json" 2>/dev/null
  value 'ndcg@10'
}

echo '## Retrievers'
for s in scifact cranfield anthropic_docs tickets xquad_en anthropic_contextual handbook movies; do
  v=$(given $s)
  # shellcheck disable=SC2086
  echo "| $s | $(cell $s --retriever bm25) | $(cell $s --retriever dense $v) | $(cell $s --retriever hybrid $v --fuse rrf)" \
    "| $(cell $s --retriever hybrid $v --fuse convex) | $(cell $s --retriever hybrid $v --fuse relative)" \
    "| $(cell $s --retriever hybrid $v --fuse distribution) | $(cell $s --retriever hybrid $v) |"
done

# both set analyzer k1 b figure options...: with exact and with Lucene's lengths
both() {
  set_name=$1 words=$2 k1=$3 b=$4 figure=$5
  shift 5
  line="| $set_name | $words, $k1/$b | $figure"
  for lengths in '' --lucene-lengths; do
    # shellcheck disable=SC2086
    "$eval" --set "$data/$set_name" --retriever bm25 --analyzer $words --k1 $k1 --b $b $lengths --json "$@" >"$scratch/json" 2>/dev/null
    line="$line | $(value "$figure")"
  done
  echo "$line |"
}

echo '## Words'
for s in scifact cranfield cisi med npl time movies; do both $s english .9 .4 ndcg@10; done
both cacm_html english .9 .4 map --qrels "$data/cacm_html/qrels.anserini.tsv"
for words in unicode english code; do both anthropic_contextual $words 1.2 .75 recall@20; done
for s in zh th ru ar; do both xquad_$s unicode .9 .4 ndcg@10; done

echo '## No model'
for s in scifact cranfield anthropic_docs xquad_en anthropic_contextual handbook time med cisi; do
  [ $s = scifact ] && d=256 || d=128
  echo "| $s | $d | $(cell $s --retriever bm25) | $(cell $s --retriever dense --dim $d)" \
    "| $(cell $s --retriever hybrid --dim $d --fuse rrf) | $(cell $s --retriever hybrid --dim $d) |"
done

# row label arguments...: one row of the handbook's tables
row() {
  label=$1
  shift
  "$eval" --set "$data/handbook" --json "$@" --against "$scratch/base" >"$scratch/json"
  echo "| $label | $(value 'ndcg@10') | $(value 'mrr') | $(value 'recall@5') | $(value 'recall@10') | $(value difference)" \
    "($(value low) to $(value high)) |"
}

handbook() {
  keys="--keys $data/handbook/keys.minilm.jsonl"
  "$eval" --set "$data/handbook" --json --retriever bm25 "$@" --run "$scratch/base" >/dev/null
  row 'whole body: BM25' --retriever bm25 "$@"
  row 'whole body: LSA' --retriever dense "$@"
  row 'whole body: BM25 and LSA' --retriever hybrid "$@"
  for n in 100 200 400; do
    row "chunks of $n words: BM25" --retriever bm25 --chunks $n "$@"
    row "chunks of $n words: LSA" --retriever dense --chunks $n "$@"
    row "chunks of $n words: BM25 and LSA" --retriever hybrid --chunks $n "$@"
  done
  # shellcheck disable=SC2086
  {
    row 'keys: BM25' --retriever whole_article $keys --lanes bm25:keys "$@"
    row 'keys: LSA' --retriever whole_article $keys --lanes dense:keys "$@"
    row 'keys: BM25 and LSA' --retriever whole_article $keys --lanes bm25:keys,dense:keys "$@"
    row 'bodies BM25, keys BM25' --retriever whole_article $keys --lanes bm25:bodies,bm25:keys "$@"
    row 'bodies BM25, keys LSA' --retriever whole_article $keys --lanes bm25:bodies,dense:keys "$@"
    row 'bodies and keys, BM25 and LSA' --retriever whole_article $keys --lanes bm25:bodies,dense:bodies,bm25:keys,dense:keys "$@"
  }
}

echo '## Handbook, questions'
handbook
v=$(given handbook)
keys="--keys $data/handbook/keys.minilm.jsonl --key-vectors $data/handbook/keys.minilm.384.f16"
# shellcheck disable=SC2086
{
  row 'whole body: MiniLM' --retriever dense $v
  row 'whole body: BM25 and MiniLM' --retriever hybrid $v
  row 'keys: MiniLM' --retriever whole_article $v $keys --lanes dense:keys
  row 'keys: BM25 and MiniLM' --retriever whole_article $v $keys --lanes bm25:keys,dense:keys
  row 'bodies BM25, keys MiniLM' --retriever whole_article $v $keys --lanes bm25:bodies,dense:keys
  row 'the same by reciprocal rank' --retriever whole_article $v $keys --lanes bm25:bodies,dense:keys --fuse rrf
  row 'bodies and keys, BM25 and MiniLM' --retriever whole_article $v $keys --lanes bm25:bodies,dense:bodies,bm25:keys,dense:keys
  row 'the same by reciprocal rank' --retriever whole_article $v $keys --lanes bm25:bodies,dense:bodies,bm25:keys,dense:keys --fuse rrf
  row 'whole body: BM25, title three times' --retriever bm25 --title-weight 3
  row 'whole body: BM25 at 1.2/.75' --retriever bm25 --k1 1.2 --b .75
}
echo '## Handbook, link texts'
handbook --queries "$data/handbook/anchor.queries.jsonl" --qrels "$data/handbook/anchor.qrels.tsv"

# line label set arguments...: nDCG@10, recall at 3, 5, 10 and 20
line() {
  label=$1
  set_name=$2
  shift 2
  "$eval" --set "$data/$set_name" --json "$@" >"$scratch/json" 2>/dev/null
  echo "| $label | $(value 'ndcg@10') | $(value 'recall@3') | $(value 'recall@5') | $(value 'recall@10') | $(value 'recall@20') |"
}

echo '## What is indexed: code'
code() {
  label=$1
  shift
  line "$label" anthropic_contextual --parents "$data/anthropic_contextual/docs.jsonl" --analyzer code --k1 1.2 --b .75 "$@"
}
for x in none path structure summary; do code "BM25, $x" --retriever bm25 --expand $x; done
for b in 1 3 10; do
  code "BM25, beam $b" --retriever hierarchical --lanes bm25:bodies --beam $b --blend 0 --depth 20
done
for x in none structure; do code "BM25, $x, blend" --retriever hierarchical --lanes bm25:bodies --expand $x; done
v=$(given anthropic_contextual)
w=$(echo "$v" | sed 's/docs.minilm.384/docs.minilm.structure.384/')
# shellcheck disable=SC2086
{
  code 'bounded, chunk vectors' --retriever hybrid $v
  code 'bounded, structure, chunk vectors' --retriever hybrid $v --expand structure
  code 'the same, blend' --retriever hierarchical $v --expand structure
  code 'bounded, structure, structure vectors' --retriever hybrid $w --expand structure
  code 'the same, blend' --retriever hierarchical $w --expand structure
}

echo '## What is indexed: prose'
for s in anthropic_docs handbook scifact; do
  [ $s = scifact ] && d=256 || d=128
  for x in none path summary; do
    line "$s: BM25, $x" $s --retriever bm25 --expand $x
    line "$s: bounded, $x" $s --retriever hybrid --dim $d --expand $x
  done
  line "$s: BM25, three sentences" $s --retriever small_to_big --lanes bm25:bodies
  [ $s = handbook ] && keys="--keys $data/handbook/keys.minilm.jsonl" || keys=
  v=$(given $s)
  # shellcheck disable=SC2086
  {
    line "$s: BM25, metadata keys" $s --retriever whole_article $keys --lanes bm25:keys
    line "$s: BM25, bodies and metadata keys" $s --retriever whole_article $keys --lanes bm25:bodies,bm25:keys
    line "$s: bounded, and metadata keys" $s --retriever whole_article $keys --dim $d --lanes bm25:bodies,dense:bodies,dense:keys
    for x in none path summary; do line "$s: bounded with MiniLM, $x" $s --retriever hybrid $v --expand $x; done
  }
  line "$s: bounded, three sentences" $s --retriever small_to_big --dim $d
  line "$s: by rank" $s --retriever hybrid --dim $d --fuse rrf
  line "$s: bounded, trees" $s --retriever raptor --dim $d
  line "$s: by rank, trees" $s --retriever raptor --dim $d --fuse rrf
done
for x in none summary; do
  [ $x = summary ] && vectors=docs.minilm.summary.384 || vectors=docs.minilm.384
  v=$(given anthropic_docs | sed "s/docs.minilm.384/$vectors/")
  # shellcheck disable=SC2086
  {
    line "anthropic_docs: BM25 at 1.2/.75, $x" anthropic_docs --retriever bm25 --k1 1.2 --b .75 --expand $x
    line "anthropic_docs: MiniLM, $x" anthropic_docs --retriever dense $v
    line "anthropic_docs: the two, $x" anthropic_docs --retriever hybrid $v --k1 1.2 --b .75 --expand $x
  }
done
for s in anthropic_docs handbook; do
  line "$s, chunks: bounded" $s --retriever hybrid --chunks 200
  line "$s, chunks: bounded, blend" $s --retriever hierarchical --chunks 200
  line "$s, chunks: by rank" $s --retriever hybrid --chunks 200 --fuse rrf
  line "$s, chunks: bounded, trees" $s --retriever raptor --chunks 200
  line "$s, chunks: by rank, trees" $s --retriever raptor --chunks 200 --fuse rrf
done

echo '## What is asked: conditions'
v=$(given movies)
for rules in none rules; do
  line "BM25, $rules" movies --retriever bm25 --depth 10 --self-query $rules
  # shellcheck disable=SC2086
  line "MiniLM, $rules" movies --retriever dense $v --depth 10 --self-query $rules
  # shellcheck disable=SC2086
  line "bounded, $rules" movies --retriever hybrid $v --depth 10 --self-query $rules
done

echo '## What is kept: redundancy'
v=$(given xquad_en)
for l in '' '--mmr 1' '--mmr .9' '--mmr .7' '--mmr .5' '--mmr .3' '--mmr 0'; do
  # shellcheck disable=SC2086
  echo "$(line "lambda ${l#--mmr }" xquad_en --retriever hybrid $v --depth 10 $l) $(value 'redundancy@10') |"
done

echo '## What is connected: links'
v=$(given handbook)
for graph in none walk fused_walk pagerank fused_pagerank; do
  line "BM25, $graph" handbook --retriever bm25 --depth 100 --graph $graph
  # shellcheck disable=SC2086
  line "bounded, $graph" handbook --retriever hybrid $v --depth 100 --graph $graph
done

echo '## Legs weighed by twenty questions'
for s in scifact cranfield anthropic_docs tickets xquad_en anthropic_contextual handbook movies; do
  # shellcheck disable=SC2046
  "$eval" --set "$data/$s" --json --retriever hybrid $(given $s) --depth 10 --tune 20 >"$scratch/json" 2>/dev/null
  echo "| $s | $(value queries) | $(value weight_of_words) | $(value weight_of_vectors) | $(value 'ndcg@10')" \
    "| $(value difference) ($(value low) to $(value high)) |"
done
