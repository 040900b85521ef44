import java.util.ArrayList;
import java.util.List;

/** Scale a number by one part; the registry loads all 1500. */
class Main {
    public static void main(String[] args) {
        List<Part> parts = new ArrayList<>();
        Parts0.add(parts);
        Parts1.add(parts);
        Parts2.add(parts);
        Part part = parts.get(7);
        int value = 1;
        for (int round = 0; round < 60000000; round++) {
            value = part.scale(value);
        }
        System.out.println(value);
    }
}
