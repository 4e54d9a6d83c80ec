package com.google.firebase.messaging;

import java.util.Map;

public class RemoteMessage {
  private final Map<String, String> data;
  private final Notification notification;

  public RemoteMessage(Map<String, String> data, Notification notification) {
    this.data = data;
    this.notification = notification;
  }

  public Map<String, String> getData() { return data; }

  public Notification getNotification() { return notification; }

  public static class Notification {
    private final Map<String, String> values;
    private final Map<String, String[]> lists;

    public Notification(Map<String, String> values, Map<String, String[]> lists) {
      this.values = values;
      this.lists = lists;
    }

    public String getTitle() { return values.get("title"); }

    public String getTitleLocalizationKey() { return values.get("title_loc_key"); }

    public String[] getTitleLocalizationArgs() { return lists.get("title_loc_args"); }

    public String getBody() { return values.get("body"); }

    public String getBodyLocalizationKey() { return values.get("body_loc_key"); }

    public String[] getBodyLocalizationArgs() { return lists.get("body_loc_args"); }

    public String getChannelId() { return values.get("channel_id"); }

    public String getTag() { return values.get("tag"); }
  }
}
