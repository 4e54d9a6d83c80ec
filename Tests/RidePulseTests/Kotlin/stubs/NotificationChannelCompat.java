package androidx.core.app;

public class NotificationChannelCompat {
  public final String id;

  private NotificationChannelCompat(String id) { this.id = id; }

  public static class Builder {
    private final String id;

    public Builder(String id, int importance) { this.id = id; }

    public Builder setName(CharSequence name) { return this; }

    public NotificationChannelCompat build() { return new NotificationChannelCompat(id); }
  }
}
