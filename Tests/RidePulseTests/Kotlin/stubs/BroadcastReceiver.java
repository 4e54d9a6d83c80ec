package android.content;

public abstract class BroadcastReceiver {
  public static class PendingResult {
    public final void finish() { System.out.println("broadcast finished"); }
  }

  public abstract void onReceive(Context context, Intent intent);

  public final PendingResult goAsync() { return new PendingResult(); }
}
