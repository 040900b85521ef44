/** Scale a number by one part, which is loaded alone. */
class Main {
    public static void main(String[] args) {
        Part part = new Part7();
        int value = 1;
        for (int round = 0; round < 60000000; round++) {
            value = part.scale(value);
        }
        System.out.println(value);
    }
}
