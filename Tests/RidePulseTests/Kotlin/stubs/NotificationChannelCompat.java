package androidx.core.app;

import android.media.AudioAttributes;
import android.net.Uri;

public class NotificationChannelCompat {
  public final String id;

  private NotificationChannelCompat(String id) { this.id = id; }

  public static class Builder {
    private final String id;

    public Builder(String id, int importance) { this.id = id; }

    public Builder setName(CharSequence name) { return this; }

    public Builder setSound(Uri sound, AudioAttributes attributes) { return this; }

    public NotificationChannelCompat build() { return new NotificationChannelCompat(id); }
  }
}
