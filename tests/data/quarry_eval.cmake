# quarry_eval's promises to scripts: figures that can be worked out by hand, the keys of its JSON, and one clear line and
# status 2 for whatever is wrong: cmake -DPROGRAM= -DFOLDER= -P
cmake_minimum_required(VERSION 3.25)

set(set ${FOLDER}/little)
file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${set}/corpus.jsonl [[
{"id": "cats", "title": "Cats", "text": "cats purr and sleep"}
{"id": "dogs", "title": "Dogs", "text": "dogs bark and run"}
{"id": "birds", "title": "Birds", "text": "birds sing and fly"}
]])
file(WRITE ${set}/queries.jsonl [[
{"id": "q1", "text": "who can purr?"}
{"id": "q2", "text": "what do they bark at?"}
{"id": "q3", "text": "asked by nobody"}
]])
# q1 finds its only article at rank 1. q2 finds the dogs, which are not what was wanted: one wanted article was not found
# and the other is in no corpus.
file(WRITE ${set}/qrels.tsv "q1\tcats\t1\nq2\tbirds\t2\nq2\tfish\t1\n")
# Floats whose bytes are letters: "AAAA" is 12.08, "    " is 1.4e-19.
file(WRITE ${set}/docs.f32 "AAAA            AAAA            AAAA")
file(WRITE ${set}/questions.f32 "    AAAA    AAAA        ")
file(WRITE ${set}/ids.json "[\"q2\", \"q1\"]")
file(WRITE ${set}/keys.jsonl [[
{"id": "cats", "kind": "heading", "text": "it purrs"}
{"id": "birds", "kind": "phrase", "text": "bark"}
{"id": "dogs", "kind": "title", "text": "bark bark"}
]])

