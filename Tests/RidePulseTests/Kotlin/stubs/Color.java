package android.graphics;

public class Color {
  public static int parseColor(String text) { return Integer.parseInt(text.substring(1), 16); }
}
