package android.app;

/** What would be on the screen, as text. */
public class Notification {
  public final String text;

  public Notification(String text) { this.text = text; }
}
