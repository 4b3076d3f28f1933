#include "quarry/model/reply.hpp"

#include "support/catch.hpp"
#include "support/growth.hpp"

using namespace quarry;

namespace {

using list = std::vector<std::string>;

std::string text_of(std::string reply) { return read_text(completion(std::move(reply))).text; }
notices seen_in(std::string reply, const text_rules& rules = {}) {
    return read_text(completion(std::move(reply)), rules).seen;
}
list questions_of(std::string reply) { return read_questions(completion(std::move(reply))).questions; }

}  // namespace

// ---- text

TEST_CASE("a plain reply is delivered as it is, without the blanks around it") {
    const text_reply r = read_text(completion("  This chunk lists fees.\n"));
    CHECK(r.text == "This chunk lists fees.");
    CHECK(r.usable);
    CHECK(r.seen.none());
    CHECK(text_of("\xEF\xBB\xBF\xC2\xA0"
                  "A\n\nB\xE3\x80\x80") == "A\n\nB");
}

TEST_CASE("a reply with nothing in it is not usable and says so") {
    for (const char* nothing : {"", "  \n", "...", "(1)\n\n(2)", "\xEF\xBB\xBF", "```\n```", "42", "None.", "N/A", "null",
                                "Context:"}) {
        const text_reply r = read_text(completion(nothing));
        CHECK_FALSE(r.usable);
        CHECK(r.seen.has(noticed::empty));
    }
}

TEST_CASE("an announcement before the text is taken off") {
    for (const std::string announced :
         {"Here is the context: ", "Here's the context:\n", "Sure! Here is a short summary of the passage:\n\n",
          "Certainly. Here\xE2\x80\x99s the description:\n", "**Here is the context:**\n", "The context is:\n",
          "Below is the answer:\n\n", "Hier ist der Satz, der context:\n", "Sure, the following is the summary:\n"}) {
        const text_reply r = read_text(completion(announced + "The file holds fees."));
        CHECK(r.text == "The file holds fees.");
        CHECK(r.seen.has(noticed::preamble));
        CHECK(r.usable);
    }
}

TEST_CASE("a colon alone announces nothing") {
    for (const std::string text :
         {"This code tests three methods:\n\n1. It runs.", "File src/a.rs begins:\n```rust\nuse std;",
          "Background: vessels calcify.", "Here is the class that parses dates: it reads a string.",
          "Sure thing is a bar: it opened in 1990.", "Here is the context:", "Yes: the parser.",
          "Here and there: fees."}) {
        CHECK(text_of(text) == text);
        CHECK_FALSE(seen_in(text).has(noticed::preamble));
    }
}

TEST_CASE("a fence around everything is taken off, and one within stays") {
    CHECK(text_of("```\nThe file holds fees.\n```") == "The file holds fees.");
    CHECK(text_of("```text\nOne.\nTwo.\n```\n") == "One.\nTwo.");
    CHECK(text_of("~~~~\nA ~~~ in it.\n~~~~") == "A ~~~ in it.");
    CHECK(text_of("```\ncut off in the mid") == "cut off in the mid");
    CHECK(text_of("Here is the context:\n```\nThe file holds fees.\n```") == "The file holds fees.");
    const std::string code_first = "```cpp\nint x;\n```\nIt declares a number.";
    CHECK(text_of(code_first) == code_first);
    for (const char* fenced : {"```\nA.\n```", "It is:\n```\nA.\n```", "```cpp\nint x;\n```\nIt declares."})
        CHECK(seen_in(fenced).has(noticed::fence));
    CHECK_FALSE(seen_in("`x` is a number.").has(noticed::fence));
}

TEST_CASE("a name before the answer and a tag around it are taken off") {
    CHECK(text_of("Context: The file holds fees.") == "The file holds fees.");
    CHECK(text_of("**Summary:** Fees.") == "Fees.");
    CHECK(text_of("### Description\n: x") == ": x");
    CHECK(text_of("<context>\nThe file holds fees.\n</context>") == "The file holds fees.");
    CHECK(text_of("# Summary\n\nThe file holds fees.") == "The file holds fees.");
    CHECK(text_of("Summary\nThe file holds fees.") == "Summary\nThe file holds fees.");
    CHECK(text_of(R"({"context": "The file holds fees."})") == "The file holds fees.");
    CHECK(text_of(R"({"title": "Fees", "context": "All."})") == R"({"title": "Fees", "context": "All."})");
    CHECK(text_of("None of the fees changed.") == "None of the fees changed.");
    CHECK(text_of("<b>bold</b> and <b>bold</b>") == "<b>bold</b> and <b>bold</b>");
    CHECK(text_of("Context::parse reads dates.") == "Context::parse reads dates.");
    CHECK(text_of("Contexts: many.") == "Contexts: many.");
    CHECK(seen_in("Context: The file.").has(noticed::label));
}

