import java.io.*;
import java.util.*;

class Main {
    public static void main(String[] args) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in));
        var counts = new TreeMap<String, Integer>();
        for (String line; (line = in.readLine()) != null; )
            for (String word : line.split(" ")) counts.merge(word, 1, Integer::sum);
        System.out.println(counts.size());
    }
}
