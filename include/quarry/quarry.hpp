// What nearly every program needs: a corpus, words and vectors, their fusion, reranking and diversity.
//
// Techniques (expand/, grow/, probe/, answer/, most of retrieve/), graph indexes, live libraries and stores are included
// by name: reading all of them takes a compiler three times as long.
#pragma once

#include "build.hpp"
#include "config.hpp"
#include "core/corpus.hpp"
#include "core/retriever.hpp"
#include "expand/identity.hpp"
#include "expand/metadata_keys.hpp"
#include "index/bm25_index.hpp"
#include "index/flat_index.hpp"
#include "model/embedder.hpp"
#include "model/generator.hpp"
#include "model/lsa_embedder.hpp"
#include "rank/collapse.hpp"
#include "rank/diversify.hpp"
#include "rank/fuse.hpp"
#include "rank/lift.hpp"
#include "rank/rerank.hpp"
#include "rank/threshold.hpp"
#include "retrieve/any_retriever.hpp"
#include "retrieve/dense.hpp"
#include "retrieve/hybrid.hpp"
#include "retrieve/lexical.hpp"
#include "retrieve/whole_article.hpp"
#include "version.hpp"