TEST_CASE("thoughts before the answer are left out, and thoughts without an answer are none") {
    CHECK(text_of("<think>Let me see. A chunk.</think>\n\nThe file holds fees.") == "The file holds fees.");
    CHECK(text_of("Let me see.\n</think>\nThe file holds fees.") == "The file holds fees.");
    const text_reply cut = read_text(completion("<think>Let me see, the user wants", true));
    CHECK(cut.text.empty());
    CHECK_FALSE(cut.usable);
    CHECK(cut.seen.has(noticed::reasoning));
}

TEST_CASE("what comes after a token of a chat format is another turn") {
    CHECK(text_of("The file holds fees.<|im_end|>\n<|im_start|>user\nWhy?") == "The file holds fees.");
    CHECK(text_of("<|im_start|>assistant\nThe file holds fees.<|im_end|>") == "The file holds fees.");
    CHECK(text_of("<start_of_turn>model\nFees.<end_of_turn>") == "Fees.");
    CHECK(text_of("Fees.</s>[INST] more [/INST]") == "Fees.");
    CHECK(text_of("Fees.\n<|im") == "Fees.");
    CHECK(text_of("<|start_header_id|>assistant<|end_header_id|>\n\nFees.<|eot_id|>") == "Fees.");
    CHECK(text_of("<|assistant|>Fees.") == "Fees.");
    CHECK(text_of("assistant\n\nFees.") == "Fees.");
    CHECK(text_of("Assistant: Fees.") == "Fees.");
    CHECK(text_of("Model trains are dear.") == "Model trains are dear.");
    for (const char* other :
         {"<|im_start|>user\nWhy?", "<start_of_turn>user\nWhy?", "<|user|>Why?", "<|im_start|>admin\nWhy?"})
        CHECK(text_of(other).empty());
    CHECK(text_of("<|im_start|>assistants help users with fees.") == "assistants help users with fees.");
    CHECK(text_of("f <| x |> g applies f") == "f <| x |> g applies f");
    CHECK(seen_in("Fees.<|im_end|>").has(noticed::template_token));
}

TEST_CASE("what comes after a line that begins like a piece of the prompt is the next prompt") {
    const std::vector<std::string> labels{"Piece:", "<chunk "};
    const auto read = [&](std::string reply) { return read_text(completion(std::move(reply)), {.labels = labels}); };
    CHECK(read("Fees.\n\nPiece: int x;\nReply: a number").text == "Fees.");
    CHECK(read("Fees.\n  <chunk 1234>\n").text == "Fees.");
    CHECK(read("Fees of a Piece: none").text == "Fees of a Piece: none");
    CHECK(read("Fees.\nPiece: x").seen.has(noticed::runs_on));
    const text_reply only = read("Piece: int x;");
    CHECK(only.text.empty());
    CHECK_FALSE(only.usable);
}

TEST_CASE("a remark to the reader after the text is left out") {
    CHECK(text_of("The file holds fees.\n\nLet me know if you need more!") == "The file holds fees.");
    CHECK(text_of("The file holds fees.\n\nI hope this helps.") == "The file holds fees.");
    CHECK(text_of("The file holds fees.\n\nIt was written in 2020.") ==
          "The file holds fees.\n\nIt was written in 2020.");
    CHECK(text_of("Let me know if you need more!") == "Let me know if you need more!");
}

TEST_CASE("a model that declines has written no context") {
    for (const char* refusal :
         {"I'm sorry, I can't help with that.", "I\xE2\x80\x99m sorry, but I can\xE2\x80\x99t assist.",
          "I cannot summarise this.", "As an AI language model, I have no files.", "Sorry, I am unable to open links.",
          "Unfortunately, I do not have access to it."}) {
        const text_reply r = read_text(completion(refusal));
        CHECK_FALSE(r.usable);
        CHECK(r.seen.has(noticed::refusal));
    }
    for (const char* fine : {"Sorry messages are shown when a login fails.",
                             "Users who say \"I cannot log in\" are sent here.", "I/O errors end the loop."})
        CHECK(read_text(completion(fine)).usable);
}

