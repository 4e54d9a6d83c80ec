package android.util;

public class Log {
  public static int i(String tag, String text) { return 0; }
}
