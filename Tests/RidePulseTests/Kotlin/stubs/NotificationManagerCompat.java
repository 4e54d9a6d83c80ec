package androidx.core.app;

import android.app.Notification;
import android.content.Context;
import java.util.List;

/** Prints what is shown: `notify TAG ID …`. */
public class NotificationManagerCompat {
  public static final int IMPORTANCE_LOW = 2, IMPORTANCE_DEFAULT = 3, IMPORTANCE_HIGH = 4;

  public static NotificationManagerCompat from(Context context) {
    return new NotificationManagerCompat();
  }

  public boolean areNotificationsEnabled() { return !Boolean.getBoolean("muted"); }

  public void createNotificationChannelsCompat(List<NotificationChannelCompat> channels) {}

  public void createNotificationChannel(NotificationChannelCompat channel) {}

  public void notify(String tag, int id, Notification notification) {
    System.out.println("notify " + tag + " " + id + notification.text);
  }

  public void cancel(String tag, int id) { System.out.println("cancel " + tag + " " + id); }

  public void cancelAll() { System.out.println("cancel all"); }
}
