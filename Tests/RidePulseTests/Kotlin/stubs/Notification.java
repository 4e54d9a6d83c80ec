package android.app;

import android.media.AudioAttributes;

/** What would be on the screen, as text. */
public class Notification {
  public static final AudioAttributes AUDIO_ATTRIBUTES_DEFAULT = new AudioAttributes();
  public final String text;

  public Notification(String text) { this.text = text; }
}
