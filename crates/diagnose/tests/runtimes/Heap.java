import java.util.Random;

/** A nearly full heap: most of the time goes to garbage collection. */
public class Heap {
    static final int KEPT = 300_000;

    public static void main(String[] arguments) {
        Object[] kept = new Object[KEPT];
        for (int i = 0; i < KEPT; i++) {
            kept[i] = new int[8];
        }
        Random random = new Random(1);
        for (int i = 0; i < 3_000_000; i++) {
            kept[random.nextInt(KEPT)] = new int[8];
        }
        System.out.println(kept.length);
    }
}
