// Lucene's BM25 over the texts and questions that bench_bm25 wrote: microseconds a question, top k, one thread, the median of
// rounds after a warm-up. One segment, one field of words, term frequencies and no positions.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.MMapDirectory;

public class LuceneBm25 {
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        int k = Integer.parseInt(arguments[1]);
        Analyzer words = new Analyzer() {
            @Override
            protected TokenStreamComponents createComponents(String field) {
                return new TokenStreamComponents(new StandardTokenizer());
            }
        };
        BM25Similarity similarity = new BM25Similarity(0.9f, 0.4f);
        Path index = Files.createTempDirectory("lucene_bm25");
        try (MMapDirectory directory = new MMapDirectory(index)) {
            IndexWriterConfig config = new IndexWriterConfig(words);
            config.setSimilarity(similarity);
            FieldType type = new FieldType();
            type.setTokenized(true);
            type.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
            type.freeze();
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (String line : Files.readAllLines(folder.resolve("texts"))) {
                    Document document = new Document();
                    document.add(new Field("text", line, type));
                    writer.addDocument(document);
                }
                writer.forceMerge(1);
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                searcher.setSimilarity(similarity);
                searcher.setQueryCache(null);
                for (String name : List.of("A", "B")) {
                    List<Query> questions = new ArrayList<>();
                    for (String line : Files.readAllLines(folder.resolve(name))) {
                        BooleanQuery.Builder builder = new BooleanQuery.Builder();
                        for (String word : line.trim().split(" "))
                            builder.add(new TermQuery(new Term("text", word)), BooleanClause.Occur.SHOULD);
                        questions.add(builder.build());
                    }
                    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
                    double[] rounds = new double[15];
                    long hits = 0;
                    for (int round = -10; round < rounds.length; ++round) {
                        long begin = clock.getCurrentThreadCpuTime();
                        for (Query question : questions) hits += searcher.search(question, k).scoreDocs.length;
                        if (round >= 0) rounds[round] = (clock.getCurrentThreadCpuTime() - begin) / 1e3 / questions.size();
                    }
                    Arrays.sort(rounds);
                    System.out.printf("%s %.1f %d%n", name, rounds[rounds.length / 2], hits);
                }
            }
        }
    }
}