function(run)
  execute_process(COMMAND ${PROGRAM} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  set(status ${status} PARENT_SCOPE)
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()

function(expect_figure key wanted)
  string(JSON value GET "${out}" ${key})
  if(value MATCHES "^[0-9]$")
    set(value "${value}.")
  endif()
  string(SUBSTRING "${value}0000000" 0 8 digits)
  if(NOT digits STREQUAL wanted)
    message(SEND_ERROR "${key} is ${value} and not ${wanted}:\n${out}")
  endif()
endfunction()

function(expect_success)
  run(${ARGN})
  if(NOT status EQUAL 0)
    message(SEND_ERROR "quarry_eval ${ARGN}: status ${status}: ${err}")
  endif()
  set(out "${out}" PARENT_SCOPE)
  set(err "${err}" PARENT_SCOPE)
endfunction()

# expect_refusal(words-of-the-message arguments...)
function(expect_refusal words)
  run(${ARGN})
  string(REGEX MATCHALL "\n" lines "${err}")
  list(LENGTH lines count)
  string(FIND "${err}" "${words}" at)
  if(NOT status EQUAL 2 OR NOT count EQUAL 1 OR at EQUAL -1 OR NOT out STREQUAL "")
    message(SEND_ERROR "quarry_eval ${ARGN}\n  status ${status}, expected 2 and one line with '${words}':\n${err}${out}")
  endif()
endfunction()

expect_success(--set ${set} --retriever bm25 --json --run ${FOLDER}/bm25.run)
# The keys, as they stand in the text.
string(REGEX MATCHALL "\"[a-z0-9_@]+\":" keys "${out}")
string(REGEX REPLACE "[\":]" "" keys "${keys}")
set(wanted set retriever queries ndcg@10 map mrr p@30 recall@3 recall@5 recall@10 recall@20 recall@100 recall@1000
  success@1 success@10 seconds_index seconds_search)
if(NOT keys STREQUAL wanted)
  message(SEND_ERROR "the keys are ${keys}")
endif()
expect_figure(set "little00")
expect_figure(retriever "bm250000")
expect_figure(queries "2.000000")
expect_figure(ndcg@10 "0.500000")
expect_figure(map "0.500000")
expect_figure(mrr "0.500000")
expect_figure(p@30 "0.016666")  # 1/30 and 0
expect_figure(recall@3 "0.500000")
expect_figure(success@1 "0.500000")
if(NOT err MATCHES "qrels.tsv:3: query q2 judges document fish, which is not in the corpus")
  message(SEND_ERROR "no warning about the article that is not there: ${err}")
endif()
file(STRINGS ${FOLDER}/bm25.run lines)
list(LENGTH lines count)
if(NOT count EQUAL 2 OR NOT lines MATCHES "q1 Q0 cats 1 [0-9.]+ bm25;q2 Q0 dogs 1 [0-9.]+ bm25")
  message(SEND_ERROR "not the run that was expected: ${lines}")
endif()

# Given vectors: q1 points at the dogs, q2 at the birds. R = 1 of 2 for q2.
set(vectors --doc-vectors ${set}/docs.f32 --query-vectors ${set}/questions.f32 --query-ids ${set}/ids.json)
file(WRITE ${set}/questions.f32 "        AAAA    AAAA    ")
expect_success(--set ${set}/ --retriever dense ${vectors} --json --depth 1)
expect_figure(set "little00")
expect_figure(mrr "0.500000")
expect_figure(recall@10 "0.250000")
expect_success(--set ${set} --retriever dense ${vectors} --dim 3 --against ${FOLDER}/bm25.run)
if(NOT out MATCHES "against .*bm25.run: [+]0.[0-9]+, 95 % between")
  message(SEND_ERROR "no comparison: ${out}")
endif()
foreach(fuser bounded rrf convex relative distribution)
  expect_success(--set ${set} --retriever hybrid ${vectors} --fuse ${fuser} --json)
  expect_figure(recall@3 "0.750000")  # the legs return all three articles
endforeach()
expect_success(--set ${set} --retriever hybrid --dim 2 --lucene-lengths --k1 1.2 --b 0.75 --title-weight 2 --json)
expect_success(--set ${set} --retriever bm25 --chunks 2 --json)
expect_figure(mrr "0.500000")
expect_success(--set ${set} --retriever whole_article --json)
expect_success(--set ${set} --retriever whole_article --lanes bm25:keys --keys ${set}/keys.jsonl --json)
expect_figure(mrr "0.750000")  # q1: it purrs; q2: bark bark is the dogs' and comes first, bark the birds'
expect_success(--set ${set} --retriever whole_article --lanes bm25:keys,bm25:bodies --keys ${set}/keys.jsonl --fuse rrf)
# What is indexed: a text about the birds, which the question for barking finds; the dogs come first.
file(WRITE ${set}/contexts.jsonl "{\"id\": \"birds\", \"text\": \"some bark\"}\n")
expect_success(--set ${set} --retriever bm25 --expand contexts --contexts ${set}/contexts.jsonl --json)
expect_figure(mrr "0.750000")
expect_success(--set ${set} --retriever bm25 --expand questions --contexts ${set}/contexts.jsonl --json)
expect_figure(mrr "1.000000")  # as a key of its own it is shorter than what the dogs have
foreach(expand none path structure summary)
  expect_success(--set ${set} --retriever bm25 --expand ${expand} --json)
  expect_figure(mrr "0.500000")
endforeach()
expect_success(--set ${set} --retriever small_to_big --lanes bm25:bodies --json)
expect_figure(mrr "0.500000")
expect_success(--set ${set} --retriever raptor --lanes bm25:bodies --dim 2 --json)
expect_figure(success@1 "0.500000")
# Parts of documents: the words about barking stand in the document of the birds.
file(WRITE ${FOLDER}/parts/corpus.jsonl [[
{"id": "a0", "title": "", "text": "cats purr", "doc_id": "a"}
{"id": "b0", "title": "", "text": "birds sing", "doc_id": "b"}
]])
file(WRITE ${FOLDER}/parts/queries.jsonl "{\"id\": \"q1\", \"text\": \"purr\"}\n")
file(WRITE ${FOLDER}/parts/qrels.tsv "q1\ta0\t1\n")
file(WRITE ${FOLDER}/parts/documents.jsonl [[
{"id": "a", "title": "Pets", "text": "All: cats purr"}
{"id": "b", "title": "Birds", "text": "birds sing"}
]])
foreach(beam 1 2)
  expect_success(--set ${FOLDER}/parts --parents ${FOLDER}/parts/documents.jsonl --retriever hierarchical --beam ${beam}
    --lanes bm25:bodies --blend 0.5 --json)
  expect_figure(mrr "1.000000")
endforeach()
expect_success(--set ${set} --retriever hierarchical --chunks 2 --dim 2 --json)
expect_refusal("hierarchical needs --parents or --chunks" --set ${set} --retriever hierarchical)
expect_refusal("--expand contexts needs --contexts FILE" --set ${set} --retriever bm25 --expand contexts)
expect_refusal("--expand is none, path" --set ${set} --retriever bm25 --expand more)
expect_refusal("--blend lies in" --set ${set} --retriever hierarchical --chunks 2 --blend 1)
expect_success(--help)

expect_refusal("--set DIR is missing")
expect_refusal("there is no option --sett" --sett x)
expect_refusal("--set needs a value" --retriever bm25 --set)
expect_refusal("--retriever is bm25, dense, hybrid, whole_article, small_to_big, hierarchical or raptor, not \"bm\"" --set ${set} --retriever bm)
expect_refusal("--analyzer is english, unicode, code, german or plain, not \"klingon\"" --set ${set} --retriever bm25 --analyzer klingon)
expect_refusal("--k1 takes a number, not \"x\"" --set ${set} --retriever bm25 --k1 x)
expect_refusal("k1 must be at least 0" --set ${set} --retriever bm25 --k1 -1)
expect_refusal("--depth must be at least 1" --set ${set} --retriever bm25 --depth 0)
expect_refusal("--fuse is bounded" --set ${set} --retriever hybrid --fuse sum)
expect_refusal("given vectors need --query-vectors" --set ${set} --retriever dense --doc-vectors ${set}/docs.f32)
expect_refusal("2 rows of 5 float32 do not make the 24 bytes" --set ${set} --retriever dense ${vectors} --dim 5)
expect_refusal("3 rows of 3 float32 do not make the 24 bytes" --set ${set} --retriever dense ${vectors}
  --doc-vectors ${set}/questions.f32)
expect_refusal("cannot read ${FOLDER}/none/corpus.jsonl: No such file" --set ${FOLDER}/none --retriever bm25)
expect_refusal("no/such/folder/run" --set ${set} --retriever bm25 --run /no/such/folder/run)

# What stands in a file is named with its line.
file(WRITE ${FOLDER}/ids.txt "q1\nq9\n")
expect_refusal("ids.txt: there is no query \"q9\"" --set ${set} --retriever dense --doc-vectors ${set}/docs.f32
  --query-vectors ${set}/questions.f32 --query-ids ${FOLDER}/ids.txt)
file(WRITE ${FOLDER}/keys.jsonl "{\"id\": \"cats\", \"kind\": \"title\", \"text\": \"x\"}\n{\"id\": \"cows\", \"kind\": \"title\", \"text\": \"x\"}\n")
expect_refusal("keys.jsonl:2: there is no article \"cows\"" --set ${set} --retriever whole_article --lanes bm25:keys
  --keys ${FOLDER}/keys.jsonl)
file(WRITE ${FOLDER}/qrels.tsv "q1\tcats\tyes\n")
expect_refusal("qrels.tsv:1: the grade \"yes\" is no whole number" --set ${set} --retriever bm25
  --qrels ${FOLDER}/qrels.tsv)
file(WRITE ${FOLDER}/queries.jsonl "{\"id\": \"q1\", \"text\": \"who\"}\n{\"id\": \"q2\", \"te")
expect_refusal("queries.jsonl:2: the line is no valid JSON" --set ${set} --retriever bm25
  --queries ${FOLDER}/queries.jsonl)

# Articles from a folder of pages: the same figure as from the corpus file.
file(WRITE ${FOLDER}/pages/cats.md "# Cats\n\ncats purr and sleep\n")
file(WRITE ${FOLDER}/pages/dogs.txt "Dogs\n\ndogs bark and run\n")
file(WRITE ${FOLDER}/pages/birds.md "# Birds\n\nbirds sing and fly\n")
file(WRITE ${FOLDER}/pages/broken.md "---\ntitle: never closed\n")
expect_success(--set ${set} --articles ${FOLDER}/pages --retriever bm25 --json)
expect_figure(mrr 0.500000)
string(FIND "${err}" "broken.md" at)
if(at EQUAL -1)
  message(SEND_ERROR "a page that cannot be read is not named: ${err}")
endif()
file(MAKE_DIRECTORY ${FOLDER}/nothing)
expect_refusal("holds no page that can be read" --set ${set} --articles ${FOLDER}/nothing --retriever bm25)

# A judge's scores: what it scored stands before what it did not, best first.
expect_success(--set ${set} --retriever dense ${vectors} --json)
expect_figure(mrr "0.750000")  # q1: dogs, cats; q2: birds
file(WRITE ${set}/scores.txt "q1 cats 0\nq2\tdogs\t-1\n\nq2\tbirds\t2.5\n")
expect_success(--set ${set} --retriever dense ${vectors} --rerank-scores ${set}/scores.txt --json)
expect_figure(mrr "1.000000")
file(WRITE ${set}/scores.txt "q2 dogs 1\nq2 birds -7\n")
expect_success(--set ${set} --retriever dense ${vectors} --rerank-scores ${set}/scores.txt --json)
expect_figure(mrr "0.500000")  # q1 as it was; q2: dogs, birds
foreach(wrong "q1 cats|a line is query, document and score, this one has 2 fields"
    "q9 cats 1|there is no query \"q9\"" "q1 cows 1|there is no article \"cows\"" "q1 cats high|the score \"high\" is no number")
  string(REPLACE "|" ";" wrong "${wrong}")
  list(GET wrong 0 line)
  list(GET wrong 1 words)
  file(WRITE ${FOLDER}/scores.txt "q1 cats 1\n${line}\n")
  expect_refusal("scores.txt:2: ${words}" --set ${set} --retriever bm25 --rerank-scores ${FOLDER}/scores.txt)
endforeach()

# Diversity, in two dimensions: both questions point at the cats, the dogs are near them and the birds are not.
set(plane --doc-vectors ${FOLDER}/plane.f32 --query-vectors ${FOLDER}/asked.f32 --query-ids ${set}/ids.json)
file(WRITE ${FOLDER}/plane.f32 "BBBB@@@@BBBBAAAA????BBBB")
file(WRITE ${FOLDER}/asked.f32 "BBBB    BBBB    ")
expect_success(--set ${set} --retriever dense ${plane} --mmr 1 --json)
expect_figure(mrr "0.666666")  # q1: cats; q2: cats, dogs, birds
expect_success(--set ${set} --retriever dense ${plane} --mmr .3 --json)
expect_figure(mrr "0.750000")  # q2: cats, birds (-.05, the dogs have -.40)
expect_success(--set ${set} --retriever dense ${plane} --mmr 1 --depth 2 --json)
expect_figure(redundancy@10 "0.983485")  # of cats and dogs
expect_success(--set ${set} --retriever dense ${plane} --mmr .3 --depth 2 --json)
expect_figure(redundancy@10 "0.077080")  # of cats and birds
expect_success(--set ${set} --retriever bm25 ${plane} --mmr .3 --json)
expect_figure(mrr "0.500000")
expect_refusal("--mmr lies in [0, 1]" --set ${set} --retriever dense --mmr 1.5)
expect_refusal("--mmr belongs to bm25, dense and hybrid" --set ${set} --retriever dense --chunks 2 --mmr .5)

# Other texts for the second question, about the birds that it wants.
file(WRITE ${set}/texts.jsonl [[
{"id": "q2", "text": "birds sing and fly"}
{"id": "q2", "text": "birds fly"}
]])
foreach(probe multi stepback)
  expect_success(--set ${set} --retriever bm25 --probe ${probe} --probe-texts ${set}/texts.jsonl --json)
  expect_figure(mrr "1.000000")  # two lists of three begin with the birds
endforeach()
expect_success(--set ${set} --retriever dense --dim 3 --json)
expect_figure(mrr "0.666666")  # q2: dogs, then a tie of cats and birds
expect_success(--set ${set} --retriever dense --dim 3 --probe hyde --probe-texts ${set}/texts.jsonl --json)
expect_figure(mrr "1.000000")  # the mean of one row about dogs and two about birds
expect_refusal("--probe hyde moves a question's vector" --set ${set} --retriever bm25 --probe hyde --probe-texts x)
expect_refusal("--probe and --probe-texts FILE go together" --set ${set} --retriever bm25 --probe multi)
expect_refusal("--probe needs --embedder lsa" --set ${set} --retriever dense ${vectors} --probe multi --probe-texts x)
expect_refusal("--probe is none, multi, hyde or stepback, not \"x\"" --set ${set} --retriever bm25 --probe x)

# Conditions in questions. Both kettles have the same words.
file(WRITE ${FOLDER}/shop/corpus.jsonl [[
{"id": "old", "title": "Kettle", "text": "boils water", "year": 2019, "makers": ["Acme"], "headings": ["Bolt"]}
{"id": "new", "title": "Kettle", "text": "boils water", "year": 2023, "makers": ["Bolt", "Acme"]}
{"id": "pan", "title": "Pan", "text": "fries eggs", "year": null, "makers": []}
]])
file(WRITE ${FOLDER}/shop/queries.jsonl [[
{"id": "q1", "text": "kettle before 2020"}
{"id": "q2", "text": "kettle from 2023"}
{"id": "q3", "text": "kettle by Bolt"}
{"id": "q4", "text": "pan"}
]])
file(WRITE ${FOLDER}/shop/qrels.tsv "q1\told\t1\nq2\tnew\t1\nq3\tnew\t1\nq4\tpan\t1\n")
expect_success(--set ${FOLDER}/shop --retriever bm25 --json)
expect_figure(mrr "0.750000")  # q2 and q3: the old one first
expect_success(--set ${FOLDER}/shop --retriever bm25 --self-query rules --json)
expect_figure(mrr "1.000000")
expect_refusal("--self-query is none or rules, not \"model\"" --set ${set} --retriever bm25 --self-query model)

# Links: from the old kettle, which alone is found, to the pan.
file(WRITE ${FOLDER}/linked/corpus.jsonl [[
{"id": "old", "title": "Kettle", "text": "boils water", "links": ["pan", "nowhere"]}
{"id": "new", "title": "Toaster", "text": "browns bread", "links": []}
{"id": "pan", "title": "Pan", "text": "fries eggs"}
]])
file(WRITE ${FOLDER}/linked/queries.jsonl "{\"id\": \"q1\", \"text\": \"kettle\"}\n")
file(WRITE ${FOLDER}/linked/qrels.tsv "q1\tpan\t1\n")
expect_success(--set ${FOLDER}/linked --retriever bm25 --json)
expect_figure(mrr "0.000000")
foreach(way walk pagerank fused_walk fused_pagerank)
  expect_success(--set ${FOLDER}/linked --retriever bm25 --graph ${way} --json)
  expect_figure(mrr "0.500000")
endforeach()
expect_refusal("has no links between its articles" --set ${set} --retriever bm25 --graph walk)
expect_refusal("--graph is none, walk" --set ${set} --retriever bm25 --graph x)

# Two of four questions choose what the legs count, and the other two are measured.
expect_success(--set ${FOLDER}/shop --retriever hybrid --dim 2 --tune 2 --json)
expect_figure(queries "2.000000")
string(JSON weight GET "${out}" weight_of_words)
string(JSON run GET "${out}" against run)
if(NOT run STREQUAL "legs that count in full" OR NOT weight MATCHES "^(0?[.][0-9]|[01]$)")
  message(SEND_ERROR "not tuned: ${out}")
endif()
expect_refusal("--tune takes 2 questions or more and must leave as many of the 4" --set ${FOLDER}/shop
  --retriever hybrid --dim 2 --tune 3)
expect_refusal("--tune belongs to hybrid" --set ${set} --retriever bm25 --tune 2)
