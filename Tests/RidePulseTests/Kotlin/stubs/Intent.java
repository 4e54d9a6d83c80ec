package android.content;

import java.util.HashMap;
import java.util.Map;

public class Intent {
  private final Map<String, Object> extras = new HashMap<>();
  private String action;

  public Intent() {}

  public Intent(Context context, Class<?> type) {}

  public Intent setAction(String action) {
    this.action = action;
    return this;
  }

  public String getAction() { return action; }

  public Intent putExtra(String name, String value) {
    extras.put(name, value);
    return this;
  }

  public Intent putExtra(String name, long value) {
    extras.put(name, value);
    return this;
  }

  public long getLongExtra(String name, long standard) {
    return extras.get(name) instanceof Long ? (Long) extras.get(name) : standard;
  }
}