TEST_CASE("a text that goes round in circles is not usable") {
    // Five words in a row, three times.
    CHECK_FALSE(read_text(completion("It is the output of x. It is the output of y. It is the output of z.")).usable);
    CHECK(read_text(completion("It is the output of x. It is the output of y. And more.")).usable);
    CHECK(seen_in(std::string(200, 'a')).has(noticed::loop));
    CHECK_FALSE(seen_in(std::string(200, '-') + " ruler").has(noticed::loop));
    CHECK(seen_in("\xE6\x97\xA5\xE6\x9C\xAC\xE3\x81\xAE\xE6\x9C\xAC\xE3\x80\x82\xE6\x97\xA5\xE6\x9C\xAC\xE3\x81\xAE\xE6"
                  "\x9C\xAC\xE3\x80\x82"
                  "\xE6\x97\xA5\xE6\x9C\xAC\xE3\x81\xAE\xE6\x9C\xAC\xE3\x80\x82\xE6\x97\xA5\xE6\x9C\xAC\xE3\x81\xAE\xE6"
                  "\x9C\xAC\xE3\x80\x82")
              .has(noticed::loop));
}

TEST_CASE("a text that merely returns its source is not usable, one that quotes half of it is noticed") {
    std::string source;
    for (int i = 0; i < 100; ++i) source += "w" + std::to_string(i) + ' ';
    const known_runs known(source);
    const text_rules rules{.prompt = &known};
    const text_reply copy = read_text(completion(source.substr(0, 198)), rules);
    CHECK(copy.copied == 1.0);
    CHECK_FALSE(copy.usable);
    CHECK(copy.seen.has(noticed::copies_prompt));
    // 20 words of the source, then 9 of its own: 22 runs, 13 of them from the source.
    std::string half, more;
    for (int i = 0; i < 20; ++i) half += "w" + std::to_string(i) + ' ';
    for (int i = 0; i < 9; ++i) more += "v" + std::to_string(i) + ' ';
    const text_reply quoting = read_text(completion(half + more), rules);
    CHECK(quoting.copied == Approx(13.0 / 22.0));
    CHECK(quoting.usable);
    CHECK(quoting.seen.has(noticed::copies_prompt));
    CHECK(read_text(completion(more), rules).copied == 0.0);
    CHECK(read_text(completion(source)).usable);  // nobody said what the source was
    const text_reply echo = read_text(completion("The office moved!"), {.passage = "the office moved"});
    CHECK_FALSE(echo.usable);
    CHECK(echo.seen.has(noticed::copies_prompt));
    CHECK(read_text(completion("The office moved twice."), {.passage = "the office moved"}).usable);
}

TEST_CASE("sentences beyond what was asked for and one are noticed, two list items are a list") {
    CHECK_FALSE(seen_in("A. B! C?", {.sentences = 2}).has(noticed::too_long));
    CHECK(seen_in("A. B! C? D", {.sentences = 2}).has(noticed::too_long));
    CHECK_FALSE(seen_in("Version 1.2.3 of a.b.c. It works.", {.sentences = 1}).has(noticed::too_long));
    CHECK_FALSE(seen_in("A. B. C. D. E. F.").has(noticed::too_long));
    CHECK(seen_in("\xE3\x81\x82\xE3\x80\x82\xE3\x81\x84\xE3\x80\x82\xE3\x81\x86\xE3\x80\x82", {.sentences = 1})
              .has(noticed::too_long));
    CHECK(seen_in("It does:\n1. This\n2. That").has(noticed::list));
    CHECK(seen_in("- This\n- That").has(noticed::list));
    CHECK_FALSE(seen_in("It does:\n- This").has(noticed::list));
}

TEST_CASE("a long text ends at the last whole sentence, or word, or character that fits") {
    const auto cut = [](std::string text, std::size_t most) {
        return read_text(completion(std::move(text)), {.most_bytes = most}).text;
    };
    CHECK(cut("One two. Three four. Five six.", 25) == "One two. Three four.");
    CHECK(cut("One two. Three four. Five six.", 20) == "One two. Three four.");
    CHECK(cut("One two. Three four. Five six.", 19) == "One two.");
    CHECK(cut("one two three", 9) == "one two");
    CHECK(cut("abcdef", 3) == "abc");
    CHECK(cut("\xE6\x97\xA5\xE6\x9C\xAC", 4) == "\xE6\x97\xA5");
    CHECK(cut("One two.", 8) == "One two.");
    CHECK(seen_in("One two. Three.", {.most_bytes = 10}).has(noticed::over_limit));
    CHECK_FALSE(seen_in("One two.", {.most_bytes = 8}).has(noticed::over_limit));
}

