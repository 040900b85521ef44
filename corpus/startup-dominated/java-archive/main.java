import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A short sum over a stream: what costs is the start of the JVM. */
class Main {
    public static void main(String[] args) {
        List<Long> squares = IntStream.range(0, 300000).mapToObj(i -> (long) i * i % 1013).collect(Collectors.toList());
        System.out.println(squares.stream().mapToLong(Long::longValue).sum());
    }
}
