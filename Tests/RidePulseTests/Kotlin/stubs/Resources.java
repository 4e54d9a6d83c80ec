package android.content.res;

public class Resources {
  /** strings.xml has one text. */
  public int getIdentifier(String name, String type, String defaultPackage) {
    return name.equals("DRIVER_HERE") && type.equals("string") ? 7 : 0;
  }

  public static String form(int id) { return "%1$s is here"; }
}