TEST_CASE("a reply that a limit cut off says so and is used as far as it goes") {
    const text_reply r = read_text(completion("The class is part of the `a` namesp", true));
    CHECK(r.usable);
    CHECK(r.seen == notices{noticed::truncated});
    CHECK(r.text == "The class is part of the `a` namesp");
}

// ---- questions

TEST_CASE("one question a line, without numbers, bullets, labels, quotes and emphasis") {
    for (const char* line : {"What is it?",
                             "1. What is it?",
                             "1) What is it?",
                             "(1) What is it?",
                             "[1] What is it?",
                             "1: What is it?",
                             "1.What is it?",
                             "- What is it?",
                             "* What is it?",
                             "+ What is it?",
                             "\xE2\x80\xA2 What is it?",
                             "\xE2\x80\xA2What is it?",
                             "-What is it?",
                             "\xE2\x80\x93 What is it?",
                             "Q: What is it?",
                             "Q1: What is it?",
                             "Q1. What is it?",
                             "Question: What is it?",
                             "Question 1: What is it?",
                             "QUESTION #1: What is it?",
                             "a) What is it?",
                             "**What is it?**",
                             "**Question 1:** What is it?",
                             "- 1. **Q1:** What is it?",
                             "\"What is it?\"",
                             "\xE2\x80\x9CWhat is it?\xE2\x80\x9D",
                             "*What is it?*",
                             "### What is it?",
                             "1. \"What is it?\",",
                             "> What is it?",
                             "<question>What is it?</question>",
                             "| 1 | What is it? |",
                             "What is it? (The passage says so.)",
                             "Output: What is it?",
                             "  What is it?  "})
        CHECK(questions_of(line) == list{"What is it?"});
}

TEST_CASE("numbers and words that belong to the question stay") {
    for (const char* line :
         {"3D printing is what?", "2024 was which year?", "3.5 mm is how many inches?", "12:30 is what time?",
          "What changed in version 1. and 2.?", "E. coli causes what?", "std::vector is what?",
          "Docker: how do I install it?", "Python 3: what is new?", "\"Foo\" or \"bar?\"?", "-40 degrees is cold?",
          "I) or II)?", "A: is it?", "Version: which one?", "I. M. Pei built what?", "Is a <b>tag</b> one?",
          "Which one (of two)?"})
        CHECK(questions_of(line) == list{line});
}

TEST_CASE("a word that numbers its lines from one on is a label, whatever the word") {
    CHECK(questions_of("Rephrasing 1: What is one?\nRephrasing 2: What is two?") ==
          list{"What is one?", "What is two?"});
    CHECK(questions_of("Python 2: what is old?\nPython 3: what is new?") ==
          list{"Python 2: what is old?", "Python 3: what is new?"});
    CHECK(questions_of("i. What is one?\nii. What is two?") == list{"What is one?", "What is two?"});
    CHECK(questions_of("(I) What is one?\n(II) What is two?") == list{"What is one?", "What is two?"});
    CHECK(questions_of("Rephrasing 1: What is one?") == list{"Rephrasing 1: What is one?"});
}

TEST_CASE("what is no question is left out and noticed") {
    const question_reply r = read_questions(completion("The passage is about fees.\nHow much is it?\nAnswer: five."));
    CHECK(r.questions == list{"How much is it?"});
    CHECK(r.seen == notices{noticed::not_a_question});
    CHECK(r.usable());
    const question_reply none = read_questions(completion("- Public\n- No privacy"));
    CHECK_FALSE(none.usable());
    CHECK(none.seen == notices{noticed::empty, noticed::bullets, noticed::not_a_question});
    CHECK(questions_of("???\n?\n 1. ?").empty());
}

TEST_CASE("question marks of other scripts end questions") {
    CHECK(questions_of("\xE4\xBD\x95\xE3\x81\xA7\xE3\x81\x99\xE3\x81\x8B\xEF\xBC\x9F") ==
          list{"\xE4\xBD\x95\xE3\x81\xA7\xE3\x81\x99\xE3\x81\x8B\xEF\xBC\x9F"});
    CHECK(questions_of("\xD9\x85\xD8\xA7\xD8\x9F").size() == 1);
}

