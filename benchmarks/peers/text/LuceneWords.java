// Lucene's StandardTokenizer over a file, as MB/s: the median of rounds after a warm-up. Words only, no filters.
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;

public class LuceneWords {
    static long characters = 0;

    static double megabytesPerSecond(String text, long bytes) throws Exception {
        long begin = System.nanoTime();
        StandardTokenizer words = new StandardTokenizer();
        words.setReader(new StringReader(text));
        CharTermAttribute term = words.addAttribute(CharTermAttribute.class);
        words.reset();
        while (words.incrementToken()) characters += term.length();
        words.end();
        words.close();
        return bytes / 1e6 / ((System.nanoTime() - begin) / 1e9);
    }

    public static void main(String[] arguments) throws Exception {
        byte[] bytes = Files.readAllBytes(Path.of(arguments[0]));
        String text = new String(bytes, StandardCharsets.UTF_8);
        for (int i = 0; i < 60; ++i) megabytesPerSecond(text, bytes.length);
        double[] rounds = new double[21];
        for (int i = 0; i < rounds.length; ++i) rounds[i] = megabytesPerSecond(text, bytes.length);
        Arrays.sort(rounds);
        System.out.printf("%.1f%n", rounds[rounds.length / 2]);
    }
}
