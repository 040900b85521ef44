/** Random numbers on one line; System.out hands every print() to the system. */
class Main {
    public static void main(String[] args) {
        int state = 1;
        for (int i = 0; i < 400000; i++) {
            state = state * 1664525 + 1013904223;
            System.out.print(state >>> 20);
            System.out.print(' ');
        }
        System.out.println();
    }
}