TEST_CASE("the same question twice is one, whatever its case") {
    const question_reply r = read_questions(completion("What is X?\nWHAT IS X?\nwhat is \xC3\x89?\nWhat is \xC3\xA9?"));
    CHECK(r.questions == list{"What is X?", "what is \xC3\x89?"});
    CHECK(r.seen == notices{noticed::duplicates});
}

TEST_CASE("more questions than are taken and longer ones than make sense are left out") {
    std::string fifty;
    for (int i = 0; i < 50; ++i) fifty += "What is " + std::to_string(i) + "?\n";
    const question_reply r = read_questions(completion(fifty), {.asked = 3, .most = 10});
    CHECK(r.questions.size() == 10);
    CHECK(r.questions.back() == "What is 9?");
    CHECK(r.seen == notices{noticed::over_limit, noticed::count});
    CHECK(read_questions(completion("W" + std::string(2000, 'x') + "?\nWhat?")).questions == list{"What?"});
    CHECK(read_questions(completion(fifty)).seen.none());
}

TEST_CASE("a list or an object of JSON is read for its texts") {
    CHECK(questions_of(R"(["What is X?", "How does Y work?"])") == list{"What is X?", "How does Y work?"});
    CHECK(questions_of("```json\n{\"questions\": [\"What is X?\", \"1. How?\"]}\n```") == list{"What is X?", "How?"});
    CHECK(questions_of(R"([{"question": "What is X?", "answer": "Y."}])") == list{"What is X?"});
    CHECK(questions_of("[\n  \"What is X?\",\n  \"How doe") == list{"What is X?"});  // cut off
    CHECK(questions_of(R"({"questions": ["What is X?", "How does \"Y\" work?", "Wh)") ==
          list{"What is X?", R"(How does "Y" work?)"});
    CHECK(questions_of(R"("What is X?", "How?")") == list{"What is X?", "How?"});
    CHECK(questions_of("<questions>\n<q>What is X?</q>\n<q>How?</q>\n</questions>") == list{"What is X?", "How?"});
}

TEST_CASE("a question to the reader after the questions is none of them") {
    CHECK(questions_of("What is X?\nHow?\n\nWould you like me to write more?") == list{"What is X?", "How?"});
    CHECK(questions_of("Would you like fries?\nHow?") == list{"Would you like fries?", "How?"});
}

TEST_CASE("what a model writes after its turn is not read") {
    CHECK(questions_of("What is X?<|im_end|>\n<|im_start|>user\nWhat is Y?") == list{"What is X?"});
    const std::vector<std::string> labels{"Passage:"};
    CHECK(read_questions(completion("What is X?\nPassage: more.\nWhat is Y?"), {.labels = labels}).questions ==
          list{"What is X?"});
    const question_reply echo = read_questions(completion("Passage: more. What is Y?"), {.labels = labels});
    CHECK(echo.questions.empty());
    CHECK(echo.seen.has(noticed::runs_on));
}

// ---- both

TEST_CASE("reading takes time in proportion to the reply, whatever it is made of") {
    const std::vector<std::string> labels{"Piece:", "<chunk "};
    for (const std::string unit : {"a",
                                   " ",
                                   "{",
                                   "[",
                                   "\n",
                                   "?",
                                   "1. A? ",
                                   "\"",
                                   "*",
                                   "**",
                                   "- ",
                                   "```\n",
                                   "<|a|>",
                                   "<|",
                                   "<think>",
                                   "</think>",
                                   "Q1: ",
                                   "What is it?\n",
                                   "Rephrasing 1: x?\n",
                                   "Here is ",
                                   ":",
                                   "\xFF",
                                   "\xE6\x97\xA5",
                                   "a b c d e ",
                                   "<context>",
                                   "(1)\n",
                                   "Piece",
                                   "\xE2\x80\x9C"}) {
        INFO(unit);
        // The cap is lifted, since under it everything is constant.
        const auto read = [&](std::size_t n) {
            std::string text;
            while (text.size() < n) text += unit;
            const completion reply(text);
            read_text(reply, {.most_bytes = SIZE_MAX, .longest = SIZE_MAX, .labels = labels});
            read_questions(reply,
                           {.most = SIZE_MAX, .longest_question = SIZE_MAX, .longest = SIZE_MAX, .labels = labels});
        };
        CHECK(growth(read, 4000) < 2.6);
    }
}
