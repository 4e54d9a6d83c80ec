package androidx.core.app;

import android.app.Notification;
import android.app.PendingIntent;
import android.content.Context;
import androidx.core.graphics.drawable.IconCompat;
import java.util.Map;
import java.util.TreeMap;

public class NotificationCompat {
  public abstract static class Style {}

  public static class BigTextStyle extends Style {
    public BigTextStyle bigText(CharSequence text) { return this; }
  }

  public static class ProgressStyle extends Style {
    private final StringBuilder text = new StringBuilder("bar");

    public static class Segment {
      private final int length;

      public Segment(int length) { this.length = length; }
    }

    public static class Point {
      private final int position;

      public Point(int position) { this.position = position; }
    }

    public ProgressStyle setProgress(int progress) {
      text.append(" ").append(progress);
      return this;
    }

    public ProgressStyle addProgressSegment(Segment segment) {
      text.append(" -").append(segment.length);
      return this;
    }

    public ProgressStyle addProgressPoint(Point point) {
      text.append(" o").append(point.position);
      return this;
    }

    public ProgressStyle setProgressTrackerIcon(IconCompat icon) { return this; }

    @Override
    public String toString() { return text.toString(); }
  }

  public static class Builder {
    private final Map<String, Object> values = new TreeMap<>();

    public Builder(Context context, String channel) { put("channel", channel); }

    private Builder put(String name, Object value) {
      boolean isShown = value instanceof CharSequence || value instanceof Number
          || value instanceof Boolean || value instanceof ProgressStyle;
      if (isShown) values.put(name, value);
      return this;
    }

    public Builder addAction(int icon, CharSequence title, PendingIntent intent) {
      return put("action " + title, icon);
    }

    public Notification build() { return new Notification(" " + values); }

    public Builder setProgress(int max, int progress, boolean isIndeterminate) {
      return put("progress", progress + "/" + max);
    }

    public Builder setSmallIcon(int value) { return put("smallIcon", value); }

    public Builder setContentTitle(CharSequence value) { return put("contentTitle", value); }

    public Builder setContentText(CharSequence value) { return put("contentText", value); }

    public Builder setStyle(Style value) { return put("style", value); }

    public Builder setGroup(String value) { return put("group", value); }

    public Builder setWhen(long value) { return put("when", value); }

    public Builder setAutoCancel(boolean value) { return put("autoCancel", value); }

    public Builder setContentIntent(PendingIntent value) { return put("contentIntent", value); }

    public Builder setDeleteIntent(PendingIntent value) { return put("deleteIntent", value); }

    public Builder setSilent(boolean value) { return put("silent", value); }

    public Builder setOngoing(boolean value) { return put("ongoing", value); }

    public Builder setRequestPromotedOngoing(boolean value) { return put("requestPromotedOngoing", value); }

    public Builder setTimeoutAfter(long value) { return put("timeoutAfter", value); }

    public Builder setColor(int value) { return put("color", value); }

    public Builder setShortCriticalText(String value) { return put("shortCriticalText", value); }

    public Builder setShowWhen(boolean value) { return put("showWhen", value); }

    public Builder setUsesChronometer(boolean value) { return put("usesChronometer", value); }

    public Builder setChronometerCountDown(boolean value) { return put("chronometerCountDown", value); }
  }
}
